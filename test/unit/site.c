#include "test/unit/site.h"

#include "base/clock.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct site_gate *site_gate;

void site_reset(void)
{
	if (!site_gate)
		site_gate = mmap(NULL, sizeof *site_gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(site_gate, MAP_FAILED);
	memset(site_gate, 0, sizeof *site_gate);
}

static int echo(void *run_arg, struct dls_task *task)
{
	(void)run_arg;
	for (uint32_t i = 0; i < dls_task_items(task); i++) {
		const struct dls_tensor *tensors;
		uint32_t count;
		int rc = dls_task_item(task, i, &tensors, &count, NULL);

		if (rc == 0)
			rc = dls_task_result(task, i, tensors, count, NULL);
		if (rc)
			return rc;
		atomic_fetch_add(&site_gate->items, 1);
	}
	return 0;
}

static int fail_all(void *run_arg, struct dls_task *task)
{
	char sentence[64];

	(void)run_arg;
	for (uint32_t i = 0; i < dls_task_items(task); i++) {
		snprintf(sentence, sizeof sentence, "item %" PRIu64 " is bad", dls_task_item_number(task, i));
		dls_task_fail(task, i, DLS_EHANDLER, sentence);
	}
	return 0;
}

static int gate(void *run_arg, struct dls_task *task)
{
	atomic_fetch_add(&site_gate->running, 1);
	while (!atomic_load(&site_gate->open) && !dls_task_cancelled(task))
		sched_yield();
	atomic_fetch_sub(&site_gate->running, 1);
	if (dls_task_cancelled(task)) {
		atomic_fetch_add(&site_gate->cancelled, 1);
		return DLS_ECANCELLED;
	}
	return echo(run_arg, task);
}

static int large(void *run_arg, struct dls_task *task)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	unsigned long bytes = 0;
	uint8_t *data;
	int rc = 0;

	(void)run_arg;
	if (sscanf(dls_task_params(task), "{\"bytes\":%lu}", &bytes) != 1)
		return DLS_EINVAL;
	data = malloc(bytes);
	tensor.dtype = DLS_UINT8;
	tensor.rank = 1;
	tensor.dims[0] = (int64_t)bytes;
	tensor.bytes = bytes;
	tensor.data = data;
	for (uint32_t i = 0; rc == 0 && i < dls_task_items(task); i++) {
		memset(data, (int)(dls_task_item_number(task, i) & 255), bytes);
		rc = dls_task_result(task, i, &tensor, 1, NULL);
	}
	free(data);
	return rc;
}

static void log_line(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	(void)log_arg;
	(void)time_ns;
	if (level == DLS_LOG_ERROR)
		atomic_fetch_add(&site_gate->errors, 1);
	if (level == DLS_LOG_WARNING)
		atomic_fetch_add(&site_gate->warnings, 1);
	if (getenv("SITE_LOG"))
		fprintf(stderr, "log %d: %s\n", (int)level, line);
}

struct dls_ctx *site_ctx(void)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_error err;
	struct dls_ctx *ctx;

	options.resize = unit_alloc()->resize;
	options.resize_arg = unit_alloc()->arg;
	options.log = log_line;
	options.log_level = DLS_LOG_DEBUG;
	if (dls_ctx_create(&options, &ctx, &err))
		fail_msg("%s", err.text);
	return ctx;
}

int site_try_handlers(struct dls_worker *worker)
{
	static const struct {
		const char *name;
		int (*run)(void *run_arg, struct dls_task *task);
	} handlers[] = {{"echo", echo}, {"fail", fail_all}, {"gate", gate}, {"large", large}};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof handlers / sizeof *handlers; i++) {
		struct dls_handler_ops ops = {.size = sizeof ops, .run = handlers[i].run};

		rc = dls_worker_handle(worker, handlers[i].name, &ops, NULL);
	}
	return rc;
}

void site_handlers(struct dls_worker *worker)
{
	assert_int_equal(site_try_handlers(worker), 0);
}

void site_start(struct site *site, uint32_t workers, uint64_t window_items)
{
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	site_reset();
	options.workers = workers;
	options.worker.no_models = 1;
	client.window_items = window_items;
	site->ctx = site_ctx();
	if (dls_cluster_local(site->ctx, &options, &site->cluster, &err))
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < workers; i++)
		site_handlers(dls_cluster_worker(site->cluster, i));
	if (dls_cluster_start(site->cluster, &err))
		fail_msg("%s", err.text);
	client.master = dls_cluster_endpoint(site->cluster);
	if (dls_client_create(site->ctx, &client, &site->client, &err))
		fail_msg("%s", err.text);
	if (dls_client_wait(site->client, SITE_TIMEOUT_MS, &err))
		fail_msg("%s", err.text);
}

void site_stop(struct site *site)
{
	dls_client_destroy(site->client);
	dls_cluster_destroy(site->cluster);
	dls_ctx_destroy(site->ctx);
	assert_int_equal(atomic_load(&site_gate->errors), 0);
}

struct dls_job *site_job(struct site *site, const char *handler, const char *params)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_error err;
	struct dls_job *job;

	options.handler = handler;
	options.params = params;
	if (dls_job_create(site->client, &options, &job, &err))
		fail_msg("%s", err.text);
	return job;
}

static void free_data(void *release_arg, const void *data)
{
	(void)release_arg;
	free((void *)(uintptr_t)data);
}

void site_add_bytes(struct dls_job *job, uint64_t items)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	uint8_t *data = malloc(items);

	for (uint64_t i = 0; i < items; i++)
		data[i] = (uint8_t)i;
	tensor.dtype = DLS_UINT8;
	tensor.rank = 2;
	tensor.dims[0] = (int64_t)items;
	tensor.dims[1] = 1;
	tensor.bytes = items;
	tensor.data = data;
	tensor.release = free_data;
	assert_int_equal(dls_job_add_batch(job, &tensor, NULL), 0);
}

struct dls_result *site_next(struct dls_job *job, uint64_t item)
{
	struct dls_result *result;
	struct dls_error err = {0};
	int rc = dls_job_next(job, SITE_TIMEOUT_MS, &result, &err);

	if (rc != 1)
		fail_msg("item %" PRIu64 ": %d %s", item, rc, err.text);
	assert_int_equal(result->item, item);
	return result;
}

void site_yield(const char *condition)
{
	static _Thread_local const char *last;
	static _Thread_local int64_t since_ns;

	if (condition != last) {
		last = condition;
		since_ns = dlsi_clock_monotonic_ns();
	}
	if (dlsi_clock_monotonic_ns() - since_ns > SITE_TIMEOUT_MS * DLSI_MILLISECOND_NS)
		fail_msg("%s does not come true", condition);
	sched_yield();
}
