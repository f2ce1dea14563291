/* The verbs about the workers of a master, admin node list, drain, undrain, and about what it decides by: admin policy,
 * admin tenant. */
#include "cli/failure.h"
#include "cli/file.h"
#include "cli/query.h"
#include "cli/signals.h"
#include <stdio.h>
#include <stdlib.h>

enum { SCRIPT_BYTES = 64 * 1024 };

/* Page after page. */
static int list(const struct submit *submit, struct dls_client *client, const char *command, struct dls_error *err)
{
	cJSON *next = NULL;
	int rc;

	do {
		cJSON *question = query_begin(command), *page;

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

/* Asks, and prints the answer: with --json as it is, else as `print` does. */
static int ask(const struct submit *submit, struct dls_client *client, cJSON *question,
	void (*print)(const cJSON *answer), struct dls_error *err)
{
	cJSON *answer;
	int rc;

	if (query_ask(submit, client, question, &answer, err))
		return -1;
	if (!submit->values->json)
		print(answer);
	rc = submit->values->json ? query_print(submit, answer, err) : cli_check_output(err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

static void print_node(const cJSON *answer)
{
	printf("worker %s: %s, tasks: %.0f\n", query_text(answer, "worker"),
		cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "draining")) ? "draining" : "takes tasks",
		query_number(answer, "held"));
}

static int command(const struct submit *submit, struct dls_client *client, const char *command, struct dls_error *err)
{
	cJSON *question = query_begin(command);

	cJSON_AddStringToObject(question, "worker", submit->operands[0]);
	return ask(submit, client, question, print_node, err);
}

static int drain(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return command(submit, client, "drain", err);
}

static int undrain(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return command(submit, client, "undrain", err);
}

static int list_nodes(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return list(submit, client, "workers", err);
}

int submit_node_list(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, list_nodes, err);
}

int submit_node_drain(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, drain, err);
}

int submit_node_undrain(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, undrain, err);
}

static void print_policy(const cJSON *answer)
{
	printf("policy: %s\n", query_text(answer, "policy"));
}

static void print_policies(const cJSON *answer)
{
	const char *before = "there are: ";
	const cJSON *name;

	print_policy(answer);
	cJSON_ArrayForEach (name, cJSON_GetObjectItemCaseSensitive(answer, "policies")) {
		printf("%s%s", before, cJSON_GetStringValue(name));
		before = ", ";
	}
	printf("\n");
}

static void print_tenant(const cJSON *answer)
{
	const cJSON *amount;

	printf("tenant %s: weight %g", query_text(answer, "tenant"), query_number(answer, "weight"));
	cJSON_ArrayForEach (amount, cJSON_GetObjectItemCaseSensitive(answer, "quota"))
		printf(", at most %.12g %s", amount->valuedouble, amount->string);
	printf("\n");
}

static int show_policy(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return ask(submit, client, query_begin("policy"), print_policies, err);
}

/* {"script": TEXT} */
static int add_script(cJSON *question, const char *path, struct dls_error *err)
{
	char *script;
	int rc = cli_file_read(path, SCRIPT_BYTES, &script, err);

	if (rc)
		return rc;
	cJSON_AddStringToObject(cJSON_AddObjectToObject(question, "params"), "script", script);
	free(script);
	return 0;
}

static int set_policy(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *question = query_begin("policy");

	cJSON_AddStringToObject(question, "name", submit->operands[0]);
	if (submit->values->params)
		cJSON_AddItemToObject(question, "params", cJSON_Parse(submit->values->params));
	if (submit->values->script && add_script(question, submit->values->script, err)) {
		cJSON_Delete(question);
		return -1;
	}
	return ask(submit, client, question, print_policy, err);
}

static int set_tenant(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *question = query_begin("tenant"), *quota;

	cJSON_AddStringToObject(question, "name", submit->operands[0]);
	cJSON_AddNumberToObject(question, "weight", submit->values->weight);
	quota = cJSON_AddObjectToObject(question, "quota");
	for (const struct dls_resource *amount = submit->values->resource.at; amount->name; amount++)
		cJSON_AddNumberToObject(quota, amount->name, amount->amount);
	return ask(submit, client, question, print_tenant, err);
}

static int list_tenants(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	return list(submit, client, "tenants", err);
}

static int show_tenant(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	cJSON *question = query_begin("tenants"), *answer, *tenant;
	int rc;

	cJSON_AddStringToObject(question, "name", submit->operands[0]);
	if (query_ask(submit, client, question, &answer, err))
		return -1;
	tenant = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(answer, "tenants"), 0);
	rc = query_print(submit, tenant, err);
	cJSON_Delete(answer);
	return rc ? -1 : 0;
}

int submit_policy_show(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, show_policy, err);
}

int submit_policy_set(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, set_policy, err);
}

int submit_tenant_set(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, set_tenant, err);
}

int submit_tenant_list(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, list_tenants, err);
}

int submit_tenant_show(const struct submit *submit, struct dls_error *err)
{
	return query_master(submit, show_tenant, err);
}
