/* Pictures: sizes that are refused, turning against the plainest model, grey against the formula. */
#include "base/limits.h"
#include "media/image.h"
#include "test/unit/unit.h"
#include <stdbool.h>
#include <string.h>

static void test_refuses_sizes_before_taking_memory(void **state)
{
	static const struct {
		uint32_t width, height;
		int code;
	} cases[] = {
		{0, 5, DLS_EFORMAT},
		{5, 0, DLS_EFORMAT},
		{DLSI_IMAGE_SIDE + 1, 1, DLS_ELIMIT},
		{1, DLSI_IMAGE_SIDE + 1, DLS_ELIMIT},
		{10000, 10001, DLS_ELIMIT},
		{UINT32_MAX, UINT32_MAX, DLS_ELIMIT},
		{1, 1, DLS_ENOMEM},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_image image = {.width = 7};
		struct dls_error err = {0};

		assert_int_equal(
			dlsi_image_init(&image, unit_alloc_failing_at(1), cases[i].width, cases[i].height, 3, &err),
			cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(image.width, 7);
	}
}

/* Where the pixel that is shown at (x, y) comes from, word by word from the EXIF standard: the 0th row of the stored
 * picture is the visual ..., its 0th column the visual ... */
static void stored_place(
	unsigned orientation, uint32_t width, uint32_t height, uint32_t x, uint32_t y, uint32_t *row, uint32_t *column)
{
	/* width and height are those of the shown picture */
	uint32_t from_right = width - 1 - x, from_bottom = height - 1 - y;

	switch (orientation) {
	case 1: /* row 0: top, column 0: left */
		*row = y, *column = x;
		break;
	case 2: /* top, right */
		*row = y, *column = from_right;
		break;
	case 3: /* bottom, right */
		*row = from_bottom, *column = from_right;
		break;
	case 4: /* bottom, left */
		*row = from_bottom, *column = x;
		break;
	case 5: /* left, top */
		*row = x, *column = y;
		break;
	case 6: /* right, top */
		*row = from_right, *column = y;
		break;
	case 7: /* right, bottom */
		*row = from_right, *column = from_bottom;
		break;
	default: /* left, bottom */
		*row = x, *column = from_bottom;
	}
}

static void fill_random(struct dlsi_image *image, struct dlsi_rng *rng)
{
	for (size_t i = 0; i < (size_t)image->width * image->height * image->channels; i++)
		image->pixels[i] = (uint8_t)dlsi_rng_below(rng, 256);
}

static void check_turn(struct dlsi_rng *rng, unsigned orientation)
{
	uint32_t width = 1 + (uint32_t)dlsi_rng_below(rng, 70), height = 1 + (uint32_t)dlsi_rng_below(rng, 70);
	uint32_t channels = dlsi_rng_below(rng, 2) ? 3 : 1;
	uint8_t stored[70 * 70 * 3];
	struct dlsi_image image;
	bool across = orientation >= 5;

	assert_int_equal(dlsi_image_init(&image, unit_alloc(), width, height, channels, NULL), 0);
	fill_random(&image, rng);
	memcpy(stored, image.pixels, (size_t)width * height * channels);
	assert_int_equal(dlsi_image_turn(&image, orientation, NULL), 0);
	assert_int_equal(image.width, across ? height : width);
	assert_int_equal(image.height, across ? width : height);
	for (uint32_t y = 0; y < image.height; y++)
		for (uint32_t x = 0; x < image.width; x++) {
			uint32_t row, column;

			stored_place(orientation, image.width, image.height, x, y, &row, &column);
			assert_memory_equal(image.pixels + ((size_t)y * image.width + x) * channels,
				stored + ((size_t)row * width + column) * channels, channels);
		}
	dlsi_image_fini(&image);
}

static void test_turns_as_exif_says(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct dlsi_rng rng = unit_rng(seed);

		for (unsigned orientation = 1; orientation <= 8; orientation++)
			check_turn(&rng, orientation);
	}
}

static void test_unchanged_when_memory_runs_out(void **state)
{
	struct dlsi_image image;

	(void)state;
	assert_int_equal(dlsi_image_init(&image, unit_alloc_failing_at(2), 2, 1, 1, NULL), 0);
	memcpy(image.pixels, "ab", 2);
	assert_int_equal(dlsi_image_turn(&image, 6, NULL), DLS_ENOMEM);
	assert_int_equal(image.width, 2);
	assert_memory_equal(image.pixels, "ab", 2);
	dlsi_image_fini(&image);
}

static void test_grey_is_luma(void **state)
{
	static const uint8_t colours[] = {0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 90, 91, 92};
	static const uint8_t luma[] = {0, 255, 76, 150, 29, 91};
	struct dlsi_image image;

	(void)state;
	assert_int_equal(dlsi_image_init(&image, unit_alloc(), 3, 2, 3, NULL), 0);
	memcpy(image.pixels, colours, sizeof colours);
	for (int twice = 0; twice < 2; twice++) {
		dlsi_image_make_grey(&image);
		assert_int_equal(image.channels, 1);
		assert_memory_equal(image.pixels, luma, sizeof luma);
	}
	dlsi_image_fini(&image);
}

UNIT_MAIN(test_refuses_sizes_before_taking_memory, test_turns_as_exif_says, test_unchanged_when_memory_runs_out,
	test_grey_is_luma)
