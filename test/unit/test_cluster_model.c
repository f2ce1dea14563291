/* Jobs that run a model over a whole cluster in this process: the model travels by the data plane, pictures are
 * prepared at the workers, and the answers are those of the model run right here. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 300, PIXELS = 28 * 28, CLASSES = 10, TOP = 5 };

static const char *folder; /* of the running test: the workers' cache, and files */
static uint8_t pictures[PICTURES][PIXELS];
static float expected[PICTURES][CLASSES];

static void draw_pictures(void)
{
	struct dlsi_rng rng = unit_rng(5);

	for (int i = 0; i < PICTURES; i++)
		for (int j = 0; j < PIXELS; j++)
			pictures[i][j] = (uint8_t)dlsi_rng_next(&rng);
}

/* Runs the model without any cluster. */
static void compute_expected(struct dls_ctx *ctx)
{
	static float values[PICTURES][PIXELS];
	struct dls_tensor input = DLS_TENSOR_INIT, *outputs;
	struct dls_model *model;
	uint32_t count;

	for (int i = 0; i < PICTURES; i++)
		for (int j = 0; j < PIXELS; j++)
			values[i][j] = (float)pictures[i][j] / 255;
	input.dtype = DLS_FLOAT32;
	input.rank = 4;
	input.dims[0] = PICTURES;
	input.dims[1] = 1;
	input.dims[2] = input.dims[3] = 28;
	input.data = values;
	input.bytes = sizeof values;
	assert_int_equal(dls_model_open(ctx, "examples/fashion", &model, NULL), 0);
	assert_int_equal(dls_model_run(model, &input, 1, &outputs, &count, NULL), 0);
	assert_int_equal(outputs->bytes, sizeof expected);
	memcpy(expected, outputs->data, sizeof expected);
	dls_free(ctx, outputs);
	dls_model_destroy(model);
}

static void start(struct site *site, uint32_t workers)
{
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	site_reset();
	options.workers = workers;
	folder = unit_folder();
	options.worker.cache_dir = folder;
	site->ctx = site_ctx();
	if (dls_cluster_local(site->ctx, &options, &site->cluster, &err) || dls_cluster_start(site->cluster, &err))
		fail_msg("%s", err.text);
	client.master = dls_cluster_endpoint(site->cluster);
	if (dls_client_create(site->ctx, &client, &site->client, &err))
		fail_msg("%s", err.text);
}

static int try_model(struct site *site, const char *model, struct dls_job **job_out, struct dls_error *err)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;

	options.model = model;
	return dls_job_create(site->client, &options, job_out, err);
}

static struct dls_job *make_job(struct site *site)
{
	struct dls_error err;
	struct dls_job *job;

	if (try_model(site, "examples/fashion", &job, &err))
		fail_msg("%s", err.text);
	return job;
}

static void check_answer(const struct dls_result *result, const float *scores)
{
	const struct dls_output *output = result->outputs;
	const float *values;

	if (result->code)
		fail_msg("item %" PRIu64 ": %s", result->item, result->error);
	assert_int_equal(result->output_count, 1);
	assert_non_null(output->indices);
	assert_int_equal(output->tensor.dims[0], TOP);
	values = output->tensor.data;
	for (int i = 0; i < TOP; i++) {
		assert_true(output->indices[i] < CLASSES);
		assert_true(fabsf(values[i] - scores[output->indices[i]]) < 1e-4F * (1 + fabsf(values[i])));
		if (i)
			assert_true(values[i] <= values[i - 1]);
	}
	for (int i = 0; i < CLASSES; i++)
		assert_true(scores[i] <= values[0] + 1e-3F);
}

static void check_all(struct dls_job *job, uint64_t repeats)
{
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < repeats * PICTURES; item++) {
		struct dls_result *result = site_next(job, item);

		check_answer(result, expected[item % PICTURES]);
		dls_result_destroy(result);
	}
	dls_job_destroy(job);
}

static void add_idx(struct dls_job *job)
{
	const uint8_t header[16] = {0, 0, 8, 3, 0, 0, PICTURES >> 8, PICTURES & 255, 0, 0, 0, 28, 0, 0, 0, 28};
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/pictures", folder);
	file = fopen(path, "wb");
	assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
	assert_int_equal(fwrite(pictures, 1, sizeof pictures, file), sizeof pictures);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(dls_job_add_file(job, path, NULL), 0);
}

static void add_batch(struct dls_job *job)
{
	struct dls_tensor batch = DLS_TENSOR_INIT;

	batch.dtype = DLS_UINT8;
	batch.rank = 3;
	batch.dims[0] = PICTURES;
	batch.dims[1] = batch.dims[2] = 28;
	batch.data = pictures;
	batch.bytes = sizeof pictures;
	assert_int_equal(dls_job_add_batch(job, &batch, NULL), 0);
}

static void test_answers_are_those_of_the_model(void **state)
{
	struct dls_job *job;
	struct site site;

	(void)state;
	draw_pictures();
	start(&site, 2);
	compute_expected(site.ctx);
	job = make_job(&site);
	add_idx(job);
	add_batch(job);
	check_all(job, 2);
	job = make_job(&site); /* the model is there already */
	add_batch(job);
	check_all(job, 1);
	site_stop(&site);
}

static void test_an_item_that_is_no_picture_fails_alone(void **state)
{
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	draw_pictures();
	start(&site, 1);
	compute_expected(site.ctx);
	job = make_job(&site);
	assert_int_equal(dls_job_add_bytes(job, "this is no picture", 18, NULL), 0);
	add_batch(job);
	assert_int_equal(dls_job_add_bytes(job, "", 0, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < PICTURES + 2; item++) {
		result = site_next(job, item);
		if (item == 0 || item == PICTURES + 1)
			assert_true(result->code < 0 && result->error && *result->error);
		else
			check_answer(result, expected[item - 1]);
		dls_result_destroy(result);
	}
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_models_that_are_none(void **state)
{
	struct dls_job *job = NULL;
	struct dls_error err;
	struct site site;

	(void)state;
	start(&site, 1);
	assert_int_equal(try_model(&site, "/no/such/folder", &job, &err), DLS_ENOTFOUND);
	assert_non_null(strstr(err.text, "/no/such/folder"));
	assert_true(try_model(&site, "test/unit", &job, &err) < 0);
	assert_null(job);
	site_stop(&site);
}

UNIT_MAIN(test_answers_are_those_of_the_model, test_an_item_that_is_no_picture_fails_alone, test_models_that_are_none)
