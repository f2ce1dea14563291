/* Why a job waits, asked of the master. */
#include "cli/failure.h"
#include "cli/submit.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_MS = 200, NAMES_BYTES = 200 };

/* The library's name for running models, among a worker's handlers. */
#define MODELS "dls.model"

/* Collects the names of handlers that a sentence lists, as far as there is room. */
struct names {
	char text[NAMES_BYTES];
	size_t length;
};

static bool has_name(const struct names *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(names->text, name); at; at = strstr(at + 1, name))
		if ((at == names->text || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static void add_name(struct names *names, const char *name)
{
	size_t length = strlen(name) + (names->length ? 2 : 0);

	if (has_name(names, name) || names->length + length >= sizeof names->text)
		return;
	names->length += (size_t)sprintf(names->text + names->length, "%s%s", names->length ? ", " : "", name);
}

static bool has_handler(const cJSON *worker, const char *handler, struct names *names)
{
	const cJSON *name;
	bool found = false;

	cJSON_ArrayForEach (name, cJSON_GetObjectItemCaseSensitive(worker, "handlers")) {
		const char *text = cJSON_GetStringValue(name);

		if (text && strcmp(text, handler) == 0)
			found = true;
		else if (text && strcmp(text, MODELS) != 0)
			add_name(names, text);
	}
	return found;
}

static bool explain(const cJSON *status, const char *handler, struct dls_error *why)
{
	const cJSON *workers = cJSON_GetObjectItemCaseSensitive(status, "workers"), *worker;
	struct names names = {0};

	if (!cJSON_IsArray(workers))
		return false;
	if (!workers->child)
		return cli_fail(why, DLS_EBUSY, "no worker is registered with the master");
	cJSON_ArrayForEach (worker, workers)
		if (has_handler(worker, handler ? handler : MODELS, &names))
			return false;
	if (!handler)
		return cli_fail(why, DLS_EBUSY, "no worker of the master runs models");
	return cli_fail(why, DLS_EBUSY, "no worker of the master has the handler \"%.64s\"; they have %s", handler,
		names.length ? names.text : "none");
}

int submit_explain_wait(struct dls_ctx *ctx, struct dls_client *client, const char *handler,
	const struct dls_job_progress *state, struct dls_error *why)
{
	char *json;
	cJSON *status;
	int rc;

	if (state->deferred && !state->accepted) {
		(void)cli_fail(why, state->deferred, "%s", state->deferred_text);
		return 1;
	}
	if (!state->accepted || state->workers)
		return 0;
	rc = dls_client_command(client, "{\"command\":\"status\"}", ANSWER_MS, &json, why);
	if (rc)
		return rc;
	status = cJSON_Parse(json);
	rc = explain(status, handler, why);
	cJSON_Delete(status);
	dls_free(ctx, json);
	return rc;
}
