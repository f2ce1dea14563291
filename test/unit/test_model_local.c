/* Models that a program opens and runs by itself, from any number of threads. */
#include "base/file.h"
#include "base/thread.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <dirent.h>
#include <dlsched/client.h>
#include <dlsched/model.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 5, LARGE = 64, PIXELS = 28 * 28, CLASSES = 10, CALLERS = 64, RUNS = 2, TEAM = 3 };

static float pictures[LARGE][PIXELS];

/* With a team of so many threads; 0: as usual. */
static struct dls_ctx *open_model_for(uint32_t threads, struct dls_model **model)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dlsi_rng rng = unit_rng(3);
	struct dls_ctx *ctx;

	options.threads = threads;
	for (int i = 0; i < LARGE; i++)
		for (int j = 0; j < PIXELS; j++)
			pictures[i][j] = (float)dlsi_rng_below(&rng, 256) / 255;
	assert_int_equal(dls_ctx_create(&options, &ctx, NULL), 0);
	assert_int_equal(dls_model_open(ctx, "examples/fashion", model, NULL), 0);
	return ctx;
}

static struct dls_ctx *open_model(struct dls_model **model)
{
	return open_model_for(0, model);
}

static struct dls_tensor batch_of(int64_t items)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_FLOAT32;
	tensor.rank = 4;
	tensor.dims[0] = items;
	tensor.dims[1] = 1;
	tensor.dims[2] = tensor.dims[3] = 28;
	tensor.data = pictures;
	tensor.bytes = (size_t)items * sizeof *pictures;
	return tensor;
}

static void test_names_classes(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);

	(void)state;
	assert_string_equal(dls_model_label(model, 8), "Bag");
	assert_null(dls_model_label(model, 10));
	assert_null(dls_model_label(NULL, 0));
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static void test_a_batch_is_its_items(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);
	struct dls_tensor input = batch_of(BATCH), *all, *one;
	uint32_t count;

	(void)state;
	assert_int_equal(dls_model_run(model, &input, 1, &all, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(all->rank, 2);
	assert_int_equal(all->dims[0], BATCH);
	assert_int_equal(all->dims[1], CLASSES);
	assert_int_equal(all->bytes, BATCH * CLASSES * sizeof(float));
	for (int i = 0; i < BATCH; i++) {
		input = batch_of(1);
		input.data = pictures[i];
		assert_int_equal(dls_model_run(model, &input, 1, &one, &count, NULL), 0);
		for (int j = 0; j < CLASSES; j++)
			assert_true(fabsf(((const float *)all->data)[i * CLASSES + j] - ((const float *)one->data)[j]) <
				    1e-5f);
		dls_free(ctx, one);
	}
	dls_free(ctx, all);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static void copy_file(const char *folder, const char *name)
{
	char path[256];
	uint8_t *data;
	size_t length;

	snprintf(path, sizeof path, "examples/fashion/%s", name);
	assert_int_equal(dlsi_file_read(unit_alloc(), path, 1 << 24, &data, &length, NULL), 0);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, data, length, NULL), 0);
	dlsi_free(unit_alloc(), data);
}

/* As cp does it, in the same file. Each size of batch is made ready when it first comes. */
static void test_folder_that_is_written_over_meanwhile(void **state)
{
	static const char *const names[] = {"model.onnx", "model.json", "labels.txt"};
	struct dls_model *reference, *model;
	struct dls_ctx *ctx = open_model(&reference);
	const char *folder = unit_folder();
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		copy_file(folder, names[i]);
	assert_int_equal(dls_model_open(ctx, folder, &model, NULL), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(truncate(path, 0), 0);
	}
	for (int64_t items = 1; items <= BATCH; items++) {
		struct dls_tensor input = batch_of(items), *expected, *found;
		uint32_t count;

		assert_int_equal(dls_model_run(reference, &input, 1, &expected, &count, NULL), 0);
		assert_int_equal(dls_model_run(model, &input, 1, &found, &count, NULL), 0);
		assert_memory_equal(found->data, expected->data, expected->bytes);
		dls_free(ctx, expected);
		dls_free(ctx, found);
	}
	dls_model_destroy(model);
	dls_model_destroy(reference);
	dls_ctx_destroy(ctx);
}

