/* Convolutions of one image that threads share in bands of rows: what they compute is what one thread does, for any
 * window, number of threads and rows; and they do share them. */
#include "base/buffer.h"
#include "device/device.h"
#include "device/model.h"
#include "kernel/parallel.h"
#include "test/unit/kernel.h"
#include "test/unit/onnx.h"
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40, CHANNELS = 64, SIDE_MOST = 40 };

struct loaded {
	struct dlsi_buffer file;
	struct dlsi_device *device;
	struct dlsi_model *model;
	int team; /* of this thread before */
};

static void load(struct loaded *loaded, struct dlsi_rng *rng, const struct dlsi_alloc *alloc, const char *text)
{
	struct dlsi_onnx onnx = {0};

	loaded->team = dlsi_parallel_threads();
	unit_onnx(&loaded->file, rng, text);
	onnx.file = loaded->file.data;
	onnx.length = loaded->file.length;
	assert_int_equal(dlsi_device_create(alloc, &dlsi_device_onednn, NULL, &loaded->device, NULL), 0);
	assert_int_equal(dlsi_model_load(alloc, loaded->device, "bands", &onnx, &loaded->model, NULL), 0);
}

static void unload(struct loaded *loaded)
{
	dlsi_parallel_set_threads(loaded->team);
	dlsi_model_destroy(loaded->model);
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
}

static struct dls_tensor tensor(const struct dlsi_model_port *port, float *data)
{
	struct dls_tensor tensor = {.size = sizeof tensor, .dtype = DLS_FLOAT32, .rank = port->rank, .data = data};

	memcpy(tensor.dims, port->dims, sizeof port->dims);
	assert_int_equal(dls_tensor_bytes(DLS_FLOAT32, tensor.rank, tensor.dims, &tensor.bytes), 0);
	return tensor;
}

static int run(struct dlsi_model *model, int threads, float *source, float *target)
{
	struct dls_tensor in = tensor(dlsi_model_input(model, 0), source);
	struct dls_tensor out = tensor(dlsi_model_output(model, 0), target);

	dlsi_parallel_set_threads(threads);
	return dlsi_model_run(model, 1, &in, &out, NULL);
}

/* 1x1, any window, and depthwise ones, one after another, with a residual and clamps. */
static void write_network(struct dlsi_rng *rng, struct dlsi_buffer *text)
{
	const int64_t kernel = kernel_between(rng, 1, 4), dilation = kernel_between(rng, 1, 2);
	const int64_t sees = (kernel - 1) * dilation + 1, stride = kernel_between(rng, 1, 3);
	const int64_t before = kernel_between(rng, 0, sees - 1), after = kernel_between(rng, 0, sees - 1);

	dlsi_buffer_printf(text,
		"in x ? %d %d %d\nconst w %d %d 1 1\nconst k %d\nnode Conv x w k > a\nnode Relu a > b\n", CHANNELS,
		(int)kernel_between(rng, 24, SIDE_MOST), (int)kernel_between(rng, 24, SIDE_MOST), CHANNELS, CHANNELS,
		CHANNELS);
	dlsi_buffer_printf(text,
		"const d %d 1 3 3\nnode Conv b d > c group:i=%d pads:I=1,1,1,1\nconst e %d %d 1 1\nnode Conv c e > f\n"
		"node Add f b > g\n",
		CHANNELS, CHANNELS, CHANNELS, CHANNELS);
	dlsi_buffer_printf(text,
		"const u 32 %d %d %d\nconst l 32\nnode Conv g u l > y strides:I=%d,%d dilations:I=%d,%d "
		"pads:I=%d,%d,%d,%d\n"
		"out y\n",
		CHANNELS, (int)kernel, (int)kernel, (int)stride, (int)stride, (int)dilation, (int)dilation, (int)before,
		(int)before, (int)after, (int)after);
	assert_false(text->failed);
	dlsi_buffer_append(text, "", 1);
}

static void test_bands_are_the_whole(void **state)
{
	float *source = malloc(CHANNELS * SIDE_MOST * SIDE_MOST * sizeof *source);
	float *alone = malloc(CHANNELS * SIDE_MOST * SIDE_MOST * sizeof *alone);
	float *shared = malloc(CHANNELS * SIDE_MOST * SIDE_MOST * sizeof *shared);

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_buffer text;
		struct loaded loaded;
		size_t bytes;

		dlsi_buffer_init(&text, unit_alloc());
		write_network(&rng, &text);
		load(&loaded, &rng, unit_alloc(), (const char *)text.data);
		for (int i = 0; i < CHANNELS * SIDE_MOST * SIDE_MOST; i++)
			source[i] = kernel_random(&rng);
		assert_int_equal(dlsi_model_output_bytes(loaded.model, 0, 1, &bytes), 0);
		assert_true(bytes <= CHANNELS * SIDE_MOST * SIDE_MOST * sizeof *shared);
		assert_int_equal(run(loaded.model, 1, source, alone), 0);
		memset(shared, 0xff, bytes);
		assert_int_equal(run(loaded.model, 2 + (int)(seed % 4), source, shared), 0);
		kernel_assert_close(shared, alone, (int64_t)(bytes / sizeof *shared), 1e-5F);
		unload(&loaded);
		dlsi_buffer_fini(&text);
	}
	free(source);
	free(alone);
	free(shared);
}

