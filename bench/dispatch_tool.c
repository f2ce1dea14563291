/* The parts of a cluster whose tasks do next to nothing, for bench/dispatch.py and its kin: one process each, or all in
 * one.
 *
 *   dispatch_tool master                         prints its endpoint and works until its input ends
 *   dispatch_tool worker MASTER CREDITS          works until its input ends
 *   dispatch_tool emulated MASTER BATCH RUN_NS ITEM_NS
 *                                                the same, but sleeps as long as a device would compute that needs
 *                                                RUN_NS + n * ITEM_NS for n items, at most BATCH at once
 *   dispatch_tool batch MASTER ITEMS TASK_ITEMS  one job: prints items a second
 *   dispatch_tool jobs MASTER COUNT OUTSTANDING  jobs of one item, so many at once: prints jobs a second
 *   dispatch_tool calls MASTER COUNT OUTSTANDING calls of a function, so many at once: prints calls a second
 *   dispatch_tool latency MASTER COUNT           jobs of one item, one at a time: prints the median and the 99th of 100
 *                                                in microseconds
 *   dispatch_tool payload MASTER COUNT BYTES     one job with an item of so many bytes per task: prints tasks a second
 *   dispatch_tool run MASTER ITEMS               one job whose items are one batch: prints items a second
 *   dispatch_tool queue MASTER COUNT             submits jobs of one item, prints "queued" when the master has them
 *   dispatch_tool queue_run MASTER ITEMS         the same with one job of many items
 *
 * MASTER "inside" means a cluster of two workers in this process. TASK_ITEMS 0 leaves the division to the master. Times
 * run from the first call of the API for a job to the last result, which is checked as all are (bench/tool.h). */
#include "base/clock.h"
#include "bench/tool.h"
#include <dlsched/dlsched.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_INSIDE = 2, TIMEOUT_MS = 60000, WARM_UP = 200, BUFFERS = 256 };

static void check(int rc, const struct dls_error *err)
{
	if (rc < 0) {
		fprintf(stderr, "dispatch_tool: %s\n", err->text);
		exit(1);
	}
}

static void fail(const char *what)
{
	fprintf(stderr, "dispatch_tool: %s\n", what);
	exit(1);
}

static void wait_for_end_of_input(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static struct dls_ctx *make_ctx(void)
{
	struct dls_error err;
	struct dls_ctx *ctx;

	check(dls_ctx_create(NULL, &ctx, &err), &err);
	return ctx;
}

static struct dls_tensor number_tensor(const uint64_t *number, size_t bytes)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_UINT64;
	tensor.rank = 1;
	tensor.dims[0] = (int64_t)(bytes / sizeof *number);
	tensor.bytes = bytes;
	tensor.data = number;
	return tensor;
}

/* ---- master and worker */

/* How long a device takes; 0: it is not emulated. */
struct emulation {
	uint32_t batch;
	int64_t run_ns;
	int64_t item_ns;
};

