#include "cli/config.h"

#include "cli/failure.h"
#include "cli/file.h"
#include "cli/nearest.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_BYTES = 1024 * 1024, WHERE_BYTES = 256, SPELT_BYTES = 1024 };

static const char *const expected[] = {
	[CLI_FLAG] = "true or false",
	[CLI_TEXT] = "a string",
	[CLI_NAME] = "a string",
	[CLI_ADDRESS] = "a string",
	[CLI_OBJECT] = "a string",
	[CLI_WORD] = "a string",
	[CLI_WHOLE] = "a number",
	[CLI_NUMBER] = "a number",
	[CLI_TEXTS] = "a string or a list of strings",
	[CLI_NAMES] = "a string or a list of strings",
	[CLI_AMOUNTS] = "an object of numbers, like {\"cores\": 2}",
	[CLI_SECONDS] = "a number of seconds",
};

static size_t line_of(const char *text, const char *place)
{
	size_t line = 1;

	for (; text < place; text++)
		line += *text == '\n';
	return line;
}

/* cJSON keeps no lengths, so that a string would end at this character. */
static const char *find_nul(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\')
			continue;
		if (strncmp(text, "\\u0000", 6) == 0)
			return text;
		text += text[1] != '\0';
	}
	return NULL;
}

static int parse(const char *path, const char *text, cJSON **config_out, struct dls_error *err)
{
	const char *nul = find_nul(text), *end = text;
	cJSON *config;

	if (nul)
		return cli_fail(err, DLS_EINVAL, "%s: line %zu has \\u0000, which no key and no value may hold", path,
			line_of(text, nul));
	config = cJSON_ParseWithOpts(text, &end, 1);
	if (!config)
		return cli_fail(err, DLS_EINVAL, "%s is not JSON, from line %zu on", path, line_of(text, end));
	*config_out = config;
	if (!cJSON_IsObject(config))
		return cli_fail(err, DLS_EINVAL, "%s must be a JSON object whose keys are long names of options", path);
	return 0;
}

/* The value as it would be written on the command line; NULL if it is of another kind. `spelt` is for those
 * that are not there as text. */
static const char *spell(const struct cli_option *option, const cJSON *value, char spelt[SPELT_BYTES])
{
	switch (option->kind) {
	case CLI_FLAG:
		return cJSON_IsBool(value) ? (cJSON_IsTrue(value) ? "true" : "false") : NULL;
	case CLI_TEXT:
	case CLI_NAME:
	case CLI_ADDRESS:
	case CLI_OBJECT:
	case CLI_WORD:
	case CLI_TEXTS:
	case CLI_NAMES:
		return cJSON_GetStringValue(value);
	case CLI_AMOUNTS:
		if (!cJSON_IsNumber(value) ||
			snprintf(spelt, SPELT_BYTES, "%s=%.17g", value->string, value->valuedouble) >= SPELT_BYTES)
			return NULL;
		return spelt;
	case CLI_WHOLE:
	case CLI_SECONDS:
	case CLI_NUMBER:
		if (!cJSON_IsNumber(value))
			return NULL;
		snprintf(spelt, SPELT_BYTES, "%.17g", value->valuedouble);
		return spelt;
	}
	return NULL;
}

static int refuse_value(const char *path, const struct cli_option *option, struct dls_error *err)
{
	return cli_fail(err, DLS_EINVAL, "%s: \"%s\" must be %s", path, option->name, expected[option->kind]);
}

static int take(
	const char *path, const cJSON *value, const struct cli_option *option, void *values, struct dls_error *err)
{
	char where[WHERE_BYTES], spelt[SPELT_BYTES];
	const char *text = spell(option, value, spelt);

	snprintf(where, sizeof where, "%s: \"%s\"", path, option->name);
	if (!text)
		return refuse_value(path, option, err);
	return cli_option_set(option, where, text, values, err);
}

static bool holds_several(const struct cli_option *option, const cJSON *member)
{
	if (option->kind == CLI_AMOUNTS)
		return cJSON_IsObject(member);
	return (option->kind == CLI_TEXTS || option->kind == CLI_NAMES) && cJSON_IsArray(member) && member->child;
}

/* A list, or an object of amounts, stands for an option that is given several times. */
static int take_member(
	const char *path, const cJSON *member, const struct cli_option *option, void *values, struct dls_error *err)
{
	const cJSON *value;
	int rc = 0;

	if (!holds_several(option, member))
		return option->kind == CLI_AMOUNTS ? refuse_value(path, option, err)
						   : take(path, member, option, values, err);
	cJSON_ArrayForEach (value, member) {
		rc = take(path, value, option, values, err);
		if (rc)
			break;
	}
	return rc;
}

static int refuse_key(const char *path, const char *key, const struct cli_option *table, struct dls_error *err)
{
	struct cli_nearest nearest = cli_nearest_to(key);

	for (; table->name; table++)
		cli_nearest_offer(&nearest, table->name);
	if (!nearest.name)
		return cli_fail(err, DLS_EINVAL, "%s: unknown key \"%.64s\"", path, key);
	return cli_fail(err, DLS_EINVAL, "%s: unknown key \"%.64s\"; did you mean \"%s\"?", path, key, nearest.name);
}

static int take_all(const char *path, const cJSON *config, const struct cli_option *table, uint64_t given, void *values,
	struct dls_error *err)
{
	const struct cli_option *option;
	const cJSON *member;
	uint64_t seen = 0;
	int rc;

	cJSON_ArrayForEach (member, config) {
		option = cli_option_find(table, member->string);
		if (!option)
			return refuse_key(path, member->string, table, err);
		if (seen >> (option - table) & 1)
			return cli_fail(err, DLS_EINVAL, "%s: the key \"%s\" is there twice", path, option->name);
		seen |= UINT64_C(1) << (option - table);
		if (given >> (option - table) & 1)
			continue;
		rc = take_member(path, member, option, values, err);
		if (rc)
			return rc;
	}
	return 0;
}

int cli_config_read(const char *path, const struct cli_option *table, uint64_t given, void *values,
	struct cJSON **config_out, struct dls_error *err)
{
	char *text = NULL;
	int rc = cli_file_read(path, CONFIG_BYTES, &text, err);

	if (rc == 0)
		rc = parse(path, text, config_out, err);
	free(text);
	if (rc == 0)
		rc = take_all(path, *config_out, table, given, values, err);
	return rc;
}

void cli_config_free(struct cJSON *config)
{
	cJSON_Delete(config);
}
