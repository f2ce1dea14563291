#include "graph/plan.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* Largest first; ties by the order they came in, which is that of their addresses in one array. */
static int compare(const void *left, const void *right)
{
	const struct dlsi_plan_block *a = *(struct dlsi_plan_block *const *)left;
	const struct dlsi_plan_block *b = *(struct dlsi_plan_block *const *)right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a > b) - (a < b);
}

static size_t round_up(size_t bytes)
{
	return (bytes + DLSI_PLAN_ALIGN - 1) / DLSI_PLAN_ALIGN * DLSI_PLAN_ALIGN;
}

/* The offset for `block` among `placed`, which are sorted by offset. */
static size_t find_gap(struct dlsi_plan_block *const *placed, size_t count, const struct dlsi_plan_block *block)
{
	size_t end = 0, best = SIZE_MAX, best_size = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (placed[i]->last < block->first || block->last < placed[i]->first)
			continue;
		if (placed[i]->offset >= end + block->bytes && placed[i]->offset - end < best_size) {
			best = end;
			best_size = placed[i]->offset - end;
		}
		if (placed[i]->offset + placed[i]->bytes > end)
			end = round_up(placed[i]->offset + placed[i]->bytes);
	}
	return best == SIZE_MAX ? end : best;
}

int dlsi_plan_place(const struct dlsi_alloc *alloc, struct dlsi_plan_block *blocks, size_t count, size_t *total_out)
{
	struct dlsi_plan_block **order, **placed;
	size_t total = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		if (blocks[i].bytes > SIZE_MAX / 2 || __builtin_add_overflow(sum, round_up(blocks[i].bytes), &sum))
			return DLS_ENOMEM;
	order = dlsi_calloc(alloc, 2 * (count + 1), sizeof(void *));
	if (!order)
		return DLS_ENOMEM;
	placed = order + count;
	for (size_t i = 0; i < count; i++)
		order[i] = &blocks[i];
	qsort(order, count, sizeof *order, compare);
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		order[i]->offset = find_gap(placed, i, order[i]);
		for (; at > 0 && placed[at - 1]->offset > order[i]->offset; at--)
			placed[at] = placed[at - 1];
		placed[at] = order[i];
		if (order[i]->offset + order[i]->bytes > total)
			total = order[i]->offset + order[i]->bytes;
	}
	dlsi_free(alloc, order);
	*total_out = total;
	return 0;
}
