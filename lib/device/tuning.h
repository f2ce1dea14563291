/* Which kernel was chosen for what: found once per device, so that all models and batches that have a layer in common
 * run it alike and give the same bits; and kept in a file, so that the next process need not measure. Thread-safe.
 *
 * The file has a line per choice, "KEY CHOICE", and belongs to one sort of processor and one version of the kernels.
 * Processes only ever add lines, so several may use it at once; of two lines for one key the first counts, and what is
 * no line is passed over. A file that cannot be read or written costs nothing but the measuring. */
#ifndef DLSI_TUNING_H
#define DLSI_TUNING_H

#include "base/buffer.h"
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
	const struct dlsi_alloc *alloc;
	pthread_mutex_t mutex;
	struct dlsi_map choices;
	char *folder, *path;        /* of the file; NULL: there is none */
	struct dlsi_buffer unsaved; /* lines */
};

void dlsi_tuning_init(struct dlsi_tuning *tuning, const struct dlsi_alloc *alloc);
void dlsi_tuning_fini(struct dlsi_tuning *tuning);

/* Takes over what the file in this folder says; `about` names all that choices depend on and keys do not say. To be
 * called once, before anything is looked up. Errors: DLS_ENOMEM. */
int dlsi_tuning_remember(struct dlsi_tuning *tuning, const char *folder, const char *about, struct dls_error *err);

/* Adds to the file what was chosen since. */
void dlsi_tuning_save(struct dlsi_tuning *tuning);

/* The choice that was made before. One from a file may be any number. */
bool dlsi_tuning_find(struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice_out);

/* Makes the choice; if another thread was faster, its choice counts and *choice becomes that. At most
 * DLSI_TUNINGS are remembered. Errors: DLS_ENOMEM. */
int dlsi_tuning_settle(
	struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice, struct dls_error *err);

#endif