static void test_refuses_what_does_not_fit(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);
	struct dls_tensor good = batch_of(2), pair[] = {good, good}, bad, *outputs = NULL;
	struct dls_error err;
	uint32_t count = 7;

	(void)state;
	assert_int_equal(dls_model_run(model, pair, 2, &outputs, &count, &err), DLS_EINVAL);
	assert_string_equal(err.text, "the model has 1 inputs, and 2 tensors were given");
	bad = good;
	bad.dims[3] = 14;
	bad.bytes /= 2;
	assert_int_equal(dls_model_run(model, &bad, 1, &outputs, &count, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "float32 [2, 1, 28, 14]"));
	assert_non_null(strstr(err.text, "28, 28]"));
	bad = good;
	bad.dtype = DLS_INT32;
	assert_int_equal(dls_model_run(model, &bad, 1, &outputs, &count, &err), DLS_EINVAL);
	bad = good;
	bad.data = (const char *)good.data + 1;
	assert_int_equal(dls_model_run(model, &bad, 1, &outputs, &count, &err), DLS_EINVAL);
	assert_int_equal(dls_model_run(NULL, &good, 1, &outputs, &count, &err), DLS_EINVAL);
	assert_null(outputs);
	assert_int_equal(count, 7);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static void test_no_items_have_no_rows(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);
	struct dls_tensor none = batch_of(0), *outputs;
	uint32_t count;

	(void)state;
	assert_int_equal(dls_model_run(model, &none, 1, &outputs, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(outputs->dims[0], 0);
	assert_int_equal(outputs->dims[1], CLASSES);
	assert_int_equal(outputs->bytes, 0);
	dls_free(ctx, outputs);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static struct dls_model *open_text(struct dls_ctx *ctx, const char *text)
{
	char *path = dlsi_file_join(unit_alloc(), unit_folder(), "net.onnx");
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file;
	struct dls_model *model;
	struct dls_error err;

	unit_onnx(&file, &rng, text);
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, file.data, file.length, NULL), 0);
	if (dls_model_open(ctx, path, &model, &err))
		fail_msg("%s", err.text);
	dlsi_buffer_fini(&file);
	dlsi_free(unit_alloc(), path);
	return model;
}

static void test_sizes_come_with_the_tensors(void **state)
{
	struct dls_tensor input = batch_of(1), *outputs;
	struct dls_model_memory memory = DLS_MODEL_MEMORY_INIT;
	struct dls_model *model;
	struct dls_error err;
	struct dls_ctx *ctx;
	uint32_t count;
	char *json;

	(void)state;
	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	model = open_text(ctx, "in x ? 3 ?\nnode ReduceSum x a > y keepdims:i=0\nints a 2\nout y ? 3\n");
	assert_int_equal(dls_model_describe(model, &json, NULL), 0);
	assert_non_null(strstr(json, "\"dims\":[null,3,null]"));
	assert_non_null(strstr(json, "\"dims\":[null,3]"));
	assert_null(strstr(json, "batchable"));
	dls_free(ctx, json);
	for (int64_t size = 1; size < 20; size++) {
		float sum = 0;

		input.rank = 3;
		input.dims[0] = 1 + size % 3;
		input.dims[1] = 3;
		input.dims[2] = size;
		input.bytes = (size_t)((1 + size % 3) * 3 * size) * sizeof(float);
		assert_int_equal(dls_model_run(model, &input, 1, &outputs, &count, &err), 0);
		assert_int_equal(outputs->rank, 2);
		assert_int_equal(outputs->dims[0], 1 + size % 3);
		for (int64_t i = 0; i < size; i++)
			sum += pictures[0][i];
		assert_true(fabsf(((const float *)outputs->data)[0] - sum) < 1e-4f);
		dls_free(ctx, outputs);
	}
	assert_int_equal(dls_model_prepare(model, 1, &memory, &err), DLS_ESTATE);
	assert_non_null(strstr(err.text, "leaves sizes of its inputs open"));
	input.dims[1] = 1;
	input.bytes /= 3;
	assert_int_equal(dls_model_run(model, &input, 1, &outputs, &count, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "the model takes float32 [?, 3, ?]"));
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

struct caller {
	struct dls_ctx *ctx;
	struct dls_model *model;
	const struct dls_tensor *expected; /* of batches of LARGE, and BATCH */
	pthread_t thread;
	bool good;
};

static void *run_often(void *arg)
{
	struct caller *caller = arg;
	struct dls_tensor *outputs;
	uint32_t count;

	caller->good = true;
	for (int i = 0; i < RUNS && caller->good; i++) {
		const struct dls_tensor *expected = &caller->expected[i % 2];
		struct dls_tensor input = batch_of(i % 2 ? BATCH : LARGE);

		caller->good = dls_model_run(caller->model, &input, 1, &outputs, &count, NULL) == 0;
		if (caller->good) {
			caller->good = memcmp(outputs->data, expected->data, expected->bytes) == 0;
			dls_free(caller->ctx, outputs);
		}
	}
	return NULL;
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	assert_non_null(tasks);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* They get, bit by bit, what one gets that is alone, and the team is no larger than it was for that. */
static void test_many_threads_share_it(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model_for(TEAM, &model);
	struct dls_tensor inputs[] = {batch_of(LARGE), batch_of(BATCH)}, expected[2], *outputs[2];
	struct caller callers[CALLERS];
	int before = count_threads();
	uint32_t count;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dls_model_run(model, &inputs[i], 1, &outputs[i], &count, NULL), 0);
		expected[i] = *outputs[i];
	}
	assert_int_equal(count_threads(), before + TEAM); /* the executor is one of them */
	for (int i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){.ctx = ctx, .model = model, .expected = expected};
		assert_int_equal(dlsi_thread_start(&callers[i].thread, "caller", run_often, &callers[i], NULL), 0);
	}
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(callers[i].thread, NULL);
		assert_true(callers[i].good);
	}
	assert_int_equal(count_threads(), before + TEAM);
	for (int i = 0; i < 2; i++)
		dls_free(ctx, outputs[i]);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static void test_too_many_threads_are_refused(void **state)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_error err;
	struct dls_ctx *ctx;

	(void)state;
	options.threads = 1025;
	assert_int_equal(dls_ctx_create(&options, &ctx, &err), DLS_EINVAL);
	assert_string_equal(err.text, "1025 threads; a model may run on from 1 to 1024");
}

