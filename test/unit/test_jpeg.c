/* JPEG photos of every colour space and orientation, made by the library's own encoder, whole, cut short and damaged.
 */
#include "base/limits.h"
#include "media/jpeg.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* jpeglib.h wants stdio.h before it */
#include <jpeglib.h>

struct photo {
	uint8_t *data;
	unsigned long length;
};

struct wish {
	int components;
	J_COLOR_SPACE in, stored;
	bool progressive;
	unsigned orientation; /* 0: no EXIF */
	uint32_t width, height;
	const uint8_t *colour; /* of all pixels; NULL: a pattern */
};

static const struct wish rgb = {3, JCS_RGB, JCS_YCbCr, false, 0, 37, 21, NULL};
static const struct wish grey = {1, JCS_GRAYSCALE, JCS_GRAYSCALE, false, 0, 20, 9, NULL};

static void write_exif(struct jpeg_compress_struct *libjpeg, unsigned orientation)
{
	uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0,
		(uint8_t)orientation, 0, 0, 0, 0, 0, 0};

	jpeg_write_marker(libjpeg, JPEG_APP0 + 1, exif, sizeof exif);
}

static void write_rows(struct jpeg_compress_struct *libjpeg, const struct wish *wish)
{
	uint8_t row[256 * 4];
	JSAMPROW rows[] = {row};

	for (uint32_t y = 0; y < wish->height; y++) {
		for (uint32_t i = 0; i < wish->width * (uint32_t)wish->components; i++)
			row[i] = wish->colour ? wish->colour[i % (uint32_t)wish->components]
					      : (uint8_t)(7 * i + 11 * y + i * y);
		jpeg_write_scanlines(libjpeg, rows, 1);
	}
}

static struct photo encode(const struct wish *wish)
{
	static const jpeg_scan_info two_scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
	struct jpeg_compress_struct libjpeg;
	struct jpeg_error_mgr reports;
	struct photo photo = {0};

	libjpeg.err = jpeg_std_error(&reports);
	jpeg_create_compress(&libjpeg);
	jpeg_mem_dest(&libjpeg, &photo.data, &photo.length);
	libjpeg.image_width = wish->width;
	libjpeg.image_height = wish->height;
	libjpeg.input_components = wish->components;
	libjpeg.in_color_space = wish->in;
	jpeg_set_defaults(&libjpeg);
	jpeg_set_colorspace(&libjpeg, wish->stored);
	jpeg_set_quality(&libjpeg, 100, TRUE);
	if (wish->progressive && wish->components == 1) {
		libjpeg.scan_info = two_scans;
		libjpeg.num_scans = 2;
	} else if (wish->progressive) {
		jpeg_simple_progression(&libjpeg);
	}
	jpeg_start_compress(&libjpeg, TRUE);
	if (wish->orientation)
		write_exif(&libjpeg, wish->orientation);
	write_rows(&libjpeg, wish);
	jpeg_finish_compress(&libjpeg);
	jpeg_destroy_compress(&libjpeg);
	return photo;
}

/* The bytes lie in a block of exactly their length, so that the address sanitizer sees a read beyond it. */
static int decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image,
	struct dls_error *err)
{
	void *copy = malloc(length ? length : 1);
	int rc;

	memcpy(copy, data, length);
	rc = dlsi_jpeg_decode(alloc, copy, length, image, err);
	free(copy);
	return rc;
}

/* Encodes, decodes and expects this code; a decoded picture is left in *image. */
static void expect(const struct wish *wish, int code, struct dlsi_image *image)
{
	struct photo photo = encode(wish);
	struct dls_error err = {0};

	assert_true(dlsi_jpeg_recognise(photo.data, photo.length));
	assert_int_equal(decode(unit_alloc(), photo.data, photo.length, image, &err), code);
	free(photo.data);
}

static void assert_colour(const struct dlsi_image *image, const uint8_t *colour)
{
	for (uint32_t i = 0; i < image->width * image->height * image->channels; i++)
		assert_in_range(image->pixels[i] + 3 - colour[i % image->channels], 0, 6);
}

