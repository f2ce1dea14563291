/* The options of a program, from one table: the command line, the configuration file and --help all follow it.
 *
 * --name value, --name=value, --flag, --flag=false; `--` ends the options; everything else is an operand, also -7, and
 * options and operands may be mixed. --config FILE names a JSON object whose keys are the names of the table. The
 * command line wins over the file and the file over the table's default. --help (-h), --version and --config belong to
 * every program and are not in its table. A program with verbs takes the first operands as the verb. */
#ifndef DLSI_CLI_OPTIONS_H
#define DLSI_CLI_OPTIONS_H

#include <dlsched/error.h>
#include <dlsched/resource.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Values that point into themselves, like those of CLI_AMOUNTS, stay where they are. */
enum cli_kind {
	CLI_FLAG,    /* int, 0 or 1 */
	CLI_TEXT,    /* const char *, not empty; NULL without a default. So are the next three */
	CLI_NAME,    /* UTF-8 of at most 255 bytes */
	CLI_ADDRESS, /* of something outside this process; whoever uses it says what else is wrong with it */
	CLI_OBJECT,  /* a JSON object */
	CLI_TEXTS,   /* struct cli_texts: one each time that the option is given */
	CLI_NAMES,   /* the same, each as CLI_NAME */
	CLI_AMOUNTS, /* struct cli_amounts: NAME=AMOUNT each time; in a file an object */
	CLI_WORD,    /* int: the index of the word */
	CLI_WHOLE,   /* int64_t from `low` to `high` */
	CLI_NUMBER,  /* double, finite and 0 or more */
	CLI_SECONDS, /* int64_t in milliseconds, written in seconds with or without a fraction */
};

enum { CLI_TEXTS_MOST = 64, CLI_AMOUNTS_MOST = 16, CLI_NAME_BYTES = 255 };

struct cli_texts {
	const char *at[CLI_TEXTS_MOST + 1]; /* ends with NULL */
	size_t count;
};

struct cli_amounts {
	struct dls_resource at[CLI_AMOUNTS_MOST + 1]; /* ends with a row without a name */
	char names[CLI_AMOUNTS_MOST][CLI_NAME_BYTES + 1];
	size_t count;
};

struct cli_option {
	const char *name;
	enum cli_kind kind;
	size_t offset; /* of the value in the program's struct of values */
	const char *argument;
	const char *help;
	const char *otherwise; /* the default, as it would be written; NULL: zero */
	int64_t low, high;
	const char *const *words; /* NULL-terminated */
	unsigned verbs;           /* bit i: an option of verb i; 0: of all */
};

struct cli_verb {
	const char *name;     /* one word or several */
	const char *operands; /* for --help: "MODEL INPUT..." */
	const char *help;
	size_t at_least, at_most; /* operands behind the verb */
};

/* At most 64 options. Both tables end with a row without a name; `verbs` is NULL for a program without them. */
struct cli_program {
	const char *name;
	const char *about;
	const struct cli_option *options;
	const struct cli_verb *verbs;
};

struct cJSON;

/* What was found. Texts among the values live as long as argv and this. */
struct cli_options {
	int verb;              /* index in the program's table */
	const char **operands; /* without the verb */
	size_t operand_count;
	const char **words;   /* the array that the operands lie in */
	uint64_t given;       /* bit i: option i stands on the command line */
	struct cJSON *config; /* owns the texts of the configuration file */
};

/* Returns 0 with `values` and *options_out filled, 1 when --help or --version has been answered on standard output, or
 * DLS_EINVAL, DLS_ENOTFOUND, DLS_ENOMEM with a sentence. Free what is in *options_out in every case. */
int cli_options_parse(const struct cli_program *program, int argc, char **argv, void *values,
	struct cli_options *options_out, struct dls_error *err);
void cli_options_fini(struct cli_options *options);

/* Gives one option its value. `where` names it in errors ("--top", "worker.json: top"). */
int cli_option_set(
	const struct cli_option *option, const char *where, const char *text, void *values, struct dls_error *err);

/* Whether there is one to write: a text without a default may be missing. */
bool cli_option_has_value(const struct cli_option *option, const void *values);

/* Writes the value as the command line takes it, or as a configuration file does. */
void cli_option_write(FILE *to, const struct cli_option *option, bool json, const void *values);

/* The row of that name, NULL if there is none. */
const struct cli_option *cli_option_find(const struct cli_option *table, const char *name);

/* What an option of the command line depends on: it is refused where it could not matter. */
struct cli_rule {
	const char *option;
	enum { CLI_NEEDS, CLI_EXCLUDES } relation;
	const char *other; /* a flag that is on or a text that is given, also by a configuration file */
	const char *why;
};

/* `rules` end with a row without a name. Errors: DLS_EINVAL. */
int cli_rules_check(const struct cli_rule *rules, const struct cli_option *table, uint64_t given, const void *values,
	struct dls_error *err);

/* Writes usage and options; those of one verb only, if `verb` is not negative. */
void cli_help_print(const struct cli_program *program, int verb);

#endif
