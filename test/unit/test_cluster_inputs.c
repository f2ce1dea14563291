/* What workers have to fetch before a task can run: lists of inputs of several pages, inputs of all sizes and in
 * surplus, and devices that work side by side. */
#include "base/limits.h"
#include "client/job.h"
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include "worker/reads.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four bytes that say which item it is, and fill `bytes` with what follows from it. */
static void draw_item(uint64_t item, uint8_t *data, size_t bytes)
{
	uint32_t number = (uint32_t)item;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(number >> 8 * (i % 4));
}

static void add_item(struct dls_job *job, const void *data, size_t bytes)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_UINT8;
	tensor.rank = 1;
	tensor.dims[0] = (int64_t)bytes;
	tensor.data = data;
	tensor.bytes = bytes;
	assert_int_equal(dls_job_add_tensors(job, &tensor, 1, NULL), 0);
}

static void check_item(struct dls_job *job, uint64_t item, size_t bytes)
{
	struct dls_result *result = site_next(job, item);
	uint8_t *expected = malloc(bytes);

	draw_item(item, expected, bytes);
	if (result->code)
		fail_msg("item %u: %s", (unsigned)item, result->error);
	assert_int_equal(result->outputs->tensor.bytes, bytes);
	assert_memory_equal(result->outputs->tensor.data, expected, bytes);
	free(expected);
	dls_result_destroy(result);
}

/* The list of inputs is 20 MB: its head and five pages, more than a worker keeps, are fetched on their own. */
static void test_lists_of_many_pages(void **state)
{
	enum { ITEMS = 5000, BYTES = 4000 };
	static uint8_t data[BYTES];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	job = site_job(&site, "echo", NULL);
	for (uint64_t item = 0; item < ITEMS; item++) {
		draw_item(item, data, BYTES);
		add_item(job, data, BYTES);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++)
		check_item(job, item, BYTES);
	dls_job_destroy(job);
	site_stop(&site);
}

