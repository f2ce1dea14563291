/* How a worker comes by its models, and what becomes of items when it cannot: files that change on the way, a cache
 * that is used again, folders without a description, several devices, jobs that end early. */
#include "base/file.h"
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include "worker/worker.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FASHION "examples/fashion"

enum { ITEMS = 200, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, TOP = 5 };

static uint8_t pictures[ITEMS][PIXELS];
static float scores[ITEMS][CLASSES]; /* what the model says of them here */

static void draw_pictures(void)
{
	struct dlsi_rng rng = unit_rng(11);

	for (int i = 0; i < ITEMS; i++)
		for (int j = 0; j < PIXELS; j++)
			pictures[i][j] = (uint8_t)(dlsi_rng_below(&rng, 256) * (uint64_t)(j > i));
}

static void score_pictures(struct dls_ctx *ctx)
{
	static bool scored;
	static float values[ITEMS][PIXELS];
	struct dls_tensor input = DLS_TENSOR_INIT, *output;
	struct dls_model *model;
	uint32_t count;

	if (scored)
		return;
	scored = true;
	for (int i = 0; i < ITEMS; i++)
		for (int j = 0; j < PIXELS; j++)
			values[i][j] = (float)(pictures[i][j] / 255.0);
	input.dtype = DLS_FLOAT32;
	input.rank = 4;
	input.dims[0] = ITEMS;
	input.dims[1] = 1;
	input.dims[2] = input.dims[3] = SIDE;
	input.data = values;
	input.bytes = sizeof values;
	assert_int_equal(dls_model_open(ctx, FASHION, &model, NULL), 0);
	assert_int_equal(dls_model_run(model, &input, 1, &output, &count, NULL), 0);
	memcpy(scores, output->data, sizeof scores);
	dls_free(ctx, output);
	dls_model_destroy(model);
}

/* A cluster whose workers run models and keep them in `cache`. */
static void start(struct site *site, uint32_t workers, uint32_t devices, const char *cache)
{
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	draw_pictures();
	site_reset();
	site->ctx = site_ctx();
	options.workers = workers;
	options.worker.devices = devices;
	options.worker.cache_dir = cache;
	if (dls_cluster_local(site->ctx, &options, &site->cluster, &err))
		fail_msg("%s", err.text);
	assert_int_equal(dls_cluster_start(site->cluster, NULL), 0);
	client.master = dls_cluster_endpoint(site->cluster);
	assert_int_equal(dls_client_create(site->ctx, &client, &site->client, NULL), 0);
	score_pictures(site->ctx);
}

static struct dls_job *make_job(struct site *site, const char *model, uint32_t task_items)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_error err;
	struct dls_job *job;

	options.model = model;
	options.task_items = task_items;
	if (dls_job_create(site->client, &options, &job, &err))
		fail_msg("%s", err.text);
	return job;
}

static void add_pictures(struct dls_job *job)
{
	struct dls_tensor batch = DLS_TENSOR_INIT;

	batch.dtype = DLS_UINT8;
	batch.rank = 3;
	batch.dims[0] = ITEMS;
	batch.dims[1] = batch.dims[2] = SIDE;
	batch.data = pictures;
	batch.bytes = sizeof pictures;
	assert_int_equal(dls_job_add_batch(job, &batch, NULL), 0);
}

static void check_answer(const struct dls_result *result)
{
	const struct dls_output *output = result->outputs;
	const float *expected = scores[result->item];

	if (result->code)
		fail_msg("item %u: %s", (unsigned)result->item, result->error);
	assert_int_equal(result->output_count, 1);
	assert_int_equal(output->tensor.dims[0], TOP);
	for (int i = 0; i < TOP; i++) {
		float value = ((const float *)output->tensor.data)[i];

		assert_true(fabsf(value - expected[output->indices[i]]) < 1e-5f);
		for (int j = 0; i == 0 && j < CLASSES; j++)
			assert_true(value > expected[j] - 1e-5f);
	}
}

