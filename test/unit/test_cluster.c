/* Jobs of handlers over a whole cluster in this process: every result once, in order and right; inputs and results of
 * all sizes; windows, progress and news. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_end(struct dls_job *job)
{
	struct dls_result *result;

	assert_int_equal(dls_job_next(job, SITE_TIMEOUT_MS, &result, NULL), 0);
	assert_int_equal(dls_job_wait(job, SITE_TIMEOUT_MS, NULL), 0);
}

static void check_echo(const struct dls_result *result)
{
	assert_int_equal(result->code, 0);
	assert_int_equal(result->output_count, 1);
	assert_int_equal(result->outputs[0].tensor.bytes, 1);
	assert_int_equal(*(const uint8_t *)result->outputs[0].tensor.data, result->item & 255);
}

static void run_echo(struct site *site, uint64_t items)
{
	struct dls_job *job = site_job(site, "echo", NULL);

	site_add_bytes(job, items);
	assert_int_equal(dls_job_items(job), items);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < items; item++) {
		struct dls_result *result = site_next(job, item);

		check_echo(result);
		assert_int_equal(strncmp(result->worker, "local-", 6), 0);
		dls_result_destroy(result);
	}
	check_end(job);
	dls_job_destroy(job);
}

static void test_a_hundred_thousand_items_in_order(void **state)
{
	struct site site;

	(void)state;
	site_start(&site, 3, 0);
	run_echo(&site, 100000);
	site_stop(&site);
}

static void test_jobs_one_after_another_and_at_once(void **state)
{
	enum { JOBS = 8, ITEMS = 300 };
	struct dls_job *jobs[JOBS];
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	run_echo(&site, 1);
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = site_job(&site, "echo", NULL);
		site_add_bytes(jobs[i], ITEMS);
		assert_int_equal(dls_job_submit(jobs[i], NULL), 0);
	}
	for (int i = JOBS - 1; i >= 0; i--) {
		for (uint64_t item = 0; item < ITEMS; item++) {
			struct dls_result *result = site_next(jobs[i], item);

			check_echo(result);
			dls_result_destroy(result);
		}
		check_end(jobs[i]);
		dls_job_destroy(jobs[i]);
	}
	site_stop(&site);
}

static void test_job_without_items(void **state)
{
	struct site site;
	struct dls_job *job;
	struct dls_result *result;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	assert_int_equal(dls_job_next(job, 0, &result, NULL), DLS_ESTATE);
	assert_int_equal(dls_job_wait(job, 0, NULL), DLS_ESTATE);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	check_end(job);
	assert_int_equal(dls_job_submit(job, NULL), DLS_ESTATE);
	assert_int_equal(dls_job_add_bytes(job, "x", 1, NULL), DLS_ESTATE);
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_failed_items_carry_their_sentence(void **state)
{
	struct dls_job_progress progress = {.size = sizeof progress};
	struct site site;
	struct dls_job *job;

	(void)state;
	site_start(&site, 2, 0);
	job = site_job(&site, "fail", NULL);
	site_add_bytes(job, 50);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < 50; item++) {
		struct dls_result *result = site_next(job, item);
		char sentence[64];

		snprintf(sentence, sizeof sentence, "item %" PRIu64 " is bad", item);
		assert_int_equal(result->code, DLS_EHANDLER);
		assert_string_equal(result->error, sentence);
		assert_int_equal(result->output_count, 0);
		dls_result_destroy(result);
	}
	check_end(job);
	assert_int_equal(dls_job_progress(job, &progress), 0);
	assert_int_equal(progress.items, 50);
	assert_int_equal(progress.done, 50);
	assert_int_equal(progress.failed, 50);
	dls_job_destroy(job);
	site_stop(&site);
}

/* Results of every size around the limit up to which they travel inside messages. */
static void test_large_results(void **state)
{
	static const struct {
		const char *params;
		size_t bytes;
		uint64_t items;
	} cases[] = {{"{\"bytes\":1000}", 1000, 200}, {"{\"bytes\":65000}", 65000, 20},
		{"{\"bytes\":65536}", 65536, 20}, {"{\"bytes\":300000}", 300000, 40},
		{"{\"bytes\":3000000}", 3000000, 6}};
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dls_job *job = site_job(&site, "large", cases[i].params);

		site_add_bytes(job, cases[i].items);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		for (uint64_t item = 0; item < cases[i].items; item++) {
			struct dls_result *result = site_next(job, item);
			const uint8_t *data;

			if (result->code)
				fail_msg("%zu bytes: %s", cases[i].bytes, result->error);
			data = result->outputs[0].tensor.data;
			assert_int_equal(result->outputs[0].tensor.bytes, cases[i].bytes);
			assert_int_equal(data[0], item);
			assert_int_equal(memcmp(data, data + 1, cases[i].bytes - 1), 0);
			dls_result_destroy(result);
		}
		check_end(job);
		dls_job_destroy(job);
	}
	site_stop(&site);
}

