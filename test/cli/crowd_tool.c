/* Keeps a master full: crowd_tool ENDPOINT submits as many jobs as a master takes, for a handler that nobody has,
 * prints a line when the master has them all, and cancels them on SIGTERM. */
#include "base/limits.h"
#include <dlsched/dlsched.h>
#include <signal.h>
#include <stdio.h>

enum { ANSWER_MS = 60000 };

static struct dls_job *jobs[DLSI_JOBS];

static int submit(struct dls_client *client, struct dls_job **job, struct dls_error *err)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	int rc;

	options.handler = "nobody has it";
	rc = dls_job_create(client, &options, job, err);
	if (rc == 0)
		rc = dls_job_add_bytes(*job, "x", 1, err);
	return rc ? rc : dls_job_submit(*job, err);
}

/* Questions are answered in the order of what was sent before them. */
static int wait_for_last(struct dls_ctx *ctx, struct dls_client *client, struct dls_error *err)
{
	struct dls_job_progress progress = DLS_JOB_PROGRESS_INIT;
	char *json;
	int rc = 0;

	while (rc == 0 && !progress.accepted) {
		rc = dls_client_command(client, "{\"command\":\"status\"}", ANSWER_MS, &json, err);
		if (rc == 0)
			dls_free(ctx, json);
		if (rc == 0)
			rc = dls_job_progress(jobs[DLSI_JOBS - 1], &progress);
	}
	return rc;
}

static int fill(struct dls_ctx *ctx, struct dls_client *client, const sigset_t *until, struct dls_error *err)
{
	int number, rc = 0;

	for (size_t i = 0; i < DLSI_JOBS && rc == 0; i++)
		rc = submit(client, &jobs[i], err);
	if (rc == 0)
		rc = wait_for_last(ctx, client, err);
	if (rc)
		return rc;
	printf("full\n");
	fflush(stdout);
	sigwait(until, &number);
	return 0;
}

int main(int argc, char **argv)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_client *client = NULL;
	struct dls_ctx *ctx = NULL;
	struct dls_error err;
	sigset_t until;
	int rc;

	if (argc != 2)
		return 2;
	sigemptyset(&until);
	sigaddset(&until, SIGTERM);
	sigprocmask(SIG_BLOCK, &until, NULL);
	options.master = argv[1];
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = dls_client_create(ctx, &options, &client, &err);
	if (rc == 0)
		rc = fill(ctx, client, &until, &err);
	if (rc)
		fprintf(stderr, "crowd_tool: %s\n", err.text);
	for (size_t i = 0; i < DLSI_JOBS; i++)
		dls_job_destroy(jobs[i]);
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
