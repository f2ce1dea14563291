/* The verb watch: a line whenever a job has changed, until it ends, or for all jobs until a signal comes. */
#include "cli/failure.h"
#include "cli/progress.h"
#include "cli/query.h"
#include "cli/signals.h"
#include "cli/text.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POLL_MS = 200, LINE_BYTES = 512, TIME_BYTES = 32 };

/* Returns false when a signal has come. */
static bool rest(const struct submit *submit)
{
	struct pollfd wait = {.fd = submit->signals, .events = POLLIN};

	poll(&wait, 1, POLL_MS);
	return !cli_signals_caught();
}

static void spell_now(char text[TIME_BYTES])
{
	struct timespec now;
	struct tm utc;
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	length = strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + length, TIME_BYTES - length, ".%03ldZ", now.tv_nsec / 1000000);
}

/* What a line says of a job but for the time: equal texts are no change. */
static void spell_job(const cJSON *job, char line[LINE_BYTES])
{
	const char *text = query_text(job, "text");

	snprintf(line, LINE_BYTES, "%s %s: %.0f of %.0f items done, %.0f failed, %.0f running, priority %.0f%s%.300s",
		query_text(job, "job"), query_text(job, "state"), query_number(job, "done"), query_number(job, "items"),
		query_number(job, "failed"), query_number(job, "running"), query_number(job, "priority"),
		*text ? "; " : "", text);
}

static int print_line(const struct submit *submit, const cJSON *job, const char *line, struct dls_error *err)
{
	char now[TIME_BYTES];

	if (submit->values->json)
		return query_print(submit, job, err);
	spell_now(now);
	printf("%s ", now);
	cli_text_print(line, 0);
	putchar('\n');
	return cli_check_output(err);
}

static bool has_ended(const cJSON *job)
{
	return cJSON_HasObjectItem(job, "ended_ms");
}

/* Asks of the job and prints a line if it has changed since `line`. Returns 1 once it has ended, 0 before. */
static int look_at(const struct submit *submit, struct dls_client *client, const char *name, char line[LINE_BYTES],
	cJSON **job_out, struct dls_error *err)
{
	cJSON *question = query_begin("job"), *job;
	char now[LINE_BYTES];
	int rc;

	cJSON_AddStringToObject(question, "job", name);
	cJSON_AddNumberToObject(question, "limit", 1);
	rc = query_ask(submit, client, question, &job, err);
	if (rc)
		return rc;
	cJSON_DeleteItemFromObjectCaseSensitive(job, "tasks");
	spell_job(job, now);
	if (strcmp(now, line) != 0)
		rc = print_line(submit, job, now, err);
	memcpy(line, now, LINE_BYTES);
	*job_out = job;
	return rc ? rc : has_ended(job);
}

static int watch_one(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	char line[LINE_BYTES] = "", name[64];
	bool good = false;
	int rc;

	snprintf(name, sizeof name, "%s", submit->operands[0]);
	do {
		cJSON *job = NULL;

		rc = look_at(submit, client, name, line, &job, err);
		if (rc >= 0) {
			snprintf(name, sizeof name, "%s", query_text(job, "job"));
			good = strcmp(query_text(job, "state"), "done") == 0 && query_number(job, "failed") == 0;
		}
		cJSON_Delete(job);
	} while (rc == 0 && rest(submit));
	return rc < 0 ? -1 : good ? 0 : CLI_EXIT_FAILED;
}

/* Prints what has changed since `after`, which moves on. */
static int look_at_all(
	const struct submit *submit, struct dls_client *client, char after[TIME_BYTES], struct dls_error *err)
{
	cJSON *question = query_begin("changes"), *answer;
	const cJSON *job;
	char line[LINE_BYTES];
	int rc;

	if (*after)
		cJSON_AddStringToObject(question, "after", after);
	rc = query_ask(submit, client, question, &answer, err);
	if (rc)
		return rc;
	cJSON_ArrayForEach (job, cJSON_GetObjectItemCaseSensitive(answer, "jobs")) {
		spell_job(job, line);
		if (rc == 0)
			rc = print_line(submit, job, line, err);
	}
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "left_out")))
		fprintf(stderr, "dls-submit: more jobs have changed than the master can tell of; some are left out\n");
	snprintf(after, TIME_BYTES, "%s", query_text(answer, "next"));
	cJSON_Delete(answer);
	return rc;
}

static int watch_all(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	char after[TIME_BYTES] = "";
	int rc;

	do
		rc = look_at_all(submit, client, after, err);
	while (rc == 0 && rest(submit));
	return rc ? -1 : 0;
}

int submit_watch(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, submit->values->all ? watch_all : watch_one, err);
}
