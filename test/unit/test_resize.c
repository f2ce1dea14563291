/* Resizing at its edges: extreme proportions, and memory that runs out. The values are compared with Pillow's in
 * test/media. */
#include "media/resize.h"
#include "test/unit/unit.h"
#include <string.h>

static struct dlsi_image flat(const struct dlsi_alloc *alloc, uint32_t width, uint32_t height, uint32_t channels)
{
	struct dlsi_image image;

	assert_int_equal(dlsi_image_init(&image, alloc, width, height, channels, NULL), 0);
	memset(image.pixels, 77, (size_t)width * height * channels);
	return image;
}

/* A flat picture stays flat, whatever becomes of its size. */
static void test_extreme_proportions(void **state)
{
	static const struct {
		uint32_t width, height, new_width, new_height;
		struct dlsi_region region;
	} cases[] = {
		{1, 65535, 256, 256 * 65535, {16, 128 * 65535, 224, 224}},
		{65535, 1, 256 * 65535, 256, {128 * 65535, 16, 224, 224}},
		{65535, 1, 1, 65535, {0, 65000, 1, 535}},
		{1, 65535, 3, 1, {0, 0, 3, 1}},
		{1, 1, 300, 200, {299, 199, 1, 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int filter = DLSI_FILTER_BILINEAR; filter <= DLSI_FILTER_LANCZOS; filter++) {
			struct dlsi_image image = flat(unit_alloc(), cases[i].width, cases[i].height, 1 + 2 * (i & 1));
			struct dlsi_image resized;

			assert_int_equal(dlsi_resize(&image, (enum dlsi_filter)filter, cases[i].new_width,
						 cases[i].new_height, &cases[i].region, &resized, NULL),
				0);
			assert_int_equal(resized.width, cases[i].region.width);
			assert_int_equal(resized.height, cases[i].region.height);
			assert_int_equal(resized.channels, image.channels);
			for (uint32_t at = 0; at < resized.width * resized.height * resized.channels; at++)
				assert_int_equal(resized.pixels[at], 77);
			dlsi_image_fini(&resized);
			dlsi_image_fini(&image);
		}
}

static void test_every_request_for_memory_may_fail(void **state)
{
	static const struct dlsi_region region = {0, 0, 4, 6};

	(void)state;
	for (uint32_t height = 8; height <= 80; height += 72) /* columns first, rows first */
		for (unsigned n = 2;; n++) {
			struct dlsi_image image = flat(unit_alloc_failing_at(n), 9, height, 3);
			struct dlsi_image resized = {.width = 7};
			int rc = dlsi_resize(&image, DLSI_FILTER_BICUBIC, 4, 6, &region, &resized, NULL);

			dlsi_image_fini(&image);
			if (rc == 0) {
				dlsi_image_fini(&resized);
				break;
			}
			assert_int_equal(rc, DLS_ENOMEM);
			assert_int_equal(resized.width, 7);
			assert_true(n < 20);
		}
}

UNIT_MAIN(test_extreme_proportions, test_every_request_for_memory_may_fail)
