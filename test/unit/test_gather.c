/* Channels of images by their numbers against the plainest loop, in every layout; and what Gather makes of them. */
#include "device/device.h"
#include "device/model.h"
#include "kernel/gather.h"
#include "kernel/parallel.h"
#include "test/unit/kernel.h"
#include "test/unit/onnx.h"
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 200 };

static struct dlsi_kernel_gather random_gather(struct dlsi_rng *rng, int64_t *channels)
{
	struct dlsi_kernel_gather gather = {.block = dlsi_rng_below(rng, 2) ? 8 : 16,
		.channels_last = dlsi_rng_below(rng, 2),
		.batch = kernel_between(rng, 1, 3),
		.source_channels = kernel_between(rng, 1, 40),
		.target_channels = kernel_between(rng, 1, 50),
		.pixels = kernel_between(rng, 1, 300),
		.channels = channels};

	for (int64_t i = 0; i < gather.target_channels; i++)
		channels[i] = kernel_between(rng, 0, gather.source_channels - 1);
	return gather;
}

static void check(struct dlsi_rng *rng, const struct dlsi_kernel_gather *gather, int threads)
{
	const struct kernel_layout in = {
		gather->channels_last, gather->block, gather->batch, gather->source_channels, gather->pixels};
	const struct kernel_layout out = {
		gather->channels_last, gather->block, gather->batch, gather->target_channels, gather->pixels};
	const int64_t count = out.items * out.channels * out.pixels;
	float *dense = kernel_floats(in.items * in.channels * in.pixels), *source = kernel_floats(kernel_stored(&in));
	float *target = kernel_floats(kernel_stored(&out)), *actual = kernel_floats(count);

	for (int64_t i = 0; i < in.items * in.channels * in.pixels; i++)
		dense[i] = kernel_random(rng);
	kernel_store(&in, dense, source);
	dlsi_gather_run(gather, source, target, threads);
	kernel_unstore(&out, target, actual);
	for (int64_t i = 0; i < count; i++) {
		const int64_t plane = i / out.pixels, item = plane / out.channels;
		const int64_t from = item * in.channels + gather->channels[plane % out.channels];

		assert_true(actual[i] == dense[from * in.pixels + i % in.pixels]);
	}
	free(dense);
	free(source);
	free(target);
	free(actual);
}

static void test_channels_go_where_they_are_wanted(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		int64_t channels[50];
		const struct dlsi_kernel_gather gather = random_gather(&rng, channels);

		check(&rng, &gather, 1 + (int)(seed % 3));
	}
}

/* ---- as a node */

enum { CHANNELS = 16, PIXELS = 30 };

static void load(struct dlsi_buffer *file, const char *text, struct dlsi_device **device, struct dlsi_model **model)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_onnx onnx = {0};

	unit_onnx(file, &rng, text);
	onnx.file = file->data;
	onnx.length = file->length;
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, device, NULL), 0);
	assert_int_equal(dlsi_model_load(unit_alloc(), *device, "gather", &onnx, model, NULL), 0);
}

static struct dls_tensor tensor(int64_t channels, const float *data)
{
	return (struct dls_tensor){.size = sizeof(struct dls_tensor),
		.dtype = DLS_FLOAT32,
		.rank = 4,
		.dims = {1, channels, 5, 6},
		.data = data,
		.bytes = (size_t)(channels * PIXELS) * sizeof *data};
}

static bool has_kernel(const struct dlsi_model *model, const char *kernel)
{
	struct dlsi_device_facts facts;

	dlsi_model_facts(model, &facts);
	for (uint32_t i = 0; i < facts.step_count; i++)
		if (strcmp(dlsi_model_step(model, i).kernel, kernel) == 0)
			return true;
	return false;
}

/* The pool leaves images in the layout of our kernels; it takes one pixel, so that nothing but the order changes. */
static void test_a_node_takes_images_as_they_lie(void **state)
{
	static float source[CHANNELS * PIXELS], target[3 * PIXELS];
	static const int wanted[] = {5, CHANNELS - 1, 0};
	struct dls_tensor in = tensor(CHANNELS, source), out = tensor(3, target);
	struct dlsi_device *device;
	struct dlsi_model *model;
	struct dlsi_buffer file;

	(void)state;
	load(&file,
		"in x ? 16 5 6\nnode MaxPool x > p kernel_shape:I=1,1\nints i 5 -1 0\nnode Gather p i > y "
		"axis:i=1\nout y\n",
		&device, &model);
	for (int i = 0; i < CHANNELS * PIXELS; i++)
		source[i] = (float)i;
	assert_int_equal(dlsi_model_run(model, 1, &in, &out, NULL), 0);
	assert_true(has_kernel(model, "own:gather"));
	for (int i = 0; i < 3 * PIXELS; i++)
		assert_true(target[i] == source[wanted[i / PIXELS] * PIXELS + i % PIXELS]);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_buffer_fini(&file);
}

static void test_an_index_of_no_channel_is_an_error(void **state)
{
	static float source[CHANNELS * PIXELS], target[PIXELS];
	struct dls_tensor in = tensor(CHANNELS, source), out = tensor(1, target);
	struct dlsi_device *device;
	struct dlsi_model *model;
	struct dlsi_buffer file;

	(void)state;
	load(&file,
		"in x ? 16 5 6\nnode MaxPool x > p kernel_shape:I=1,1\nints i 16\nnode Gather p i > y axis:i=1\nout "
		"y\n",
		&device, &model);
	assert_int_equal(dlsi_model_run(model, 1, &in, &out, NULL), DLS_EFORMAT);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_channels_go_where_they_are_wanted, test_a_node_takes_images_as_they_lie,
	test_an_index_of_no_channel_is_an_error)
