/* Keeps a master full: crowd_tool ENDPOINT submits as many jobs as a master takes, for a handler that nobody has,
 * prints a line when the master has them all, and cancels them on SIGTERM. One client gets no more than half of what is
 * left (core/share.h), so each of several takes that, until there is none for another. The master has little memory for
 * jobs (--job-memory). */
#include <dlsched/dlsched.h>
#include <signal.h>
#include <stdio.h>

enum { ANSWER_MS = 60000, CLIENTS = 32, JOBS = 32768, TOGETHER = 64 };

static struct dls_client *clients[CLIENTS];
static struct dls_job *jobs[JOBS];
static size_t client_count, job_count;

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

/* Whether the master has taken the last one. Questions are answered in the order of what was sent before them. */
static int is_taken(struct dls_ctx *ctx, struct dls_client *client, struct dls_error *err)
{
	struct dls_job_progress progress = DLS_JOB_PROGRESS_INIT;
	char *json;
	int rc = 0;

	while (rc == 0 && !progress.accepted && !progress.deferred) {
		rc = dls_client_command(client, "{\"command\":\"status\"}", ANSWER_MS, &json, err);
		if (rc == 0)
			dls_free(ctx, json);
		if (rc == 0)
			rc = dls_job_progress(jobs[job_count - 1], &progress);
	}
	return rc ? rc : progress.accepted;
}

/* 1: another client may find room; 0: not even this one has found any. */
static int take_half(struct dls_ctx *ctx, const char *master, struct dls_error *err)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	size_t before = job_count, some;
	struct dls_client *client;
	int rc;

	options.master = master;
	rc = dls_client_create(ctx, &options, &client, err);
	if (rc)
		return rc;
	clients[client_count++] = client;
	do { /* a few at first, so that little room is not passed over */
		some = job_count == before ? 1 : TOGETHER;
		for (size_t i = 0; i < some && rc >= 0 && job_count < JOBS; i++)
			rc = submit(client, &jobs[job_count++], err);
		if (rc >= 0)
			rc = is_taken(ctx, client, err);
	} while (rc == 1);
	return rc < 0 ? rc : job_count > before + 1;
}

static int fill(struct dls_ctx *ctx, const char *master, const sigset_t *until, struct dls_error *err)
{
	int number, rc = 1;

	while (rc == 1 && client_count < CLIENTS)
		rc = take_half(ctx, master, err);
	if (rc < 0)
		return rc;
	printf("full\n");
	fflush(stdout);
	sigwait(until, &number);
	return 0;
}

int main(int argc, char **argv)
{
	struct dls_ctx *ctx = NULL;
	struct dls_error err;
	sigset_t until;
	int rc;

	if (argc != 2)
		return 2;
	sigemptyset(&until);
	sigaddset(&until, SIGTERM);
	sigprocmask(SIG_BLOCK, &until, NULL);
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = fill(ctx, argv[1], &until, &err);
	if (rc)
		fprintf(stderr, "crowd_tool: %s\n", err.text);
	while (job_count)
		dls_job_destroy(jobs[--job_count]);
	while (client_count)
		dls_client_destroy(clients[--client_count]);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