static void run_pictures(struct site *site, uint32_t task_items)
{
	struct dls_job *job = make_job(site, FASHION, task_items);

	add_pictures(job);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++) {
		struct dls_result *result = site_next(job, item);

		check_answer(result);
		dls_result_destroy(result);
	}
	dls_job_destroy(job);
}

static void test_several_workers_and_devices(void **state)
{
	struct site site;

	(void)state;
	start(&site, 2, 2, unit_folder());
	run_pictures(&site, 0);
	run_pictures(&site, 37);
	site_stop(&site);
}

/* ---- bad items */

static void assert_item_fails(struct dls_job *job, uint64_t item, int code, const char *part)
{
	struct dls_result *result = site_next(job, item);

	if (result->code != code || !strstr(result->error, part))
		fail_msg("item %u: %d, \"%s\" does not say \"%s\"", (unsigned)item, result->code,
			result->error ? result->error : "", part);
	dls_result_destroy(result);
}

static void add_tensors(struct dls_job *job, int64_t height, int64_t width, uint32_t count)
{
	struct dls_tensor tensors[2] = {DLS_TENSOR_INIT, DLS_TENSOR_INIT};

	tensors[0].dtype = DLS_FLOAT32;
	tensors[0].rank = 2;
	tensors[0].dims[0] = height;
	tensors[0].dims[1] = width;
	tensors[0].data = scores;
	tensors[0].bytes = (size_t)(height * width) * sizeof(float);
	tensors[1] = tensors[0];
	assert_int_equal(dls_job_add_tensors(job, tensors, count, NULL), 0);
}

static void test_items_that_do_not_fit_are_told_why(void **state)
{
	static const uint8_t garbage[200000] = "this is no photo";
	struct dls_job *job;
	struct site site;

	(void)state;
	start(&site, 1, 1, unit_folder());
	job = make_job(&site, FASHION, 0);
	assert_int_equal(dls_job_add_bytes(job, garbage, sizeof garbage, NULL), 0);
	assert_int_equal(dls_job_add_bytes(job, "\xff\xd8\xff\xe0\x00\x10JFIF", 11, NULL), 0);
	add_tensors(job, 14, 14, 1);
	add_tensors(job, 28, 28, 2);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_item_fails(job, 0, DLS_EFORMAT, "");
	assert_item_fails(job, 1, DLS_EFORMAT, "");
	assert_item_fails(job, 2, DLS_EINVAL, "float32 [1, 1, 28, 28], and this item is float32 [14, 14]");
	assert_item_fails(job, 3, DLS_EINVAL, "the model has 1 inputs, and this item brings 2");
	dls_job_destroy(job);
	site_stop(&site);
}

/* ---- a model that cannot be had */

/* Copies the first `files` of its files. */
static char *copy_model(const char *folder, size_t files)
{
	static const char *const names[] = {"model.onnx", "model.json", "labels.txt"};
	char *copy = dlsi_file_join(unit_alloc(), folder, "model");

	assert_int_equal(dlsi_file_make_folder(unit_alloc(), copy, NULL), 0);
	for (size_t i = 0; i < files; i++) {
		char *from = dlsi_file_join(unit_alloc(), FASHION, names[i]);
		char *to = dlsi_file_join(unit_alloc(), copy, names[i]);
		uint8_t *data;
		size_t length;

		assert_int_equal(dlsi_file_read(unit_alloc(), from, 1 << 24, &data, &length, NULL), 0);
		assert_int_equal(dlsi_file_write(unit_alloc(), to, 0600, data, length, NULL), 0);
		dlsi_free(unit_alloc(), data);
		dlsi_free(unit_alloc(), from);
		dlsi_free(unit_alloc(), to);
	}
	return copy;
}

/* Changes a byte in the middle of the model, behind the client's back. */
static void damage(const char *folder)
{
	char *path = dlsi_file_join(unit_alloc(), folder, "model.onnx");
	FILE *file = fopen(path, "r+b");

	assert_non_null(file);
	assert_int_equal(fseek(file, 20000, SEEK_SET), 0);
	assert_int_equal(fputc(fgetc(file) ^ 1, file) == EOF, 0);
	assert_int_equal(fclose(file), 0);
	dlsi_free(unit_alloc(), path);
}

