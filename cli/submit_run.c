/* dls-submit run: one job, from its files to its results.
 *
 * Everything that can be wrong with the model and the files is found before the master is waited for. */
#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/retries.h"
#include "cli/signals.h"
#include "cli/submit.h"
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { REDRAW_MS = 100, PATIENCE_MS = 3000, AGAIN_MS = 1000 };

const char *const submit_after_words[] = {"ended", "succeeded", "any", NULL};

struct run {
	const struct submit *submit;
	const struct submit_values *values;
	struct dls_job_file *file;   /* with --job */
	const char **paths;          /* of inputs: those of the file and those behind it */
	struct dls_cluster *cluster; /* with --local */
	struct dls_client *client;
	struct dls_job *job;
	struct dls_model *model; /* for the names of classes; NULL with --handler */
	struct cli_inputs inputs;
	struct cli_results results;
	struct cli_progress progress;
	int64_t start_ms, start_us;
	int64_t ask_ms;       /* when to ask why nothing happens */
	struct dls_error why; /* what was said of that; code 0: nothing yet */
	struct dls_error *err;
};

static int start_cluster(struct run *run)
{
	struct dls_cluster_options options = DLS_CLUSTER_OPTIONS_INIT;
	int rc;

	options.worker.devices = (uint32_t)run->values->devices;
	options.worker.threads = (uint32_t)run->values->threads;
	options.worker.cache_dir = run->values->cache_dir;
	rc = dls_cluster_local(run->submit->ctx, &options, &run->cluster, run->err);
	return rc ? rc : dls_cluster_start(run->cluster, run->err);
}

/* Whether the command line or, without a file, anything says it. */
static bool is_said(const struct run *run, const char *option)
{
	const struct cli_option *options = run->submit->options;

	return !run->file || run->submit->given >> (cli_option_find(options, option) - options) & 1;
}

static int make_client(struct run *run)
{
	struct submit_values values = *run->values;
	struct submit submit = *run->submit;
	const char *master = run->values->master;
	int rc = 0;

	submit.values = &values;
	if (!is_said(run, "tenant") && run->file->tenant)
		values.tenant = run->file->tenant;

	if (run->values->local) {
		rc = start_cluster(run);
		master = rc ? NULL : dls_cluster_endpoint(run->cluster);
	}
	return rc ? rc : submit_client_create(&submit, master, &run->client, run->err);
}

/* What the command line says of the job, in the place of what the file does. */
static void take_values(const struct run *run, const struct cli_retries *retries, struct dls_job_options *options)
{
	const struct submit_values *values = run->values;

	if (is_said(run, "handler"))
		options->handler = values->handler;
	if (is_said(run, "params"))
		options->params = values->params;
	if (is_said(run, "key"))
		options->key = values->key;
	if (is_said(run, "priority"))
		options->priority = (int32_t)values->priority;
	if (is_said(run, "task-items"))
		options->task_items = (uint32_t)values->task_items;
	if (is_said(run, "name"))
		options->name = values->name;
	if (is_said(run, "tag"))
		options->tags = values->tag.at;
	if (is_said(run, "label"))
		options->labels = values->label.at;
	if (is_said(run, "prefer"))
		options->preferred_labels = values->prefer.at;
	if (is_said(run, "resource"))
		options->resources = values->resource.at;
	if (is_said(run, "deadline"))
		options->deadline_ms = values->deadline_ms;
	if (is_said(run, "time-limit"))
		options->time_limit_ms = (uint64_t)values->time_limit_ms;
	if (is_said(run, "item-time-limit"))
		options->item_time_limit_ms = (uint64_t)values->item_time_limit_ms;
	if (is_said(run, "detach"))
		options->detached = values->detach;
	if (is_said(run, "retry"))
		options->retries = retries->at;
	if (is_said(run, "no-speculation"))
		options->no_speculation = values->no_speculation;
	if (is_said(run, "after")) {
		options->after = values->after.at;
		options->after_when = values->after.count ? submit_after_words[values->after_when] : NULL;
	}
}

static int make_job(struct run *run, const char *model)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct cli_retries retries;
	int rc = cli_retries_read(&run->values->retry, &retries, run->err);

	if (rc)
		return rc;
	if (run->file)
		options = *run->file->options;
	take_values(run, &retries, &options);
	options.model = model;
	rc = dls_job_create(run->client, &options, &run->job, run->err);
	return rc ? rc : cli_inputs_add(&run->inputs, run->job, run->err);
}

static int open_results(struct run *run)
{
	struct cli_results_options options = {
		.form = CLI_RESULTS_TABLE,
		.output = run->values->output,
		.top = (uint32_t)run->values->top,
		.json = run->values->json,
		.quiet = run->values->quiet,
	};

	if (options.output)
		options.form = CLI_RESULTS_FILE;
	else if (options.json)
		options.form = CLI_RESULTS_JSON;
	else if (options.quiet)
		options.form = CLI_RESULTS_NONE;
	return cli_results_init(&options, &run->inputs, run->model, dls_job_items(run->job), &run->results, run->err);
}

