/* Sliding windows, of convolutions and pooling: a window has places, and in each of them pixels of an image under it.
 */
#ifndef DLSI_WINDOW_H
#define DLSI_WINDOW_H

#include "graph/op.h"

/* Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for an input [batch, channels, spatial...] that
 * is the image, and gives the spatial dimensions of the output, which has the places. `kernel` stands for a
 * kernel_shape that is left out, or is NULL. Errors: DLS_EFORMAT, DLS_EUNSUPPORTED. */
int dlsi_window_infer(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err);

/* The way back: the input has the places, the output is the image. Also reads output_padding and output_shape. */
int dlsi_window_infer_back(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err);

bool dlsi_window_has_pads(const struct dlsi_window *window);

/* A window of any rank as one of three dimensions; those that are missing come first and have the size 1. */
struct dlsi_slide {
	int64_t image[DLSI_SPATIAL_RANK], places[DLSI_SPATIAL_RANK];
	int64_t kernel[DLSI_SPATIAL_RANK], strides[DLSI_SPATIAL_RANK], dilations[DLSI_SPATIAL_RANK];
	int64_t pads_before[DLSI_SPATIAL_RANK], pads_after[DLSI_SPATIAL_RANK];
};

/* `image` and `places` are the spatial dimensions. */
void dlsi_slide_init(
	struct dlsi_slide *slide, const struct dlsi_window *window, const int64_t *image, const int64_t *places);

int64_t dlsi_slide_pixels(const struct dlsi_slide *slide);
int64_t dlsi_slide_places(const struct dlsi_slide *slide);
int64_t dlsi_slide_positions(const struct dlsi_slide *slide); /* of the kernel */

/* Of dimension `d`: the pixel under position `k` of the window in place 0, which may be padding. */
int64_t dlsi_slide_pixel(const struct dlsi_slide *slide, uint32_t d, int64_t k);

/* Of dimension `d`: the places in which position `k` of the window is over the image. */
void dlsi_slide_range(const struct dlsi_slide *slide, uint32_t d, int64_t k, int64_t *first_out, int64_t *end_out);

/* Of dimension `d`: the positions of the window in this place that are over the image. */
void dlsi_slide_sight(const struct dlsi_slide *slide, uint32_t d, int64_t place, int64_t *first_out, int64_t *end_out);

#endif