static void test_a_model_that_changed_on_the_way_fails_its_items(void **state)
{
	const char *folder = unit_folder();
	char *model = copy_model(folder, 3);
	struct dls_job *job;
	struct site site;

	(void)state;
	start(&site, 2, 1, folder);
	job = make_job(&site, model, 1);
	damage(model);
	add_tensors(job, 28, 28, 1);
	add_tensors(job, 28, 28, 1);
	add_tensors(job, 28, 28, 1);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < 3; item++)
		assert_item_fails(job, item, DLS_EFORMAT, "the model cannot be had: ");
	dls_job_destroy(job);
	run_pictures(&site, 0); /* the right one is had all the same */
	site_stop(&site);
	dlsi_free(unit_alloc(), model);
}

/* Without model.json it takes its own tensors and gives them whole. */
static void test_a_folder_with_nothing_but_the_graph(void **state)
{
	const char *folder = unit_folder();
	char *model = copy_model(folder, 1);
	static float values[PIXELS];
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	start(&site, 1, 1, folder);
	for (int i = 0; i < PIXELS; i++)
		values[i] = (float)(pictures[0][i] / 255.0);
	tensor.dtype = DLS_FLOAT32;
	tensor.rank = 2;
	tensor.dims[0] = tensor.dims[1] = SIDE;
	tensor.data = values;
	tensor.bytes = sizeof values;
	job = make_job(&site, model, 0);
	assert_int_equal(dls_job_add_tensors(job, &tensor, 1, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	result = site_next(job, 0);
	assert_int_equal(result->code, 0);
	assert_null(result->outputs->indices);
	assert_int_equal(result->outputs->tensor.rank, 1);
	assert_int_equal(result->outputs->tensor.dims[0], CLASSES);
	for (int i = 0; i < CLASSES; i++)
		assert_true(fabsf(((const float *)result->outputs->tensor.data)[i] - scores[0][i]) < 1e-5f);
	dls_result_destroy(result);
	dls_job_destroy(job);
	site_stop(&site);
	dlsi_free(unit_alloc(), model);
}

/* ---- the memory of the machine */

static const struct {
	uint64_t part; /* the memory by the model's files, in fourths */
	unsigned kept; /* of two models; 0: neither can be had */
} memories[] = {{7, 0}, {8, 1}, {15, 1}, {40, 2}};

static int count_models(void *worker, int64_t now_ns)
{
	(void)now_ns;
	return (int)((struct dls_worker *)worker)->model_count;
}

static void run_bad_item(struct site *site, const char *model, int code, const char *part)
{
	struct dls_job *job = make_job(site, model, 0);

	add_tensors(job, 14, 14, 1);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_item_fails(job, 0, code, part);
	dls_job_destroy(job);
}

/* Two models with the same graph: those that nobody uses go when they take too much of the memory, and one that would
 * take half of it is refused. */
static void test_models_share_the_memory(void **state)
{
	const char *folder = unit_folder();
	char *other = copy_model(folder, 1);
	struct stat onnx, json;

	(void)state;
	assert_int_equal(stat(FASHION "/model.onnx", &onnx), 0);
	assert_int_equal(stat(FASHION "/model.json", &json), 0);
	for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
		struct dls_worker *worker;
		struct site site;

		start(&site, 1, 1, folder);
		worker = dls_cluster_worker(site.cluster, 0);
		worker->topology.memory_bytes = memories[i].part * (uint64_t)(onnx.st_size + json.st_size) / 4;
		for (int time = 0; time < 4; time++) {
			const char *model = time % 2 ? other : FASHION;

			if (memories[i].kept)
				run_bad_item(&site, model, DLS_EINVAL, "[14, 14]");
			else
				run_bad_item(&site, model, DLS_ELIMIT, "more memory");
		}
		if (memories[i].kept)
			assert_int_equal(dlsi_loop_call(site.ctx->loop, count_models, worker), memories[i].kept);
		site_stop(&site);
	}
	dlsi_free(unit_alloc(), other);
}

static void test_the_cache_is_used_again(void **state)
{
	const char *folder = unit_folder();
	struct site site;

	(void)state;
	for (int i = 0; i < 2; i++) {
		start(&site, 1, 1, folder);
		run_pictures(&site, 0);
		site_stop(&site);
	}
}

/* ---- a cache that cannot be used */

/* The files that the cache of this model has, by their place in the folder. */
static char *cached_file(const char *folder, const char *file)
{
	char *path = dlsi_file_join(unit_alloc(), FASHION, file), *cached, name[DLSI_HASH_TEXT_BYTES];
	struct dlsi_hash hash;
	uint64_t length;

	assert_int_equal(dlsi_file_hash(path, 1 << 24, &hash, &length, NULL), 0);
	dlsi_free(unit_alloc(), path);
	dlsi_hex(hash.bytes, sizeof hash.bytes, name);
	cached = dlsi_file_join(unit_alloc(), folder, name);
	return cached;
}

static void put_folders(const char *cache)
{
	static const char *const names[] = {"model.onnx", "model.json"};

	for (int i = 0; i < 2; i++) {
		char *path = cached_file(cache, names[i]);

		assert_int_equal(mkdir(path, 0700), 0);
		dlsi_free(unit_alloc(), path);
	}
}

static void put_file(const char *cache)
{
	assert_int_equal(rmdir(cache), 0);
	assert_int_equal(dlsi_file_write(unit_alloc(), cache, 0600, "", 0, NULL), 0);
}

static void allow_small_files(const char *cache)
{
	(void)cache;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, RLIM_INFINITY}), 0);
}