static void check_values(const struct dls_result *result, uint32_t output, const uint8_t *bytes, size_t length)
{
	if (result->code)
		fail_msg("item %" PRIu64 ": %s", result->item, result->error);
	assert_true(output < result->output_count);
	assert_int_equal(result->outputs[output].tensor.bytes, length);
	assert_int_equal(memcmp(result->outputs[output].tensor.data, bytes, length), 0);
}

static void add_file(struct dls_job *job, const char *path, const uint8_t *bytes, size_t length)
{
	FILE *file = fopen(path, "wb");

	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(dls_job_add_file(job, path, NULL), 0);
}

static void add_two_tensors(struct dls_job *job, const uint8_t *bytes, size_t length)
{
	struct dls_tensor tensors[2] = {DLS_TENSOR_INIT, DLS_TENSOR_INIT};

	for (size_t i = 0; i < 2; i++) {
		tensors[i].dtype = DLS_UINT8;
		tensors[i].rank = 1;
		tensors[i].bytes = length / (1 + i);
		tensors[i].dims[0] = (int64_t)tensors[i].bytes;
		tensors[i].data = bytes;
	}
	assert_int_equal(dls_job_add_tensors(job, tensors, 2, NULL), 0);
}

/* Inputs of every way to add them, and of sizes on both sides of the limit, come back as they were. */
static void test_inputs_of_all_kinds(void **state)
{
	static const size_t sizes[] = {1, 1000, 65536, 65537, 1000000};
	enum { SIZES = sizeof sizes / sizeof *sizes };
	static uint8_t bytes[1000000];
	const char *folder = unit_folder();
	struct site site;
	struct dls_job *job;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(1 + (i * 31 + i / 255) % 255);
	site_start(&site, 2, 0);
	job = site_job(&site, "echo", NULL);
	for (size_t i = 0; i < SIZES; i++) {
		char path[128];

		snprintf(path, sizeof path, "%s/%zu", folder, i);
		add_file(job, path, bytes, sizes[i]);
		assert_int_equal(dls_job_add_bytes(job, bytes, sizes[i], NULL), 0);
		add_two_tensors(job, bytes, sizes[i]);
	}
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (size_t i = 0; i < 3 * SIZES; i++) {
		struct dls_result *result = site_next(job, i);

		check_values(result, 0, bytes, sizes[i / 3]);
		if (i % 3 == 2)
			check_values(result, 1, bytes, sizes[i / 3] / 2);
		dls_result_destroy(result);
	}
	check_end(job);
	dls_job_destroy(job);
	site_stop(&site);
}

/* The workers never run further ahead of the taker than the window says. */
static void test_slow_taker_holds_the_job_back(void **state)
{
	enum { WINDOW = 32, ITEMS = 1000 };
	struct site site;
	struct dls_job *job;

	(void)state;
	site_start(&site, 2, WINDOW);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, ITEMS);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_int_equal(dls_job_wait(job, SITE_TIMEOUT_MS, NULL), 0); /* as far as the window allows */
	assert_int_equal(atomic_load(&site_gate->items), WINDOW);
	for (uint64_t item = 0; item < ITEMS; item++) {
		struct dls_result *result = site_next(job, item);

		assert_true(atomic_load(&site_gate->items) <= item + 1 + WINDOW);
		check_echo(result);
		dls_result_destroy(result);
	}
	check_end(job);
	dls_job_destroy(job);
	site_stop(&site);
}

/* Nobody takes the results of one job: others, of the same client and of another one, come to their end. */
static void test_slow_taker_holds_nobody_else_back(void **state)
{
	enum { WINDOW = 32, ITEMS = 1000 };
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_job *slow, *jobs[2];
	struct site site, other;

	(void)state;
	site_start(&site, 1, WINDOW);
	other = site;
	options.master = dls_cluster_endpoint(site.cluster);
	options.tenant = "other";
	assert_int_equal(dls_client_create(site.ctx, &options, &other.client, NULL), 0);
	slow = site_job(&site, "echo", NULL);
	site_add_bytes(slow, ITEMS);
	assert_int_equal(dls_job_submit(slow, NULL), 0);
	assert_int_equal(dls_job_wait(slow, SITE_TIMEOUT_MS, NULL), 0); /* as far as the window allows */
	jobs[0] = site_job(&site, "echo", NULL);
	jobs[1] = site_job(&other, "echo", NULL);
	for (int i = 0; i < 2; i++) {
		site_add_bytes(jobs[i], ITEMS);
		assert_int_equal(dls_job_submit(jobs[i], NULL), 0);
		for (uint64_t item = 0; item < ITEMS; item++)
			dls_result_destroy(site_next(jobs[i], item));
		check_end(jobs[i]);
		dls_job_destroy(jobs[i]);
	}
	assert_int_equal(atomic_load(&site_gate->items), WINDOW + 2 * ITEMS);
	dls_job_destroy(slow);
	dls_client_destroy(other.client);
	site_stop(&site);
}

