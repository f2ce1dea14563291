/* Photos: encoded pictures as they come from cameras and the web, to pixels. */
#ifndef DLSI_PHOTO_H
#define DLSI_PHOTO_H

#include "media/image.h"

/* Decodes a whole JPEG or PNG file, told apart by its first bytes, into grey or RGB pixels that stand upright (see
 * media/jpeg.h and media/png.h). The caller ends *image_out with dlsi_image_fini.
 *
 * Errors: DLS_EFORMAT (neither; damaged; cut short), DLS_EUNSUPPORTED, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_photo_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err);

#endif