static void test_a_model_that_cannot_be_kept_is_run_all_the_same(void **state)
{
	static void (*const spoil[])(const char *cache) = {put_folders, put_file, allow_small_files};

	(void)state;
	for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
		char *cache = dlsi_file_join(unit_alloc(), unit_folder(), "cache");
		struct site site;

		start(&site, 1, 2, cache);
		spoil[i](cache);
		run_pictures(&site, 7);
		run_pictures(&site, 0);
		site_stop(&site);
		assert_int_equal(atomic_load(&site_gate->warnings), 1); /* not for each file, job or device */
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
		dlsi_free(unit_alloc(), cache);
	}
}

static void test_a_cached_file_that_is_cut_off_while_it_is_used(void **state)
{
	const char *folder = unit_folder();
	char *path = cached_file(folder, "model.onnx");
	struct site site;

	(void)state;
	start(&site, 1, 1, folder);
	run_pictures(&site, 7);
	assert_int_equal(truncate(path, 0), 0);
	run_pictures(&site, 64); /* batches of a size that was not prepared before */
	site_stop(&site);
	start(&site, 1, 1, folder); /* another worker sees that it is damaged, and puts a good one there */
	run_pictures(&site, 0);
	site_stop(&site);
	assert_int_equal(atomic_load(&site_gate->warnings), 0);
	dlsi_free(unit_alloc(), path);
	path = cached_file(folder, "model.onnx");
	assert_int_equal(access(path, R_OK), 0);
	dlsi_free(unit_alloc(), path);
}

static void test_a_cancelled_job_leaves_nothing(void **state)
{
	struct dls_job *job;
	struct site site;

	(void)state;
	start(&site, 1, 1, unit_folder());
	for (int i = 0; i < 10; i++) {
		job = make_job(&site, FASHION, 1);
		add_pictures(job);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		if (i % 2)
			dls_result_destroy(site_next(job, 0));
		dls_job_destroy(job);
	}
	run_pictures(&site, 0);
	site_stop(&site);
}

UNIT_MAIN(test_several_workers_and_devices, test_items_that_do_not_fit_are_told_why,
	test_a_model_that_changed_on_the_way_fails_its_items, test_a_folder_with_nothing_but_the_graph,
	test_models_share_the_memory, test_the_cache_is_used_again,
	test_a_model_that_cannot_be_kept_is_run_all_the_same, test_a_cached_file_that_is_cut_off_while_it_is_used,
	test_a_cancelled_job_leaves_nothing)
