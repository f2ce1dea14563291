/* Why a job waits, asked of the master: for the verb explain, and for a job that is being run here. */
#include "cli/failure.h"
#include "cli/query.h"
#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum { ANSWER_MS = 200, LINE_BYTES = 512 };

/* What keeps a device busy, under the reason that names it. */
static void print_task(const cJSON *task)
{
	double expected_ms = query_number(task, "expected_ms");
	char line[LINE_BYTES], until[64] = "";

	if (expected_ms > 0)
		snprintf(until, sizeof until, ", for about %.1f s more", expected_ms / 1000);
	snprintf(line, sizeof line, "  %.100s %.100s: job %s, items %.0f to %.0f, for %.1f s%s",
		query_text(task, "worker"), query_text(task, "device"), query_text(task, "job"),
		query_number(task, "first"), query_number(task, "first") + query_number(task, "items") - 1,
		query_number(task, "since_ms") / 1000, until);
	cli_text_print(line, 0);
	putchar('\n');
}

static void print_explanation(const cJSON *answer)
{
	const cJSON *reason, *task;

	printf("job %s is %s\n", query_text(answer, "job"), query_text(answer, "state"));
	cJSON_ArrayForEach (reason, cJSON_GetObjectItemCaseSensitive(answer, "reasons")) {
		cli_text_print(query_text(reason, "text"), 0);
		putchar('\n');
		cJSON_ArrayForEach (task, cJSON_GetObjectItemCaseSensitive(reason, "tasks"))
			print_task(task);
	}
}

static int explain(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *question = query_begin("explain"), *answer;
	int rc;

	cJSON_AddStringToObject(question, "job", submit->operands[0]);
	if (query_ask(submit, client, question, &answer, err))
		return -1;
	if (!submit->values->json)
		print_explanation(answer);
	rc = submit->values->json ? query_print(submit, answer, err) : cli_check_output(err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

int submit_explain(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, explain, err);
}

/* Whether somebody who waits wants to hear this: that something runs is no reason. */
static bool keeps_back(const char *reason)
{
	static const char *const words[] = {"no_worker", "no_fit", "draining", "paused", "client_full", "master_full",
		"devices_full", "order", "queued"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(reason, words[i]) == 0)
			return true;
	return false;
}

/* The first reason of an explanation that keeps the job back. Returns whether there is one. */
static bool find_reason(const cJSON *answer, struct dls_error *why)
{
	const cJSON *reason;

	cJSON_ArrayForEach (reason, cJSON_GetObjectItemCaseSensitive(answer, "reasons"))
		if (keeps_back(query_text(reason, "reason"))) {
			(void)cli_fail(why, DLS_EBUSY, "%s", query_text(reason, "text"));
			return true;
		}
	return false;
}

int submit_explain_wait(struct dls_ctx *ctx, struct dls_client *client, const struct dls_job *job,
	const struct dls_job_progress *state, struct dls_error *why)
{
	char *json;
	cJSON *answer;
	int rc;

	if (state->deferred && !state->accepted) {
		(void)cli_fail(why, state->deferred, "%s", state->deferred_text);
		return 1;
	}
	if (!state->accepted || state->running)
		return 0;
	rc = dls_client_explain(client, dls_job_id(job), ANSWER_MS, &json, why);
	if (rc)
		return rc;
	answer = cJSON_Parse(json);
	rc = find_reason(answer, why);
	cJSON_Delete(answer);
	dls_free(ctx, json);
	return rc;
}
