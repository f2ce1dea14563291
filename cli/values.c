/* The values of options: read from what the user wrote, and written out again. */
#include "cli/failure.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_flag(const char *where, const char *text, int *value, struct dls_error *err)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is true or false", where, text);
	*value = text[0] == 't';
	return 0;
}

static int set_word(
	const struct cli_option *option, const char *where, const char *text, int *value, struct dls_error *err)
{
	char known[256];
	size_t length = 0;

	for (int i = 0; option->words[i]; i++) {
		if (strcmp(option->words[i], text) == 0) {
			*value = i;
			return 0;
		}
		length += (size_t)snprintf(
			known + length, sizeof known - length, "%s%s", i ? ", " : "", option->words[i]);
	}
	return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is one of: %s", where, text, known);
}

static int set_whole(
	const struct cli_option *option, const char *where, const char *text, int64_t *value, struct dls_error *err)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end || number < option->low || number > option->high)
		return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is a whole number from %lld to %lld", where, text,
			(long long)option->low, (long long)option->high);
	*value = number;
	return 0;
}

static int set_seconds(
	const struct cli_option *option, const char *where, const char *text, int64_t *value, struct dls_error *err)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds * 1000 > (double)option->high)
		return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is a number of seconds from 0 to %lld", where,
			text, (long long)option->high / 1000);
	*value = (int64_t)(seconds * 1000 + 0.999); /* rounded up: a short time is not none */
	return 0;
}

static int set_number(const char *where, const char *text, double *value, struct dls_error *err)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !isfinite(number) || number < 0)
		return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is a number from 0 on", where, text);
	*value = number;
	return 0;
}

static int check_name(const char *where, const char *text, struct dls_error *err)
{
	size_t length = strlen(text), bytes;
	uint32_t code;

	if (length > CLI_NAME_BYTES)
		return cli_fail(err, DLS_EINVAL, "%s has %zu bytes; it may have %d", where, length, CLI_NAME_BYTES);
	for (const char *at = text; *at; at += bytes) {
		bytes = cli_text_next(at, &code);
		if (!bytes)
			return cli_fail(err, DLS_EINVAL, "%s is not UTF-8: byte %td is 0x%02x", where, at - text + 1,
				(unsigned char)*at);
	}
	return 0;
}

static int check_object(const char *where, const char *text, struct dls_error *err)
{
	const char *end = text;
	cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
	bool is_object = cJSON_IsObject(json);

	cJSON_Delete(json);
	if (!json)
		return cli_fail(err, DLS_EINVAL, "%s is not JSON; the fault is near byte %td", where, end - text + 1);
	return is_object ? 0 : cli_fail(err, DLS_EINVAL, "%s is no JSON object, like {\"threshold\": 0.5}", where);
}

static int set_text(
	const struct cli_option *option, const char *where, const char *text, const char **value, struct dls_error *err)
{
	int rc = 0;

	if (!*text)
		return cli_fail(err, DLS_EINVAL, "%s is empty", where);
	if (option->kind == CLI_ADDRESS && strncmp(text, "inproc:", 7) == 0)
		return cli_fail(err, DLS_EINVAL,
			"%s is \"%.64s\", which nobody outside this process can reach; use tcp://HOST:PORT or "
			"ipc://PATH",
			where, text);
	if (option->kind == CLI_NAME)
		rc = check_name(where, text, err);
	else if (option->kind == CLI_OBJECT)
		rc = check_object(where, text, err);
	if (rc == 0)
		*value = text;
	return rc;
}

static int add_text(const struct cli_option *option, const char *where, const char *text, struct cli_texts *texts,
	struct dls_error *err)
{
	if (!*text)
		return cli_fail(err, DLS_EINVAL, "%s is empty", where);
	if (option->kind == CLI_NAMES && check_name(where, text, err))
		return DLS_EINVAL;
	if (texts->count == CLI_TEXTS_MOST)
		return cli_fail(err, DLS_EINVAL, "%s is given more than %d times", where, CLI_TEXTS_MOST);
	texts->at[texts->count++] = text;
	return 0;
}

