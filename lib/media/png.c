#include "media/png.h"

#include "base/limits.h"
#include "media/exif.h"
#include <spng.h>
#include <string.h>

bool dlsi_png_recognise(const void *data, size_t length)
{
	return length >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int refuse(int spng_code, struct dls_error *err)
{
	if (spng_code == SPNG_EMEM)
		return dlsi_fail_memory(err);
	if (spng_code == SPNG_ECHUNK_LIMITS)
		return dlsi_fail(err, DLS_ELIMIT,
			"a text, profile or EXIF chunk of the PNG picture is above the limit of %d bytes; save the "
			"picture without it",
			DLSI_PNG_CHUNK_BYTES);
	if (spng_code == SPNG_EOVERFLOW) /* the product of the sides */
		return dlsi_fail(err, DLS_ELIMIT, "the PNG picture has more than %d pixels; scale it down first",
			DLSI_IMAGE_PIXELS);
	return dlsi_fail(err, DLS_EFORMAT, "the PNG picture is damaged or cut short: %s", spng_strerror(spng_code));
}

/* libspng gives a byte per pixel only for grey of 8 bits and less without alpha; other grey comes as RGB. */
static void keep_every_third(struct dlsi_image *image)
{
	size_t count = (size_t)image->width * image->height;

	for (size_t i = 0; i < count; i++)
		image->pixels[i] = image->pixels[3 * i];
	image->channels = 1;
}

static int read_pixels(spng_ctx *spng, const struct spng_ihdr *header, struct dlsi_image *image, struct dls_error *err)
{
	bool plain_grey = header->color_type == SPNG_COLOR_TYPE_GRAYSCALE && header->bit_depth <= 8;
	uint32_t channels = plain_grey ? 1 : 3;
	int rc = dlsi_image_init(image, image->alloc, header->width, header->height, channels, err);

	if (rc)
		return rc;
	rc = spng_decode_image(spng, image->pixels, (size_t)image->width * image->height * channels,
		plain_grey ? SPNG_FMT_G8 : SPNG_FMT_RGB8, 0);
	if (rc)
		return refuse(rc, err);
	if (header->color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
		(header->color_type == SPNG_COLOR_TYPE_GRAYSCALE && !plain_grey))
		keep_every_third(image);
	return 0;
}

static int read_image(spng_ctx *spng, struct dlsi_image *image, struct dls_error *err)
{
	struct spng_ihdr header;
	struct spng_exif exif;
	int rc = spng_get_ihdr(spng, &header);

	if (rc)
		return refuse(rc, err);
	rc = read_pixels(spng, &header, image, err);
	if (rc)
		return rc;
	rc = spng_decode_chunks(spng); /* those behind the pixels, to the end chunk */
	if (rc)
		return refuse(rc, err);
	if (spng_get_exif(spng, &exif))
		return 0;
	return dlsi_image_turn(image, dlsi_exif_orientation(exif.data, exif.length), err);
}

int dlsi_png_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err)
{
	struct dlsi_image image = {.alloc = alloc};
	spng_ctx *spng = spng_ctx_new(0);
	int rc;

	if (!spng)
		return dlsi_fail_memory(err);
	rc = spng_set_png_buffer(spng, data, length);
	if (rc == 0)
		rc = spng_set_chunk_limits(spng, DLSI_PNG_CHUNK_BYTES, DLSI_PNG_CHUNK_BYTES);
	if (rc == 0)
		rc = spng_set_crc_action(spng, SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
	rc = rc ? refuse(rc, err) : read_image(spng, &image, err);
	spng_ctx_free(spng);
	if (rc)
		dlsi_image_fini(&image);
	else
		*image_out = image;
	return rc;
}