/* Names the files of the job's items: `skipped` operands are none. */
static int list_inputs(struct run *run, size_t skipped)
{
	size_t of_file = run->file ? run->file->input_count : 0, others = run->submit->operand_count - skipped;

	if (!of_file && !others)
		return cli_fail(run->err, DLS_EINVAL, "%s names no inputs, and there are none on the command line",
			run->values->job);
	run->paths = calloc(of_file + others, sizeof *run->paths);
	if (!run->paths)
		return cli_fail(run->err, DLS_ENOMEM, "out of memory");
	for (size_t i = 0; i < of_file; i++)
		run->paths[i] = run->file->inputs[i];
	for (size_t i = 0; i < others; i++)
		run->paths[of_file + i] = run->submit->operands[skipped + i];
	return cli_inputs_init(run->paths, of_file + others, &run->inputs, run->err);
}

static int prepare(struct run *run)
{
	const struct submit *submit = run->submit;
	const char *model = NULL;
	int rc = 0;

	if (run->values->job)
		rc = dls_job_file_read(submit->ctx, run->values->job, &run->file, run->err);
	if (rc)
		return rc;
	if (!run->values->handler || !is_said(run, "handler"))
		model = run->file ? run->file->options->model : submit->operands[0];
	if (run->values->local && !model)
		return cli_fail(
			run->err, DLS_EINVAL, "--local runs models only; a handler needs a master with workers");
	rc = list_inputs(run, !run->file && model);
	if (rc == 0 && model)
		rc = dls_model_open(submit->ctx, model, &run->model, run->err);
	if (rc == 0)
		rc = make_client(run);
	if (rc == 0)
		rc = make_job(run, model);
	if (rc == 0)
		rc = open_results(run);
	return rc;
}

/* Prints the results that are here. Returns 1 when more are to come, 0 when that was the last one. */
static int take_results(struct run *run)
{
	struct dls_result *result;
	int rc = 1, failed = 0;

	while (!cli_signals_caught() && (rc = dls_job_next(run->job, 0, &result, run->err)) == 1) {
		if (cli_results_prints(&run->results, result))
			cli_progress_clear(&run->progress);
		failed = cli_results_add(&run->results, result, run->err);
		dls_result_destroy(result);
		if (failed)
			return failed;
	}
	return rc == DLS_ETIMEOUT ? 1 : rc;
}

/* Someone who sees nothing happen is told once why: of a master that is full at once. */
static void explain_silence(struct run *run, const struct dls_job_progress *state)
{
	bool full = state->deferred && !state->accepted;
	struct dls_error why;
	int rc;

	if (run->why.code || run->values->quiet || run->progress.on || (!full && cli_now_ms() < run->ask_ms))
		return;
	rc = submit_explain_wait(run->submit->ctx, run->client, run->job, state, &why);
	if (rc < 0)
		run->ask_ms = cli_now_ms() + AGAIN_MS;
	if (rc != 1)
		return;
	run->why = why;
	fprintf(stderr, "dls-submit: the job waits: %s; it goes on by itself, Ctrl-C ends it\n", why.text);
}

static struct dls_job_progress state_of(const struct run *run)
{
	struct dls_job_progress state = {.size = sizeof state};

	(void)dls_job_progress(run->job, &state); /* fails for no job only */
	return state;
}

static void show_progress(struct run *run)
{
	struct dls_job_progress state = state_of(run);

	explain_silence(run, &state);
	cli_progress_draw(&run->progress, &state);
}

