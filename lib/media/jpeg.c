#include "media/jpeg.h"

#include "base/limits.h"
#include "media/exif.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
/* jpeglib.h wants stdio.h before it */
#include <jerror.h>
#include <jpeglib.h>

enum { EXIF_MARKER = JPEG_APP0 + 1, MARKER_BYTES = 0xffff, ROWS_AT_ONCE = 16 };

static const char exif_name[] = "Exif\0"; /* with the literal's own NUL: the six bytes before the TIFF block */

/* libjpeg reports through a function that must not return: it jumps back to `failed`. */
struct decoder {
	struct jpeg_decompress_struct libjpeg;
	struct jpeg_error_mgr reports;
	struct jpeg_progress_mgr progress;
	jmp_buf failed;
	int code; /* of the failure */
	struct dls_error *err;
	struct dlsi_image image;
};

bool dlsi_jpeg_recognise(const void *data, size_t length)
{
	return length >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0;
}

_Noreturn static void refuse(struct decoder *decoder, int code)
{
	char reason[JMSG_LENGTH_MAX];

	if (code == DLS_ENOMEM) {
		decoder->code = dlsi_fail_memory(decoder->err);
	} else {
		decoder->reports.format_message((j_common_ptr)&decoder->libjpeg, reason);
		decoder->code = dlsi_fail(decoder->err, code, "the JPEG photo %s: %s",
			code == DLS_EUNSUPPORTED ? "is of a kind that is not supported" : "is damaged or cut short",
			reason);
	}
	longjmp(decoder->failed, 1);
}

static void report_error(j_common_ptr libjpeg)
{
	switch (libjpeg->err->msg_code) {
	case JERR_OUT_OF_MEMORY:
		refuse(libjpeg->client_data, DLS_ENOMEM);
		break;
	case JERR_BAD_PRECISION:
	case JERR_SOF_UNSUPPORTED:
	case JERR_CONVERSION_NOTIMPL:
	case JERR_CCIR601_NOTIMPL:
	case JERR_FRACT_SAMPLE_NOTIMPL:
	case JERR_NOT_COMPILED:
		refuse(libjpeg->client_data, DLS_EUNSUPPORTED);
		break;
	default:
		refuse(libjpeg->client_data, DLS_EFORMAT);
	}
}

static void report_warning(j_common_ptr libjpeg, int level)
{
	if (level >= 0) /* a trace message */
		return;
	switch (libjpeg->err->msg_code) {
	case JWRN_ADOBE_XFORM:
	case JWRN_EXTRANEOUS_DATA:
	case JWRN_JFIF_MAJOR:
		break;
	default:
		refuse(libjpeg->client_data, DLS_EFORMAT);
	}
}

/* A small file can announce any number of passes over a large picture. */
static void count_scans(j_common_ptr libjpeg)
{
	struct decoder *decoder = libjpeg->client_data;

	if (decoder->libjpeg.input_scan_number > DLSI_JPEG_SCANS) {
		decoder->code = dlsi_fail(decoder->err, DLS_ELIMIT,
			"the JPEG photo has more than %d scans; save it again as a baseline JPEG", DLSI_JPEG_SCANS);
		longjmp(decoder->failed, 1);
	}
}

static unsigned find_orientation(const struct jpeg_decompress_struct *libjpeg)
{
	for (jpeg_saved_marker_ptr marker = libjpeg->marker_list; marker; marker = marker->next)
		if (marker->data_length >= sizeof exif_name && memcmp(marker->data, exif_name, sizeof exif_name) == 0)
			return dlsi_exif_orientation(
				marker->data + sizeof exif_name, marker->data_length - sizeof exif_name);
	return 1;
}

static void choose_colours(struct decoder *decoder)
{
	struct jpeg_decompress_struct *libjpeg = &decoder->libjpeg;

	switch (libjpeg->jpeg_color_space) {
	case JCS_GRAYSCALE:
		libjpeg->out_color_space = JCS_GRAYSCALE;
		break;
	case JCS_RGB:
	case JCS_YCbCr:
		libjpeg->out_color_space = JCS_RGB;
		break;
	case JCS_CMYK:
	case JCS_YCCK:
		libjpeg->out_color_space = JCS_CMYK;
		break;
	default:
		decoder->code = dlsi_fail(decoder->err, DLS_EUNSUPPORTED,
			"the JPEG photo has %d components, which are no known colours; save it as RGB or grey",
			libjpeg->num_components);
		longjmp(decoder->failed, 1);
	}
}