static void sleep_like(const struct emulation *device, uint32_t items, int64_t begin_ns)
{
	int64_t runs = (items + device->batch - 1) / device->batch,
		end_ns = begin_ns + runs * device->run_ns + items * device->item_ns;
	struct timespec until = {end_ns / DLSI_SECOND_NS, end_ns % DLSI_SECOND_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static int compute(void *run_arg, struct dls_task *task)
{
	const struct emulation *device = run_arg;
	int64_t begin_ns = device->batch ? dlsi_clock_monotonic_ns() : 0;

	for (uint32_t i = 0; i < dls_task_items(task); i++) {
		const struct dls_tensor *inputs;
		struct dls_tensor output;
		uint32_t count;
		uint64_t value;
		int rc = dls_task_item(task, i, &inputs, &count, NULL);

		if (rc)
			return rc;
		value = tool_value(inputs->data, inputs->bytes);
		output = number_tensor(&value, sizeof value);
		rc = dls_task_result(task, i, &output, 1, NULL);
		if (rc)
			return rc;
	}
	if (device->batch)
		sleep_like(device, dls_task_items(task), begin_ns);
	return 0;
}

static void add_handler(struct dls_worker *worker, struct emulation *device)
{
	struct dls_handler_ops ops = {.size = sizeof ops, .run = compute, .run_arg = device};
	struct dls_error err;

	check(dls_worker_handle(worker, "compute", &ops, &err), &err);
}

static void be_master(void)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_master *master;
	struct dls_error err;

	options.bind = "tcp://127.0.0.1:0";
	check(dls_master_create(ctx, &options, &master, &err), &err);
	puts(dls_master_endpoint(master));
	fflush(stdout);
	wait_for_end_of_input();
	dls_master_destroy(master);
	dls_ctx_destroy(ctx);
}

static void be_worker(const char *endpoint, uint32_t credits, struct emulation *device)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_worker *worker;
	struct dls_error err;

	options.master = endpoint;
	options.no_models = 1;
	options.credits = credits;
	check(dls_worker_create(ctx, &options, &worker, &err), &err);
	add_handler(worker, device);
	check(dls_worker_start(worker, &err), &err);
	check(dls_worker_wait(worker, TIMEOUT_MS, &err), &err);
	puts("ready");
	fflush(stdout);
	wait_for_end_of_input();
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

/* ---- client */

struct site {
	struct dls_ctx *ctx;
	struct dls_cluster *cluster; /* NULL: it is elsewhere */
	struct dls_client *client;
};

static void start_cluster(struct site *site)
{
	static struct emulation none;
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_error err;

	options.workers = WORKERS_INSIDE;
	options.worker.no_models = 1;
	check(dls_cluster_local(site->ctx, &options, &site->cluster, &err), &err);
	for (uint32_t i = 0; i < WORKERS_INSIDE; i++)
		add_handler(dls_cluster_worker(site->cluster, i), &none);
	check(dls_cluster_start(site->cluster, &err), &err);
}

static void start(struct site *site, const char *master)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	*site = (struct site){.ctx = make_ctx()};
	if (strcmp(master, "inside") == 0)
		start_cluster(site);
	options.master = site->cluster ? dls_cluster_endpoint(site->cluster) : master;
	check(dls_client_create(site->ctx, &options, &site->client, &err), &err);
	check(dls_client_wait(site->client, TIMEOUT_MS, &err), &err);
}

static void stop(struct site *site)
{
	dls_client_destroy(site->client);
	dls_cluster_destroy(site->cluster);
	dls_ctx_destroy(site->ctx);
}

/* Takes all results and holds each against its item: against `values`, of which there are BUFFERS, or by its number. */
static void take_results(struct dls_job *job, uint64_t first, uint64_t items, const uint64_t *values)
{
	struct dls_result *result;
	struct dls_error err;
	uint64_t item = 0, value;
	int rc;

	while ((rc = dls_job_next(job, TIMEOUT_MS, &result, &err)) == 1) {
		if (result->code)
			fail(result->error);
		memcpy(&value, result->outputs[0].tensor.data, sizeof value);
		if (result->item != item || value != (values ? values[item % BUFFERS] : ~(first + item)))
			fail("a result is not that of its item");
		dls_result_destroy(result);
		item++;
	}
	check(rc, &err);
	if (item != items)
		fail("results are missing");
}

static struct dls_job *create_job(struct site *site, uint32_t task_items)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_error err;
	struct dls_job *job;

	options.handler = "compute";
	options.task_items = task_items;
	check(dls_job_create(site->client, &options, &job, &err), &err);
	return job;
}

static void add(struct dls_job *job, const uint64_t *numbers, size_t bytes)
{
	struct dls_tensor tensor = number_tensor(numbers, bytes);
	struct dls_error err;

	check(dls_job_add_tensors(job, &tensor, 1, &err), &err);
}

static void submit(struct dls_job *job)
{
	struct dls_error err;

	check(dls_job_submit(job, &err), &err);
}

/* A job whose items are the numbers from `first` to below `end`. */
static struct dls_job *submit_numbers(struct site *site, uint64_t first, uint64_t end, uint32_t task_items)
{
	struct dls_job *job = create_job(site, task_items);

	for (uint64_t number = first; number < end; number++)
		add(job, &number, sizeof number);
	submit(job);
	return job;
}

