/* Jobs that are described in files: JSON to options, and the folder of the file before paths in it. */
#include <dlsched/job_file.h>

#include "api/job.h"
#include "base/clock.h"
#include "base/export.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/retry_rules.h"
#include "node/ctx.h"
#include <stdio.h>
#include <string.h>

/* What is given back whole. */
struct description {
	struct dls_job_file file; /* first */
	struct dlsi_alloc alloc;
	cJSON *json; /* has the texts */
	struct dls_job_options options;
	char *params, *model;
	char **inputs;
	size_t input_count;
	const char *tags[DLSI_TAGS + 1], *labels[DLSI_CLASS_LABELS + 1], *preferred[DLSI_CLASS_LABELS + 1],
		*after[DLSI_AFTER + 1];
	struct dls_resource resources[DLSI_RESOURCE_KINDS + 1];
	struct dls_retry retries[DLSI_FAILURES + 1];
};

/* The path as it is from the folder of the file; NULL: memory is exhausted. */
static char *resolve(const struct dlsi_alloc *alloc, const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');
	char *folder, *joined;

	if (*path == '/')
		return dlsi_strdup(alloc, path);
	folder = slash ? dlsi_strndup(alloc, file, (size_t)(slash - file) + (slash == file)) : dlsi_strdup(alloc, ".");
	joined = folder ? dlsi_file_join(alloc, folder, path) : NULL;
	dlsi_free(alloc, folder);
	return joined;
}

/* The texts of an array into one with room for so many and a NULL; NULL if the key is not there. */
static const char *const *read_texts(struct dlsi_json_reader *reader, const char *name, const char **texts, int most)
{
	const cJSON *list = dlsi_json_array(reader, name), *text;
	int count = 0;

	if (reader->rc == 0 && cJSON_GetArraySize(list) > most)
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: \"%s\" has %d entries; it may have %d",
			reader->what, name, cJSON_GetArraySize(list), most);
	for (text = list && reader->rc == 0 ? list->child : NULL; text; text = text->next) {
		if (!cJSON_IsString(text)) {
			reader->rc = dlsi_fail(
				reader->err, DLS_EINVAL, "%s: \"%s\" must be an array of texts", reader->what, name);
			break;
		}
		texts[count++] = text->valuestring;
	}
	return list && count ? texts : NULL;
}

static const struct dls_resource *read_resources(struct dlsi_json_reader *reader, struct dls_resource *resources)
{
	const cJSON *object = dlsi_json_object(reader, "resources"), *amount;
	int count = 0;

	if (reader->rc == 0 && cJSON_GetArraySize(object) > DLSI_RESOURCE_KINDS)
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: \"resources\" names more than %d kinds",
			reader->what, DLSI_RESOURCE_KINDS);
	for (amount = object && reader->rc == 0 ? object->child : NULL; amount; amount = amount->next) {
		if (!cJSON_IsNumber(amount)) {
			reader->rc = dlsi_fail(reader->err, DLS_EINVAL,
				"%s: \"resources\" must be an object of numbers, by the names of resources",
				reader->what);
			break;
		}
		resources[count++] = (struct dls_resource){amount->string, amount->valuedouble};
	}
	return count ? resources : NULL;
}

static const struct dls_retry *read_retries(struct dlsi_json_reader *reader, struct dls_retry *retries)
{
	const cJSON *object = dlsi_json_object(reader, "retry");
	struct dlsi_retry_rules rules;
	int count = 0;

	if (reader->rc == 0)
		reader->rc = dlsi_retry_rules_read(reader->what, object, &rules, reader->err);
	for (unsigned i = 0; reader->rc == 0 && i < DLSI_FAILURES; i++)
		if (rules.of[i].times)
			retries[count++] = (struct dls_retry){dlsi_failure_names[i], rules.of[i].times,
				rules.of[i].wait_ns / DLSI_MILLISECOND_NS,
				rules.of[i].wait_most_ns / DLSI_MILLISECOND_NS};
	return count ? retries : NULL;
}

/* Paths, from the folder of the file. */
static int read_inputs(struct dlsi_json_reader *reader, struct description *to)
{
	const cJSON *list = dlsi_json_array(reader, "inputs"), *path;
	int count = cJSON_GetArraySize(list);

	if (reader->rc || !count)
		return reader->rc;
	to->inputs = dlsi_calloc(&to->alloc, (size_t)count, sizeof *to->inputs);
	if (!to->inputs)
		return dlsi_fail_memory(reader->err);
	cJSON_ArrayForEach (path, list) {
		if (!cJSON_IsString(path) || !*path->valuestring)
			return dlsi_fail(
				reader->err, DLS_EINVAL, "%s: \"inputs\" must be an array of paths", reader->what);
		to->inputs[to->input_count] = resolve(&to->alloc, reader->what, path->valuestring);
		if (!to->inputs[to->input_count++])
			return dlsi_fail_memory(reader->err);
	}
	return 0;
}

