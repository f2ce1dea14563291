/* A worker with work of its own: it counts the lines, words and bytes of texts, for any client that asks a master for
 * the handler "count-words".
 *
 *	worker_handler tcp://127.0.0.1:7700
 *	dls-submit run --handler count-words README.md docs/CLI.md
 *
 * It ends at Ctrl-C; what it was doing then is done by another worker. */
#include <ctype.h>
#include <dlsched/dlsched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* lines, words, bytes */
static void count(const unsigned char *text, size_t bytes, int64_t counts_out[3])
{
	bool in_word = false;

	counts_out[0] = counts_out[1] = 0;
	counts_out[2] = (int64_t)bytes;
	for (size_t i = 0; i < bytes; i++) {
		bool space = isspace(text[i]);

		counts_out[0] += text[i] == '\n';
		counts_out[1] += !space && !in_word;
		in_word = !space;
	}
}

static int count_item(struct dls_task *task, uint32_t item, struct dls_error *err)
{
	struct dls_tensor result = DLS_TENSOR_INIT;
	const struct dls_tensor *inputs;
	uint32_t input_count;
	int64_t counts[3];
	int rc = dls_task_item(task, item, &inputs, &input_count, err);

	if (rc)
		return rc;
	if (inputs[0].dtype != DLS_UINT8) /* a file comes as its bytes */
		return dls_task_fail(task, item, DLS_EINVAL, "count-words takes texts");
	count(inputs[0].data, inputs[0].bytes, counts);
	result.dtype = DLS_INT64;
	result.rank = 1;
	result.dims[0] = 3;
	result.data = counts;
	result.bytes = sizeof counts;
	return dls_task_result(task, item, &result, 1, err);
}

/* Runs on a thread of the worker. A task is a range of a job's items; one item's failure leaves the others alone. */
static int count_words(void *run_arg, struct dls_task *task)
{
	struct dls_error err;

	(void)run_arg;
	for (uint32_t item = 0; item < dls_task_items(task) && !dls_task_stopped(task); item++) {
		int rc = count_item(task, item, &err);

		if (rc)
			(void)dls_task_fail(task, item, rc, err.text);
	}
	return 0;
}

static int serve(struct dls_worker *worker, const sigset_t *until, struct dls_error *err)
{
	struct dls_handler_ops ops = {.size = sizeof ops, .run = count_words};
	int number, rc = dls_worker_handle(worker, "count-words", &ops, err);

	if (rc == 0)
		rc = dls_worker_start(worker, err);
	if (rc == 0)
		sigwait(until, &number);
	return rc;
}

int main(int argc, char **argv)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_ctx *ctx = NULL;
	struct dls_worker *worker = NULL;
	struct dls_error err;
	sigset_t until;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: worker_handler MASTER\n");
		return 2;
	}
	sigemptyset(&until);
	sigaddset(&until, SIGINT);
	sigaddset(&until, SIGTERM);
	sigprocmask(SIG_BLOCK, &until, NULL); /* taken by sigwait; the library leaves signals to the program */

	options.master = argv[1];
	options.no_models = 1;
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = dls_worker_create(ctx, &options, &worker, &err);
	if (rc == 0)
		rc = serve(worker, &until, &err);
	if (rc)
		fprintf(stderr, "worker_handler: %s\n", err.text);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
