/* Items to tensors, where Python does not reach: memory that runs out, buffers of the exact size. The values are
 * compared with Pillow and numpy in test/media. */
#include "media/prepare.h"
#include "test/unit/unit.h"
#include <stdlib.h>
#include <string.h>

static const struct dlsi_input_description image = {.kind = DLSI_INPUT_IMAGE,
	.fit = DLSI_FIT_INSIDE,
	.height = 6,
	.width = 9,
	.pad = 10,
	.scale = 1,
	.mean = {1, 2, 3},
	.std = {1, 2, 4}};
static const int64_t dims[] = {1, 3, 6, 9};

static struct dls_tensor pixels(const uint8_t *data, int64_t height, int64_t width)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_UINT8;
	tensor.rank = 2;
	tensor.dims[0] = height;
	tensor.dims[1] = width;
	tensor.data = data;
	tensor.bytes = (size_t)(height * width);
	return tensor;
}

/* A flat grey picture in the middle of its padding. */
static void test_every_element_is_written(void **state)
{
	uint8_t flat[12 * 12];
	struct dls_tensor tensor = pixels(flat, 12, 12);
	struct dlsi_prepare plan;
	float *out;

	(void)state;
	memset(flat, 21, sizeof flat);
	assert_int_equal(dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 4, dims, NULL), 0);
	assert_int_equal(plan.bytes, 3 * 6 * 9 * sizeof *out);
	out = malloc(plan.bytes);
	memset(out, 0xff, plan.bytes);
	assert_int_equal(dlsi_prepare_tensor(&plan, unit_alloc(), &tensor, out, NULL), 0);
	for (int c = 0; c < 3; c++)
		for (int y = 0; y < 6; y++)
			for (int x = 0; x < 9; x++) {
				int sample = x >= 2 && x < 8 ? 21 : 10; /* 6 of 9 columns: 1.5 to the even 2 */
				double value = (sample - image.mean[c]) / image.std[c];

				assert_true(out[(c * 6 + y) * 9 + x] == (float)value);
			}
	free(out);
}

static void test_every_request_for_memory_may_fail(void **state)
{
	uint8_t flat[12 * 12] = {0};
	struct dls_tensor tensor = pixels(flat, 12, 12);
	struct dlsi_prepare plan;
	float out[3 * 6 * 9];
	int rc = DLS_ENOMEM;

	(void)state;
	assert_int_equal(dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 4, dims, NULL), 0);
	for (unsigned n = 1; rc; n++) {
		rc = dlsi_prepare_tensor(&plan, unit_alloc_failing_at(n), &tensor, out, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		assert_true(n < 20);
	}
}

static void test_tensors_that_lie_about_themselves_are_refused(void **state)
{
	uint8_t flat[12 * 12] = {0};
	struct dls_tensor tensor = pixels(flat, 12, 12);
	struct dlsi_prepare plan;
	float out[3 * 6 * 9];

	(void)state;
	assert_int_equal(dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 4, dims, NULL), 0);
	tensor.bytes--;
	assert_int_equal(dlsi_prepare_tensor(&plan, unit_alloc(), &tensor, out, NULL), DLS_EINVAL);
	tensor = pixels(flat, -12, 12);
	assert_int_equal(dlsi_prepare_tensor(&plan, unit_alloc(), &tensor, out, NULL), DLS_EINVAL);
	tensor = pixels(flat, INT64_MAX / 2, 2);
	assert_int_equal(dlsi_prepare_tensor(&plan, unit_alloc(), &tensor, out, NULL), DLS_EINVAL);
	tensor = pixels(flat, 12, 12);
	tensor.rank = DLS_TENSOR_RANK + 1;
	assert_int_equal(dlsi_prepare_tensor(&plan, unit_alloc(), &tensor, out, NULL), DLS_EINVAL);
}

static void test_plans_that_cannot_be_are_refused(void **state)
{
	static const struct dlsi_input_description tensor = {.kind = DLSI_INPUT_TENSOR};
	struct dlsi_prepare plan = {.rank = 7};

	(void)state;
	assert_int_equal(dlsi_prepare_init(&plan, "x", &tensor, DLS_FLOAT32, 2, (int64_t[]){1, 0}, NULL), DLS_EINVAL);
	assert_int_equal(
		dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 4, (int64_t[]){1, 3, -1, 9}, NULL), DLS_EINVAL);
	assert_int_equal(
		dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 4, (int64_t[]){1, 3, 0, 9}, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_prepare_init(&plan, "x", &image, DLS_FLOAT32, 9, (int64_t[9]){1}, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_prepare_init(&plan, "x", &image, DLS_INT8, 4, dims, NULL), DLS_EINVAL);
	assert_int_equal(plan.rank, 7);
}

/* Each number is one that JSON may have; what the photo would become is not. */
static void test_numbers_that_no_sample_can_become_are_refused(void **state)
{
	static const struct {
		double scale, mean, std;
	} cases[] = {{1e308, 0, 1}, {1e38, 0, 1}, {1, 1e39, 1}, {1, -1e308, 1}, {1, 0, 1e-300}, {1, 1e308, 1e-308}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_input_description how = image;
		struct dlsi_prepare plan = {.rank = 7};
		struct dls_error err;

		how.scale = cases[i].scale;
		how.mean[2] = cases[i].mean;
		how.std[2] = cases[i].std;
		assert_int_equal(dlsi_prepare_init(&plan, "x", &how, DLS_FLOAT32, 4, dims, &err), DLS_EINVAL);
		assert_non_null(strstr(err.text, "float32 cannot hold"));
		assert_int_equal(plan.rank, 7);
	}
}

UNIT_MAIN(test_every_element_is_written, test_every_request_for_memory_may_fail,
	test_tensors_that_lie_about_themselves_are_refused, test_plans_that_cannot_be_are_refused,
	test_numbers_that_no_sample_can_become_are_refused)
