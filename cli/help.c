/* --help, made from the tables. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 30, WIDTH = 100 };

/* Prints `text`, which begins at column `indent`, and indents its following lines to there. */
static void wrap(const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > indent && column + 1 + length > WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			column += printf(" ");
		}
		column += printf("%.*s", length, text);
		text += length;
		text += *text == ' ';
	}
	printf("\n");
}

static void print_row(const char *left, const char *right)
{
	int column = printf("  %s", left);

	if (column >= INDENT)
		column = 0 * printf("\n");
	printf("%*s", INDENT - column, "");
	wrap(right, INDENT);
}

static void print_option(const struct cli_option *option)
{
	char left[128], right[512];
	size_t length = (size_t)snprintf(right, sizeof right, "%s", option->help);

	snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
		option->argument ? option->argument : "");
	for (int i = 0; option->words && option->words[i]; i++)
		length += (size_t)snprintf(
			right + length, sizeof right - length, "%s%s", i ? ", " : ": ", option->words[i]);
	if (option->otherwise)
		snprintf(right + length, sizeof right - length, " (default: %s)", option->otherwise);
	print_row(left, right);
}

static void print_verbs(const struct cli_verb *verbs)
{
	char left[128];

	printf("\nVerbs:\n");
	for (; verbs->name; verbs++) {
		snprintf(left, sizeof left, "%s %s", verbs->name, verbs->operands);
		print_row(left, verbs->help);
	}
	print_row("help [VERB]", "This, or one verb with its options.");
}

void cli_help_print(const struct cli_program *program, int verb)
{
	const struct cli_verb *one = verb >= 0 ? &program->verbs[verb] : NULL;

	if (one)
		printf("usage: %s %s [OPTION]... %s\n\n", program->name, one->name, one->operands);
	else
		printf("usage: %s %s[OPTION]...\n\n", program->name, program->verbs ? "VERB " : "");
	wrap(one ? one->help : program->about, 0);
	if (!one && program->verbs)
		print_verbs(program->verbs);
	printf("\nOptions:\n");
	for (const struct cli_option *option = program->options; option->name; option++)
		if (!one || !option->verbs || option->verbs & 1u << verb)
			print_option(option);
	print_row(
		"--config FILE", "A JSON object with any of these options by their long names; the command line wins.");
	print_row("-h, --help", "This.");
	print_row("--version", "The version of the library.");
}
