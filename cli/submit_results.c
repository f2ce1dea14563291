/* dls-submit results: what a detached job has for whoever comes, from its first item on, until it has ended. */
#include "cli/failure.h"
#include "cli/progress.h"
#include "cli/query.h"
#include "cli/results.h"
#include "cli/signals.h"
#include "cli/submit.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

/* The job's files are not here: its items are numbered. */
static struct cli_input all = {.path = "item", .first = 0, .count = UINT64_MAX};
static const struct cli_inputs inputs = {.at = &all, .count = 1};

struct taking {
	const struct submit *submit;
	struct dls_client *client;
	struct dls_job *job;
	struct cli_results results;
	bool begun; /* the master has said how many items there are */
	int64_t start_us;
	struct dls_error *err;
};

static int begin(struct taking *taking)
{
	const struct submit_values *values = taking->submit->values;
	struct cli_results_options options = {
		.form = CLI_RESULTS_TABLE,
		.output = values->output,
		.json = values->json,
		.quiet = values->quiet,
	};

	if (options.output)
		options.form = CLI_RESULTS_FILE;
	else if (options.json)
		options.form = CLI_RESULTS_JSON;
	else if (options.quiet)
		options.form = CLI_RESULTS_NONE;
	taking->begun = true;
	return cli_results_init(&options, &inputs, NULL, dls_job_items(taking->job), &taking->results, taking->err);
}

/* Returns 1 when more are to come, 0 when that was the last one. */
static int take(struct taking *taking)
{
	struct dls_result *result;
	int rc = 1, failed = 0;

	while (!cli_signals_caught() && (rc = dls_job_next(taking->job, 0, &result, taking->err)) == 1) {
		if (!taking->begun)
			failed = begin(taking);
		if (!failed)
			failed = cli_results_add(&taking->results, result, taking->err);
		dls_result_destroy(result);
		if (failed)
			return failed;
	}
	return rc == DLS_ETIMEOUT ? 1 : rc;
}

static int finish(struct taking *taking, int rc)
{
	if (cli_signals_caught())
		return 128 + cli_signals_caught();
	if (rc == 0 && !taking->begun)
		rc = begin(taking);
	if (rc == 0)
		rc = cli_results_finish(
			&taking->results, (double)(cli_now_us() - taking->start_us + 1) / 1e6, taking->err);
	if (rc)
		return -1;
	return taking->results.failed ? CLI_EXIT_FAILED : 0;
}

static int collect(struct taking *taking)
{
	struct pollfd wait[] = {
		{.fd = dls_client_fd(taking->client), .events = POLLIN},
		{.fd = taking->submit->signals, .events = POLLIN},
	};
	int rc = take(taking);

	while (rc == 1 && !cli_signals_caught()) {
		poll(wait, 2, -1);
		rc = dls_client_process(taking->client, taking->err);
		if (rc == 0)
			rc = take(taking);
	}
	return finish(taking, rc);
}

static int results(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	struct taking taking = {.submit = submit, .client = client, .start_us = cli_now_us(), .err = err};
	int exit_code = -1;

	if (dls_job_attach(client, submit->operands[0], &taking.job, err) == 0)
		exit_code = collect(&taking);
	if (taking.begun)
		cli_results_fini(&taking.results);
	dls_job_destroy(taking.job);
	return exit_code;
}

int submit_results(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, results, err);
}
