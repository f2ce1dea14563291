/* JPEG photos, through libjpeg-turbo. */
#ifndef DLSI_JPEG_H
#define DLSI_JPEG_H

#include "media/image.h"
#include <stdbool.h>

/* True if the bytes begin as a JPEG file does. */
bool dlsi_jpeg_recognise(const void *data, size_t length);

/* Decodes a whole file at full size, turned upright as its EXIF says. A file of one component becomes grey, any other
 * RGB; CMYK and YCCK are taken as inverted, which is what Adobe's programs write whether they say so or not. The
 * decoder's own working memory comes from the C library.
 *
 * What libjpeg-turbo repairs with a warning (a file cut short, entropy data that make no sense) is an error here, since
 * the repair is a picture that is partly grey; warnings that leave the pixels as they were meant are let pass.
 *
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED (components that are no known colours, 12 bits, lossless), DLS_ELIMIT (also
 * more than DLSI_JPEG_SCANS passes over the picture), DLS_ENOMEM. */
int dlsi_jpeg_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err);

#endif