/* Nanoseconds. */
static int64_t run_job(struct site *site, uint64_t items, uint32_t task_items)
{
	int64_t start_ns = dlsi_clock_monotonic_ns(), end_ns;
	struct dls_job *job = submit_numbers(site, 0, items, task_items);

	take_results(job, 0, items, NULL);
	end_ns = dlsi_clock_monotonic_ns();
	dls_job_destroy(job);
	return end_ns - start_ns;
}

static void measure_batch(const char *master, uint64_t items, uint32_t task_items)
{
	struct site site;

	start(&site, master);
	run_job(&site, WARM_UP, task_items);
	tool_print_rate(items, run_job(&site, items, task_items));
	stop(&site);
}

static void measure_jobs(const char *master, size_t count, size_t outstanding)
{
	struct dls_job **jobs = tool_allocate(outstanding, sizeof *jobs);
	struct site site;
	int64_t start_ns;

	start(&site, master);
	run_job(&site, WARM_UP, 0);
	start_ns = dlsi_clock_monotonic_ns();
	for (size_t i = 0; i < count + outstanding; i++) {
		struct dls_job **job = &jobs[i % outstanding];

		if (*job) {
			take_results(*job, i - outstanding, 1, NULL);
			dls_job_destroy(*job);
			*job = NULL;
		}
		if (i < count)
			*job = submit_numbers(&site, i, i + 1, 0);
	}
	tool_print_rate(count, dlsi_clock_monotonic_ns() - start_ns);
	stop(&site);
	free(jobs);
}

/* Takes the result of the call that was given this number, and ends the call. */
static void take_call(struct dls_call *call, uint64_t number)
{
	struct dls_result *result;
	struct dls_error err;
	uint64_t value;

	check(dls_call_result(call, TIMEOUT_MS, &result, &err), &err);
	if (result->code)
		fail(result->error);
	memcpy(&value, result->outputs[0].tensor.data, sizeof value);
	if (value != ~number)
		fail("a result is not that of its call");
	dls_result_destroy(result);
	dls_call_destroy(call);
}

static void measure_calls(const char *master, size_t count, size_t outstanding)
{
	struct dls_call **calls = tool_allocate(outstanding, sizeof *calls);
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_function *function;
	struct dls_error err;
	struct site site;
	int64_t start_ns;

	start(&site, master);
	options.handler = "compute";
	check(dls_function_create(site.client, &options, &function, &err), &err);
	run_job(&site, WARM_UP, 0);
	start_ns = dlsi_clock_monotonic_ns();
	for (uint64_t i = 0; i < count + outstanding; i++) {
		struct dls_tensor tensor = number_tensor(&i, sizeof i);

		if (i >= outstanding && i - outstanding < count)
			take_call(calls[i % outstanding], i - outstanding);
		if (i < count)
			check(dls_function_call(function, &tensor, 1, &calls[i % outstanding], &err), &err);
	}
	tool_print_rate(count, dlsi_clock_monotonic_ns() - start_ns);
	dls_function_destroy(function);
	stop(&site);
	free(calls);
}

static void measure_payload(const char *master, uint64_t count, size_t bytes)
{
	uint64_t values[BUFFERS], *numbers = tool_make_items(BUFFERS, bytes, values);
	struct dls_job *job;
	struct site site;
	int64_t start_ns;

	start(&site, master);
	run_job(&site, WARM_UP, 1);
	start_ns = dlsi_clock_monotonic_ns();
	job = create_job(&site, 1);
	for (uint64_t i = 0; i < count; i++)
		add(job, numbers + i % BUFFERS * (bytes / sizeof *numbers), bytes);
	submit(job);
	take_results(job, 0, count, values);
	tool_print_rate(count, dlsi_clock_monotonic_ns() - start_ns);
	dls_job_destroy(job);
	stop(&site);
	free(numbers);
}

/* A job whose items are the numbers below `count`, as one batch that the caller frees after the job. */
static struct dls_job *submit_run(struct site *site, uint64_t *numbers, uint64_t count)
{
	struct dls_tensor tensor = number_tensor(numbers, count * sizeof *numbers);
	struct dls_job *job = create_job(site, 0);
	struct dls_error err;

	for (uint64_t i = 0; i < count; i++)
		numbers[i] = i;
	check(dls_job_add_batch(job, &tensor, &err), &err);
	submit(job);
	return job;
}