static void test_colour_spaces(void **state)
{
	static const struct {
		struct wish wish;
		uint8_t colour[4], shown[3];
		uint32_t channels;
	} cases[] = {
		{{1, JCS_GRAYSCALE, JCS_GRAYSCALE, false, 0, 9, 5, NULL}, {90}, {90}, 1},
		{{3, JCS_RGB, JCS_YCbCr, false, 0, 9, 5, NULL}, {200, 100, 30}, {200, 100, 30}, 3},
		{{3, JCS_RGB, JCS_RGB, false, 0, 9, 5, NULL}, {200, 100, 30}, {200, 100, 30}, 3},
		{{3, JCS_RGB, JCS_YCbCr, true, 0, 9, 5, NULL}, {200, 100, 30}, {200, 100, 30}, 3},
		/* inverted ink: 255 is none */
		{{4, JCS_CMYK, JCS_CMYK, false, 0, 9, 5, NULL}, {255, 128, 0, 200}, {200, 100, 0}, 3},
		{{4, JCS_CMYK, JCS_YCCK, false, 0, 9, 5, NULL}, {255, 128, 0, 200}, {200, 100, 0}, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wish wish = cases[i].wish;
		struct dlsi_image image;

		wish.colour = cases[i].colour;
		expect(&wish, 0, &image);
		assert_int_equal(image.width, 9);
		assert_int_equal(image.height, 5);
		assert_int_equal(image.channels, cases[i].channels);
		assert_colour(&image, cases[i].shown);
		dlsi_image_fini(&image);
	}
}

static void test_unknown_colours_are_refused(void **state)
{
	struct dlsi_image image;

	(void)state;
	expect(&(struct wish){2, JCS_UNKNOWN, JCS_UNKNOWN, false, 0, 8, 8, NULL}, DLS_EUNSUPPORTED, &image);
}

static void test_orientation_is_applied(void **state)
{
	struct dlsi_image plain, image;
	struct wish wish = rgb;

	(void)state;
	expect(&wish, 0, &plain);
	for (wish.orientation = 1; wish.orientation <= 8; wish.orientation++) {
		bool across = wish.orientation >= 5;

		expect(&wish, 0, &image);
		assert_int_equal(image.width, across ? 21 : 37);
		assert_int_equal(image.height, across ? 37 : 21);
		if (wish.orientation == 3)
			assert_memory_equal(image.pixels + (37 * 21 - 1) * 3, plain.pixels, 3);
		if (wish.orientation == 6) /* the stored first pixel is shown at the top right */
			assert_memory_equal(image.pixels + 20 * 3, plain.pixels, 3);
		dlsi_image_fini(&image);
	}
	dlsi_image_fini(&plain);
}

static void check_prefixes(const struct wish *wish)
{
	struct photo photo = encode(wish);
	struct dlsi_image image = {.width = 7};

	for (unsigned long length = 0; length < photo.length; length++) {
		struct dls_error err = {0};

		assert_int_equal(decode(unit_alloc(), photo.data, length, &image, &err), DLS_EFORMAT);
		assert_non_null(strstr(err.text, "JPEG"));
		assert_int_equal(image.width, 7);
	}
	free(photo.data);
}

static void test_no_prefix_is_a_photo(void **state)
{
	struct wish progressive = rgb, turned = rgb;

	(void)state;
	progressive.progressive = true;
	turned.orientation = 6;
	check_prefixes(&rgb);
	check_prefixes(&grey);
	check_prefixes(&progressive);
	check_prefixes(&turned);
}

/* What is missing is not at the end of the file: the end marker follows too early. */
static void test_pixels_that_are_missing_are_noticed(void **state)
{
	struct photo photo = encode(&rgb);
	struct dlsi_image image;

	(void)state;
	memcpy(photo.data + photo.length - 102, "\xff\xd9", 2);
	assert_int_equal(decode(unit_alloc(), photo.data, photo.length - 100, &image, NULL), DLS_EFORMAT);
	free(photo.data);
}

static void test_bytes_behind_the_end_do_not_matter(void **state)
{
	struct photo photo = encode(&rgb);
	struct dlsi_image image;
	uint8_t *longer = malloc(photo.length + 100);

	(void)state;
	memcpy(longer, photo.data, photo.length);
	memset(longer + photo.length, 0xa5, 100);
	assert_int_equal(decode(unit_alloc(), longer, photo.length + 100, &image, NULL), 0);
	dlsi_image_fini(&image);
	free(longer);
	free(photo.data);
}

/* The frame header: marker, length, precision, height, width. */
static uint8_t *find_frame(const struct photo *photo)
{
	for (unsigned long i = 0; i + 1 < photo->length; i++)
		if (photo->data[i] == 0xff && (photo->data[i + 1] == 0xc0 || photo->data[i + 1] == 0xc2))
			return photo->data + i;
	fail_msg("no frame header");
	return NULL;
}

static void test_frame_headers_are_checked_before_decoding(void **state)
{
	static const struct {
		uint8_t header[5];
		int code;
	} cases[] = {
		{{8, 0, 0, 0, 37}, DLS_EFORMAT},           /* no rows */
		{{8, 0, 21, 0, 0}, DLS_EFORMAT},           /* no columns */
		{{8, 0x27, 0x10, 0x27, 0x11}, DLS_ELIMIT}, /* 10001 x 10000 */
		{{8, 0xff, 0xdc, 0xff, 0xdc}, DLS_ELIMIT}, /* the largest that libjpeg takes */
		{{12, 0, 21, 0, 37}, DLS_EUNSUPPORTED},    /* 12 bits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct photo photo = encode(&rgb);
		struct dlsi_image image;

		memcpy(find_frame(&photo) + 4, cases[i].header, 5);
		assert_int_equal(
			decode(unit_alloc_failing_at(1), photo.data, photo.length, &image, NULL), cases[i].code);
		free(photo.data);
	}
}

static void test_countless_scans_are_refused(void **state)
{
	struct wish wish = grey;
	struct photo photo;
	struct dlsi_image image;
	size_t scans[2], found = 0, length = 0, first;
	uint8_t *bomb;

	(void)state;
	wish.progressive = true;
	photo = encode(&wish);
	for (size_t i = 0; i + 1 < photo.length && found < 2; i++)
		if (photo.data[i] == 0xff && photo.data[i + 1] == 0xda)
			scans[found++] = i;
	assert_int_equal(found, 2);
	/* the first scan, with the tables before the second, again and again */
	first = scans[1] - scans[0];
	bomb = malloc(photo.length + (DLSI_JPEG_SCANS + 1) * first);
	memcpy(bomb, photo.data, scans[0]);
	length = scans[0];
	for (int i = 0; i <= DLSI_JPEG_SCANS; i++, length += first)
		memcpy(bomb + length, photo.data + scans[0], first);
	memcpy(bomb + length, photo.data + scans[1], photo.length - scans[1]);
	length += photo.length - scans[1];
	assert_int_equal(decode(unit_alloc(), bomb, length, &image, NULL), DLS_ELIMIT);
	free(bomb);
	free(photo.data);
}

static void test_damage_is_survived(void **state)
{
	struct wish progressive = rgb;
	struct photo photos[2];
	int refused = 0;

	(void)state;
	progressive.progressive = true;
	photos[0] = encode(&rgb);
	photos[1] = encode(&progressive);
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		const struct photo *photo = &photos[seed & 1];
		uint8_t *copy = malloc(photo->length);
		struct dlsi_image image;

		memcpy(copy, photo->data, photo->length);
		for (int change = 0; change < 3; change++)
			copy[dlsi_rng_below(&rng, photo->length)] = (uint8_t)dlsi_rng_below(&rng, 256);
		if (decode(unit_alloc(), copy, photo->length, &image, NULL) == 0)
			dlsi_image_fini(&image);
		else
			refused++;
		free(copy);
	}
	assert_in_range(refused, 1000, 4000);
	free(photos[0].data);
	free(photos[1].data);
}

static void test_every_request_for_memory_may_fail(void **state)
{
	struct wish wish = rgb;
	struct photo photo;
	unsigned n = 1;

	(void)state;
	wish.orientation = 6;
	photo = encode(&wish);
	for (;; n++) {
		struct dlsi_image image;
		int rc = decode(unit_alloc_failing_at(n), photo.data, photo.length, &image, NULL);

		if (rc == 0) {
			dlsi_image_fini(&image);
			break;
		}
		assert_int_equal(rc, DLS_ENOMEM);
	}
	assert_int_equal(n, 3); /* the picture and the turned one */
	free(photo.data);
}

UNIT_MAIN(test_colour_spaces, test_unknown_colours_are_refused, test_orientation_is_applied, test_no_prefix_is_a_photo,
	test_pixels_that_are_missing_are_noticed, test_bytes_behind_the_end_do_not_matter,
	test_frame_headers_are_checked_before_decoding, test_countless_scans_are_refused, test_damage_is_survived,
	test_every_request_for_memory_may_fail)
