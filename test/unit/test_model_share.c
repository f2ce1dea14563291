/* A model that several threads run at once: each has plans of its own, all have the weights together. */
#include "base/thread.h"
#include "device/device.h"
#include "device/model.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdatomic.h>
#include <string.h>

#define NETWORK                                                                                                        \
	"in x ? 256 4 4\nconst w 256 256 3 3\nconst v 256 256 3 3\nnode Conv x w > c pads:I=1,1,1,1\n"                 \
	"node Relu c > r\nnode Conv r v > y pads:I=1,1,1,1\nout y\n"

enum { ITEM = 256 * 4 * 4, WEIGHTS = 256 * 256 * 9 * sizeof(float), BATCH = 2, RUNNERS = 4, RUNS = 20 };

static float input[BATCH * ITEM], expected[BATCH * ITEM];

struct loaded {
	struct dlsi_buffer file;
	struct dlsi_device *device;
	struct dlsi_model *model;
};

/* Notes the largest block that anybody asks for. */
static void *note(void *largest, void *old, size_t size)
{
	atomic_size_t *most = largest;

	if (size > atomic_load(most))
		atomic_store(most, size);
	return unit_alloc()->resize(unit_alloc()->arg, old, size);
}

static void load(struct loaded *loaded, const struct dlsi_alloc *alloc)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_onnx onnx = {0};

	*loaded = (struct loaded){0};
	unit_onnx(&loaded->file, &rng, NETWORK);
	onnx.file = loaded->file.data;
	onnx.length = loaded->file.length;
	assert_int_equal(dlsi_device_create(alloc, &dlsi_device_onednn, NULL, &loaded->device, NULL), 0);
	assert_int_equal(dlsi_model_load(alloc, loaded->device, "net.onnx", &onnx, &loaded->model, NULL), 0);
	for (int i = 0; i < BATCH * ITEM; i++)
		input[i] = (float)dlsi_rng_below(&rng, 1000) / 1000 - 0.5f;
}

static void unload(struct loaded *loaded)
{
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
}

static struct dls_tensor tensor(int64_t batch, const float *data)
{
	return (struct dls_tensor){.size = sizeof(struct dls_tensor),
		.dtype = DLS_FLOAT32,
		.rank = 4,
		.dims = {batch, 256, 4, 4},
		.data = data,
		.bytes = (size_t)batch * ITEM * sizeof *data};
}

static void run(struct dlsi_model *model, int64_t batch, float *output)
{
	struct dls_tensor in = tensor(batch, input), out = tensor(batch, output);

	assert_int_equal(dlsi_model_run(model, batch, &in, &out, NULL), 0);
}

static void test_weights_are_laid_out_once(void **state)
{
	static float output[BATCH * ITEM];
	atomic_size_t largest = 0;
	struct dlsi_alloc alloc = {note, &largest};
	struct loaded loaded;
	struct dlsi_model *other;

	(void)state;
	load(&loaded, &alloc);
	run(loaded.model, BATCH, expected);
	assert_true(largest >= WEIGHTS);
	largest = 0;
	assert_int_equal(dlsi_model_share(loaded.model, &other, NULL), 0);
	run(other, BATCH, output);
	assert_true(largest < WEIGHTS);
	assert_memory_equal(output, expected, sizeof expected);
	dlsi_model_destroy(loaded.model); /* the other lives on */
	memset(output, 0, sizeof output);
	run(other, BATCH, output);
	assert_memory_equal(output, expected, sizeof expected);
	run(other, 1, output);
	dlsi_model_destroy(other);
	unload(&loaded);
}

struct runner {
	struct dlsi_model *model;
	pthread_t thread;
	bool good;
};

/* The first runs make their plans, and lay out weights, at the same time. */
static void *run_often(void *arg)
{
	struct runner *runner = arg;
	float output[BATCH * ITEM];

	runner->good = true;
	for (int i = 0; i < RUNS && runner->good; i++) {
		struct dls_tensor in = tensor(BATCH, input), out = tensor(BATCH, output);

		runner->good = dlsi_model_run(runner->model, BATCH, &in, &out, NULL) == 0 &&
			       memcmp(output, expected, sizeof output) == 0;
	}
	dlsi_model_destroy(runner->model);
	return NULL;
}

static void test_threads_run_it_at_once(void **state)
{
	struct runner runners[RUNNERS];
	struct dlsi_model *first;
	struct loaded loaded;

	(void)state;
	load(&loaded, unit_alloc());
	assert_int_equal(dlsi_model_share(loaded.model, &first, NULL), 0);
	run(first, BATCH, expected); /* from here on it is known which kernels are the fastest */
	dlsi_model_destroy(first);
	for (int i = 0; i < RUNNERS; i++)
		assert_int_equal(dlsi_model_share(loaded.model, &runners[i].model, NULL), 0);
	dlsi_model_destroy(loaded.model);
	for (int i = 0; i < RUNNERS; i++)
		assert_int_equal(dlsi_thread_start(&runners[i].thread, "runner", run_often, &runners[i], NULL), 0);
	for (int i = 0; i < RUNNERS; i++) {
		pthread_join(runners[i].thread, NULL);
		assert_true(runners[i].good);
	}
	unload(&loaded);
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	struct dlsi_model *other;
	struct loaded loaded;
	unsigned n = 1;

	(void)state;
	load(&loaded, unit_alloc_failing_at(1000000));
	for (; unit_alloc_failing_at(n), dlsi_model_share(loaded.model, &other, NULL) == DLS_ENOMEM; n++)
		continue;
	assert_true(n > 2);
	dlsi_model_destroy(other);
	dlsi_model_destroy(loaded.model);
	unload(&loaded);
}

UNIT_MAIN(test_weights_are_laid_out_once, test_threads_run_it_at_once, test_memory_exhaustion_is_an_error)
