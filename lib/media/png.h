/* PNG pictures, through libspng. */
#ifndef DLSI_PNG_H
#define DLSI_PNG_H

#include "media/image.h"
#include <stdbool.h>

/* True if the bytes begin as a PNG file does. */
bool dlsi_png_recognise(const void *data, size_t length);

/* Decodes a whole file, turned upright as its eXIf chunk says. Grey, with or without alpha, becomes grey, all else RGB.
 * Alpha and transparent colours are dropped, not composited; of 16 bits the high byte is kept; gamma is not applied.
 * The decoder's own working memory comes from the C library.
 *
 * Errors: DLS_EFORMAT (a file that is damaged, or cut short before the checksum of its end chunk), DLS_ELIMIT,
 * DLS_ENOMEM. */
int dlsi_png_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err);

#endif