/* The texts that are not in the JSON as they are. */
static int make_texts(struct dlsi_json_reader *reader, struct description *to)
{
	const cJSON *params = dlsi_json_object(reader, "params");
	const char *model = dlsi_json_text(reader, "model", NULL);

	if (reader->rc)
		return reader->rc;
	to->params = params ? dlsi_json_print(&to->alloc, params) : NULL;
	to->model = model && *model ? resolve(&to->alloc, reader->what, model) : NULL;
	if ((params && !to->params) || (model && *model && !to->model))
		return dlsi_fail_memory(reader->err);
	to->options.params = to->params;
	to->options.model = to->model ? to->model : model;
	return 0;
}

static int read_options(struct dlsi_json_reader *reader, struct description *to)
{
	static const char *const when[] = {"ended", "succeeded", "any", NULL};
	struct dls_job_options *options = &to->options;
	int word;

	*options = (struct dls_job_options){.size = sizeof *options};
	options->handler = dlsi_json_text(reader, "handler", NULL);
	options->key = dlsi_json_text(reader, "key", NULL);
	options->name = dlsi_json_text(reader, "name", NULL);
	options->priority = (int32_t)dlsi_json_integer(reader, "priority", 0, -DLSI_PRIORITY, DLSI_PRIORITY);
	options->task_items = (uint32_t)dlsi_json_integer(reader, "task_items", 0, 0, DLSI_TASK_ITEMS);
	options->deadline_ms = dlsi_json_integer(reader, "deadline_ms", 0, 0, DLSI_TIME_LIMIT_MS);
	options->time_limit_ms = (uint64_t)dlsi_json_integer(reader, "time_limit_ms", 0, 0, DLSI_TIME_LIMIT_MS);
	options->no_speculation = !dlsi_json_bool(reader, "speculate", true);
	options->item_time_limit_ms =
		(uint64_t)dlsi_json_integer(reader, "item_time_limit_ms", 0, 0, DLSI_TIME_LIMIT_MS);
	options->tags = read_texts(reader, "tags", to->tags, DLSI_TAGS);
	options->labels = read_texts(reader, "labels", to->labels, DLSI_CLASS_LABELS);
	options->preferred_labels = read_texts(reader, "preferred_labels", to->preferred, DLSI_CLASS_LABELS);
	options->after = read_texts(reader, "after", to->after, DLSI_AFTER);
	word = dlsi_json_choice(reader, "after_when", when, -1);
	options->after_when = word < 0 ? NULL : when[word];
	options->resources = read_resources(reader, to->resources);
	options->retries = read_retries(reader, to->retries);
	to->file.tenant = dlsi_json_text(reader, "tenant", NULL);
	return reader->rc;
}

static int read_object(const char *path, struct description *to, struct dls_error *err)
{
	static const char *const known[] = {"model", "handler", "params", "inputs", "tenant", "key", "name", "tags",
		"priority", "task_items", "resources", "labels", "preferred_labels", "deadline_ms", "time_limit_ms",
		"item_time_limit_ms", "after", "after_when", "retry", "speculate", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(to->json, path, known, err);
	int rc = read_options(&reader, to);

	if (rc == 0)
		rc = make_texts(&reader, to);
	if (rc == 0)
		rc = read_inputs(&reader, to);
	if (rc)
		return rc;
	rc = dlsi_job_options_check(&to->options, to->file.tenant, err);
	return rc ? dlsi_fail_in(err, rc, "%s", path) : 0;
}

static void destroy(struct description *description)
{
	struct dlsi_alloc alloc = description->alloc;

	for (size_t i = 0; i < description->input_count; i++)
		dlsi_free(&alloc, description->inputs[i]);
	dlsi_free(&alloc, description->inputs);
	dlsi_free(&alloc, description->params);
	dlsi_free(&alloc, description->model);
	cJSON_Delete(description->json);
	dlsi_free(&alloc, description);
}

static int read_file(const char *path, struct description *to, struct dls_error *err)
{
	uint8_t *text;
	size_t length;
	int rc = dlsi_file_read(&to->alloc, path, DLSI_JOB_FILE_BYTES, &text, &length, err);

	if (rc)
		return rc;
	rc = dlsi_json_parse(path, text, length, DLSI_JOB_FILE_BYTES, &to->json, err);
	dlsi_free(&to->alloc, text);
	return rc ? rc : read_object(path, to, err);
}

DLS_EXPORT int dls_job_file_read(
	struct dls_ctx *ctx, const char *path, struct dls_job_file **file_out, struct dls_error *err)
{
	struct description *description;
	int rc = dlsi_ctx_check(ctx, err);

	if (rc)
		return rc;
	if (!path || !file_out)
		return dlsi_fail(err, DLS_EINVAL, "path or file_out is NULL");
	description = dlsi_calloc(&ctx->alloc, 1, sizeof *description);
	if (!description)
		return dlsi_fail_memory(err);
	description->alloc = ctx->alloc;
	rc = read_file(path, description, err);
	if (rc) {
		destroy(description);
		return rc;
	}
	description->file.size = sizeof description->file;
	description->file.options = &description->options;
	description->file.inputs = (const char *const *)description->inputs;
	description->file.input_count = description->input_count;
	*file_out = &description->file;
	return 0;
}

DLS_EXPORT void dls_job_file_destroy(struct dls_job_file *file)
{
	if (file)
		destroy((struct description *)file);
}