/* Tasks of three items over pages of two thousand: first each reads its rows alone, then a worker reads a page. */
static void test_few_rows_of_long_pages(void **state)
{
	enum { ITEMS = 5000, BYTES = 40 };
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	uint8_t data[BYTES];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	options.handler = "echo";
	options.task_items = 3;
	assert_int_equal(dls_job_create(site.client, &options, &job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++) {
		draw_item(item, data, BYTES);
		add_item(job, data, BYTES);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++)
		check_item(job, item, BYTES);
	dls_job_destroy(job);
	site_stop(&site);
}

/* Nobody can connect to the client: it connects to the workers, which read its list of inputs and the inputs there. */
static void test_client_that_cannot_be_connected_to(void **state)
{
	enum { ITEMS = 40, BYTES = 100000 };
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	static uint8_t data[ITEMS][BYTES];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	dls_client_destroy(site.client);
	options.master = dls_cluster_endpoint(site.cluster);
	options.data_bind = "none";
	assert_int_equal(dls_client_create(site.ctx, &options, &site.client, NULL), 0);
	job = site_job(&site, "echo", NULL);
	for (uint64_t item = 0; item < ITEMS; item++) {
		draw_item(item, data[item], BYTES);
		add_item(job, data[item], BYTES);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++)
		check_item(job, item, BYTES);
	dls_job_destroy(job);
	site_stop(&site);
}

/* One task runs, and does not end before the inputs of the next one have left the client. */
static void test_inputs_come_while_another_task_runs(void **state)
{
	enum { ITEMS = 4, BYTES = 100000 };
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	static uint8_t data[ITEMS][BYTES];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	dls_client_destroy(site.client);
	client.master = dls_cluster_endpoint(site.cluster);
	client.data_bind = "none"; /* a data plane of its own, which counts what it gives */
	assert_int_equal(dls_client_create(site.ctx, &client, &site.client, NULL), 0);
	options.handler = "gate";
	options.task_items = 1;
	assert_int_equal(dls_job_create(site.client, &options, &job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++) {
		draw_item(item, data[item], BYTES);
		add_item(job, data[item], BYTES);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == 1);
	SITE_WAIT(dlsi_dataplane_counts(site.client->dialer.plane).given >= 2 * BYTES);
	assert_int_equal(atomic_load(&site_gate->items), 0);
	atomic_store(&site_gate->open, true);
	for (uint64_t item = 0; item < ITEMS; item++)
		check_item(job, item, BYTES);
	dls_job_destroy(job);
	site_stop(&site);
}

static int measure(void *run_arg, struct dls_task *task)
{
	(void)run_arg;
	for (uint32_t i = 0; i < dls_task_items(task); i++) {
		struct dls_tensor result = DLS_TENSOR_INIT;
		const struct dls_tensor *tensors;
		uint64_t bytes = 0;
		uint32_t count;
		int rc = dls_task_item(task, i, &tensors, &count, NULL);

		if (rc)
			return rc;
		for (uint32_t j = 0; j < count; j++)
			bytes += tensors[j].bytes;
		result.dtype = DLS_UINT64;
		result.data = &bytes;
		result.bytes = sizeof bytes;
		rc = dls_task_result(task, i, &result, 1, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

/* Together they are more than a worker reads ahead: they must take turns, and the largest must get one too. */
static void test_inputs_in_surplus(void **state)
{
	enum { ITEMS = 30 };
	static uint8_t data[1 << 24];
	struct dls_handler_ops ops = {.size = sizeof ops, .run = measure};
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_reset();
	site.ctx = site_ctx();
	options.worker.no_models = 1;
	assert_int_equal(dls_cluster_local(site.ctx, &options, &site.cluster, NULL), 0);
	assert_int_equal(dls_worker_handle(dls_cluster_worker(site.cluster, 0), "measure", &ops, NULL), 0);
	assert_int_equal(dls_cluster_start(site.cluster, NULL), 0);
	client.master = dls_cluster_endpoint(site.cluster);
	assert_int_equal(dls_client_create(site.ctx, &client, &site.client, NULL), 0);
	job = site_job(&site, "measure", NULL);
	for (uint64_t item = 0; item < ITEMS; item++)
		add_item(job, data, sizeof data - item);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < ITEMS; item++) {
		struct dls_result *result = site_next(job, item);

		assert_int_equal(result->code, 0);
		assert_int_equal(*(const uint64_t *)result->outputs->tensor.data, sizeof data - item);
		dls_result_destroy(result);
	}
	dls_job_destroy(job);
	site_stop(&site);
}

enum { READS = 150, READ_BYTES = 70000 };

/* A job of inputs that lie in blobs of their own, 50 in a task: more reads than may be under way at once. */
static struct dls_job *submit_many_reads(const struct site *site)
{
	static uint8_t data[READS][READ_BYTES];
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_job *job;

	options.handler = "echo";
	options.task_items = READS / 3;
	assert_int_equal(dls_job_create(site->client, &options, &job, NULL), 0);
	for (uint64_t item = 0; item < READS; item++) {
		draw_item(item, data[item], READ_BYTES);
		add_item(job, data[item], READ_BYTES);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	return job;
}

/* The reads of tasks take turns, and those that are not wanted any more leave theirs to the next. */
static void test_more_reads_than_at_once(void **state)
{
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	for (int round = 0; round < 5; round++) {
		job = submit_many_reads(&site);
		if (round % 2 == 0)
			dls_result_destroy(site_next(job, 0)); /* the other tasks are being read */
		dls_job_destroy(job);
	}
	job = submit_many_reads(&site);
	for (uint64_t item = 0; item < READS; item++)
		check_item(job, item, READ_BYTES);
	dls_job_destroy(job);
	site_stop(&site);
}

/* A task by itself: its reads, and how often it has been told that all have ended. */
struct lone_task {
	struct dlsi_waiter waiter; /* first */
	struct dlsi_worker_job job;
	struct dlsi_task_inputs inputs;
	struct dlsi_worker_reads reads;
	atomic_uint looks;
};

static void count_look(struct dlsi_waiter *waiter)
{
	atomic_fetch_add(&((struct lone_task *)waiter)->looks, 1);
}

/* Others have all reads under way but one. */
static int begin_reads(void *arg, int64_t now_ns)
{
	struct lone_task *task = arg;

	(void)now_ns;
	task->job.worker->reads += DLSI_FETCHES_AT_ONCE - 1;
	return dlsi_worker_reads_get(&task->reads);
}

static int end_others(void *arg, int64_t now_ns)
{
	struct lone_task *task = arg;

	(void)now_ns;
	task->job.worker->reads -= DLSI_FETCHES_AT_ONCE - 1;
	return 0;
}

/* Behind the last read that there is room for come reads that have failed before they began: the task goes on once, or
 * its executor would have it twice. */
static void test_failed_reads_behind_the_last(void **state)
{
	enum { COUNT = 3 };
	struct dlsi_task_read reads[COUNT] = {{.length = 1}, {.code = DLS_ELIMIT}, {.code = DLS_ELIMIT}};
	struct lone_task task = {.inputs = {.reads = reads, .read_count = COUNT}};
	char holder[] = "no endpoint";
	struct dls_worker *worker;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	worker = dls_cluster_worker(site.cluster, 0);
	task.inputs.alloc = &worker->ctx->alloc;
	task.job = (struct dlsi_worker_job){.worker = worker, .holder = holder};
	dlsi_waiter_init(&task.waiter, count_look);
	dlsi_worker_reads_init(&task.reads, &task.job, &task.inputs, &task.waiter);
	assert_int_equal(dlsi_loop_call(worker->ctx->loop, begin_reads, &task), 0);
	SITE_WAIT(atomic_load(&task.looks));
	dlsi_loop_call(worker->ctx->loop, end_others, &task);
	assert_int_equal(atomic_load(&task.looks), 1);
	assert_int_equal(reads[0].code, DLS_EINVAL);
	dlsi_free(task.inputs.alloc, reads[0].sentence);
	site_stop(&site);
}

/* A worker fetches once before it can begin, whatever the number of the inputs. */
static void test_head_of_a_long_list_travels_with_the_job(void **state)
{
	enum { ITEMS = 5000 };
	static const uint8_t data[60];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	for (int item = 0; item < ITEMS; item++)
		add_item(job, data, sizeof data);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_true(job->manifest_blob.length > DLSI_INLINE_BYTES);
	assert_non_null(job->manifest);
	assert_int_equal(dlsi_frame_size(job->manifest), job->manifest_head);
	for (uint64_t item = 0; item < ITEMS; item++)
		dls_result_destroy(site_next(job, item));
	dls_job_destroy(job);
	site_stop(&site);
}

/* A task whose inputs would take half of the memory is not run, and the worker lives on; if one input alone would, the
 * others of its task are run. */
static void test_inputs_beyond_the_memory(void **state)
{
	enum { MOST = 100000, ITEMS = 4 };
	static const struct {
		size_t bytes[ITEMS];
		int codes[ITEMS];
		const char *words;
	} cases[] = {
		{{MOST, 1, 1, 1}, {0}, NULL},
		{{MOST, 1, 1, MOST + 1}, {0, 0, 0, DLS_ELIMIT}, "the input has 100001 bytes"},
		{{MOST, MOST, 1, 1}, {DLS_ELIMIT, DLS_ELIMIT, DLS_ELIMIT, DLS_ELIMIT}, "task_items"},
	};
	static const uint8_t data[MOST + 1];
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	dls_cluster_worker(site.cluster, 0)->topology.memory_bytes = 2 * MOST;
	options.handler = "echo";
	options.task_items = ITEMS;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dls_job *job;

		assert_int_equal(dls_job_create(site.client, &options, &job, NULL), 0);
		for (int item = 0; item < ITEMS; item++)
			add_item(job, data, cases[i].bytes[item]);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		for (uint64_t item = 0; item < ITEMS; item++) {
			struct dls_result *result = site_next(job, item);

			assert_int_equal(result->code, cases[i].codes[item]);
			if (result->code)
				assert_non_null(strstr(result->error, cases[i].words));
			dls_result_destroy(result);
		}
		dls_job_destroy(job);
	}
	site_stop(&site);
}

/* Nor one whose pages would: 40 inputs that lie in the manifest, in pages of 120 KB. */
static void test_pages_beyond_the_memory(void **state)
{
	enum { ITEMS = 40 };
	static const uint8_t data[60000];
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	for (int time = 0; time < 2; time++) {
		dls_cluster_worker(site.cluster, 0)->topology.memory_bytes = time ? 8000000 : 200000;
		job = site_job(&site, "echo", NULL);
		for (int item = 0; item < ITEMS; item++)
			add_item(job, data, sizeof data);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		for (uint64_t item = 0; item < ITEMS; item++) {
			result = site_next(job, item);
			assert_int_equal(result->code, time ? 0 : DLS_ELIMIT);
			if (result->code)
				assert_non_null(strstr(result->error, "pages"));
			dls_result_destroy(result);
		}
		dls_job_destroy(job);
	}
	site_stop(&site);
}

static void test_devices_work_side_by_side(void **state)
{
	enum { DEVICES = 3 };
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_reset();
	site.ctx = site_ctx();
	options.worker.no_models = 1;
	options.worker.devices = DEVICES;
	options.worker.credits = 1;
	assert_int_equal(dls_cluster_local(site.ctx, &options, &site.cluster, NULL), 0);
	site_handlers(dls_cluster_worker(site.cluster, 0));
	assert_int_equal(dls_cluster_start(site.cluster, NULL), 0);
	client.master = dls_cluster_endpoint(site.cluster);
	assert_int_equal(dls_client_create(site.ctx, &client, &site.client, NULL), 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 100);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == DEVICES);
	atomic_store(&site_gate->open, true);
	for (uint64_t item = 0; item < 100; item++)
		dls_result_destroy(site_next(job, item));
	dls_job_destroy(job);
	site_stop(&site);
}

/* The worker goes while it fetches, waits and runs. */
static void test_a_worker_can_go_at_any_time(void **state)
{
	enum { ITEMS = 40 };
	static uint8_t data[1 << 20];

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct dls_job *job;
		struct site site;

		site_start(&site, 1, 0);
		job = site_job(&site, round % 2 ? "gate" : "echo", NULL);
		for (uint64_t item = 0; item < ITEMS; item++)
			add_item(job, data, sizeof data);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		if (round % 2)
			SITE_WAIT(atomic_load(&site_gate->running));
		else if (round > 2)
			dls_result_destroy(site_next(job, 0));
		dls_cluster_destroy(site.cluster);
		site.cluster = NULL;
		dls_job_destroy(job);
		site_stop(&site);
	}
}

UNIT_MAIN(test_lists_of_many_pages, test_few_rows_of_long_pages, test_client_that_cannot_be_connected_to,
	test_inputs_come_while_another_task_runs, test_head_of_a_long_list_travels_with_the_job, test_inputs_in_surplus,
	test_more_reads_than_at_once, test_failed_reads_behind_the_last, test_inputs_beyond_the_memory,
	test_pages_beyond_the_memory, test_devices_work_side_by_side, test_a_worker_can_go_at_any_time)
