#include "op/walk.h"

#include <string.h>

void dlsi_strides(uint32_t rank, const int64_t *dims, int64_t *strides_out)
{
	int64_t stride = 1;

	for (uint32_t i = rank; i-- > 0; stride *= dims[i])
		strides_out[i] = stride;
}

void dlsi_strides_broadcast(const struct dlsi_view *view, uint32_t rank, const int64_t *dims, int64_t *strides_out)
{
	uint32_t missing = rank - view->rank;

	dlsi_strides(view->rank, view->dims, strides_out + missing);
	for (uint32_t i = 0; i < rank; i++)
		if (i < missing || (view->dims[i - missing] == 1 && dims[i] != 1))
			strides_out[i] = 0;
}

void dlsi_walk_broadcast(
	struct dlsi_walk *walk, const struct dlsi_view *to, const struct dlsi_view *const *views, uint32_t count)
{
	*walk = (struct dlsi_walk){.rank = to->rank, .operands = 1 + count};
	memcpy(walk->dims, to->dims, sizeof walk->dims);
	dlsi_strides(to->rank, to->dims, walk->strides[0]);
	for (uint32_t i = 0; i < count; i++)
		dlsi_strides_broadcast(views[i], to->rank, to->dims, walk->strides[1 + i]);
}

int64_t dlsi_walk_sets(struct dlsi_walk *walk, const struct dlsi_view *view, uint32_t reduced)
{
	int64_t kept[DLS_TENSOR_RANK], count = 1;

	*walk = (struct dlsi_walk){.rank = view->rank, .operands = 2};
	memcpy(walk->dims, view->dims, sizeof walk->dims);
	dlsi_strides(view->rank, view->dims, walk->strides[0]);
	for (uint32_t i = 0; i < view->rank; i++) {
		bool is_reduced = reduced & 1U << i;

		kept[i] = is_reduced ? 1 : view->dims[i];
		count *= is_reduced ? view->dims[i] : 1;
	}
	dlsi_strides(view->rank, kept, walk->strides[1]);
	for (uint32_t i = 0; i < view->rank; i++)
		if (reduced & 1U << i)
			walk->strides[1][i] = 0;
	return count;
}

/* Whether dimension `i` continues where dimension `outer` makes a step, in all operands. */
static bool continues(const struct dlsi_walk *walk, uint32_t outer, uint32_t i)
{
	for (uint32_t k = 0; k < walk->operands; k++)
		if (walk->strides[k][outer] != walk->strides[k][i] * walk->dims[i])
			return false;
	return true;
}

static void put(struct dlsi_walk *walk, uint32_t place, uint32_t i, int64_t dim)
{
	walk->dims[place] = dim;
	for (uint32_t k = 0; k < walk->operands; k++)
		walk->strides[k][place] = walk->strides[k][i];
}

/* Leaves out dimensions of 1 and joins neighbours. */
static void simplify(struct dlsi_walk *walk)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < walk->rank; i++) {
		if (walk->dims[i] == 1)
			continue;
		if (rank && continues(walk, rank - 1, i))
			put(walk, rank - 1, i, walk->dims[rank - 1] * walk->dims[i]);
		else
			put(walk, rank++, i, walk->dims[i]);
	}
	walk->rank = rank;
}

bool dlsi_walk_begin(struct dlsi_walk *walk)
{
	for (uint32_t i = 0; i < walk->rank; i++)
		if (walk->dims[i] == 0)
			return false;
	simplify(walk);
	walk->count = walk->rank ? walk->dims[walk->rank - 1] : 1;
	for (uint32_t k = 0; k < walk->operands; k++)
		walk->steps[k] = walk->rank ? walk->strides[k][walk->rank - 1] : 1;
	memset(walk->at, 0, sizeof walk->at);
	return true;
}

bool dlsi_walk_next(struct dlsi_walk *walk)
{
	for (uint32_t i = walk->rank ? walk->rank - 1 : 0; i-- > 0;) {
		bool carries = ++walk->at[i] == walk->dims[i];
		int64_t steps = carries ? 1 - walk->dims[i] : 1;

		for (uint32_t k = 0; k < walk->operands; k++)
			walk->offsets[k] += steps * walk->strides[k][i];
		if (!carries)
			return true;
		walk->at[i] = 0;
	}
	return false;
}

/* ---- copies, by the bytes of an element */

static void copy_row(const struct dlsi_walk *walk, void *to, const void *from, size_t bytes)
{
#define COPY(type)                                                                                                     \
	if (bytes == sizeof(type)) {                                                                                   \
		type *target = (type *)to + walk->offsets[0];                                                          \
		const type *source = (const type *)from + walk->offsets[1];                                            \
                                                                                                                       \
		for (int64_t i = 0; i < walk->count; i++)                                                              \
			target[i * walk->steps[0]] = source[i * walk->steps[1]];                                       \
	}
	DLSI_WALK_WIDTHS(COPY)
#undef COPY
}

