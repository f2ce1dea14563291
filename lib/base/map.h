/* Finds a thing by its 128-bit key: open addressing with linear probing and backward-shift deletion, at most three
 * quarters full.
 *
 * It cannot be iterated: the order of a hash must never decide anything. What must be visited is on a list as well.
 * Keys come from strangers, so the hash is keyed with a seed that the owner draws. Pure, not thread-safe. */
#ifndef DLSI_MAP_H
#define DLSI_MAP_H

#include "base/alloc.h"
#include "base/id.h"

struct dlsi_map_slot {
	struct dlsi_id key;
	void *value; /* NULL: the slot is free */
};

struct dlsi_map {
	struct dlsi_map_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
	uint64_t seed;
	const struct dlsi_alloc *alloc;
};

void dlsi_map_init(struct dlsi_map *map, const struct dlsi_alloc *alloc, uint64_t seed);
void dlsi_map_fini(struct dlsi_map *map);

/* The value, or NULL. */
void *dlsi_map_get(const struct dlsi_map *map, const struct dlsi_id *key);

/* Adds or replaces; `value` is not NULL. Errors: DLS_ENOMEM (unchanged; never when it replaces). */
int dlsi_map_put(struct dlsi_map *map, const struct dlsi_id *key, void *value);

/* Removes and returns the value, NULL if there was none. Never fails. */
void *dlsi_map_remove(struct dlsi_map *map, const struct dlsi_id *key);

/* A key made of two numbers, for tables whose natural key is smaller. */
struct dlsi_id dlsi_map_key(uint64_t high, uint64_t low);

#endif
