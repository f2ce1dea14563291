#include "media/image.h"

#include "base/limits.h"
#include "media/blend.h"
#include <stdbool.h>
#include <string.h>

/* Turning reads columns; a square of this side keeps the lines that it touches in the first-level cache. */
enum { TILE = 32 };

int dlsi_image_init(struct dlsi_image *image, const struct dlsi_alloc *alloc, uint32_t width, uint32_t height,
	uint32_t channels, struct dls_error *err)
{
	uint64_t pixels = (uint64_t)width * height;
	uint8_t *memory;

	if (!pixels)
		return dlsi_fail(err, DLS_EFORMAT, "the picture has no pixels: it is %ux%u", width, height);
	if (width > DLSI_IMAGE_SIDE || height > DLSI_IMAGE_SIDE || pixels > DLSI_IMAGE_PIXELS)
		return dlsi_fail(err, DLS_ELIMIT,
			"the picture is %ux%u; the limit is %d pixels, and %d for a side: scale it down first", width,
			height, DLSI_IMAGE_PIXELS, DLSI_IMAGE_SIDE);
	memory = dlsi_malloc(alloc, (size_t)pixels * channels + DLSI_BLEND_SLACK);
	if (!memory)
		return dlsi_fail_memory(err);
	*image = (struct dlsi_image){
		.width = width, .height = height, .channels = channels, .pixels = memory, .alloc = alloc};
	return 0;
}

void dlsi_image_fini(struct dlsi_image *image)
{
	dlsi_free(image->alloc, image->pixels);
	*image = (struct dlsi_image){.alloc = image->alloc};
}

/* One square of the turned picture. A step right in it is `right` bytes in the original, a step down is `down`. */
static void turn_tile(
	const struct dlsi_image *turned, uint32_t x, uint32_t y, const uint8_t *from, ptrdiff_t right, ptrdiff_t down)
{
	uint32_t channels = turned->channels;
	uint32_t end_x = turned->width - x < TILE ? turned->width : x + TILE;
	uint32_t end_y = turned->height - y < TILE ? turned->height : y + TILE;

	for (; y < end_y; y++) {
		uint8_t *to = turned->pixels + ((size_t)y * turned->width + x) * channels;

		for (uint32_t i = x; i < end_x; i++) {
			const uint8_t *pixel = from + (ptrdiff_t)y * down + (ptrdiff_t)i * right;

			for (uint32_t c = 0; c < channels; c++)
				*to++ = pixel[c];
		}
	}
}

int dlsi_image_turn(struct dlsi_image *image, unsigned orientation, struct dls_error *err)
{
	bool across = orientation >= 5; /* rows become columns */
	bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
	bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
	ptrdiff_t step_x = image->channels, step_y = (ptrdiff_t)image->width * image->channels;
	const uint8_t *from = image->pixels;
	struct dlsi_image turned;
	int rc;

	if (orientation <= 1 || orientation > 8)
		return 0;
	rc = dlsi_image_init(&turned, image->alloc, across ? image->height : image->width,
		across ? image->width : image->height, image->channels, err);
	if (rc)
		return rc;
	if (mirror_x) {
		from += (ptrdiff_t)(image->width - 1) * step_x;
		step_x = -step_x;
	}
	if (mirror_y) {
		from += (ptrdiff_t)(image->height - 1) * step_y;
		step_y = -step_y;
	}
	for (uint32_t y = 0; y < turned.height; y += TILE)
		for (uint32_t x = 0; x < turned.width; x += TILE)
			turn_tile(&turned, x, y, from, across ? step_y : step_x, across ? step_x : step_y);
	dlsi_image_fini(image);
	*image = turned;
	return 0;
}

void dlsi_image_make_grey(struct dlsi_image *image)
{
	size_t count = (size_t)image->width * image->height;
	uint8_t *grey = image->pixels;

	if (image->channels == 1)
		return;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *rgb = image->pixels + 3 * i;

		grey[i] = (uint8_t)((19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 0x8000) >> 16);
	}
	image->channels = 1;
}
