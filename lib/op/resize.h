/* What Resize and Upsample do to each axis: how long it becomes, and where the places of its elements are in the input.
 */
#ifndef DLSI_OP_RESIZE_H
#define DLSI_OP_RESIZE_H

#include "graph/op.h"

enum dlsi_resize_mode { DLSI_RESIZE_NEAREST, DLSI_RESIZE_LINEAR, DLSI_RESIZE_CUBIC };

enum dlsi_resize_place {
	DLSI_PLACE_HALF_PIXEL,
	DLSI_PLACE_HALF_PIXEL_SYMMETRIC,
	DLSI_PLACE_PYTORCH_HALF_PIXEL,
	DLSI_PLACE_ALIGN_CORNERS,
	DLSI_PLACE_ASYMMETRIC,
	DLSI_PLACE_CROP,
	DLSI_PLACE_TF_HALF_PIXEL /* of operator set 11 alone */
};

enum dlsi_resize_round { DLSI_ROUND_DOWN, DLSI_ROUND_UP, DLSI_ROUND_FLOOR, DLSI_ROUND_CEIL, DLSI_ROUND_OLD };

/* The scale is a fraction, so that sizes that divide each other give whole places. */
struct dlsi_resize_axis {
	int64_t in, out;
	double numerator, denominator;
	double begin, end; /* of the region of interest, 1 being the whole axis */
	bool same;         /* nothing is done to it */
};

struct dlsi_resize {
	enum dlsi_resize_mode mode;
	enum dlsi_resize_place place;
	enum dlsi_resize_round round;
	bool antialias, exclude_outside;
	float cubic, extrapolation;
	struct dlsi_resize_axis axes[DLS_TENSOR_RANK];
};

/* Reads the node into one that lives as long as the graph. Errors: DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_ENOMEM. */
int dlsi_resize_read(struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_resize **resize_out,
	struct dls_error *err);

/* The place of element `index` of the output on this axis of the input, NAN if it is outside and gets the extrapolation
 * value; and the same for the nearest element, -1 if there is none. */
double dlsi_resize_place(const struct dlsi_resize *resize, uint32_t axis, int64_t index);
int64_t dlsi_resize_nearest(const struct dlsi_resize *resize, uint32_t axis, int64_t index);

/* A pass over one axis: element i of the output is the sum of `count` elements of the input, those at
 * indices[i * count] and so on, times their weights; or the extrapolation value where the first index is -1. */
struct dlsi_resize_taps {
	int64_t count;
	int64_t *indices;
	double *weights;
};

/* Products of all passes over a node's input, for `steps` of a row. */
double dlsi_resize_steps(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* Errors: DLS_ENOMEM. The taps are freed by their owner, also after a failure. */
int dlsi_resize_taps(const struct dlsi_resize *resize, uint32_t axis, const struct dlsi_alloc *alloc,
	struct dlsi_resize_taps *taps_out, struct dls_error *err);
void dlsi_resize_taps_free(const struct dlsi_alloc *alloc, struct dlsi_resize_taps *taps);

#endif
