#include "cli/options.h"

#include "cli/config.h"
#include "cli/failure.h"
#include "cli/nearest.h"
#include <ctype.h>
#include <dlsched/version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, SECONDS_BYTES = 128 };

/* The state of one walk over the command line. */
struct walk {
	const struct cli_program *program;
	int argc;
	char **argv;
	int at;
	void *values;
	struct cli_options *options;
	const char *config; /* the file that --config names */
	bool help, version;
	struct dls_error *err;
};

const struct cli_option *cli_option_find(const struct cli_option *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(name, table->name) == 0)
			return table;
	return NULL;
}

/* The value of the option at hand: behind its `=`, or the next word. */
static int take_value(struct walk *walk, const char *name, const char *inside, const char **value_out)
{
	if (!inside && walk->at + 1 >= walk->argc)
		return cli_fail(walk->err, DLS_EINVAL, "--%s needs a value", name);
	*value_out = inside ? inside : walk->argv[++walk->at];
	return 0;
}

static int refuse(struct walk *walk, const char *name)
{
	static const char *const own[] = {"help", "version", "config"};
	struct cli_nearest nearest = cli_nearest_to(name);

	for (const struct cli_option *option = walk->program->options; option->name; option++)
		cli_nearest_offer(&nearest, option->name);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		cli_nearest_offer(&nearest, own[i]);
	if (!nearest.name)
		return cli_fail(walk->err, DLS_EINVAL, "unknown option --%.64s; see --help", name);
	return cli_fail(walk->err, DLS_EINVAL, "unknown option --%.64s; did you mean --%s?", name, nearest.name);
}

/* An option of the program's table. */
static int take_listed(struct walk *walk, const char *name, const char *inside)
{
	const struct cli_option *option = cli_option_find(walk->program->options, name);
	char where[NAME_BYTES + 2];
	const char *text = "true";
	int rc = 0;

	if (!option)
		return refuse(walk, name);
	if (option->kind != CLI_FLAG)
		rc = take_value(walk, name, inside, &text);
	else if (inside)
		text = inside;
	if (rc)
		return rc;
	walk->options->given |= UINT64_C(1) << (option - walk->program->options);
	snprintf(where, sizeof where, "--%s", name);
	return cli_option_set(option, where, text, walk->values, walk->err);
}

static int take_option(struct walk *walk)
{
	const char *word = walk->argv[walk->at] + 2, *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	char name[NAME_BYTES];

	if (length >= sizeof name)
		return cli_fail(walk->err, DLS_EINVAL, "unknown option --%.64s...", word);
	memcpy(name, word, length);
	name[length] = '\0';
	if (strcmp(name, "config") == 0)
		return take_value(walk, name, equals ? equals + 1 : NULL, &walk->config);
	if (strcmp(name, "help") == 0 || strcmp(name, "version") == 0) {
		if (equals)
			return cli_fail(walk->err, DLS_EINVAL, "--%s takes no value", name);
		walk->help |= name[0] == 'h';
		walk->version |= name[0] == 'v';
		return 0;
	}
	return take_listed(walk, name, equals ? equals + 1 : NULL);
}

/* One pass over the command line; the options' operands are the words that are no options. */
static int take_words(struct walk *walk)
{
	bool only_operands = false;
	int rc = 0;

	walk->options->operand_count = 0;
	for (walk->at = 1; walk->at < walk->argc && rc == 0; walk->at++) {
		const char *word = walk->argv[walk->at];

		if (only_operands || word[0] != '-' || !word[1] || isdigit((unsigned char)word[1]))
			walk->options->operands[walk->options->operand_count++] = word;
		else if (strcmp(word, "--") == 0)
			only_operands = true;
		else if (word[1] == '-')
			rc = take_option(walk);
		else if (strcmp(word, "-h") == 0)
			walk->help = true;
		else
			rc = cli_fail(
				walk->err, DLS_EINVAL, "unknown option %.64s; options begin with --, see --help", word);
	}
	return rc;
}

static int set_defaults(struct walk *walk)
{
	int rc = 0;

	for (const struct cli_option *option = walk->program->options; option->name && rc == 0; option++)
		if (option->otherwise)
			rc = cli_option_set(option, option->name, option->otherwise, walk->values, walk->err);
	return rc;
}

/* How many operands the name of the verb takes up; 0 if the operands begin with something else. */
static size_t match_verb(const struct cli_verb *verb, const struct cli_options *options)
{
	const char *name = verb->name;
	size_t words = 0;

	while (*name) {
		size_t length = strcspn(name, " ");

		if (words == options->operand_count || strlen(options->operands[words]) != length ||
			memcmp(options->operands[words], name, length) != 0)
			return 0;
		words++;
		name += length;
		name += *name == ' ';
	}
	return words;
}

