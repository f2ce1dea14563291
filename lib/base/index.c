#include "base/index.h"

#include "base/error.h"

/* Not a power of two, as what grows beside it begins with: that would all have to be moved in one moment. */
enum { FIRST_CHAINS = 24 };

void dlsi_index_init(
	struct dlsi_index *index, const struct dlsi_alloc *alloc, uint64_t seed, size_t id_at, size_t next_at)
{
	*index = (struct dlsi_index){.alloc = alloc, .seed = seed, .id_at = id_at, .next_at = next_at};
}

void dlsi_index_fini(struct dlsi_index *index)
{
	dlsi_free(index->alloc, index->chains);
	dlsi_index_init(index, index->alloc, index->seed, index->id_at, index->next_at);
}

static const struct dlsi_id *id_of(const struct dlsi_index *index, const void *structure)
{
	return (const struct dlsi_id *)((const char *)structure + index->id_at);
}

static void **next_of(const struct dlsi_index *index, void *structure)
{
	return (void **)((char *)structure + index->next_at);
}

/* The largest power of two up to the count, which is not 0. */
static size_t whole(size_t count)
{
	return (size_t)1 << (63 - __builtin_clzll(count));
}

/* As many bits of the hash as name a chain that there is. */
static void **chain_of(const struct dlsi_index *index, const struct dlsi_id *id)
{
	size_t hash = (size_t)dlsi_id_hash(id, index->seed), size = whole(index->chain_count);
	size_t i = hash & (2 * size - 1);

	return &index->chains[i < index->chain_count ? i : i & (size - 1)];
}

static int reserve(struct dlsi_index *index)
{
	size_t capacity = index->capacity ? 2 * index->capacity : FIRST_CHAINS;
	void **grown;

	if (index->chain_count < index->capacity)
		return 0;
	grown = dlsi_realloc(index->alloc, index->chains, capacity * sizeof *grown);
	if (!grown)
		return DLS_ENOMEM;
	index->chains = grown;
	index->capacity = capacity;
	return 0;
}

/* One chain more: it gets its part of the one that had its structures too. */
static int split(struct dlsi_index *index)
{
	size_t last = index->chain_count;
	void **link;
	int rc = reserve(index);

	if (rc)
		return rc;
	index->chains[last] = NULL;
	index->chain_count++;
	if (!last)
		return 0;
	link = &index->chains[last - whole(last)];
	while (*link) {
		void *structure = *link, **next = next_of(index, structure);

		if (chain_of(index, id_of(index, structure)) != &index->chains[last]) {
			link = next;
			continue;
		}
		*link = *next;
		*next = index->chains[last];
		index->chains[last] = structure;
	}
	return 0;
}

void *dlsi_index_get(const struct dlsi_index *index, const struct dlsi_id *id)
{
	void *structure = index->count ? *chain_of(index, id) : NULL;

	while (structure && !dlsi_id_equal(id_of(index, structure), id))
		structure = *next_of(index, structure);
	return structure;
}

int dlsi_index_add(struct dlsi_index *index, void *structure)
{
	int rc = index->count < index->chain_count ? 0 : split(index);
	void **chain;

	if (rc)
		return rc;
	chain = chain_of(index, id_of(index, structure));
	*next_of(index, structure) = *chain;
	*chain = structure;
	index->count++;
	return 0;
}

void dlsi_index_remove(struct dlsi_index *index, const void *structure)
{
	void **link = chain_of(index, id_of(index, structure));

	while (*link != structure)
		link = next_of(index, *link);
	*link = *next_of(index, *link);
	index->count--;
}
