/* The verbs that only ask a master: status, list. */
#include "cli/failure.h"
#include "cli/query.h"
#include "cli/signals.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIME_BYTES = 32 };

/* When something was that is so many milliseconds ago. */
static void spell_time(double ago_ms, char text[TIME_BYTES])
{
	struct timespec now;
	struct tm utc;
	time_t seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	seconds = (time_t)((double)now.tv_sec + (double)now.tv_nsec / 1e9 - ago_ms / 1000);
	gmtime_r(&seconds, &utc);
	strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static int show_master(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *answer;
	int rc = query_ask(submit, client, query_begin("status"), &answer, err);

	if (rc)
		return -1;
	rc = query_print(submit, answer, err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

static int show_job(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *question = query_begin("job"), *answer;
	char submitted[TIME_BYTES];
	int rc;

	cJSON_AddStringToObject(question, "job", submit->operands[0]);
	rc = query_ask(submit, client, question, &answer, err);
	if (rc)
		return -1;
	spell_time(query_number(answer, "age_ms"), submitted);
	cJSON_AddStringToObject(answer, "submitted", submitted);
	rc = query_print(submit, answer, err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

int submit_status(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, submit->operand_count ? show_job : show_master, err);
}

const char *const submit_list_states[] = {
	"live", "ended", "all", "proposed", "active", "paused", "waiting", "done", "cancelled", "failed", NULL};

static cJSON *begin_page(const struct submit *submit, int64_t limit, const char *after)
{
	cJSON *question = query_begin("jobs");

	cJSON_AddStringToObject(question, "state", submit_list_states[submit->values->state]);
	if (submit->values->tenant)
		cJSON_AddStringToObject(question, "tenant", submit->values->tenant);
	if (submit->values->name)
		cJSON_AddStringToObject(question, "name", submit->values->name);
	if (submit->values->tag.count)
		cJSON_AddStringToObject(question, "tag", submit->values->tag.at[0]);
	if (*after)
		cJSON_AddStringToObject(question, "after", after);
	cJSON_AddNumberToObject(question, "limit", (double)limit);
	return question;
}

/* Prints a page, unless it is empty and not the last. Returns how many jobs it has, or an error. */
static int64_t print_page(const struct submit *submit, const cJSON *page, bool last, struct dls_error *err)
{
	int listed = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(page, "jobs"));

	if (listed || last) {
		int rc = query_print(submit, page, err);

		if (rc)
			return rc;
	}
	return listed;
}

/* Page after page, until there is none or there are enough. */
static int list(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	int64_t left = submit->values->limit, listed = 0;
	cJSON *page, *next = NULL;

	do {
		const char *after = next ? next->valuestring : "";
		int rc = query_ask(submit, client, begin_page(submit, left, after), &page, err);

		cJSON_Delete(next);
		if (rc)
			return -1;
		next = cJSON_DetachItemFromObjectCaseSensitive(page, "next");
		listed = print_page(submit, page, !cJSON_IsString(next), err);
		left -= listed;
		cJSON_Delete(page);
	} while (listed >= 0 && cJSON_IsString(next) && left > 0 && !cli_signals_caught());
	if (listed >= 0 && next && !submit->values->json && !cli_signals_caught())
		printf("There are more; --limit %lld lists more of them.\n", 10 * (long long)submit->values->limit);
	cJSON_Delete(next);
	return listed < 0 ? -1 : 0;
}

int submit_list(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, list, err);
}