/* Behind the last `=`: a name may have one. */
static int add_amount(const char *where, const char *text, struct cli_amounts *amounts, struct dls_error *err)
{
	const char *equals = strrchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;
	char *name = amounts->names[amounts->count], *end;
	double amount = equals ? strtod(equals + 1, &end) : 0;

	if (!length || !equals[1] || *end)
		return cli_fail(err, DLS_EINVAL, "%s is \"%.64s\"; it is NAME=AMOUNT, like cores=2", where, text);
	if (!(amount > 0 && amount <= 1e15))
		return cli_fail(
			err, DLS_EINVAL, "%s is \"%.64s\"; the amount must be above 0 and at most 1e15", where, text);
	if (length > CLI_NAME_BYTES)
		return cli_fail(
			err, DLS_EINVAL, "%s has a name of %zu bytes; it may have %d", where, length, CLI_NAME_BYTES);
	if (amounts->count == CLI_AMOUNTS_MOST)
		return cli_fail(err, DLS_EINVAL, "%s is given more than %d times", where, CLI_AMOUNTS_MOST);
	memcpy(name, text, length);
	name[length] = '\0';
	if (check_name(where, name, err))
		return DLS_EINVAL;
	amounts->at[amounts->count++] = (struct dls_resource){name, amount};
	return 0;
}

int cli_option_set(
	const struct cli_option *option, const char *where, const char *text, void *values, struct dls_error *err)
{
	void *value = (char *)values + option->offset;

	switch (option->kind) {
	case CLI_FLAG:
		return set_flag(where, text, value, err);
	case CLI_TEXT:
	case CLI_NAME:
	case CLI_ADDRESS:
	case CLI_OBJECT:
		return set_text(option, where, text, value, err);
	case CLI_WORD:
		return set_word(option, where, text, value, err);
	case CLI_WHOLE:
		return set_whole(option, where, text, value, err);
	case CLI_SECONDS:
		return set_seconds(option, where, text, value, err);
	case CLI_TEXTS:
	case CLI_NAMES:
		return add_text(option, where, text, value, err);
	case CLI_AMOUNTS:
		return add_amount(where, text, value, err);
	case CLI_NUMBER:
		return set_number(where, text, value, err);
	}
	return cli_fail(err, DLS_EINVAL, "%s cannot be set", where);
}

static bool is_text(const struct cli_option *option)
{
	return option->kind == CLI_TEXT || option->kind == CLI_NAME || option->kind == CLI_ADDRESS ||
	       option->kind == CLI_OBJECT;
}

static const char *text_of(const struct cli_option *option, const void *value)
{
	return option->kind == CLI_WORD ? option->words[*(const int *)value] : *(const char *const *)value;
}

bool cli_option_has_value(const struct cli_option *option, const void *values)
{
	const void *value = (const char *)values + option->offset;

	if (option->kind == CLI_TEXTS || option->kind == CLI_NAMES)
		return ((const struct cli_texts *)value)->count > 0;
	if (option->kind == CLI_AMOUNTS)
		return ((const struct cli_amounts *)value)->count > 0;
	return !is_text(option) || text_of(option, value);
}

static void write_texts(FILE *to, const struct cli_texts *texts, bool json)
{
	for (size_t i = 0; i < texts->count; i++) {
		fputs(i ? (json ? "," : " ") : (json ? "[" : ""), to);
		if (json)
			cli_json_text(to, texts->at[i]);
		else
			fputs(texts->at[i], to);
	}
	if (json)
		fputc(']', to);
}

static void write_amounts(FILE *to, const struct cli_amounts *amounts, bool json)
{
	for (size_t i = 0; i < amounts->count; i++) {
		fputs(i ? (json ? "," : " ") : (json ? "{" : ""), to);
		if (json)
			cli_json_text(to, amounts->at[i].name);
		else
			fputs(amounts->at[i].name, to);
		fprintf(to, "%c%.15g", json ? ':' : '=', amounts->at[i].amount);
	}
	if (json)
		fputc('}', to);
}

void cli_option_write(FILE *to, const struct cli_option *option, bool json, const void *values)
{
	const void *value = (const char *)values + option->offset;

	switch (option->kind) {
	case CLI_FLAG:
		fputs(*(const int *)value ? "true" : "false", to);
		break;
	case CLI_TEXT:
	case CLI_NAME:
	case CLI_ADDRESS:
	case CLI_OBJECT:
	case CLI_WORD:
		if (json)
			cli_json_text(to, text_of(option, value));
		else
			fputs(text_of(option, value), to);
		break;
	case CLI_WHOLE:
		fprintf(to, "%" PRId64, *(const int64_t *)value);
		break;
	case CLI_SECONDS:
		fprintf(to, "%.15g", (double)*(const int64_t *)value / 1000);
		break;
	case CLI_NUMBER:
		cli_json_double(to, *(const double *)value);
		break;
	case CLI_TEXTS:
	case CLI_NAMES:
		write_texts(to, value, json);
		break;
	case CLI_AMOUNTS:
		write_amounts(to, value, json);
	}
}
