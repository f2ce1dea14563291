#include "base/json.h"

#include "base/limits.h"
#include "base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGERS 9007199254740992.0 /* 2^53: a double holds every whole number up to here */

static int fail_at(
	const char *what, const char *text, size_t offset, int code, const char *wrong, struct dls_error *err)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return dlsi_fail(err, code, "%s: %s at line %zu, column %zu", what, wrong, line, column);
}

/* Refuses what cJSON would let pass or turn into something else. Leaves the grammar to it. */
static int scan(const char *what, const char *text, size_t length, struct dls_error *err)
{
	bool in_string = false;
	int depth = 0;
	uint32_t code = 0;

	for (size_t i = 0, step; i < length; i += step) {
		step = dlsi_utf8_next((const uint8_t *)text + i, length - i, &code);
		if (!step)
			return fail_at(what, text, i, DLS_EFORMAT, "bytes that are not UTF-8", err);
		if (code < 0x20 && (in_string || !strchr("\t\n\r", (int)code) || !code))
			return fail_at(what, text, i, DLS_EFORMAT, "a control character", err);
		if (in_string && code == '\\') {
			if (length - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
				return fail_at(what, text, i, DLS_EFORMAT, "an embedded NUL", err);
			step += i + 1 < length;
		} else if (code == '"') {
			in_string = !in_string;
		} else if (!in_string && (code == '{' || code == '[')) {
			if (++depth > DLSI_JSON_DEPTH)
				return fail_at(what, text, i, DLS_ELIMIT, "nesting over the limit", err);
		} else if (!in_string && (code == '}' || code == ']')) {
			depth--;
		}
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int refuse_duplicates(const char *what, const cJSON *object, struct dls_error *err)
{
	size_t count = (size_t)cJSON_GetArraySize(object), i = 0;
	const char **names;
	const cJSON *member;
	int rc = 0;

	if (count < 2)
		return 0;
	names = dlsi_malloc(&dlsi_alloc_libc, count * sizeof *names);
	if (!names)
		return dlsi_fail_memory(err);
	cJSON_ArrayForEach (member, object)
		names[i++] = member->string;
	qsort(names, count, sizeof *names, compare_names);
	for (i = 1; i < count && rc == 0; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			rc = dlsi_fail(err, DLS_EFORMAT, "%s: the key \"%s\" is there twice", what, names[i]);
	dlsi_free(&dlsi_alloc_libc, names);
	return rc;
}

/* Recursion is bounded by DLSI_JSON_DEPTH. */
static int check_values(const char *what, const cJSON *json, struct dls_error *err)
{
	const cJSON *member;
	int rc = 0;

	if (cJSON_IsNumber(json) && !isfinite(json->valuedouble))
		return dlsi_fail(err, DLS_EFORMAT, "%s: a number is too large", what);
	if (cJSON_IsObject(json))
		rc = refuse_duplicates(what, json, err);
	for (member = json->child; member && rc == 0; member = member->next)
		rc = check_values(what, member, err);
	return rc;
}

static int parse(const char *what, const char *text, size_t length, cJSON **json_out, struct dls_error *err)
{
	const char *end = text;
	cJSON *json;
	int rc;

	errno = 0;
	json = cJSON_ParseWithLengthOpts(text, length, &end, false);
	if (!json && errno == ENOMEM) /* the only trace that cJSON leaves of it */
		return dlsi_fail_memory(err);
	while (json && end < text + length && strchr(" \t\n\r", *end))
		end++;
	if (!json || end < text + length) {
		cJSON_Delete(json);
		return fail_at(
			what, text, (size_t)(end - text), DLS_EFORMAT, json ? "more after the end" : "not JSON", err);
	}
	rc = check_values(what, json, err);
	if (rc)
		cJSON_Delete(json);
	else
		*json_out = json;
	return rc;
}

int dlsi_json_parse(
	const char *what, const void *text, size_t length, size_t limit, cJSON **json_out, struct dls_error *err)
{
	int rc;

	if (length > limit)
		return dlsi_fail(err, DLS_ELIMIT, "%s has %zu bytes, more than the limit of %zu", what, length, limit);
	rc = scan(what, text, length, err);
	return rc ? rc : parse(what, text, length, json_out, err);
}

static bool is_known(const char *name, const char *const *known)
{
	while (*known && strcmp(*known, name) != 0)
		known++;
	return *known != NULL;
}

static int refuse_unknown(const char *what, const char *name, const char *const *known, struct dls_error *err)
{
	const char *nearest = dlsi_json_nearest(name, known);

	if (!nearest)
		return dlsi_fail(err, DLS_EINVAL, "%s: unknown key \"%.64s\"; no key is known here", what, name);
	return dlsi_fail(err, DLS_EINVAL, "%s: unknown key \"%.64s\"; did you mean \"%s\"?", what, name, nearest);
}

struct dlsi_json_reader dlsi_json_read(
	const cJSON *json, const char *what, const char *const *known, struct dls_error *err)
{
	struct dlsi_json_reader reader = {.object = json, .what = what, .err = err};

	if (!cJSON_IsObject(json)) {
		reader.rc = dlsi_fail(err, DLS_EINVAL, "%s must be an object", what);
		return reader;
	}
	for (const cJSON *member = json->child; member && reader.rc == 0; member = member->next)
		if (!is_known(member->string, known))
			reader.rc = refuse_unknown(what, member->string, known, err);
	return reader;
}

/* The member, NULL if it is absent or something failed before. */
static const cJSON *find(const struct dlsi_json_reader *reader, const char *name)
{
	return reader->rc ? NULL : cJSON_GetObjectItemCaseSensitive(reader->object, name);
}

static const char *kind(const cJSON *json)
{
	return cJSON_IsNull(json)     ? "null"
	       : cJSON_IsBool(json)   ? "true or false"
	       : cJSON_IsNumber(json) ? "a number"
	       : cJSON_IsString(json) ? "a text"
	       : cJSON_IsArray(json)  ? "an array"
				      : "an object";
}

static void refuse(struct dlsi_json_reader *reader, const cJSON *json, const char *wanted)
{
	reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: \"%s\" must be %s, not %s", reader->what, json->string,
		wanted, kind(json));
}

void dlsi_json_require(struct dlsi_json_reader *reader, const char *name)
{
	if (!reader->rc && !find(reader, name))
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: the key \"%s\" is missing", reader->what, name);
}

const char *dlsi_json_text(struct dlsi_json_reader *reader, const char *name, const char *otherwise)
{
	const cJSON *json = find(reader, name);

	if (cJSON_IsString(json))
		return json->valuestring;
	if (json)
		refuse(reader, json, "a text");
	return otherwise;
}

bool dlsi_json_bool(struct dlsi_json_reader *reader, const char *name, bool otherwise)
{
	const cJSON *json = find(reader, name);

	if (cJSON_IsBool(json))
		return cJSON_IsTrue(json);
	if (json)
		refuse(reader, json, "true or false");
	return otherwise;
}

double dlsi_json_number(struct dlsi_json_reader *reader, const char *name, double otherwise)
{
	const cJSON *json = find(reader, name);

	if (cJSON_IsNumber(json))
		return json->valuedouble;
	if (json)
		refuse(reader, json, "a number");
	return otherwise;
}

/* Whether the text is a decimal number that fits, in its only spelling; so it is never read as another number. */
static bool read_decimal(const char *text, int64_t *value_out)
{
	char again[24];
	intmax_t value;

	errno = 0;
	value = strtoimax(text, NULL, 10);
	snprintf(again, sizeof again, "%" PRIdMAX, value);
	if (errno || strcmp(again, text) != 0)
		return false;
	*value_out = value;
	return true;
}

static bool read_integer(const cJSON *json, int64_t *value_out)
{
	double number = json->valuedouble;

	if (cJSON_IsString(json))
		return read_decimal(json->valuestring, value_out);
	if (!cJSON_IsNumber(json) || number != floor(number) || fabs(number) > EXACT_INTEGERS)
		return false;
	*value_out = (int64_t)number;
	return true;
}

int64_t dlsi_json_integer(
	struct dlsi_json_reader *reader, const char *name, int64_t otherwise, int64_t low, int64_t high)
{
	const cJSON *json = find(reader, name);
	int64_t value;

	if (!json)
		return otherwise;
	if (read_integer(json, &value) && value >= low && value <= high)
		return value;
	reader->rc = dlsi_fail(reader->err, DLS_EINVAL,
		"%s: \"%s\" must be a whole number from %" PRId64 " to %" PRId64 " (above 2^53: as a text)",
		reader->what, name, low, high);
	return otherwise;
}

int dlsi_json_choice(struct dlsi_json_reader *reader, const char *name, const char *const *words, int otherwise)
{
	const char *text = dlsi_json_text(reader, name, NULL);

	if (!text)
		return otherwise;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: \"%s\" cannot be \"%.64s\"; did you mean \"%s\"?",
		reader->what, name, text, dlsi_json_nearest(text, words));
	return otherwise;
}

const cJSON *dlsi_json_object(struct dlsi_json_reader *reader, const char *name)
{
	const cJSON *json = find(reader, name);

	if (!json || cJSON_IsObject(json))
		return json;
	refuse(reader, json, "an object");
	return NULL;
}

const cJSON *dlsi_json_array(struct dlsi_json_reader *reader, const char *name)
{
	const cJSON *json = find(reader, name);

	if (!json || cJSON_IsArray(json))
		return json;
	refuse(reader, json, "an array");
	return NULL;
}

enum { COMPARED_BYTES = 64 }; /* of a word; names that are told apart only after these are equally near */

/* Levenshtein's distance: the fewest bytes to insert, remove or replace. One row of the table at a time. */
static size_t distance(const char *a, const char *b)
{
	size_t row[COMPARED_BYTES + 1], a_length = strnlen(a, COMPARED_BYTES), b_length = strnlen(b, COMPARED_BYTES);

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 0; i < a_length; i++) {
		size_t diagonal = row[0]++;

		for (size_t j = 0; j < b_length; j++) {
			size_t best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			best = best <= diagonal ? best : diagonal + 1;
			row[j + 1] = best <= row[j] ? best : row[j] + 1;
		}
	}
	return row[b_length];
}

const char *dlsi_json_nearest(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	size_t least = SIZE_MAX;

	for (; *words; words++) {
		size_t away = distance(word, *words);

		if (away < least) {
			least = away;
			nearest = *words;
		}
	}
	return nearest;
}

char *dlsi_json_print(const struct dlsi_alloc *alloc, const cJSON *json)
{
	char *text = cJSON_PrintUnformatted(json), *copy = NULL;

	if (text)
		copy = dlsi_strdup(alloc, text);
	cJSON_free(text);
	return copy;
}