/* Writes what follows in the verbs that begin with `word`. Returns whether there are any. */
static bool list_next_words(const struct cli_verb *verbs, const char *word, char *list, size_t bytes)
{
	size_t length = strlen(word), written = 0;

	for (; verbs->name; verbs++)
		if (strncmp(verbs->name, word, length) == 0 && verbs->name[length] == ' ')
			written += (size_t)snprintf(list + written, written < bytes ? bytes - written : 0, "%s%s",
				written ? ", " : "", verbs->name + length + 1);
	return written > 0;
}

static int refuse_verb(struct walk *walk)
{
	const char *program = walk->program->name, *word = walk->options->operands[0];
	struct cli_nearest nearest;
	char seconds[SECONDS_BYTES];

	if (!walk->options->operand_count)
		return cli_fail(walk->err, DLS_EINVAL, "a verb is missing; `%s help` lists them", program);
	if (list_next_words(walk->program->verbs, word, seconds, sizeof seconds))
		return cli_fail(walk->err, DLS_EINVAL, "behind \"%s\" comes one of: %s", word, seconds);
	nearest = cli_nearest_to(word);
	for (const struct cli_verb *verb = walk->program->verbs; verb->name; verb++)
		cli_nearest_offer(&nearest, verb->name);
	if (!nearest.name)
		return cli_fail(walk->err, DLS_EINVAL, "unknown verb \"%.64s\"; `%s help` lists them", word, program);
	return cli_fail(walk->err, DLS_EINVAL, "unknown verb \"%.64s\"; did you mean \"%s\"?", word, nearest.name);
}

/* Splits the verb off the operands. `help` and `help VERB` are --help in words. */
static int take_verb(struct walk *walk)
{
	struct cli_options *options = walk->options;
	size_t words = 0;
	int verb = 0;

	if (options->operand_count && strcmp(options->operands[0], "help") == 0) {
		walk->help = true;
		options->operands++;
		options->operand_count--;
	}
	for (; walk->program->verbs[verb].name; verb++) {
		words = match_verb(&walk->program->verbs[verb], options);
		if (words)
			break;
	}
	options->verb = words ? verb : -1;
	options->operands += words;
	options->operand_count -= words;
	return words || (walk->help && !options->operand_count) || walk->version ? 0 : refuse_verb(walk);
}

static int check_operands(struct walk *walk)
{
	static const struct cli_verb none = {0};
	const struct cli_options *options = walk->options;
	const struct cli_verb *verb = walk->program->verbs ? &walk->program->verbs[options->verb] : &none;

	if (options->operand_count < verb->at_least)
		return cli_fail(walk->err, DLS_EINVAL, "%s needs %s", verb->name, verb->operands);
	if (options->operand_count > verb->at_most)
		return cli_fail(walk->err, DLS_EINVAL, "unexpected argument \"%.64s\"; see --help",
			options->operands[verb->at_most]);
	return 0;
}

/* Options on the command line must be the verb's; a configuration file serves all verbs. */
static int check_verb_options(struct walk *walk)
{
	const struct cli_option *table = walk->program->options;
	unsigned verb = walk->program->verbs ? 1u << walk->options->verb : 0;

	for (size_t i = 0; table[i].name; i++)
		if (walk->options->given >> i & 1 && table[i].verbs && !(table[i].verbs & verb))
			return cli_fail(walk->err, DLS_EINVAL, "--%s is not an option of %s", table[i].name,
				walk->program->verbs[walk->options->verb].name);
	return 0;
}

static int answer(const struct walk *walk)
{
	if (walk->version)
		printf("%s %s\n", walk->program->name, dls_version());
	else
		cli_help_print(walk->program, walk->program->verbs ? walk->options->verb : -1);
	return 1;
}

int cli_options_parse(const struct cli_program *program, int argc, char **argv, void *values,
	struct cli_options *options_out, struct dls_error *err)
{
	struct walk walk = {
		.program = program, .argc = argc, .argv = argv, .values = values, .options = options_out, .err = err};
	int rc;

	*options_out = (struct cli_options){.verb = -1};
	options_out->words = calloc((size_t)argc + 1, sizeof *options_out->words);
	if (!options_out->words)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	options_out->operands = options_out->words;
	rc = set_defaults(&walk);
	if (rc == 0)
		rc = take_words(&walk);
	if (rc == 0 && program->verbs)
		rc = take_verb(&walk);
	if (rc == 0 && (walk.help || walk.version))
		return answer(&walk);
	if (rc == 0)
		rc = check_operands(&walk);
	if (rc == 0)
		rc = check_verb_options(&walk);
	if (rc == 0 && walk.config)
		rc = cli_config_read(
			walk.config, program->options, options_out->given, values, &options_out->config, err);
	return rc;
}

void cli_options_fini(struct cli_options *options)
{
	cli_config_free(options->config);
	free(options->words);
	*options = (struct cli_options){0};
}
