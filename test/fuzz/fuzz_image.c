/* Any bytes as a photo: a picture that is decoded has the pixels that it announces, and no more memory than the limits
 * let it is asked for. */
#include "base/limits.h"
#include "media/blend.h"
#include "media/photo.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void *resize(void *arg, void *old, size_t size)
{
	(void)arg;
	if (size > 3ULL * DLSI_IMAGE_PIXELS + DLSI_BLEND_SLACK)
		abort();
	if (size > 1 << 24) /* keeps a run fast; a large picture is then out of memory */
		return NULL;
	if (size)
		return realloc(old, size);
	free(old);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const struct dlsi_alloc alloc = {.resize = resize};
	struct dlsi_image image;
	struct dls_error err;
	volatile unsigned sum = 0; /* so that every pixel is read */

	if (dlsi_photo_decode(&alloc, data, length, &image, &err))
		return 0;
	for (size_t i = 0; i < (size_t)image.width * image.height * image.channels; i++)
		sum += image.pixels[i];
	(void)sum;
	dlsi_image_make_grey(&image);
	dlsi_image_fini(&image);
	return 0;
}
