#include "device/tuning.h"

#include "base/hash.h"
#include "base/limits.h"

void dlsi_tuning_init(struct dlsi_tuning *tuning, const struct dlsi_alloc *alloc)
{
	pthread_mutex_init(&tuning->mutex, NULL);
	dlsi_map_init(&tuning->choices, alloc, 0);
}

void dlsi_tuning_fini(struct dlsi_tuning *tuning)
{
	dlsi_map_fini(&tuning->choices);
	pthread_mutex_destroy(&tuning->mutex);
}

/* The map keeps pointers; a choice is kept as one more than itself. */
static void *mark(uint32_t choice)
{
	return (void *)((uintptr_t)choice + 1);
}

bool dlsi_tuning_find(struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice_out)
{
	const struct dlsi_id id = dlsi_hash_key(key, sizeof *key);
	void *kept;

	pthread_mutex_lock(&tuning->mutex);
	kept = dlsi_map_get(&tuning->choices, &id);
	pthread_mutex_unlock(&tuning->mutex);
	if (kept)
		*choice_out = (uint32_t)((uintptr_t)kept - 1);
	return kept != NULL;
}

int dlsi_tuning_settle(
	struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice, struct dls_error *err)
{
	const struct dlsi_id id = dlsi_hash_key(key, sizeof *key);
	int rc = 0;
	void *kept;

	pthread_mutex_lock(&tuning->mutex);
	kept = dlsi_map_get(&tuning->choices, &id);
	if (kept)
		*choice = (uint32_t)((uintptr_t)kept - 1);
	else if (tuning->choices.count < DLSI_TUNINGS)
		rc = dlsi_map_put(&tuning->choices, &id, mark(*choice));
	pthread_mutex_unlock(&tuning->mutex);
	return rc ? dlsi_fail_memory(err) : 0;
}
