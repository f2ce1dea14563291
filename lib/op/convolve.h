/* What all convolutions have in common: how their shapes are inferred, and the loop that computes them.
 *
 * A window slides over an image, of which it sees some channels; the places where it stands have channels too. A
 * convolution makes the places out of the image, a transposed one the image out of the places. In both the weights are
 * [channels of the places][channels of the image / groups][kernel...]. */
#ifndef DLSI_CONVOLVE_H
#define DLSI_CONVOLVE_H

#include "op/window.h"

struct dlsi_convolution {
	enum dls_dtype dtype; /* sums of integers wrap around */
	int64_t items, groups;
	int64_t place_channels, image_channels; /* of all groups */
	struct dlsi_slide slide;
};

/* The input numbers of a node; the first of all is the input that is convolved. */
struct dlsi_convolution_inputs {
	uint32_t weights, bias;
	bool back; /* transposed */
};

/* Checks shapes, fills node->conv and gives the output's dimensions, as many as the input has.
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_ELIMIT. */
int dlsi_convolution_infer(const struct dlsi_graph *graph, struct dlsi_node *node,
	const struct dlsi_convolution_inputs *inputs, int64_t dims_out[DLS_TENSOR_RANK], struct dls_error *err);

/* The products of a node: each element of what is swept (the output, or of a transposed one the input) meets the
 * weights of its channel. */
double dlsi_convolution_steps(
	const struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_convolution_inputs *inputs);

/* How the node of these views is computed, in elements of this type. */
struct dlsi_convolution dlsi_convolution_of(const struct dlsi_node *node, enum dls_dtype dtype,
	const struct dlsi_view *places, const struct dlsi_view *image);

/* Sets each pixel of a tensor to the bias of its channel; to 0 if there is none (NULL, or its data is). */
void dlsi_convolution_begin(const struct dlsi_view *target, const struct dlsi_view *bias);

/* Adds to the places the products of image and weights, or to the image those of the places. */
void dlsi_convolve(const struct dlsi_convolution *convolution, void *places, const void *image, const void *weights);
void dlsi_convolve_back(
	const struct dlsi_convolution *convolution, void *image, const void *places, const void *weights);

/* Adds to one channel of the image its columns, [kernel...][places...], each pixel to where the window saw it. */
void dlsi_convolve_columns(enum dls_dtype dtype, const struct dlsi_slide *slide, void *image, const void *columns);

#endif
