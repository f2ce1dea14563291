#include "node/job_spec.h"

#include "base/json.h"
#include "base/limits.h"
#include "node/json_lists.h"
#include <inttypes.h>
#include <string.h>

static const char what[] = "the job specification";

/* Parses params; *json_out is an object. */
static int parse_params(const char *params, cJSON **json_out, struct dls_error *err)
{
	cJSON *json;
	int rc = dlsi_json_parse("params", params, strlen(params), DLSI_SPEC_BYTES, &json, err);

	if (rc)
		return rc;
	if (!cJSON_IsObject(json)) {
		cJSON_Delete(json);
		return dlsi_fail(err, DLS_EINVAL, "params must be a JSON object, like {\"threshold\": 0.5}");
	}
	*json_out = json;
	return 0;
}

static bool add_model(cJSON *json, const struct dlsi_blob *model)
{
	char name[DLSI_HASH_TEXT_BYTES];
	cJSON *object = cJSON_AddObjectToObject(json, "model");

	dlsi_hex(model->name.bytes, DLSI_HASH_BYTES, name);
	return object && cJSON_AddStringToObject(object, "bundle", name) &&
	       cJSON_AddNumberToObject(object, "bytes", (double)model->length);
}

static bool add_retries(cJSON *json, const struct dls_retry *retries)
{
	cJSON *object = retries && retries->failure ? cJSON_AddObjectToObject(json, "retry") : NULL, *rule;

	if (!retries || !retries->failure)
		return true;
	for (; object && retries->failure; retries++) {
		rule = cJSON_AddObjectToObject(object, retries->failure);
		if (!rule || !cJSON_AddNumberToObject(rule, "times", retries->times) ||
			(retries->wait_ms && !cJSON_AddNumberToObject(rule, "wait_ms", (double)retries->wait_ms)) ||
			(retries->wait_most_ms &&
				!cJSON_AddNumberToObject(rule, "wait_most_ms", (double)retries->wait_most_ms)))
			return false;
	}
	return object != NULL;
}

static bool add_demands(cJSON *json, const struct dlsi_job_spec *spec)
{
	return (!spec->task_items || cJSON_AddNumberToObject(json, "task_items", spec->task_items)) &&
	       dlsi_json_add_resources(json, "resources", spec->resources) &&
	       dlsi_json_add_names(json, "labels", spec->labels) &&
	       (!spec->no_speculation || cJSON_AddFalseToObject(json, "speculate")) &&
	       dlsi_json_add_names(json, "preferred_labels", spec->preferred_labels) &&
	       (!spec->time_limit_ms || cJSON_AddNumberToObject(json, "time_limit_ms", (double)spec->time_limit_ms)) &&
	       (!spec->item_time_limit_ms ||
		       cJSON_AddNumberToObject(json, "item_time_limit_ms", (double)spec->item_time_limit_ms)) &&
	       add_retries(json, spec->retries);
}

int dlsi_job_spec_write(const struct dlsi_alloc *alloc, const struct dlsi_job_spec *spec, char **json_out,
	size_t *length_out, struct dls_error *err)
{
	cJSON *params = NULL, *json = NULL;
	char *text = NULL;
	size_t length;
	int rc = spec->params ? parse_params(spec->params, &params, err) : 0;

	if (rc)
		return rc;
	json = cJSON_CreateObject();
	if (json &&
		(spec->handler ? cJSON_AddStringToObject(json, "handler", spec->handler) != NULL
			       : add_model(json, &spec->model)) &&
		add_demands(json, spec) && (!params || cJSON_AddItemToObject(json, "params", params))) {
		params = NULL;
		text = dlsi_json_print(alloc, json);
	}
	cJSON_Delete(params);
	cJSON_Delete(json);
	if (!text)
		return dlsi_fail_memory(err);
	length = strlen(text);
	if (length > DLSI_SPEC_BYTES) {
		dlsi_free(alloc, text);
		return dlsi_fail(err, DLS_ELIMIT, "params make a job specification of %zu bytes; it may have %d",
			length, DLSI_SPEC_BYTES);
	}
	*json_out = text;
	*length_out = length;
	return 0;
}

/* The bundle that the model member names. */
static int read_model(const cJSON *json, struct dlsi_blob *model, struct dls_error *err)
{
	static const char *const known[] = {"bundle", "bytes", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(json, "the job specification: model", known, err);
	const char *name;

	dlsi_json_require(&reader, "bundle");
	dlsi_json_require(&reader, "bytes");
	name = dlsi_json_text(&reader, "bundle", "");
	model->proof = DLSI_PROOF_HASH;
	model->length = (uint64_t)dlsi_json_integer(&reader, "bytes", 0, 0, INT64_C(1) << 40);
	if (reader.rc == 0 && !dlsi_unhex(name, DLSI_HASH_BYTES, model->name.bytes))
		reader.rc = dlsi_fail(err, DLS_EINVAL, "%s: model.bundle is no hash", what);
	return reader.rc;
}

static int read_object(
	const struct dlsi_alloc *alloc, const cJSON *json, struct dlsi_job_spec *spec, struct dls_error *err)
{
	static const char *const known[] = {"handler", "model", "params", "task_items", "resources", "labels",
		"preferred_labels", "time_limit_ms", "item_time_limit_ms", "speculate", "retry", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(json, what, known, err);
	const char *handler = dlsi_json_text(&reader, "handler", NULL);
	const cJSON *model = dlsi_json_object(&reader, "model"), *params = dlsi_json_object(&reader, "params"), *retry;

	spec->task_items = (uint32_t)dlsi_json_integer(&reader, "task_items", 0, 0, DLSI_TASK_ITEMS);
	spec->item_time_limit_ms = (uint64_t)dlsi_json_integer(&reader, "item_time_limit_ms", 0, 0, DLSI_TIME_LIMIT_MS);
	retry = dlsi_json_object(&reader, "retry");
	if (reader.rc == 0)
		reader.rc = dlsi_retry_rules_read(what, retry, &spec->retry, err);
	if (reader.rc)
		return reader.rc;
	if (!handler == !model)
		return dlsi_fail(err, DLS_EINVAL, "%s must name either a model or a handler", what);
	if (model && read_model(model, &spec->model, err))
		return DLS_EINVAL;
	spec->params = params ? dlsi_json_print(alloc, params) : dlsi_strdup(alloc, "{}");
	spec->handler = handler ? dlsi_strdup(alloc, handler) : NULL;
	return !spec->params || (handler && !spec->handler) ? dlsi_fail_memory(err) : 0;
}

int dlsi_job_spec_read(const struct dlsi_alloc *alloc, const void *json, size_t length, struct dlsi_job_spec *spec_out,
	struct dls_error *err)
{
	struct dlsi_job_spec spec = {0};
	cJSON *parsed;
	int rc = dlsi_json_parse(what, json, length, DLSI_SPEC_BYTES, &parsed, err);

	if (rc)
		return rc;
	rc = read_object(alloc, parsed, &spec, err);
	cJSON_Delete(parsed);
	if (rc)
		dlsi_job_spec_fini(&spec, alloc);
	else
		*spec_out = spec;
	return rc;
}

void dlsi_job_spec_fini(struct dlsi_job_spec *spec, const struct dlsi_alloc *alloc)
{
	dlsi_free(alloc, (void *)spec->handler);
	dlsi_free(alloc, (void *)spec->params);
	*spec = (struct dlsi_job_spec){0};
}
