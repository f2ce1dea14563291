/* The verbs that change jobs of any client: cancel, pause, resume, priority, forget. */
#include "cli/failure.h"
#include "cli/query.h"
#include "cli/signals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 128 }; /* jobs of one command, as many as the master takes */

/* What is said of one job: on standard output what has become of it, on standard error why nothing has. Returns
 * whether something has. */
static bool print_row(const struct submit *submit, const cJSON *row, struct dls_error *err)
{
	bool failed = cJSON_HasObjectItem(row, "error");

	if (submit->values->json) {
		(void)query_print(submit, row, err);
	} else if (failed) {
		struct dls_error why;

		(void)cli_fail(&why, DLS_EINVAL, "%s", query_text(row, "text"));
		(void)cli_report("dls-submit", &why);
	} else {
		printf("job %s: %s\n", query_text(row, "job"), query_text(row, "state"));
	}
	return !failed;
}

static cJSON *begin(const struct submit *submit, const char *command, const char *const *names, size_t count)
{
	cJSON *question = query_begin(command), *jobs = cJSON_AddArrayToObject(question, "jobs");

	for (size_t i = 0; i < count; i++)
		cJSON_AddItemToArray(jobs, cJSON_CreateString(names[i]));
	if (strcmp(command, "priority") == 0)
		cJSON_AddNumberToObject(
			question, "priority", (double)strtoll(submit->operands[submit->operand_count - 1], NULL, 10));
	return question;
}

/* Gives the command for all jobs, some at a time. Returns the exit code. */
static int change(const struct submit *submit, struct dls_client *client, const char *command, size_t count,
	struct dls_error *err)
{
	bool good = true;

	for (size_t done = 0; done < count && !cli_signals_caught(); done += BATCH) {
		size_t some = count - done < BATCH ? count - done : BATCH;
		cJSON *answer;
		const cJSON *row;

		if (query_ask(submit, client, begin(submit, command, submit->operands + done, some), &answer, err))
			return -1;
		cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(answer, "jobs"))
			good &= print_row(submit, row, err);
		cJSON_Delete(answer);
	}
	if (cli_check_output(err))
		return -1;
	return good ? 0 : CLI_EXIT_REFUSED;
}

static int cancel(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return change(submit, client, "cancel", submit->operand_count, err);
}

static int pause_jobs(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return change(submit, client, "pause", submit->operand_count, err);
}

static int resume(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return change(submit, client, "resume", submit->operand_count, err);
}

static int prioritise(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return change(submit, client, "priority", submit->operand_count - 1, err);
}

static int forget(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return change(submit, client, "forget", submit->operand_count, err);
}

int submit_cancel(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, cancel, err);
}

int submit_pause(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, pause_jobs, err);
}

int submit_resume(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, resume, err);
}

int submit_priority(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, prioritise, err);
}

int submit_forget(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, forget, err);
}
