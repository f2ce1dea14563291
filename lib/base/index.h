/* Finds a structure by the 128-bit id inside it: a chain through the structures for each of them on average.
 *
 * It grows by one chain with each structure that comes (linear hashing: Litwin, "Linear hashing: a new tool for file
 * and table addressing", 1980), so that no call moves more than one chain, however many structures there are. A map
 * (base/map.h) is faster where there are few, and takes three times the memory. Keys come from strangers, so the hash
 * is keyed with a seed that the owner draws. Pure, not thread-safe. */
#ifndef DLSI_INDEX_H
#define DLSI_INDEX_H

#include "base/alloc.h"
#include "base/id.h"

struct dlsi_index {
	void **chains;
	size_t count; /* of structures; there are as many chains, or have been */
	size_t chain_count;
	size_t capacity;
	size_t id_at, next_at;
	uint64_t seed;
	const struct dlsi_alloc *alloc;
};

/* Of structures that have their id, a struct dlsi_id, at the offset `id_at`, and room for the index, a void *, at the
 * offset `next_at`. */
void dlsi_index_init(
	struct dlsi_index *index, const struct dlsi_alloc *alloc, uint64_t seed, size_t id_at, size_t next_at);
void dlsi_index_fini(struct dlsi_index *index);

/* The structure, or NULL. */
void *dlsi_index_get(const struct dlsi_index *index, const struct dlsi_id *id);

/* Adds a structure whose id is not there yet and does not change. Errors: DLS_ENOMEM (unchanged). */
int dlsi_index_add(struct dlsi_index *index, void *structure);

/* Removes one that is there. */
void dlsi_index_remove(struct dlsi_index *index, const void *structure);

#endif
