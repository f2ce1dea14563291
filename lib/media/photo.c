#include "media/photo.h"

#include "media/jpeg.h"
#include "media/png.h"
#include <string.h>

/* What the bytes are instead, where many people have such files. */
static const char *guess(const void *data, size_t length)
{
	static const struct {
		size_t at;
		const char *bytes;
		const char *name;
	} others[] = {
		{0, "GIF8", "a GIF file"},
		{8, "WEBP", "a WebP file"},
		{0, "BM", "a BMP file"},
		{0, "II*", "a TIFF file"},
		{0, "MM", "a TIFF file"},
		{4, "ftyp", "a HEIC, AVIF or video file"},
		{0, "%PDF", "a PDF file"},
		{0, "\x93NUMPY", "an .npy file"},
		{0, "\x1f\x8b", "a gzip file"},
	};

	if (length == 0)
		return "an empty file";
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		size_t bytes = strlen(others[i].bytes);

		if (length >= others[i].at + bytes &&
			memcmp((const char *)data + others[i].at, others[i].bytes, bytes) == 0)
			return others[i].name;
	}
	return "none of the two";
}

int dlsi_photo_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err)
{
	if (dlsi_jpeg_recognise(data, length))
		return dlsi_jpeg_decode(alloc, data, length, image_out, err);
	if (dlsi_png_recognise(data, length))
		return dlsi_png_decode(alloc, data, length, image_out, err);
	return dlsi_fail(err, DLS_EFORMAT, "a photo must be a JPEG or PNG file, and this is %s", guess(data, length));
}