/* Channels that do not fill blocks, which our own kernels cannot take where they are last: it is never them, faster or
 * not, and so always bands. */
#define DEPTHWISE "in x ? 60 40 40\nconst d 60 1 3 3\nnode Conv x d > y group:i=60 pads:I=1,1,1,1\nout y\n"

/* Which oneDNN runs, in steps that are parts of the one before. */
static uint32_t count_parts(const struct dlsi_model *model)
{
	struct dlsi_device_facts facts;
	uint32_t parts = 0;

	dlsi_model_facts(model, &facts);
	for (uint32_t i = 0; i < facts.step_count; i++)
		parts += dlsi_model_step(model, i).kernel == NULL;
	return parts;
}

/* Of the change of the source's layout and of the convolution. */
static void test_each_thread_has_a_band(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct loaded loaded;

	(void)state;
	load(&loaded, &rng, unit_alloc(), DEPTHWISE);
	for (int threads = 1; threads <= 4; threads++) {
		dlsi_parallel_set_threads(threads);
		assert_int_equal(dlsi_model_prepare(loaded.model, 1, NULL), 0);
		assert_int_equal(count_parts(loaded.model), 2 * (threads - 1));
	}
	dlsi_parallel_set_threads(2);
	assert_int_equal(dlsi_model_prepare(loaded.model, 2, NULL), 0);
	assert_int_equal(count_parts(loaded.model), 0);
	unload(&loaded);
}

/* So much of it that all rows which a thread's windows see can be padding. */
static void test_padding_may_fill_a_band(void **state)
{
	enum { COUNT = 64 * 40 * 20 };
	static const char *const texts[] = {
		"in x ? 64 20 20\nconst w 64 64 1 1\nnode Conv x w > y pads:I=20,0,0,0\nout y\n",
		"in x ? 64 20 20\nconst w 64 64 1 1\nnode Conv x w > y pads:I=0,0,20,0\nout y\n",
		"in x ? 64 20 20\nconst w 64 1 1 1\nnode Conv x w > y group:i=64 pads:I=10,0,10,0\nout y\n"};
	float *source = malloc(COUNT * sizeof *source), *alone = malloc(COUNT * sizeof *alone);
	float *shared = malloc(COUNT * sizeof *shared);

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct dlsi_rng rng = unit_rng(i);
		struct loaded loaded;

		load(&loaded, &rng, unit_alloc(), texts[i]);
		for (int k = 0; k < COUNT; k++)
			source[k] = kernel_random(&rng);
		assert_int_equal(run(loaded.model, 1, source, alone), 0);
		for (int threads = 2; threads <= 8; threads *= 2) {
			memset(shared, 0xff, COUNT * sizeof *shared);
			assert_int_equal(run(loaded.model, threads, source, shared), 0);
			kernel_assert_close(shared, alone, COUNT, 1e-5F);
		}
		unload(&loaded);
	}
	free(source);
	free(alone);
	free(shared);
}

/* The same bits each time, whoever takes which band. */
static void test_runs_do_not_differ(void **state)
{
	enum { COUNT = 60 * 40 * 40, RUNS = 50 };
	float *source = malloc(COUNT * sizeof *source), *first = malloc(COUNT * sizeof *first);
	float *again = malloc(COUNT * sizeof *again);
	struct dlsi_rng rng = unit_rng(1);
	struct loaded loaded;

	(void)state;
	load(&loaded, &rng, unit_alloc(), DEPTHWISE);
	for (int i = 0; i < COUNT; i++)
		source[i] = kernel_random(&rng);
	assert_int_equal(run(loaded.model, 3, source, first), 0);
	for (int i = 0; i < RUNS; i++) {
		assert_int_equal(run(loaded.model, 3, source, again), 0);
		assert_memory_equal(first, again, COUNT * sizeof *first);
	}
	unload(&loaded);
	free(source);
	free(first);
	free(again);
}

static void test_memory_runs_out(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct loaded loaded;
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	load(&loaded, &rng, unit_alloc_failing_at(1000000), DEPTHWISE);
	dlsi_parallel_set_threads(3);
	for (n = 1; rc == DLS_ENOMEM; n++) {
		unit_alloc_failing_at(n);
		rc = dlsi_model_prepare(loaded.model, 1, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	}
	assert_true(n > 10);
	unit_alloc_failing_at(1000000);
	assert_int_equal(count_parts(loaded.model), 4);
	unload(&loaded);
}

UNIT_MAIN(test_bands_are_the_whole, test_padding_may_fill_a_band, test_each_thread_has_a_band, test_runs_do_not_differ,
	test_memory_runs_out)
