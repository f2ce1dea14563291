/* A walk over several tensors at once that have the same dimensions, but strides of their own: 0 where an element is
 * repeated, below 0 where it goes backwards. It goes from row to row; the elements of a row are the caller's loop:
 *
 *   for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))
 *           for (int64_t i = 0; i < walk.count; i++)
 *                   a[walk.offsets[0] + i * walk.steps[0]] = ... */
#ifndef DLSI_WALK_H
#define DLSI_WALK_H

#include "graph/op.h"

enum { DLSI_WALK_OPERANDS = 4 };

/* The bytes that elements can have, as types. */
#define DLSI_WALK_WIDTHS(X) X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t)

struct dlsi_walk {
	uint32_t rank;
	uint32_t operands;
	int64_t dims[DLS_TENSOR_RANK];
	int64_t strides[DLSI_WALK_OPERANDS][DLS_TENSOR_RANK]; /* counted in elements */

	/* The row, set by the walk. */
	int64_t count;
	int64_t offsets[DLSI_WALK_OPERANDS];
	int64_t steps[DLSI_WALK_OPERANDS];
	int64_t at[DLS_TENSOR_RANK];
};

/* Joins what can be walked in one row and goes to the first one, from the offsets that the caller has set. False if
 * there are no elements. */
bool dlsi_walk_begin(struct dlsi_walk *walk);
bool dlsi_walk_next(struct dlsi_walk *walk);

/* Strides of dense dimensions. */
void dlsi_strides(uint32_t rank, const int64_t *dims, int64_t *strides_out);

/* Strides with which `view`, which is dense, is broadcast to these dimensions. */
void dlsi_strides_broadcast(const struct dlsi_view *view, uint32_t rank, const int64_t *dims, int64_t *strides_out);

/* The walk over `to`, operand 0, and so many views that are broadcast to it, all of them dense. */
void dlsi_walk_broadcast(
	struct dlsi_walk *walk, const struct dlsi_view *to, const struct dlsi_view *const *views, uint32_t count);

/* The walk over a dense view, operand 0, and over something dense that has one element for all that differ in the axes
 * `reduced` (as bits) only, operand 1. Returns how many those are. */
int64_t dlsi_walk_sets(struct dlsi_walk *walk, const struct dlsi_view *view, uint32_t reduced);

/* Copies operand 1 to operand 0 of a walk, in elements of so many bytes (1, 2, 4 or 8). */
void dlsi_walk_copy(struct dlsi_walk *walk, void *to, const void *from, size_t bytes);

/* to[i, j, ...] = from[maps[0][i], maps[1][j], ...]; the element at `fill` where a map says -1. Both are dense and of
 * the same rank. A map that is NULL changes nothing on its axis. */
void dlsi_mapped_copy(
	const struct dlsi_view *to, const struct dlsi_view *from, const int64_t *const *maps, const void *fill);

/* From which index of the input's axis, which has `dim` elements, an index of the output's comes; -1 if from none. */
typedef int64_t dlsi_map_index(const struct dlsi_node *node, uint32_t axis, int64_t index, int64_t dim);

/* The same with maps made by a function. Errors: DLS_ENOMEM. */
int dlsi_mapped_eval(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	dlsi_map_index *map, const void *fill, const struct dlsi_alloc *alloc, struct dls_error *err);

#endif
