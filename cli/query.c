#include "cli/query.h"

#include "cli/failure.h"
#include "cli/show.h"
#include "cli/signals.h"
#include <stdio.h>

enum { ANSWER_MS = 5000 };

int query_master(const struct submit *submit,
	int (*act)(const struct submit *submit, struct dls_client *client, struct dls_error *err),
	struct dls_error *err)
{
	struct dls_client *client;
	int rc = submit_client_create(submit, submit->values->master, &client, err), exit_code = -1;

	if (rc)
		return -1;
	rc = submit_client_wait(submit, client, err);
	if (rc == 0 && !cli_signals_caught())
		exit_code = act(submit, client, err);
	dls_client_destroy(client);
	return cli_signals_caught() ? 128 + cli_signals_caught() : exit_code;
}

cJSON *query_begin(const char *command)
{
	cJSON *question = cJSON_CreateObject();

	cJSON_AddStringToObject(question, "command", command);
	return question;
}

int query_ask(const struct submit *submit, struct dls_client *client, cJSON *question, cJSON **answer_out,
	struct dls_error *err)
{
	char *text = cJSON_PrintUnformatted(question), *json;
	cJSON *answer;
	int rc = text ? dls_client_command(client, text, ANSWER_MS, &json, err)
		      : cli_fail(err, DLS_ENOMEM, "out of memory");

	cJSON_free(text);
	cJSON_Delete(question);
	if (rc)
		return rc;
	answer = cJSON_Parse(json);
	dls_free(submit->ctx, json);
	if (!cJSON_IsObject(answer)) {
		cJSON_Delete(answer);
		return cli_fail(err, DLS_EFORMAT, "the answer is not a JSON object");
	}
	*answer_out = answer;
	return 0;
}

int query_print(const struct submit *submit, const cJSON *answer, struct dls_error *err)
{
	char *text;

	if (!submit->values->json) {
		cli_show(answer);
		return cli_check_output(err);
	}
	text = cJSON_PrintUnformatted(answer);
	if (!text)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	printf("%s\n", text);
	cJSON_free(text);
	return cli_check_output(err);
}

double query_number(const cJSON *answer, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(answer, name);

	return cJSON_IsNumber(member) ? member->valuedouble : 0;
}

const char *query_text(const cJSON *answer, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, name));

	return text ? text : "";
}
