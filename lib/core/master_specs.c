/* Job specifications, interned by their bytes: thousands of jobs of one service share one. The master reads only what
 * it schedules by; the rest is the worker's and is checked there.
 *
 *   {"handler": NAME, ...} or {"model": {...}, ...}, and "task_items": N, "resources": {...}, "labels": [...],
 *    "time_limit_ms": N, "item_time_limit_ms": N, "speculate": BOOL,
 *    "retry": {...} (core/retry_rules.h) */
#include "core/master_places.h"

#include "base/json.h"
#include "core/agent.h"
#include "core/share.h"
#include <inttypes.h>
#include <string.h>

static int read_retry(
	struct dlsi_master *master, const cJSON *json, struct dlsi_retry_rules **rules_out, struct dls_error *err)
{
	struct dlsi_retry_rules rules = {0};
	int rc = dlsi_retry_rules_read("the job specification", json, &rules, err);

	if (rc || !dlsi_retry_rules_any(&rules))
		return rc;
	*rules_out = dlsi_malloc(master->alloc, sizeof rules);
	if (!*rules_out)
		return dlsi_fail_memory(err);
	**rules_out = rules;
	return 0;
}

static int read_members(struct dlsi_master *master, const cJSON *json, struct spec *spec, struct dls_error *err)
{
	static const char *const known[] = {"handler", "params", "model", "task_items", "resources", "labels",
		"preferred_labels", "time_limit_ms", "item_time_limit_ms", "speculate", "retry", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(json, "the job specification", known, err);
	const char *handler = dlsi_json_text(&reader, "handler", NULL);
	const cJSON *model = dlsi_json_object(&reader, "model");
	const cJSON *resources = dlsi_json_object(&reader, "resources"), *labels = dlsi_json_array(&reader, "labels"),
		    *retry = dlsi_json_object(&reader, "retry"),
		    *preferred = dlsi_json_array(&reader, "preferred_labels");

	if (model) {
		if (handler && reader.rc == 0)
			reader.rc = dlsi_fail(err, DLS_EINVAL, "the job specification has both a model and a handler");
		handler = DLSI_HANDLER_MODEL;
	}
	spec->task_items = (uint32_t)dlsi_json_integer(&reader, "task_items", 0, 0, DLSI_TASK_ITEMS);
	spec->time_limit_ns = (uint64_t)dlsi_json_integer(&reader, "time_limit_ms", 0, 0, DLSI_TIME_LIMIT_MS) * 1000000;
	spec->once = !dlsi_json_bool(&reader, "speculate", true);
	(void)dlsi_json_integer(&reader, "item_time_limit_ms", 0, 0, DLSI_TIME_LIMIT_MS); /* the worker's */
	if (reader.rc)
		return reader.rc;
	if (!handler || !*handler || strlen(handler) > DLSI_NAME_BYTES)
		return dlsi_fail(err, DLS_EINVAL, "the job specification names neither a model nor a handler");
	reader.rc = read_retry(master, retry, &spec->retry, err);
	if (reader.rc)
		return reader.rc;
	spec->model = model ? dlsi_model_ref(master, model) : NULL;
	if (model && !spec->model)
		return dlsi_fail_memory(err);
	return dlsi_class_intern(master, json, dlsi_text_of(handler), resources, labels, preferred, &spec->class, err);
}

static int read_spec(struct dlsi_master *master, struct spec *spec, struct dls_error *err)
{
	cJSON *json;
	int rc = dlsi_json_parse("the job specification", spec->json, spec->length, DLSI_SPEC_BYTES, &json, err);

	if (rc)
		return rc;
	rc = read_members(master, json, spec, err);
	cJSON_Delete(json);
	return rc;
}

static void charge(struct dlsi_master *master, struct spec *spec, struct client *payer)
{
	master->spec_bytes += spec->length;
	if (!payer)
		return;
	spec->payer = payer;
	dlsi_list_append(&payer->specs_paid, &spec->payer_node);
	payer->paid_count++;
	payer->paid_bytes += spec->length;
}

void dlsi_spec_forget_payer(struct client *payer)
{
	dlsi_list_each (node, &payer->specs_paid) {
		dlsi_list_entry(node, struct spec, payer_node)->payer = NULL;
		dlsi_list_remove(node);
	}
}

static void settle(struct dlsi_master *master, struct spec *spec)
{
	master->spec_bytes -= spec->length;
	dlsi_list_remove(&spec->payer_node);
	if (!spec->payer)
		return;
	spec->payer->paid_count--;
	spec->payer->paid_bytes -= spec->length;
}

static void destroy(struct dlsi_master *master, struct spec *spec)
{
	dlsi_class_unref(master, spec->class);
	dlsi_free(master->alloc, spec->retry);
	dlsi_model_unref(master, spec->model);
	dlsi_free(master->alloc, spec->json);
	dlsi_free(master->alloc, spec);
}

static int check_room(
	const struct dlsi_master *master, const struct client *payer, uint32_t length, struct dls_error *err)
{
	if (master->spec_by_key.count >= DLSI_SPECS)
		return dlsi_fail(
			err, DLS_EBUSY, "the master holds its limit of %d different job specifications", DLSI_SPECS);
	if (payer && !(dlsi_share_has_room(payer->paid_count, master->spec_by_key.count, 1, DLSI_SPECS) &&
			     dlsi_share_has_room(payer->paid_bytes, master->spec_bytes, length, DLSI_SPECS_BYTES)))
		return dlsi_fail(err, DLS_EBUSY,
			"the %" PRIu64 " different job specifications of this client, of %" PRIu64
			" bytes, take as much room as the master has left for others; it is asked again",
			payer->paid_count, payer->paid_bytes);
	return 0;
}

struct spec *dlsi_spec_intern(
	struct dlsi_master *master, struct client *payer, struct dlsi_bytes json, struct dls_error *err)
{
	struct dlsi_id key = dlsi_hash_key(json.data, json.length);
	struct spec *spec = dlsi_map_get(&master->spec_by_key, &key);

	if (spec) {
		spec->uses++;
		return spec;
	}
	if (check_room(master, payer, json.length, err))
		return NULL;
	spec = dlsi_calloc(master->alloc, 1, sizeof *spec);
	if (!spec) {
		dlsi_fail_memory(err);
		return NULL;
	}
	spec->json = dlsi_malloc(master->alloc, json.length + 1);
	if (!spec->json) {
		dlsi_fail_memory(err);
		goto failed;
	}
	memcpy(spec->json, json.data, json.length);
	spec->length = json.length;
	spec->key = key;
	spec->uses = 1;
	dlsi_list_init(&spec->payer_node);
	if (read_spec(master, spec, err))
		goto failed;
	if (dlsi_map_put(&master->spec_by_key, &key, spec)) {
		dlsi_fail_memory(err);
		goto failed;
	}
	charge(master, spec, payer);
	return spec;
failed:
	destroy(master, spec);
	return NULL;
}

void dlsi_spec_unref(struct dlsi_master *master, struct spec *spec)
{
	if (!spec || --spec->uses)
		return;
	dlsi_map_remove(&master->spec_by_key, &spec->key);
	settle(master, spec);
	destroy(master, spec);
}