void dlsi_walk_copy(struct dlsi_walk *walk, void *to, const void *from, size_t bytes)
{
	for (bool more = dlsi_walk_begin(walk); more; more = dlsi_walk_next(walk)) {
		if (walk->steps[0] == 1 && walk->steps[1] == 1)
			memcpy((uint8_t *)to + (size_t)walk->offsets[0] * bytes,
				(const uint8_t *)from + (size_t)walk->offsets[1] * bytes, (size_t)walk->count * bytes);
		else
			copy_row(walk, to, from, bytes);
	}
}

/* One row of the last mapped axis: `count` blocks of `block` elements. */
static void map_row(uint8_t *to, const uint8_t *from, const int64_t *map, int64_t count, size_t block, const void *fill,
	size_t bytes)
{
#define MAP(type)                                                                                                      \
	if (block == 1 && bytes == sizeof(type)) {                                                                     \
		type *target = (type *)(void *)to, filler;                                                             \
		const type *source = (const type *)(const void *)from;                                                 \
                                                                                                                       \
		memcpy(&filler, fill, sizeof filler);                                                                  \
		for (int64_t i = 0; i < count; i++)                                                                    \
			target[i] = map[i] < 0 ? filler : source[map[i]];                                              \
		return;                                                                                                \
	}
	DLSI_WALK_WIDTHS(MAP)
#undef MAP
	for (int64_t i = 0; i < count; i++) {
		if (map[i] >= 0)
			memcpy(to + (size_t)i * block * bytes, from + (size_t)map[i] * block * bytes, block * bytes);
		for (size_t k = 0; map[i] < 0 && k < block; k++)
			memcpy(to + ((size_t)i * block + k) * bytes, fill, bytes);
	}
}

static void fill_elements(uint8_t *to, size_t count, const void *fill, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * bytes, fill, bytes);
}

struct mapping {
	const struct dlsi_view *to, *from;
	const int64_t *const *maps;
	const void *fill;
	size_t bytes;
	uint32_t last; /* axis that has a map; those behind it are one block */
	int64_t to_strides[DLS_TENSOR_RANK], from_strides[DLS_TENSOR_RANK];
};

static void map_axis(const struct mapping *mapping, uint32_t axis, uint8_t *to, const uint8_t *from)
{
	const int64_t *map = mapping->maps[axis];
	size_t to_bytes = (size_t)mapping->to_strides[axis] * mapping->bytes;
	size_t from_bytes = (size_t)mapping->from_strides[axis] * mapping->bytes;

	if (axis == mapping->last) {
		map_row(to, from, map, mapping->to->dims[axis], (size_t)mapping->to_strides[axis], mapping->fill,
			mapping->bytes);
		return;
	}
	for (int64_t i = 0; i < mapping->to->dims[axis]; i++, to += to_bytes) {
		int64_t source = map ? map[i] : i;

		if (source < 0)
			fill_elements(to, (size_t)mapping->to_strides[axis], mapping->fill, mapping->bytes);
		else
			map_axis(mapping, axis + 1, to, from + (size_t)source * from_bytes);
	}
}

void dlsi_mapped_copy(
	const struct dlsi_view *to, const struct dlsi_view *from, const int64_t *const *maps, const void *fill)
{
	struct mapping mapping = {.to = to, .from = from, .maps = maps, .fill = fill, .last = UINT32_MAX};

	mapping.bytes = dls_dtype_bytes(to->dtype);
	for (uint32_t i = 0; i < to->rank; i++)
		mapping.last = maps[i] ? i : mapping.last;
	if (dlsi_view_count(to) == 0)
		return;
	if (mapping.last == UINT32_MAX) {
		memcpy(to->data, from->data, dlsi_view_bytes(to));
		return;
	}
	dlsi_strides(to->rank, to->dims, mapping.to_strides);
	dlsi_strides(from->rank, from->dims, mapping.from_strides);
	map_axis(&mapping, 0, to->data, from->data);
}

int dlsi_mapped_eval(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	dlsi_map_index *map, const void *fill, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const int64_t *maps[DLS_TENSOR_RANK] = {NULL};
	int64_t sum = 0, *block, *next;

	for (uint32_t i = 0; i < output->rank; i++)
		sum += output->dims[i];
	block = next = dlsi_calloc(alloc, (size_t)sum + 1, sizeof *block);
	if (!block)
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; i < output->rank; i++) {
		bool same = input->dims[i] == output->dims[i];

		for (int64_t k = 0; k < output->dims[i]; k++) {
			next[k] = map(node, i, k, input->dims[i]);
			same = same && next[k] == k;
		}
		maps[i] = same ? NULL : next;
		next += output->dims[i];
	}
	dlsi_mapped_copy(output, input, maps, fill);
	dlsi_free(alloc, block);
	return 0;
}
