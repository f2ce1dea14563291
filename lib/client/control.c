#include "client/control.h"

#include "base/json.h"
#include "base/limits.h"
#include "client/client.h"
#include "client/command.h"
#include "node/json_lists.h"
#include <string.h>

/* Asks the question, which is freed. */
static int ask(struct dls_client *client, cJSON *question, int timeout_ms, char **json_out, struct dls_error *err)
{
	char *text = question ? dlsi_json_print(&client->ctx->alloc, question) : NULL;
	int rc = text ? dlsi_node_client_command(client, text, timeout_ms, json_out, err) : dlsi_fail_memory(err);

	dlsi_free(&client->ctx->alloc, text);
	cJSON_Delete(question);
	return rc;
}

static cJSON *begin(const char *command)
{
	cJSON *question = cJSON_CreateObject();

	cJSON_AddStringToObject(question, "command", command);
	return question;
}

/* Whether the answer says that the one job is changed, or why it is not. */
static int read_change(const char *text, struct dls_error *err)
{
	struct dlsi_json_reader reader = {.what = "the master's answer", .err = err};
	const char *sentence;
	cJSON *json;
	int64_t code;
	int rc = dlsi_json_parse("the master's answer", text, strlen(text), DLSI_COMMAND_BYTES, &json, err);

	if (rc)
		return rc;
	reader.object = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "jobs"), 0);
	code = dlsi_json_integer(&reader, "code", 0, INT32_MIN, 0);
	sentence = dlsi_json_text(&reader, "text", "");
	rc = reader.rc ? reader.rc : code ? dlsi_fail(err, (int)code, "%s", sentence) : 0;
	cJSON_Delete(json);
	return rc;
}

int dlsi_node_client_change(struct dls_client *client, const char *command, const char *job, const int32_t *priority,
	int timeout_ms, struct dls_error *err)
{
	cJSON *question = begin(command);
	char *json;
	int rc;

	cJSON_AddItemToArray(cJSON_AddArrayToObject(question, "jobs"), cJSON_CreateString(job));
	if (priority)
		cJSON_AddNumberToObject(question, "priority", *priority);
	rc = ask(client, question, timeout_ms, &json, err);
	if (rc)
		return rc;
	rc = read_change(json, err);
	dlsi_free(&client->ctx->alloc, json);
	return rc;
}

int dlsi_node_client_ask(struct dls_client *client, const char *command, const char *argument, const char *value,
	int timeout_ms, char **json_out, struct dls_error *err)
{
	cJSON *question = begin(command);

	if (argument)
		cJSON_AddStringToObject(question, argument, value);
	return ask(client, question, timeout_ms, json_out, err);
}

int dlsi_node_client_jobs(struct dls_client *client, const struct dls_jobs_options *options, int timeout_ms,
	char **json_out, struct dls_error *err)
{
	cJSON *question = begin("jobs");

	if (options->state)
		cJSON_AddStringToObject(question, "state", options->state);
	if (options->tenant)
		cJSON_AddStringToObject(question, "tenant", options->tenant);
	if (options->after)
		cJSON_AddStringToObject(question, "after", options->after);
	if (options->name)
		cJSON_AddStringToObject(question, "name", options->name);
	if (options->tag)
		cJSON_AddStringToObject(question, "tag", options->tag);
	if (options->limit)
		cJSON_AddNumberToObject(question, "limit", options->limit);
	return ask(client, question, timeout_ms, json_out, err);
}

/* For questions whose answer says nothing new. */
static int tell(struct dls_client *client, cJSON *question, int timeout_ms, struct dls_error *err)
{
	char *json;
	int rc = ask(client, question, timeout_ms, &json, err);

	if (rc == 0)
		dlsi_free(&client->ctx->alloc, json);
	return rc;
}

int dlsi_node_client_set_policy(
	struct dls_client *client, const char *policy, const char *params, int timeout_ms, struct dls_error *err)
{
	cJSON *question = begin("policy"), *object;
	int rc;

	cJSON_AddStringToObject(question, "name", policy);
	rc = params ? dlsi_json_parse("params", params, strlen(params), DLSI_SPEC_BYTES, &object, err) : 0;
	if (rc) {
		cJSON_Delete(question);
		return rc;
	}
	if (params)
		cJSON_AddItemToObject(question, "params", object);
	return tell(client, question, timeout_ms, err);
}

int dlsi_node_client_set_tenant(struct dls_client *client, const char *tenant, const struct dls_tenant_options *options,
	int timeout_ms, struct dls_error *err)
{
	cJSON *question = begin("tenant");

	cJSON_AddStringToObject(question, "name", tenant);
	if (options->weight != 0)
		cJSON_AddNumberToObject(question, "weight", options->weight);
	if (!dlsi_json_add_resources(question, "quota", options->quota)) {
		cJSON_Delete(question);
		return dlsi_fail_memory(err);
	}
	return tell(client, question, timeout_ms, err);
}

int dlsi_node_client_tenants(struct dls_client *client, const char *tenant, const char *after, int timeout_ms,
	char **json_out, struct dls_error *err)
{
	cJSON *question = begin("tenants");

	if (tenant)
		cJSON_AddStringToObject(question, "name", tenant);
	if (after)
		cJSON_AddStringToObject(question, "after", after);
	return ask(client, question, timeout_ms, json_out, err);
}
