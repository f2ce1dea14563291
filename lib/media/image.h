/* A picture as its pixels: 8 bits, grey or RGB, rows from the top and from the left without gaps. */
#ifndef DLSI_IMAGE_H
#define DLSI_IMAGE_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdint.h>

struct dlsi_image {
	uint32_t width;
	uint32_t height;
	uint32_t channels; /* 1: grey, 3: red, green, blue */
	uint8_t *pixels;   /* and DLSI_BLEND_SLACK bytes more */
	const struct dlsi_alloc *alloc;
};

/* Takes memory for a picture of this size; the pixels are uninitialised. Foreign sizes are checked here: no side is 0
 * or above DLSI_IMAGE_SIDE, and there are at most DLSI_IMAGE_PIXELS.
 * Errors: DLS_EFORMAT (a side is 0), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_image_init(struct dlsi_image *image, const struct dlsi_alloc *alloc, uint32_t width, uint32_t height,
	uint32_t channels, struct dls_error *err);
void dlsi_image_fini(struct dlsi_image *image);

/* Turns and mirrors the picture so that it stands upright, from EXIF's orientation (1 to 8). Errors: DLS_ENOMEM (the
 * picture is unchanged). */
int dlsi_image_turn(struct dlsi_image *image, unsigned orientation, struct dls_error *err);

/* Makes an RGB picture grey, in place: ITU-R 601-2 luma, (19595 R + 38470 G + 7471 B + 32768) / 65536, as Pillow does.
 * A grey one stays as it is. */
void dlsi_image_make_grey(struct dlsi_image *image);

#endif