static void read_rows(struct decoder *decoder)
{
	struct jpeg_decompress_struct *libjpeg = &decoder->libjpeg;
	size_t stride = (size_t)decoder->image.width * decoder->image.channels;
	JSAMPROW rows[ROWS_AT_ONCE];

	while (libjpeg->output_scanline < libjpeg->output_height) {
		JDIMENSION count = libjpeg->output_height - libjpeg->output_scanline;

		if (count > ROWS_AT_ONCE)
			count = ROWS_AT_ONCE;
		for (JDIMENSION i = 0; i < count; i++)
			rows[i] = decoder->image.pixels + (libjpeg->output_scanline + i) * stride;
		jpeg_read_scanlines(libjpeg, rows, count);
	}
}

/* product / 255, rounded, for a product of two bytes. */
static uint8_t divide_255(unsigned product)
{
	product += 128;
	return (uint8_t)((product + (product >> 8)) >> 8);
}

/* The bytes are inverted, 255 for no ink, so that a colour is its ink's byte times black's. */
static void read_cmyk_rows(struct decoder *decoder)
{
	struct jpeg_decompress_struct *libjpeg = &decoder->libjpeg;
	JSAMPARRAY row = libjpeg->mem->alloc_sarray(
		(j_common_ptr)libjpeg, JPOOL_IMAGE, (JDIMENSION)libjpeg->output_width * 4, 1);
	uint8_t *rgb = decoder->image.pixels;

	while (libjpeg->output_scanline < libjpeg->output_height) {
		const uint8_t *cmyk = row[0];

		jpeg_read_scanlines(libjpeg, row, 1);
		for (uint32_t x = 0; x < decoder->image.width; x++, cmyk += 4)
			for (int c = 0; c < 3; c++)
				*rgb++ = divide_255((unsigned)cmyk[c] * cmyk[3]);
	}
}

/* All that can jump back. */
static int read_image(struct decoder *decoder)
{
	struct jpeg_decompress_struct *libjpeg = &decoder->libjpeg;
	unsigned orientation;
	uint32_t channels;
	int rc;

	jpeg_save_markers(libjpeg, EXIF_MARKER, MARKER_BYTES);
	jpeg_read_header(libjpeg, TRUE);
	orientation = find_orientation(libjpeg);
	choose_colours(decoder);
	channels = libjpeg->out_color_space == JCS_GRAYSCALE ? 1 : 3;
	rc = dlsi_image_init(&decoder->image, decoder->image.alloc, libjpeg->image_width, libjpeg->image_height,
		channels, decoder->err);
	if (rc)
		return rc;
	jpeg_start_decompress(libjpeg);
	if (libjpeg->out_color_space == JCS_CMYK)
		read_cmyk_rows(decoder);
	else
		read_rows(decoder);
	jpeg_finish_decompress(libjpeg); /* reads on to the end marker: only now the file is known to be whole */
	return dlsi_image_turn(&decoder->image, orientation, decoder->err);
}

static int decode(struct decoder *decoder, const void *data, size_t length)
{
	struct jpeg_decompress_struct *libjpeg = &decoder->libjpeg;

	libjpeg->err = jpeg_std_error(&decoder->reports);
	libjpeg->client_data = decoder;
	decoder->reports.error_exit = report_error;
	decoder->reports.emit_message = report_warning;
	decoder->progress.progress_monitor = count_scans;
	if (setjmp(decoder->failed))
		return decoder->code;
	jpeg_create_decompress(libjpeg);
	libjpeg->progress = &decoder->progress;
	jpeg_mem_src(libjpeg, data, length);
	return read_image(decoder);
}

int dlsi_jpeg_decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image_out,
	struct dls_error *err)
{
	struct decoder decoder = {.err = err, .image.alloc = alloc};
	int rc = decode(&decoder, data, length);

	jpeg_destroy_decompress(&decoder.libjpeg);
	if (rc)
		dlsi_image_fini(&decoder.image);
	else
		*image_out = decoder.image;
	return rc;
}
