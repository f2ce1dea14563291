/* PNG pictures of every colour type and depth against the plainest reading of their samples, whole, cut short, damaged.
 */
#include "base/limits.h"
#include "media/png.h"
#include "test/unit/unit.h"
#include <spng.h>
#include <stdlib.h>
#include <string.h>

struct file {
	uint8_t *data;
	size_t length;
};

enum { MOST_SAMPLES = 40 * 40 * 4 };

/* A picture as its samples, before they are packed. */
struct source {
	struct spng_ihdr header;
	unsigned orientation; /* 0: no eXIf chunk */
	uint16_t samples[MOST_SAMPLES];
	struct spng_plte palette;
};

static uint32_t samples_per_pixel(uint8_t color_type)
{
	switch (color_type) {
	case SPNG_COLOR_TYPE_TRUECOLOR:
		return 3;
	case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
		return 2;
	case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
		return 4;
	default:
		return 1;
	}
}

static void fill(struct source *source, struct dlsi_rng *rng, uint8_t color_type, uint8_t depth)
{
	source->header = (struct spng_ihdr){.width = 1 + (uint32_t)dlsi_rng_below(rng, 40),
		.height = 1 + (uint32_t)dlsi_rng_below(rng, 40),
		.color_type = color_type,
		.bit_depth = depth,
		.interlace_method = dlsi_rng_below(rng, 2) ? SPNG_INTERLACE_ADAM7 : SPNG_INTERLACE_NONE};
	source->orientation = 0;
	for (int i = 0; i < MOST_SAMPLES; i++)
		source->samples[i] = (uint16_t)dlsi_rng_below(rng, 1U << depth);
	source->palette.n_entries = color_type == SPNG_COLOR_TYPE_INDEXED ? 1U << depth : 0;
	for (uint32_t i = 0; i < source->palette.n_entries; i++)
		source->palette.entries[i] = (struct spng_plte_entry){.red = (uint8_t)dlsi_rng_below(rng, 256),
			.green = (uint8_t)dlsi_rng_below(rng, 256),
			.blue = (uint8_t)dlsi_rng_below(rng, 256)};
}

/* Rows as the file holds them: samples packed from the high bit, 16 bits big-endian. */
static size_t pack(const struct source *source, uint8_t *raw)
{
	const struct spng_ihdr *header = &source->header;
	uint32_t per_row = header->width * samples_per_pixel(header->color_type);
	size_t stride = (per_row * header->bit_depth + 7) / 8;

	memset(raw, 0, stride * header->height);
	for (uint32_t y = 0; y < header->height; y++)
		for (uint32_t i = 0; i < per_row; i++) {
			uint8_t *row = raw + y * stride;
			uint16_t sample = source->samples[y * per_row + i];

			if (header->bit_depth == 16) {
				row[2 * i] = (uint8_t)(sample >> 8);
				row[2 * i + 1] = (uint8_t)sample;
			} else {
				uint32_t bit = i * header->bit_depth;

				row[bit / 8] |= (uint8_t)(sample << (8 - header->bit_depth - bit % 8));
			}
		}
	return stride * header->height;
}

static struct file encode(struct source *source)
{
	static uint8_t raw[MOST_SAMPLES * 2];
	char exif[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, (char)source->orientation, 0, 0, 0,
		0, 0, 0, 0};
	spng_ctx *spng = spng_ctx_new(SPNG_CTX_ENCODER);
	size_t length = pack(source, raw);
	struct file file;
	int error;

	spng_set_option(spng, SPNG_ENCODE_TO_BUFFER, 1);
	assert_int_equal(spng_set_ihdr(spng, &source->header), 0);
	if (source->palette.n_entries)
		assert_int_equal(spng_set_plte(spng, &source->palette), 0);
	if (source->orientation)
		assert_int_equal(spng_set_exif(spng, &(struct spng_exif){.length = sizeof exif, .data = exif}), 0);
	assert_int_equal(spng_encode_image(spng, raw, length, SPNG_FMT_RAW, SPNG_ENCODE_FINALIZE), 0);
	file.data = spng_get_png_buffer(spng, &file.length, &error);
	assert_non_null(file.data);
	spng_ctx_free(spng);
	return file;
}

/* The bytes lie in a block of exactly their length, so that the address sanitizer sees a read beyond it. */
static int decode(const struct dlsi_alloc *alloc, const void *data, size_t length, struct dlsi_image *image,
	struct dls_error *err)
{
	void *copy = malloc(length ? length : 1);
	int rc;

	memcpy(copy, data, length);
	rc = dlsi_png_decode(alloc, copy, length, image, err);
	free(copy);
	return rc;
}

static uint8_t expected(const struct source *source, uint32_t pixel, uint32_t channel)
{
	const struct spng_ihdr *header = &source->header;
	uint32_t sample = source->samples[pixel * samples_per_pixel(header->color_type) + channel];

	if (header->color_type == SPNG_COLOR_TYPE_INDEXED) {
		const struct spng_plte_entry *entry = &source->palette.entries[source->samples[pixel]];

		return channel == 0 ? entry->red : channel == 1 ? entry->green : entry->blue;
	}
	if (header->bit_depth == 16)
		return (uint8_t)(sample >> 8);
	return (uint8_t)(sample * 255 / ((1U << header->bit_depth) - 1));
}

