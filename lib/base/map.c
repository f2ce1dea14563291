#include "base/map.h"

#include "base/error.h"
#include <string.h>

void dlsi_map_init(struct dlsi_map *map, const struct dlsi_alloc *alloc, uint64_t seed)
{
	*map = (struct dlsi_map){.alloc = alloc, .seed = seed};
}

void dlsi_map_fini(struct dlsi_map *map)
{
	dlsi_free(map->alloc, map->slots);
	dlsi_map_init(map, map->alloc, map->seed);
}

static size_t home(const struct dlsi_map *map, const struct dlsi_id *key)
{
	return (size_t)dlsi_id_hash(key, map->seed) & (map->capacity - 1);
}

/* Where the key is, or the free slot where it would go. The map has at least one free slot. */
static struct dlsi_map_slot *locate(const struct dlsi_map *map, const struct dlsi_id *key)
{
	size_t i = home(map, key);

	while (map->slots[i].value && !dlsi_id_equal(&map->slots[i].key, key))
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static int grow(struct dlsi_map *map)
{
	struct dlsi_map bigger = *map;

	bigger.capacity = map->capacity ? 2 * map->capacity : 16;
	bigger.slots = dlsi_calloc(map->alloc, bigger.capacity, sizeof *bigger.slots);
	if (!bigger.slots)
		return DLS_ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value)
			*locate(&bigger, &map->slots[i].key) = map->slots[i];
	dlsi_free(map->alloc, map->slots);
	*map = bigger;
	return 0;
}

void *dlsi_map_get(const struct dlsi_map *map, const struct dlsi_id *key)
{
	return map->count ? locate(map, key)->value : NULL;
}

int dlsi_map_put(struct dlsi_map *map, const struct dlsi_id *key, void *value)
{
	struct dlsi_map_slot *slot = map->count ? locate(map, key) : NULL;

	if (slot && slot->value) {
		slot->value = value;
		return 0;
	}
	if (4 * (map->count + 1) > 3 * map->capacity) {
		int rc = grow(map);

		if (rc)
			return rc;
	}
	*locate(map, key) = (struct dlsi_map_slot){*key, value};
	map->count++;
	return 0;
}

void *dlsi_map_remove(struct dlsi_map *map, const struct dlsi_id *key)
{
	struct dlsi_map_slot *hole;
	void *value;
	size_t mask = map->capacity - 1, gap, at;

	if (!map->count)
		return NULL;
	hole = locate(map, key);
	value = hole->value;
	if (!value)
		return NULL;
	gap = (size_t)(hole - map->slots);
	for (at = (gap + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
		/* An entry may fill the gap unless its home lies between the gap and itself. */
		if (((at - home(map, &map->slots[at].key)) & mask) < ((at - gap) & mask))
			continue;
		map->slots[gap] = map->slots[at];
		gap = at;
	}
	map->slots[gap].value = NULL;
	map->count--;
	return value;
}

struct dlsi_id dlsi_map_key(uint64_t high, uint64_t low)
{
	struct dlsi_id key;

	memcpy(key.bytes, &high, sizeof high);
	memcpy(key.bytes + sizeof high, &low, sizeof low);
	return key;
}