/* Large results stay where they are until there is room for them. */
static void test_window_of_bytes(void **state)
{
	enum { BYTES = 100000, ROOM = 10, ITEMS = 60 };
	struct dls_client_options client_options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_job_progress progress = {.size = sizeof progress};
	struct dls_client *client;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	client_options.master = dls_cluster_endpoint(site.cluster);
	client_options.window_bytes = ROOM * BYTES;
	assert_int_equal(dls_client_create(site.ctx, &client_options, &client, NULL), 0);
	options.handler = "large";
	options.params = "{\"bytes\":100000}";
	options.task_items = 1;
	assert_int_equal(dls_job_create(client, &options, &job, NULL), 0);
	site_add_bytes(job, ITEMS);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_int_equal(dls_job_wait(job, SITE_TIMEOUT_MS, NULL), 0); /* until the window is full */
	assert_int_equal(dls_job_progress(job, &progress), 0);
	assert_int_equal(progress.done, ROOM);
	for (uint64_t item = 0; item < ITEMS; item++)
		dls_result_destroy(site_next(job, item));
	check_end(job);
	dls_job_destroy(job);
	dls_client_destroy(client);
	site_stop(&site);
}

static void test_timeouts(void **state)
{
	struct site site;
	struct dls_job *job;
	struct dls_result *result;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 1);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running));
	assert_int_equal(dls_job_next(job, 0, &result, NULL), DLS_ETIMEOUT);
	assert_int_equal(dls_job_next(job, 20, &result, NULL), DLS_ETIMEOUT);
	assert_int_equal(dls_job_wait(job, 20, NULL), DLS_ETIMEOUT);
	atomic_store(&site_gate->open, true);
	result = site_next(job, 0);
	check_echo(result);
	dls_result_destroy(result);
	dls_job_destroy(job);
	site_stop(&site);
}

static void count_news(void *notify_arg, struct dls_job *job)
{
	unsigned *calls = notify_arg;

	assert_non_null(job);
	++*calls;
}

/* A program with a poll loop of its own: never a call that waits. */
static void test_own_poll_loop(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_result *result;
	struct dls_job *job;
	struct site site;
	unsigned calls = 0;
	uint64_t taken = 0;

	(void)state;
	site_start(&site, 2, 0);
	options.handler = "echo";
	options.notify = count_news;
	options.notify_arg = &calls;
	assert_int_equal(dls_job_create(site.client, &options, &job, NULL), 0);
	site_add_bytes(job, 500);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	while (taken < 500) {
		struct pollfd news = {.fd = dls_client_fd(site.client), .events = POLLIN};

		assert_int_equal(poll(&news, 1, SITE_TIMEOUT_MS), 1);
		assert_int_equal(dls_client_process(site.client, NULL), 0);
		for (; dls_job_next(job, 0, &result, NULL) == 1; taken++) {
			assert_int_equal(result->item, taken);
			dls_result_destroy(result);
		}
	}
	assert_true(calls > 0);
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_commands(void **state)
{
	struct dls_error err;
	struct site site;
	char *json;

	(void)state;
	site_start(&site, 2, 0);
	run_echo(&site, 10);
	assert_int_equal(dls_client_command(site.client, "{\"command\":\"status\"}", SITE_TIMEOUT_MS, &json, &err), 0);
	assert_non_null(strstr(json, "local-0"));
	assert_non_null(strstr(json, "local-1"));
	dls_free(site.ctx, json);
	assert_int_equal(
		dls_client_command(site.client, "{\"command\":\"stat\"}", SITE_TIMEOUT_MS, &json, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "status"));
	assert_int_equal(dls_client_command(site.client, "not JSON", SITE_TIMEOUT_MS, &json, &err), DLS_EFORMAT);
	site_stop(&site);
}

UNIT_MAIN(test_a_hundred_thousand_items_in_order, test_jobs_one_after_another_and_at_once, test_job_without_items,
	test_failed_items_carry_their_sentence, test_large_results, test_inputs_of_all_kinds,
	test_slow_taker_holds_the_job_back, test_slow_taker_holds_nobody_else_back, test_window_of_bytes, test_timeouts,
	test_own_poll_loop, test_commands)
