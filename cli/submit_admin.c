/* The verbs about the workers of a master: admin node list, drain, undrain. */
#include "cli/failure.h"
#include "cli/query.h"
#include "cli/signals.h"
#include <stdio.h>

/* Page after page. */
static int list(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *next = NULL;
	int rc;

	do {
		cJSON *question = query_begin("workers"), *page;

		if (next)
			cJSON_AddItemToObject(question, "after", next);
		rc = query_ask(submit, client, question, &page, err);
		if (rc)
			return -1;
		next = cJSON_DetachItemFromObjectCaseSensitive(page, "next");
		rc = query_print(submit, page, err);
		cJSON_Delete(page);
	} while (rc == 0 && next && !cli_signals_caught());
	cJSON_Delete(next);
	return rc ? -1 : 0;
}

static int command(const struct submit *submit, struct dls_client *client, const char *command, struct dls_error *err)
{
	cJSON *question = query_begin(command), *answer;
	int rc;

	cJSON_AddStringToObject(question, "worker", submit->operands[0]);
	if (query_ask(submit, client, question, &answer, err))
		return -1;
	if (!submit->values->json)
		printf("worker %s: %s, tasks: %.0f\n", query_text(answer, "worker"),
			cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "draining")) ? "draining" : "takes tasks",
			query_number(answer, "held"));
	rc = submit->values->json ? query_print(submit, answer, err) : cli_check_output(err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

static int drain(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return command(submit, client, "drain", err);
}

static int undrain(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return command(submit, client, "undrain", err);
}

int submit_node_list(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, list, err);
}

int submit_node_drain(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, drain, err);
}

int submit_node_undrain(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, undrain, err);
}