static void measure_run(const char *master, uint64_t items)
{
	uint64_t *numbers = tool_allocate(items, sizeof *numbers);
	struct dls_job *job;
	struct site site;
	int64_t start_ns;

	start(&site, master);
	start_ns = dlsi_clock_monotonic_ns();
	job = submit_run(&site, numbers, items);
	take_results(job, 0, items, NULL);
	tool_print_rate(items, dlsi_clock_monotonic_ns() - start_ns);
	dls_job_destroy(job);
	stop(&site);
	free(numbers);
}

static bool is_accepted(struct dls_job *job)
{
	struct dls_job_progress progress = DLS_JOB_PROGRESS_INIT;

	dls_job_progress(job, &progress);
	return progress.accepted;
}

static void hold(struct dls_job *const *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		while (!is_accepted(jobs[i]))
			usleep(1000);
	puts("queued");
	fflush(stdout);
	wait_for_end_of_input();
	_exit(0); /* no need to end them one by one */
}

static void queue_jobs(const char *master, size_t count)
{
	struct dls_job **jobs = tool_allocate(count, sizeof *jobs);
	struct site site;

	start(&site, master);
	for (size_t i = 0; i < count; i++)
		jobs[i] = submit_numbers(&site, i, i + 1, 0);
	hold(jobs, count);
}

static void queue_run(const char *master, uint64_t items)
{
	struct dls_job *job;
	struct site site;

	start(&site, master);
	job = submit_run(&site, tool_allocate(items, sizeof(uint64_t)), items);
	hold(&job, 1);
}

static void measure_latency(const char *master, size_t count)
{
	int64_t *times_ns = tool_allocate(count, sizeof *times_ns);
	struct site site;

	start(&site, master);
	for (size_t i = 0; i < WARM_UP; i++)
		run_job(&site, 1, 0);
	for (size_t i = 0; i < count; i++)
		times_ns[i] = run_job(&site, 1, 0);
	tool_print_times(times_ns, count);
	stop(&site);
	free(times_ns);
}

static uint64_t number_at(char **argv, int i)
{
	return strtoull(argv[i], NULL, 10);
}

/* False: it is none of these parts. */
static bool serve(const char *part, int count, char **argv)
{
	struct emulation device = {0};

	if (strcmp(part, "master") == 0 && count == 2) {
		be_master();
	} else if (strcmp(part, "worker") == 0 && count == 4) {
		be_worker(argv[2], (uint32_t)number_at(argv, 3), &device);
	} else if (strcmp(part, "emulated") == 0 && count == 6) {
		device.batch = (uint32_t)number_at(argv, 3);
		device.run_ns = (int64_t)number_at(argv, 4);
		device.item_ns = (int64_t)number_at(argv, 5);
		be_worker(argv[2], 0, &device);
	} else {
		return false;
	}
	return true;
}

/* Likewise. */
static bool measure(const char *part, int count, char **argv)
{
	if (strcmp(part, "batch") == 0 && count == 5)
		measure_batch(argv[2], number_at(argv, 3), (uint32_t)number_at(argv, 4));
	else if (strcmp(part, "jobs") == 0 && count == 5)
		measure_jobs(argv[2], number_at(argv, 3), number_at(argv, 4));
	else if (strcmp(part, "calls") == 0 && count == 5)
		measure_calls(argv[2], number_at(argv, 3), number_at(argv, 4));
	else if (strcmp(part, "latency") == 0 && count == 4)
		measure_latency(argv[2], number_at(argv, 3));
	else if (strcmp(part, "payload") == 0 && count == 5)
		measure_payload(argv[2], number_at(argv, 3), number_at(argv, 4));
	else if (strcmp(part, "run") == 0 && count == 4)
		measure_run(argv[2], number_at(argv, 3));
	else if (strcmp(part, "queue") == 0 && count == 4)
		queue_jobs(argv[2], number_at(argv, 3));
	else if (strcmp(part, "queue_run") == 0 && count == 4)
		queue_run(argv[2], number_at(argv, 3));
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started it may be killed */
	prctl(PR_SET_TIMERSLACK, 1);      /* sleeps end when they should */
	if (!serve(part, argc, argv) && !measure(part, argc, argv))
		fail("see the head of bench/dispatch_tool.c for how it is called");
	return 0;
}
