/* The arithmetic of sizes, where it rounds and where it ends. That whole items agree with Pillow's is
 * tested in test/media. */
#include "media/framing.h"
#include "test/unit/unit.h"
#include <string.h>

static const struct dlsi_input_description shorter_256 = {
	.fit = DLSI_FIT_SHORTER, .height = 256, .crop_height = 224, .crop_width = 224};

static void test_shorter_side_and_crop(void **state)
{
	static const struct {
		uint32_t width, height, new_width, new_height, left, top;
	} cases[] = {
		{500, 375, 341, 256, 58, 16}, /* 341.33; 58.5 */
		{375, 500, 256, 341, 16, 58},
		{451, 300, 385, 256, 80, 16}, /* 384.85; 80.5 */
		{257, 256, 257, 256, 16, 16},
		{513, 512, 257, 256, 16, 16}, /* 256.5 */
		{300, 402, 256, 343, 16, 59}, /* 59.5 */
		{256, 256, 256, 256, 16, 16},
		{1, 1, 256, 256, 16, 16},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_framing framing;

		assert_int_equal(dlsi_framing_init(&framing, &shorter_256, cases[i].width, cases[i].height, NULL), 0);
		assert_int_equal(framing.width, cases[i].new_width);
		assert_int_equal(framing.height, cases[i].new_height);
		assert_int_equal(framing.region.left, cases[i].left);
		assert_int_equal(framing.region.top, cases[i].top);
		assert_int_equal(framing.full_width, 224);
		assert_int_equal(framing.full_height, 224);
	}
}

static void test_fit_keeps_the_whole_photo_in_the_middle(void **state)
{
	static const struct dlsi_input_description how = {.fit = DLSI_FIT_INSIDE, .height = 10, .width = 20};
	static const struct {
		uint32_t width, height, new_width, new_height, left, top;
	} cases[] = {
		{40, 20, 20, 10, 0, 0},
		{30, 30, 10, 10, 5, 0},
		{100, 10, 20, 2, 0, 4},
		{10000, 1, 20, 1, 0, 4}, /* not less than a pixel; 4.5 to the even 4 */
		{1, 10000, 1, 10, 10, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_framing framing;

		assert_int_equal(dlsi_framing_init(&framing, &how, cases[i].width, cases[i].height, NULL), 0);
		assert_int_equal(framing.width, cases[i].new_width);
		assert_int_equal(framing.height, cases[i].new_height);
		assert_int_equal(framing.region.width, cases[i].new_width);
		assert_int_equal(framing.region.height, cases[i].new_height);
		assert_int_equal(framing.left, cases[i].left);
		assert_int_equal(framing.top, cases[i].top);
		assert_int_equal(framing.full_width, 20);
		assert_int_equal(framing.full_height, 10);
	}
}

static void test_refuses_what_cannot_be(void **state)
{
	struct dlsi_input_description huge = {.fit = DLSI_FIT_SHORTER, .height = 16384};
	struct dlsi_input_description crop = {.crop_height = 50, .crop_width = 60};
	struct dlsi_framing framing = {.width = 7};
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_framing_init(&framing, &huge, 1, 65535, &err), DLS_ELIMIT);
	assert_non_null(strstr(err.text, "1x65535"));
	assert_int_equal(dlsi_framing_init(&framing, &crop, 59, 100, &err), DLS_EINVAL);
	assert_int_equal(dlsi_framing_init(&framing, &crop, 100, 49, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "100x49"));
	assert_int_equal(framing.width, 7);
}

static void test_sizes_that_do_not_depend_on_the_photo(void **state)
{
	struct dlsi_input_description none = {.crop_width = 0},
				      exact = {.fit = DLSI_FIT_EXACT, .height = 3, .width = 4};
	uint32_t height, width;

	(void)state;
	dlsi_framing_size(&none, &height, &width);
	assert_int_equal(height + width, 0);
	dlsi_framing_size(&exact, &height, &width);
	assert_int_equal(height, 3);
	assert_int_equal(width, 4);
	dlsi_framing_size(&shorter_256, &height, &width);
	assert_int_equal(height, 224);
	assert_int_equal(width, 224);
}

UNIT_MAIN(test_shorter_side_and_crop, test_fit_keeps_the_whole_photo_in_the_middle, test_refuses_what_cannot_be,
	test_sizes_that_do_not_depend_on_the_photo)
