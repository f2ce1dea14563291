/* No-op tasks over a Gearman job server that runs already, for bench/dispatch.py. Made only where libgearman is.
 *
 *   dispatch_gearman_tool worker PORT                     works until it is killed
 *   dispatch_gearman_tool each PORT ITEMS OUTSTANDING     prints items a second
 *   dispatch_gearman_tool latency PORT COUNT              one item at a time: prints the median and the 99th of 100 in
 *                                                      microseconds
 *
 * A task is its number, and its result must be the number's complement. Tasks are not of the background kind: the
 * client waits for their results. */
#include "base/clock.h"
#include "bench/tool.h"
#include <libgearman/gearman.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { WARM_UP = 200 };

static void fail(const char *what)
{
	fprintf(stderr, "dispatch_gearman_tool: %s\n", what);
	exit(1);
}

static void *complement(gearman_job_st *job, void *context, size_t *length_out, gearman_return_t *rc_out)
{
	uint64_t *number = malloc(sizeof *number);

	(void)context;
	memcpy(number, gearman_job_workload(job), sizeof *number);
	*number = tool_value(number, sizeof *number);
	*length_out = sizeof *number;
	*rc_out = GEARMAN_SUCCESS;
	return number;
}

static void be_worker(in_port_t port)
{
	gearman_worker_st *worker = gearman_worker_create(NULL);

	if (!worker || gearman_worker_add_server(worker, "127.0.0.1", port) ||
		gearman_worker_add_function(worker, "complement", 0, complement, NULL))
		fail("cannot start a worker");
	puts("ready");
	fflush(stdout);
	while (gearman_worker_work(worker) == GEARMAN_SUCCESS)
		;
	fail(gearman_worker_error(worker));
}

/* ---- client */

struct flow {
	gearman_client_st *client;
	uint64_t next, items, done;
	uint64_t *numbers; /* what each task sends, which must stay until it is over */
	uint8_t *seen;     /* those whose results have come */
};

static void add_task(struct flow *flow)
{
	uint64_t *number = &flow->numbers[flow->next];
	gearman_return_t rc;

	*number = flow->next++;
	if (!gearman_client_add_task(flow->client, NULL, flow, "complement", NULL, number, sizeof *number, &rc) ||
		rc != GEARMAN_SUCCESS)
		fail("cannot add a task");
}

static gearman_return_t complete(gearman_task_st *task)
{
	struct flow *flow = gearman_task_context(task);
	uint64_t value;

	if (gearman_task_data_size(task) != sizeof value)
		fail("a result of the wrong size");
	memcpy(&value, gearman_task_data(task), sizeof value);
	if (~value >= flow->items || flow->seen[~value]++)
		fail("a result of no item");
	flow->done++;
	if (flow->next < flow->items)
		add_task(flow);
	return GEARMAN_SUCCESS;
}

/* Nanoseconds until all results are here. */
static int64_t run_tasks(gearman_client_st *client, uint64_t items, uint64_t outstanding)
{
	struct flow flow = {.client = client, .items = items};
	int64_t start_ns = dlsi_clock_monotonic_ns(), end_ns;

	flow.numbers = tool_allocate(items, sizeof *flow.numbers);
	flow.seen = tool_allocate(items, sizeof *flow.seen);
	while (flow.next < items && flow.next < outstanding)
		add_task(&flow);
	if (gearman_client_run_tasks(client) != GEARMAN_SUCCESS)
		fail(gearman_client_error(client));
	end_ns = dlsi_clock_monotonic_ns();
	if (flow.done != items)
		fail("results are missing");
	free(flow.numbers);
	free(flow.seen);
	return end_ns - start_ns;
}

static void measure_latency(gearman_client_st *client, size_t count)
{
	int64_t *times_ns = tool_allocate(count, sizeof *times_ns);

	for (size_t i = 0; i < count; i++)
		times_ns[i] = run_tasks(client, 1, 1);
	tool_print_times(times_ns, count);
	free(times_ns);
}

static gearman_client_st *make_client(in_port_t port)
{
	gearman_client_st *client = gearman_client_create(NULL);

	if (!client || gearman_client_add_server(client, "127.0.0.1", port))
		fail("cannot start a client");
	gearman_client_add_options(client, GEARMAN_CLIENT_FREE_TASKS);
	gearman_client_set_complete_fn(client, complete);
	run_tasks(client, WARM_UP, 1);
	return client;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	in_port_t port = argc > 2 ? (in_port_t)strtoul(argv[2], NULL, 10) : 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started it may be killed */
	if (strcmp(part, "worker") == 0 && argc == 3) {
		be_worker(port);
	} else if (strcmp(part, "each") == 0 && argc == 5) {
		uint64_t items = strtoull(argv[3], NULL, 10);

		tool_print_rate(items, run_tasks(make_client(port), items, strtoull(argv[4], NULL, 10)));
	} else if (strcmp(part, "latency") == 0 && argc == 4) {
		measure_latency(make_client(port), strtoull(argv[3], NULL, 10));
	} else {
		fail("see the head of bench/dispatch_gearman_tool.c for how it is called");
	}
	return 0;
}
