/* Changing a picture's size, so that the result is what Pillow's Image.resize gives.
 *
 * Every result pixel is a weighted mean of the pixels around its place in the original. When the picture gets smaller
 * the filter widens with the scale (antialiasing). Columns are done first and rounded to 8 bits, then rows; the other
 * way round where the height shrinks by more than twice as many pixels as the width (Pillow 13; earlier versions never,
 * and may differ by 1). Weights are fixed-point numbers of 22 bits. All of this is Pillow's definition of the
 * operation, and the values come out equal. Pure; memory comes from the caller's allocator: a few rows, and the
 * weights. */
#ifndef DLSI_RESIZE_H
#define DLSI_RESIZE_H

#include "media/image.h"

enum dlsi_filter {
	DLSI_FILTER_BILINEAR,
	DLSI_FILTER_NEAREST,
	DLSI_FILTER_BICUBIC, /* a = -0.5 */
	DLSI_FILTER_LANCZOS, /* three lobes */
};

/* A part of a picture. */
struct dlsi_region {
	uint32_t left;
	uint32_t top;
	uint32_t width;
	uint32_t height;
};

/* Resizes the whole of `image` to width x height and gives the pixels of the region, which must be inside; those
 * outside it are not worked out and cost nothing, so that width and height may be far above the limits of an image.
 *
 * Errors: DLS_ELIMIT (the region is too large for an image), DLS_ENOMEM. Cost: the pixels of the original that the
 * region shows, times the region's width over theirs, times the filter's width. */
int dlsi_resize(const struct dlsi_image *image, enum dlsi_filter filter, uint32_t width, uint32_t height,
	const struct dlsi_region *region, struct dlsi_image *resized_out, struct dls_error *err);

#endif
