/* A whole cluster in one process: a master, a worker with a handler, and a client, which this program serves from a
 * poll loop of its own, beside a timer that stands for all else that such a loop has to do.
 *
 * The job: how many steps it takes each number from 1 to 10,000 to come down to 1 by Collatz's rule (halve the even
 * ones, triple the odd ones and add one). */
#include <dlsched/dlsched.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { NUMBERS = 10000 };

/* What the poll loop knows. */
struct search {
	int64_t number, steps; /* of the longest way so far */
	bool over;
	int rc;
	struct dls_error err;
};

static int64_t count_steps(int64_t number)
{
	int64_t steps = 0;

	for (; number != 1; steps++)
		number = number % 2 ? 3 * number + 1 : number / 2;
	return steps;
}

/* On a thread of the worker. An item of a batch is one number, a tensor of rank 0. */
static int run(void *run_arg, struct dls_task *task)
{
	(void)run_arg;
	for (uint32_t item = 0; item < dls_task_items(task); item++) {
		const struct dls_tensor *inputs;
		struct dls_tensor result;
		struct dls_error err;
		uint32_t count;
		int64_t steps;
		int rc = dls_task_item(task, item, &inputs, &count, &err);

		if (rc)
			return rc;
		steps = count_steps(*(const int64_t *)inputs[0].data);
		result = inputs[0]; /* the same shape and type, with other data */
		result.data = &steps;
		rc = dls_task_result(task, item, &result, 1, &err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Called by dls_client_process, in the thread of the poll loop: takes what is there and does not wait for more. */
static void take_results(void *notify_arg, struct dls_job *job)
{
	struct search *search = notify_arg;
	struct dls_result *result;
	int rc;

	while ((rc = dls_job_next(job, 0, &result, &search->err)) == 1) {
		int64_t steps = result->code ? 0 : *(const int64_t *)result->outputs[0].tensor.data;

		if (steps > search->steps) {
			search->steps = steps;
			search->number = (int64_t)result->item + 1;
		}
		dls_result_destroy(result);
	}
	search->over = rc != DLS_ETIMEOUT; /* that only says: nothing more yet */
	search->rc = search->over ? rc : 0;
}

static int submit(struct dls_client *client, struct search *search, struct dls_job **job_out)
{
	static int64_t numbers[NUMBERS]; /* stays until the job is destroyed, so nobody has to release it */
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_tensor batch = DLS_TENSOR_INIT;
	int rc;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i + 1;
	batch.dtype = DLS_INT64;
	batch.rank = 1;
	batch.dims[0] = NUMBERS;
	batch.data = numbers;
	batch.bytes = sizeof numbers;

	options.handler = "collatz";
	options.notify = take_results;
	options.notify_arg = search;
	rc = dls_job_create(client, &options, job_out, &search->err);
	if (rc == 0)
		rc = dls_job_add_batch(*job_out, &batch, &search->err);
	return rc ? rc : dls_job_submit(*job_out, &search->err);
}

static int loop(struct dls_client *client, struct search *search)
{
	const struct itimerspec tenth = {{0, 100000000}, {0, 100000000}};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), rc = 0;
	struct pollfd wait[] = {
		{.fd = dls_client_fd(client), .events = POLLIN},
		{.fd = timer, .events = POLLIN},
	};
	uint64_t ticks;

	timerfd_settime(timer, 0, &tenth, NULL);
	while (rc == 0 && !search->over) {
		poll(wait, 2, -1);
		if (wait[0].revents)
			rc = dls_client_process(client, &search->err);
		if (wait[1].revents && read(timer, &ticks, sizeof ticks) > 0)
			printf("%" PRId64 " steps so far\n", search->steps);
	}
	close(timer);
	return rc ? rc : search->rc;
}

static int start(
	struct dls_ctx *ctx, struct dls_cluster **cluster_out, struct dls_client **client_out, struct dls_error *err)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_handler_ops ops = {.size = sizeof ops, .run = run};
	int rc = dls_cluster_local(ctx, NULL, cluster_out, err);

	if (rc == 0)
		rc = dls_worker_handle(dls_cluster_worker(*cluster_out, 0), "collatz", &ops, err);
	if (rc == 0)
		rc = dls_cluster_start(*cluster_out, err);
	if (rc)
		return rc;
	options.master = dls_cluster_endpoint(*cluster_out);
	return dls_client_create(ctx, &options, client_out, err);
}

int main(void)
{
	struct search search = {0};
	struct dls_ctx *ctx = NULL;
	struct dls_cluster *cluster = NULL;
	struct dls_client *client = NULL;
	struct dls_job *job = NULL;
	int rc = dls_ctx_create(NULL, &ctx, &search.err);

	if (rc == 0)
		rc = start(ctx, &cluster, &client, &search.err);
	if (rc == 0)
		rc = submit(client, &search, &job);
	if (rc == 0)
		rc = loop(client, &search);
	if (rc == 0)
		printf("%" PRId64 " takes the most steps: %" PRId64 "\n", search.number, search.steps);
	else
		fprintf(stderr, "all_in_one: %s\n", search.err.text);

	dls_job_destroy(job);
	dls_client_destroy(client);
	dls_cluster_destroy(cluster);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
