/* What a submission says of its job alone: what people call it, and after which others it runs. Jobs of one kind share
 * a specification; this they do not share.
 *
 *   {"name": TEXT, "tags": [TEXT, ...], "after": [JOB, ...], "after_when": "ended" | "succeeded" | "any"} */
#include "core/master_commands.h"

#include <string.h>

static const char what[] = "what the job says of itself";

/* The texts and the number of bytes that they take with their NULs. */
static int read_tags(const cJSON *list, size_t *bytes, struct dls_error *err)
{
	const cJSON *tag;

	if (cJSON_GetArraySize(list) > DLSI_TAGS)
		return dlsi_fail(
			err, DLS_ELIMIT, "the job has %d tags; it may have %d", cJSON_GetArraySize(list), DLSI_TAGS);
	cJSON_ArrayForEach (tag, list) {
		if (!cJSON_IsString(tag) || !*tag->valuestring || strlen(tag->valuestring) > DLSI_TAG_BYTES)
			return dlsi_fail(err, DLS_EINVAL, "a tag of a job is a text of 1 to %d bytes", DLSI_TAG_BYTES);
		*bytes += strlen(tag->valuestring) + 1;
	}
	return 0;
}

/* The same of jobs to wait for; whether there are such is seen later. */
static int read_after(const cJSON *list, size_t *bytes, struct dls_error *err)
{
	const cJSON *name;

	if (cJSON_GetArraySize(list) > DLSI_AFTER)
		return dlsi_fail(err, DLS_ELIMIT, "the job waits for %d others; it may wait for %d",
			cJSON_GetArraySize(list), DLSI_AFTER);
	cJSON_ArrayForEach (name, list) {
		if (!cJSON_IsString(name))
			return dlsi_fail(err, DLS_EINVAL, "a job to wait for is named by the text of its id");
		*bytes += strlen(name->valuestring) + 1;
	}
	return 0;
}

/* Copies the text to *at, and moves that behind it. */
static const char *keep(char **at, const char *text)
{
	const char *copy = memcpy(*at, text, strlen(text) + 1);

	*at += strlen(text) + 1;
	return copy;
}

static int read_members(
	const struct dlsi_alloc *alloc, const cJSON *json, struct about **about_out, struct dls_error *err)
{
	static const char *const known[] = {"name", "tags", "after", "after_when", NULL};
	static const char *const when[] = {"ended", "succeeded", "any", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(json, what, known, err);
	const char *name = dlsi_json_text(&reader, "name", "");
	const cJSON *tags = dlsi_json_array(&reader, "tags"), *after = dlsi_json_array(&reader, "after"), *text;
	int after_when = dlsi_json_choice(&reader, "after_when", when, AFTER_ENDED);
	size_t bytes = strlen(name) + 1;
	int rc = reader.rc ? reader.rc : read_tags(tags, &bytes, err);
	struct about *about;
	char *at;

	if (rc == 0)
		rc = read_after(after, &bytes, err);
	if (rc == 0 && strlen(name) > DLSI_NAME_BYTES)
		rc = dlsi_fail(err, DLS_EINVAL, "the name of a job has %zu bytes; it may have %d", strlen(name),
			DLSI_NAME_BYTES);
	if (rc)
		return rc;
	about = dlsi_calloc(alloc, 1, sizeof *about + bytes);
	if (!about)
		return dlsi_fail_memory(err);
	at = (char *)(about + 1);
	about->name = keep(&at, name);
	about->after_when = after_when;
	cJSON_ArrayForEach (text, tags)
		about->tags[about->tag_count++] = keep(&at, text->valuestring);
	cJSON_ArrayForEach (text, after)
		about->after[about->after_count++] = keep(&at, text->valuestring);
	*about_out = about;
	return 0;
}

int dlsi_about_read(
	struct dlsi_master *master, struct dlsi_bytes bytes, struct about **about_out, struct dls_error *err)
{
	cJSON *json;
	int rc;

	*about_out = NULL;
	if (!bytes.length)
		return 0;
	rc = dlsi_json_parse(what, bytes.data, bytes.length, DLSI_ABOUT_BYTES, &json, err);
	if (rc)
		return rc;
	rc = read_members(master->alloc, json, about_out, err);
	cJSON_Delete(json);
	return rc;
}

size_t dlsi_about_texts(const struct about *about)
{
	size_t bytes = 0;

	if (!about)
		return 0;
	for (unsigned i = 0; i < about->tag_count; i++)
		bytes += strlen(about->tags[i]) + 1;
	return bytes + strlen(about->name);
}

void dlsi_about_describe(const struct about *about, cJSON *json)
{
	cJSON *tags;

	if (!about)
		return;
	if (*about->name)
		cJSON_AddStringToObject(json, "name", about->name);
	if (!about->tag_count)
		return;
	tags = cJSON_AddArrayToObject(json, "tags");
	for (unsigned i = 0; i < about->tag_count; i++)
		cJSON_AddItemToArray(tags, cJSON_CreateString(about->tags[i]));
}

bool dlsi_about_matches(const struct about *about, const char *name, const char *tag)
{
	if (name && strcmp(about ? about->name : "", name) != 0)
		return false;
	if (!tag)
		return true;
	for (unsigned i = 0; about && i < about->tag_count; i++)
		if (strcmp(about->tags[i], tag) == 0)
			return true;
	return false;
}