static void test_prepares_and_profiles(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);
	struct dls_tensor input = batch_of(BATCH);
	struct dls_model_memory one = DLS_MODEL_MEMORY_INIT, many = DLS_MODEL_MEMORY_INIT, none = {0};
	struct dls_error err;
	char *json = NULL;

	(void)state;
	assert_int_equal(dls_model_prepare(model, 1, &one, NULL), 0);
	assert_int_equal(dls_model_prepare(model, 32, &many, NULL), 0);
	assert_true(one.activation_bytes > 32 * PIXELS && many.activation_bytes > one.activation_bytes);
	assert_true(one.weight_bytes > 1000000);
	assert_int_equal(dls_model_prepare(model, 2, NULL, NULL), 0);
	assert_int_equal(dls_model_prepare(model, 0, NULL, &err), DLS_EINVAL);
	assert_int_equal(dls_model_prepare(model, 1, &none, &err), DLS_EINVAL); /* without its size */
	assert_int_equal(dls_model_prepare(NULL, 1, NULL, &err), DLS_EINVAL);
	assert_int_equal(dls_model_profile(model, NULL, 0, 2, 0, &json, &err), DLS_EINVAL);
	assert_int_equal(dls_model_profile(model, NULL, 0, 2, 1001, &json, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "1 to 1000 runs, not 1001"));
	assert_int_equal(dls_model_profile(model, NULL, 0, 2, 1, NULL, &err), DLS_EINVAL);
	assert_null(json);
	assert_int_equal(dls_model_profile(model, NULL, 0, 2, 1, &json, &err), 0);
	assert_non_null(strstr(json, "\"operator\":\"Conv\""));
	dls_free(ctx, json);
	assert_int_equal(dls_model_profile(model, &input, 2, 0, 1, &json, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "1 inputs, and 2 tensors"));
	assert_int_equal(dls_model_profile(model, &input, 1, 0, 1, &json, &err), 0);
	assert_non_null(strstr(json, "\"batch\":5"));
	dls_free(ctx, json);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

static void test_a_forked_child_is_told(void **state)
{
	struct dls_model *model;
	struct dls_ctx *ctx = open_model(&model);
	struct dls_tensor input = batch_of(1), *outputs;
	uint32_t count;
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(dls_model_run(model, &input, 1, &outputs, &count, NULL) == DLS_EFORK ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
}

UNIT_MAIN(test_names_classes, test_a_batch_is_its_items, test_folder_that_is_written_over_meanwhile,
	test_refuses_what_does_not_fit, test_no_items_have_no_rows, test_sizes_come_with_the_tensors,
	test_many_threads_share_it, test_too_many_threads_are_refused, test_prepares_and_profiles,
	test_a_forked_child_is_told)
