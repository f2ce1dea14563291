/* Which kernel was chosen for what: found once per device, so that all models and batches that have a layer in common
 * run it alike and give the same bits. Thread-safe. */
#ifndef DLSI_TUNING_H
#define DLSI_TUNING_H

#include "base/error.h"
#include "base/map.h"
#include <pthread.h>
#include <stdbool.h>

#define DLSI_TUNING_NUMBERS 16

/* What decides which kernel is the fastest. */
struct dlsi_tuning_key {
	int64_t numbers[DLSI_TUNING_NUMBERS];
};

struct dlsi_tuning {
	pthread_mutex_t mutex;
	struct dlsi_map choices;
};

void dlsi_tuning_init(struct dlsi_tuning *tuning, const struct dlsi_alloc *alloc);
void dlsi_tuning_fini(struct dlsi_tuning *tuning);

/* The choice that was made before. */
bool dlsi_tuning_find(struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice_out);

/* Makes the choice; if another thread was faster, its choice counts and *choice becomes that. At most
 * DLSI_TUNINGS are remembered. Errors: DLS_ENOMEM. */
int dlsi_tuning_settle(
	struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice, struct dls_error *err);

#endif