static void test_every_colour_type_and_depth(void **state)
{
	static const uint8_t kinds[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1}, {3, 2},
		{3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
	static struct source source;

	(void)state;
	for (uint64_t seed = 1; seed <= 20 * sizeof kinds / 2; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		const uint8_t *kind = kinds[seed % (sizeof kinds / 2)];
		bool grey = kind[0] == SPNG_COLOR_TYPE_GRAYSCALE || kind[0] == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
		struct dlsi_image image;
		struct file file;

		fill(&source, &rng, kind[0], kind[1]);
		file = encode(&source);
		assert_true(dlsi_png_recognise(file.data, file.length));
		assert_int_equal(decode(unit_alloc(), file.data, file.length, &image, NULL), 0);
		assert_int_equal(image.width, source.header.width);
		assert_int_equal(image.height, source.header.height);
		assert_int_equal(image.channels, grey ? 1 : 3);
		for (uint32_t i = 0; i < image.width * image.height; i++)
			for (uint32_t c = 0; c < image.channels; c++)
				assert_int_equal(image.pixels[i * image.channels + c], expected(&source, i, c));
		dlsi_image_fini(&image);
		free(file.data);
	}
}

/* A picture of 13 x 8 with an eXIf chunk. */
static struct file encode_turned(unsigned orientation)
{
	static struct source source;
	struct dlsi_rng rng = unit_rng(7);

	fill(&source, &rng, SPNG_COLOR_TYPE_TRUECOLOR, 8);
	source.header.width = 13;
	source.header.height = 8;
	source.header.interlace_method = SPNG_INTERLACE_NONE;
	source.orientation = orientation;
	return encode(&source);
}

static void test_orientation_is_applied(void **state)
{
	(void)state;
	for (unsigned orientation = 1; orientation <= 8; orientation++) {
		struct file file = encode_turned(orientation);
		struct dlsi_image image;

		assert_int_equal(decode(unit_alloc(), file.data, file.length, &image, NULL), 0);
		assert_int_equal(image.width, orientation >= 5 ? 8 : 13);
		dlsi_image_fini(&image);
		free(file.data);
	}
}

static void test_no_prefix_is_a_picture(void **state)
{
	struct file file = encode_turned(6);
	struct dlsi_image image = {.width = 7};

	(void)state;
	/* but for the checksum of the end chunk, which is the last four bytes */
	for (size_t length = 0; length + 4 < file.length; length++) {
		struct dls_error err = {0};

		assert_int_equal(decode(unit_alloc(), file.data, length, &image, &err), DLS_EFORMAT);
		assert_non_null(strstr(err.text, "PNG"));
		assert_int_equal(image.width, 7);
	}
	free(file.data);
}

static uint32_t crc(const uint8_t *data, size_t length)
{
	uint32_t value = 0xffffffff;

	for (size_t i = 0; i < length; i++) {
		value ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
	}
	return ~value;
}

static void write_32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void test_sizes_are_checked_before_decoding(void **state)
{
	static const struct {
		uint32_t width, height;
		int code;
	} cases[] = {
		{0, 8, DLS_EFORMAT},
		{13, 0, DLS_EFORMAT},
		{10000, 10001, DLS_ELIMIT},
		{0x7fffffff, 0x7fffffff, DLS_ELIMIT},
		{0x80000000, 1, DLS_EFORMAT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct file file = encode_turned(0);
		struct dlsi_image image;

		write_32(file.data + 16, cases[i].width);
		write_32(file.data + 20, cases[i].height);
		write_32(file.data + 29, crc(file.data + 12, 17));
		assert_int_equal(decode(unit_alloc_failing_at(1), file.data, file.length, &image, NULL), cases[i].code);
		free(file.data);
	}
}

static void test_damaged_pixels_are_refused(void **state)
{
	struct file file = encode_turned(0);
	struct dlsi_image image;

	(void)state;
	file.data[file.length - 30] ^= 1; /* before the CRC of the pixels and the end chunk */
	assert_int_equal(decode(unit_alloc(), file.data, file.length, &image, NULL), DLS_EFORMAT);
	free(file.data);
}

static void test_damage_is_survived(void **state)
{
	struct file file = encode_turned(6);

	(void)state;
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint8_t *copy = malloc(file.length);
		struct dlsi_image image;

		memcpy(copy, file.data, file.length);
		for (int change = 0; change < 2; change++)
			copy[dlsi_rng_below(&rng, file.length)] = (uint8_t)dlsi_rng_below(&rng, 256);
		write_32(copy + 29, crc(copy + 12, 17));
		if (decode(unit_alloc(), copy, file.length, &image, NULL) == 0)
			dlsi_image_fini(&image);
		free(copy);
	}
	free(file.data);
}

static void test_every_request_for_memory_may_fail(void **state)
{
	struct file file = encode_turned(6);
	unsigned n = 1;

	(void)state;
	for (;; n++) {
		struct dlsi_image image;
		int rc = decode(unit_alloc_failing_at(n), file.data, file.length, &image, NULL);

		if (rc == 0) {
			dlsi_image_fini(&image);
			break;
		}
		assert_int_equal(rc, DLS_ENOMEM);
	}
	assert_int_equal(n, 3); /* the picture and the turned one */
	free(file.data);
}

UNIT_MAIN(test_every_colour_type_and_depth, test_orientation_is_applied, test_no_prefix_is_a_picture,
	test_sizes_are_checked_before_decoding, test_damaged_pixels_are_refused, test_damage_is_survived,
	test_every_request_for_memory_may_fail)
