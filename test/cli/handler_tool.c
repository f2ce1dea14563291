/* A worker whose handlers the tests can hold and watch: handler_tool MASTER NAME JOURNAL [LABEL...].
 *
 * Every item that begins appends a line "NAME ITEM" to JOURNAL, so that a test sees which worker runs what. The
 * handlers: number     answers the item's number, int64 hold       the same, but not before the file exists that the
 * job's params name: {"gate": PATH} odd-fails  fails the items with odd numbers reads      answers the number once it
 * has read the inputs dies       ends the process in the middle of the task, unless the gate exists The tool ends at
 * SIGTERM. */
#include <dlsched/dlsched.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLL_US = 2000, LINE_BYTES = 512 };

struct tool {
	const char *name;
	int journal;
};

/* One write per line: several workers append to the same journal. */
static void note(const struct tool *tool, uint64_t item)
{
	char line[LINE_BYTES];
	int length = snprintf(line, sizeof line, "%s %" PRIu64 "\n", tool->name, item);

	if (write(tool->journal, line, (size_t)length) != length)
		abort();
}

/* The params are written by the tests: {"gate": "/path"} without escapes. */
static bool is_open(const struct dls_task *task)
{
	const char *begin = strstr(dls_task_params(task), "/");
	char path[LINE_BYTES];

	if (!begin)
		return true;
	snprintf(path, sizeof path, "%.*s", (int)strcspn(begin, "\""), begin);
	return access(path, F_OK) == 0;
}

static void answer(struct dls_task *task, uint32_t item)
{
	int64_t number = (int64_t)dls_task_item_number(task, item);
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct dls_error err;

	tensor.dtype = DLS_INT64;
	tensor.data = &number;
	tensor.bytes = sizeof number;
	if (dls_task_result(task, item, &tensor, 1, &err) != 0)
		(void)dls_task_fail(task, item, err.code, err.text);
}

static int run_number(void *run_arg, struct dls_task *task)
{
	for (uint32_t item = 0; item < dls_task_items(task); item++) {
		note(run_arg, dls_task_item_number(task, item));
		answer(task, item);
	}
	return 0;
}

static int run_hold(void *run_arg, struct dls_task *task)
{
	for (uint32_t item = 0; item < dls_task_items(task) && !dls_task_stopped(task); item++) {
		note(run_arg, dls_task_item_number(task, item));
		while (!is_open(task)) {
			if (dls_task_cancelled(task))
				return DLS_ECANCELLED;
			usleep(POLL_US);
		}
		answer(task, item);
	}
	return 0;
}

static int run_odd_fails(void *run_arg, struct dls_task *task)
{
	for (uint32_t item = 0; item < dls_task_items(task); item++) {
		note(run_arg, dls_task_item_number(task, item));
		if (dls_task_item_number(task, item) % 2)
			(void)dls_task_fail(task, item, DLS_EFORMAT, "this number is odd");
		else
			answer(task, item);
	}
	return 0;
}

static int run_reads(void *run_arg, struct dls_task *task)
{
	for (uint32_t item = 0; item < dls_task_items(task); item++) {
		const struct dls_tensor *tensors;
		struct dls_error err;
		uint32_t count;

		note(run_arg, dls_task_item_number(task, item));
		if (dls_task_item(task, item, &tensors, &count, &err) == 0)
			answer(task, item);
		else
			(void)dls_task_fail(task, item, err.code, err.text);
	}
	return 0;
}

static int run_dies(void *run_arg, struct dls_task *task)
{
	if (!is_open(task)) {
		note(run_arg, dls_task_item_number(task, 0));
		_exit(9);
	}
	return run_number(run_arg, task);
}

static int serve(struct dls_worker *worker, struct tool *tool, const sigset_t *until, struct dls_error *err)
{
	static const struct {
		const char *name;
		int (*run)(void *run_arg, struct dls_task *task);
	} handlers[] = {{"number", run_number}, {"hold", run_hold}, {"odd-fails", run_odd_fails}, {"reads", run_reads},
		{"dies", run_dies}};
	struct dls_handler_ops ops = {.size = sizeof ops, .run_arg = tool};
	int number, rc = 0;

	for (size_t i = 0; i < sizeof handlers / sizeof *handlers && rc == 0; i++) {
		ops.run = handlers[i].run;
		rc = dls_worker_handle(worker, handlers[i].name, &ops, err);
	}
	if (rc == 0)
		rc = dls_worker_start(worker, err);
	if (rc == 0)
		rc = dls_worker_wait(worker, 10000, err);
	if (rc)
		return rc;
	printf("ready\n");
	fflush(stdout);
	sigwait(until, &number);
	return 0;
}

int main(int argc, char **argv)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_ctx *ctx = NULL;
	struct dls_worker *worker = NULL;
	struct dls_error err;
	struct tool tool;
	sigset_t until;
	int rc;

	if (argc < 4)
		return 2;
	sigemptyset(&until);
	sigaddset(&until, SIGTERM);
	sigprocmask(SIG_BLOCK, &until, NULL);
	tool = (struct tool){.name = argv[2], .journal = open(argv[3], O_WRONLY | O_APPEND | O_CREAT, 0644)};
	options.master = argv[1];
	options.name = argv[2];
	options.no_models = 1;
	options.labels = (const char *const *)&argv[4];
	options.credits = 2; /* so that a test with two workers uses both */
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = dls_worker_create(ctx, &options, &worker, &err);
	if (rc == 0)
		rc = serve(worker, &tool, &until, &err);
	if (rc)
		fprintf(stderr, "handler_tool: %s\n", err.text);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
