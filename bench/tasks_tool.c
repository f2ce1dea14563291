/* The parts of a cluster whose tasks do next to nothing, for bench/tasks.py: one process each, or all in one.
 *
 *   tasks_tool master                        prints its endpoint and works until its input ends
 *   tasks_tool worker MASTER                 works until its input ends
 *   tasks_tool rate MASTER ITEMS TASK_ITEMS  one job: prints items a second, from submission to the last result
 *   tasks_tool jobs MASTER COUNT OUTSTANDING jobs of one item, so many at once: prints jobs a second
 *   tasks_tool latency MASTER COUNT          jobs of one item, one at a time: prints the median and the 99th of 100
 *                                            in microseconds
 *
 * MASTER "inside" means a cluster of two workers in this process. TASK_ITEMS 0 leaves the division to the master. An
 * item is its number, and its result must be the number's complement. */
#include "base/clock.h"
#include <dlsched/dlsched.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORKERS_INSIDE = 2, TIMEOUT_MS = 60000, WARM_UP = 200 };

static void check(int rc, const struct dls_error *err)
{
	if (rc < 0) {
		fprintf(stderr, "tasks_tool: %s\n", err->text);
		exit(1);
	}
}

static void fail(const char *what)
{
	fprintf(stderr, "tasks_tool: %s\n", what);
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

static struct dls_tensor number_tensor(const uint64_t *number)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_UINT64;
	tensor.rank = 1;
	tensor.dims[0] = 1;
	tensor.bytes = sizeof *number;
	tensor.data = number;
	return tensor;
}

/* ---- master and worker */

static int complement(void *run_arg, struct dls_task *task)
{
	(void)run_arg;
	for (uint32_t i = 0; i < dls_task_items(task); i++) {
		const struct dls_tensor *inputs;
		struct dls_tensor output;
		uint32_t count;
		uint64_t number;
		int rc = dls_task_item(task, i, &inputs, &count, NULL);

		if (rc)
			return rc;
		memcpy(&number, inputs->data, sizeof number);
		number = ~number;
		output = number_tensor(&number);
		rc = dls_task_result(task, i, &output, 1, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

static void add_handler(struct dls_worker *worker)
{
	struct dls_handler_ops ops = {.size = sizeof ops, .run = complement};
	struct dls_error err;

	check(dls_worker_handle(worker, "complement", &ops, &err), &err);
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

static void be_worker(const char *endpoint)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_worker *worker;
	struct dls_error err;

	options.master = endpoint;
	options.no_models = 1;
	check(dls_worker_create(ctx, &options, &worker, &err), &err);
	add_handler(worker);
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
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_error err;

	options.workers = WORKERS_INSIDE;
	options.worker.no_models = 1;
	check(dls_cluster_local(site->ctx, &options, &site->cluster, &err), &err);
	for (uint32_t i = 0; i < WORKERS_INSIDE; i++)
		add_handler(dls_cluster_worker(site->cluster, i));
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

/* Takes all results and holds each against its item. */
static void take_results(struct dls_job *job, uint64_t items)
{
	struct dls_result *result;
	struct dls_error err;
	uint64_t item = 0, value;
	int rc;

	while ((rc = dls_job_next(job, TIMEOUT_MS, &result, &err)) == 1) {
		if (result->code)
			fail(result->error);
		memcpy(&value, result->outputs[0].tensor.data, sizeof value);
		if (result->item != item || value != ~item)
			fail("a result is not that of its item");
		dls_result_destroy(result);
		item++;
	}
	check(rc, &err);
	if (item != items)
		fail("results are missing");
}

static struct dls_job *make_job(struct site *site, uint64_t items, uint32_t task_items)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_error err;
	struct dls_job *job;

	options.handler = "complement";
	options.task_items = task_items;
	check(dls_job_create(site->client, &options, &job, &err), &err);
	for (uint64_t item = 0; item < items; item++) {
		struct dls_tensor tensor = number_tensor(&item);

		check(dls_job_add_tensors(job, &tensor, 1, &err), &err);
	}
	return job;
}

/* Nanoseconds from submission to the last result. */
static int64_t run_job(struct site *site, uint64_t items, uint32_t task_items)
{
	struct dls_job *job = make_job(site, items, task_items);
	struct dls_error err;
	int64_t start_ns, end_ns;

	start_ns = dlsi_clock_monotonic_ns();
	check(dls_job_submit(job, &err), &err);
	take_results(job, items);
	end_ns = dlsi_clock_monotonic_ns();
	dls_job_destroy(job);
	return end_ns - start_ns;
}

static void measure_rate(const char *master, uint64_t items, uint32_t task_items)
{
	struct site site;

	start(&site, master);
	run_job(&site, WARM_UP, task_items);
	printf("%.1f\n", (double)items * 1e9 / (double)run_job(&site, items, task_items));
	stop(&site);
}

static void measure_jobs(const char *master, size_t count, size_t outstanding)
{
	struct dls_job **jobs = calloc(outstanding, sizeof *jobs);
	struct dls_error err;
	struct site site;
	int64_t start_ns;

	if (!outstanding || !jobs)
		fail("OUTSTANDING is too small or too large");
	start(&site, master);
	run_job(&site, WARM_UP, 1);
	start_ns = dlsi_clock_monotonic_ns();
	for (size_t i = 0; i < count + outstanding; i++) {
		struct dls_job **job = &jobs[i % outstanding];

		if (*job) {
			take_results(*job, 1);
			dls_job_destroy(*job);
			*job = NULL;
		}
		if (i < count) {
			*job = make_job(&site, 1, 0);
			check(dls_job_submit(*job, &err), &err);
		}
	}
	printf("%.1f\n", (double)count * 1e9 / (double)(dlsi_clock_monotonic_ns() - start_ns));
	stop(&site);
	free(jobs);
}

static int compare(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void measure_latency(const char *master, size_t count)
{
	int64_t *times_ns = calloc(count, sizeof *times_ns);
	struct site site;

	if (!count || !times_ns)
		fail("COUNT is too small or too large");
	start(&site, master);
	for (size_t i = 0; i < WARM_UP; i++)
		run_job(&site, 1, 0);
	for (size_t i = 0; i < count; i++)
		times_ns[i] = run_job(&site, 1, 0);
	qsort(times_ns, count, sizeof *times_ns, compare);
	printf("%.1f %.1f\n", (double)times_ns[count / 2] / 1e3, (double)times_ns[count * 99 / 100] / 1e3);
	stop(&site);
	free(times_ns);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started it may be killed */
	if (strcmp(part, "master") == 0 && argc == 2)
		be_master();
	else if (strcmp(part, "worker") == 0 && argc == 3)
		be_worker(argv[2]);
	else if (strcmp(part, "rate") == 0 && argc == 5)
		measure_rate(argv[2], strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10));
	else if (strcmp(part, "jobs") == 0 && argc == 5)
		measure_jobs(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	else if (strcmp(part, "latency") == 0 && argc == 4)
		measure_latency(argv[2], strtoull(argv[3], NULL, 10));
	else
		fail("see the head of bench/tasks_tool.c for how it is called");
	return 0;
}
