/* A model that spreads over eight workers, each with a context, a cache and a data plane of its own, over tcp: the
 * client gives it away twice at most, and every worker computes what the model computes here. */
#include "client/client.h"
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include "worker/model_source.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FASHION "examples/fashion"

enum { WORKERS = 8, ITEMS = 90, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10 };

static uint8_t pictures[ITEMS][PIXELS];
static float scores[ITEMS][CLASSES];

struct node {
	struct dls_ctx *ctx;
	struct dls_worker *worker;
};

struct play {
	struct dls_ctx *ctx;
	struct dls_master *master;
	struct dls_client *client;
	struct node nodes[WORKERS + 1];
	unsigned count;
	uint64_t model_bytes;
};

static void score_pictures(struct dls_ctx *ctx)
{
	static float values[ITEMS][PIXELS];
	struct dls_tensor input = DLS_TENSOR_INIT, *output;
	struct dlsi_rng rng = unit_rng(3);
	struct dls_model *model;
	uint32_t count;

	for (int i = 0; i < ITEMS; i++)
		for (int j = 0; j < PIXELS; j++) {
			pictures[i][j] = (uint8_t)dlsi_rng_below(&rng, 256);
			values[i][j] = (float)(pictures[i][j] / 255.0);
		}
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

static uint64_t bytes_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

static void add_worker(struct play *play)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct node *node = &play->nodes[play->count];
	struct dls_error err;
	char name[32];

	snprintf(name, sizeof name, "worker %u", play->count++);
	node->ctx = site_ctx();
	options.master = dls_master_endpoint(play->master);
	options.name = name;
	options.cache_dir = unit_folder();
	options.threads = 1;
	if (dls_worker_create(node->ctx, &options, &node->worker, &err) || dls_worker_start(node->worker, &err) ||
		dls_worker_wait(node->worker, SITE_TIMEOUT_MS, &err))
		fail_msg("%s", err.text);
}

static void begin(struct play *play)
{
	struct dls_master_options master = DLS_MASTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	memset(play, 0, sizeof *play);
	site_reset();
	play->ctx = site_ctx();
	score_pictures(play->ctx);
	play->model_bytes = bytes_of(FASHION "/model.onnx") + bytes_of(FASHION "/model.json");
	master.bind = "tcp://127.0.0.1:0";
	if (dls_master_create(play->ctx, &master, &play->master, &err))
		fail_msg("%s", err.text);
	while (play->count < WORKERS)
		add_worker(play);
	client.master = dls_master_endpoint(play->master);
	if (dls_client_create(play->ctx, &client, &play->client, &err))
		fail_msg("%s", err.text);
}

static void end(struct play *play)
{
	dls_client_destroy(play->client);
	for (unsigned i = 0; i < play->count; i++) {
		dls_worker_destroy(play->nodes[i].worker);
		dls_ctx_destroy(play->nodes[i].ctx);
	}
	dls_master_destroy(play->master);
	dls_ctx_destroy(play->ctx);
}

/* Runs the pictures one by one, so that all workers have some at once. */
static void run_pictures(struct play *play)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_tensor batch = DLS_TENSOR_INIT;
	struct dls_error err;
	struct dls_job *job;

	options.model = FASHION;
	options.task_items = 1;
	if (dls_job_create(play->client, &options, &job, &err))
		fail_msg("%s", err.text);
	batch.dtype = DLS_UINT8;
	batch.rank = 3;
	batch.dims[0] = ITEMS;
	batch.dims[1] = batch.dims[2] = SIDE;
	batch.data = pictures;
	batch.bytes = sizeof pictures;
	assert_int_equal(dls_job_add_batch(job, &batch, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++) {
		struct dls_result *result = site_next(job, item);
		const struct dls_output *output = result->outputs;

		if (result->code)
			fail_msg("item %u: %s", (unsigned)item, result->error);
		for (int i = 0; i < output->tensor.dims[0]; i++)
			assert_true(fabsf(((const float *)output->tensor.data)[i] - scores[item][output->indices[i]]) <
				    1e-4f);
		dls_result_destroy(result);
	}
	dls_job_destroy(job);
}

static struct dlsi_dataplane_counts counts(const struct play *play, unsigned worker)
{
	return dlsi_dataplane_counts(play->nodes[worker].worker->dialer.plane);
}

static void test_client_gives_it_twice_at_most(void **state)
{
	struct dlsi_dataplane_counts client;
	struct play play;
	uint64_t given = 0;

	(void)state;
	begin(&play);
	run_pictures(&play);
	client = dlsi_dataplane_counts(play.client->dialer.plane);
	for (unsigned i = 0; i < WORKERS; i++) {
		assert_true(counts(&play, i).taken >= play.model_bytes);
		given += counts(&play, i).given;
	}
	assert_true(client.given >= play.model_bytes);
	assert_true(client.given < 3 * play.model_bytes); /* with lists of files and pictures */
	assert_true(given >= (WORKERS - 2) * play.model_bytes);
	end(&play);
}

static int withdraw(void *arg, int64_t now_ns)
{
	struct dls_worker *worker = arg;

	(void)now_ns;
	dlsi_list_each (node, &worker->models)
		dlsi_worker_model_withdraw(dlsi_list_entry(node, struct dlsi_worker_model, node));
	return 0;
}

/* It takes no more tasks: they would rather go there than where the model must be loaded. */
static void drain(const struct play *play, unsigned worker)
{
	char name[32];

	snprintf(name, sizeof name, "worker %u", worker);
	assert_int_equal(dls_client_drain(play->client, name, SITE_TIMEOUT_MS, NULL), 0);
}

/* Those that the master names have it no more; the client has. */
static void test_workers_that_fail_are_left_for_the_client(void **state)
{
	struct play play;

	(void)state;
	begin(&play);
	run_pictures(&play);
	for (unsigned i = 0; i < WORKERS; i++) {
		dlsi_loop_call(play.nodes[i].ctx->loop, withdraw, play.nodes[i].worker);
		drain(&play, i);
	}
	add_worker(&play);
	run_pictures(&play);
	assert_true(counts(&play, WORKERS).taken >= play.model_bytes);
	end(&play);
}

UNIT_MAIN(test_client_gives_it_twice_at_most, test_workers_that_fail_are_left_for_the_client)