static int64_t earlier(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

/* Milliseconds until something is to be done without news; -1 for never. */
static int patience_ms(const struct run *run)
{
	int64_t now_ms = cli_now_ms(), wait_ms = INT32_MAX;

	if (run->progress.on)
		wait_ms = REDRAW_MS;
	else if (now_ms < run->ask_ms)
		wait_ms = run->ask_ms - now_ms;
	if (run->values->timeout_ms)
		wait_ms = earlier(wait_ms, run->start_ms + run->values->timeout_ms - now_ms);
	if (wait_ms == INT32_MAX)
		return -1;
	return wait_ms > 0 ? (int)wait_ms : 0;
}

static bool is_late(const struct run *run)
{
	return run->values->timeout_ms && cli_now_ms() - run->start_ms >= run->values->timeout_ms;
}

/* Until the last result, a failure, a signal or the time limit. Returns as take_results, or DLS_ETIMEOUT. */
static int collect(struct run *run)
{
	struct pollfd wait[] = {
		{.fd = dls_client_fd(run->client), .events = POLLIN},
		{.fd = run->submit->signals, .events = POLLIN},
	};
	int rc = take_results(run);

	while (rc == 1 && !cli_signals_caught()) {
		if (is_late(run))
			return DLS_ETIMEOUT;
		show_progress(run);
		poll(wait, 2, patience_ms(run));
		rc = dls_client_process(run->client, run->err);
		if (rc == 0)
			rc = take_results(run);
	}
	return rc;
}

/* Why it was waited for in vain: as the master says now or, if it does not answer, as was said before. */
static bool explain_timeout(struct run *run, const struct dls_job_progress *state, struct dls_error *why)
{
	int rc = submit_explain_wait(run->submit->ctx, run->client, run->job, state, why);

	if (rc < 0)
		*why = run->why;
	return rc < 0 ? why->code != 0 : rc == 1;
}

/* The job's end before its time: cancelled, with a word about what there is. Returns the exit code. */
static int break_off(struct run *run, const struct dls_job_progress *state, const char *cause, int exit_code)
{
	struct dls_error why = {0};
	bool explained = exit_code == CLI_EXIT_TIMEOUT && explain_timeout(run, state, &why);

	(void)dls_job_cancel(run->job, run->err);
	fflush(stdout);
	fprintf(stderr, "dls-submit: %s: %" PRIu64 " of %" PRIu64 " items are done, the job is cancelled%s%s\n", cause,
		run->results.done, dls_job_items(run->job), explained ? "; it waited: " : "", why.text);
	return exit_code;
}

static int finish(struct run *run, int rc)
{
	struct dls_job_progress state = state_of(run);
	char cause[64];

	cli_progress_end(&run->progress, &state);
	if (cli_signals_caught())
		return break_off(run, &state, "interrupted", 128 + cli_signals_caught());
	if (rc == DLS_ETIMEOUT) {
		snprintf(cause, sizeof cause, "not done after %g s", (double)run->values->timeout_ms / 1000);
		return break_off(run, &state, cause, CLI_EXIT_TIMEOUT);
	}
	if (rc == 0)
		rc = cli_results_finish(&run->results, (double)(cli_now_us() - run->start_us + 1) / 1e6, run->err);
	if (rc)
		return -1;
	return run->results.failed ? CLI_EXIT_FAILED : 0;
}

/* Until the master keeps the job, or says no. */
static int await_acceptance(struct run *run)
{
	struct pollfd wait[] = {
		{.fd = dls_client_fd(run->client), .events = POLLIN},
		{.fd = run->submit->signals, .events = POLLIN},
	};
	struct dls_job_progress state = state_of(run);
	int rc = 0;

	while (rc == 0 && !state.accepted && !cli_signals_caught()) {
		show_progress(run);
		poll(wait, 2, patience_ms(run));
		rc = dls_client_process(run->client, run->err);
		state = state_of(run);
		if (rc == 0 && !state.accepted)
			rc = dls_job_wait(run->job, 0, run->err);
		if (rc == DLS_ETIMEOUT)
			rc = 0;
	}
	return rc;
}

/* With --detach: the job is the master's, and this command is done with it. */
static int leave(struct run *run)
{
	int rc = await_acceptance(run);

	if (cli_signals_caught()) {
		(void)dls_job_cancel(run->job, run->err);
		return 128 + cli_signals_caught();
	}
	if (rc)
		return -1;
	if (run->values->json)
		printf("{\"job\":\"%s\"}\n", dls_job_id(run->job));
	else
		printf("%s\n", dls_job_id(run->job));
	return cli_check_output(run->err) ? -1 : 0;
}

static int work(struct run *run)
{
	int rc = prepare(run);

	if (rc == 0 && !run->values->local)
		rc = submit_client_wait(run->submit, run->client, run->err);
	run->start_us = cli_now_us();
	run->start_ms = run->start_us / 1000;
	run->ask_ms = run->start_ms + PATIENCE_MS;
	cli_progress_init(&run->progress, run->values->quiet ? 0 : run->values->progress);
	if (rc == 0 && !cli_signals_caught())
		rc = dls_job_submit(run->job, run->err);
	if (rc)
		return -1;
	return run->values->detach ? leave(run) : finish(run, collect(run));
}

int submit_run(const struct submit *submit, struct dls_error *err)
{
	struct run run = {.submit = submit, .values = submit->values, .err = err};
	int exit_code = work(&run);

	cli_results_fini(&run.results);
	dls_job_destroy(run.job);
	dls_client_destroy(run.client);
	dls_cluster_destroy(run.cluster);
	dls_model_destroy(run.model);
	cli_inputs_fini(&run.inputs);
	free(run.paths);
	dls_job_file_destroy(run.file);
	return exit_code;
}
