#include "cli/daemon.h"

#include "cli/descriptors.h"
#include "cli/failure.h"
#include "cli/json.h"
#include "cli/signals.h"
#include <stdio.h>
#include <unistd.h>

enum { NAME_COLUMNS = 18 };

void cli_daemon_announce(const struct cli_daemon *daemon, const struct cli_daemon_values *values, const char *address)
{
	if (values->json) {
		printf("{\"event\":\"%s\",\"%s\":", daemon->event, daemon->address);
		cli_json_text(stdout, address);
		printf(",\"process\":%ld}\n", (long)getpid());
	} else {
		printf("%s %s %s\n", daemon->program.name, daemon->words, address);
	}
	fflush(stdout);
}

void cli_daemon_note(const struct cli_daemon *daemon, const struct cli_daemon_values *values, const char *sentence)
{
	if (values->json) {
		fprintf(stderr, "{\"event\":\"note\",\"program\":\"%s\",\"text\":", daemon->program.name);
		cli_json_text(stderr, sentence);
		fprintf(stderr, "}\n");
	} else {
		fprintf(stderr, "%s: %s\n", daemon->program.name, sentence);
	}
}

/* Not --check itself: as a configuration file the rest shall start the program. */
static bool is_shown(const struct cli_option *option, const struct cli_daemon_values *values)
{
	return option->offset != offsetof(struct cli_daemon_values, check) && cli_option_has_value(option, values);
}

static void show_options(const struct cli_daemon *daemon, const struct cli_daemon_values *values)
{
	for (const struct cli_option *option = daemon->program.options; option->name; option++) {
		if (!is_shown(option, values))
			continue;
		printf("  %-*s ", NAME_COLUMNS, option->name);
		cli_option_write(stdout, option, false, values);
		putchar('\n');
	}
}

static void write_options(const struct cli_daemon *daemon, const struct cli_daemon_values *values)
{
	const char *between = "";

	printf("{\"event\":\"checked\",\"options\":{");
	for (const struct cli_option *option = daemon->program.options; option->name; option++) {
		if (!is_shown(option, values))
			continue;
		printf("%s\"%s\":", between, option->name);
		cli_option_write(stdout, option, true, values);
		between = ",";
	}
	printf("}}\n");
}

static int check(const struct cli_daemon *daemon, const struct cli_daemon_values *values, struct dls_ctx *ctx,
	struct dls_error *err)
{
	int rc = daemon->check(values, ctx, err);

	if (rc)
		return rc;
	if (values->json) {
		write_options(daemon, values);
	} else {
		printf("%s can start with these options:\n", daemon->program.name);
		show_options(daemon, values);
	}
	return cli_check_output(err);
}

static int run(
	const struct cli_daemon *daemon, const struct cli_daemon_values *values, char **argv, struct dls_error *err)
{
	struct dls_ctx *ctx;
	int signals, rc = 0;

	cli_descriptors_raise();
	if (daemon->prepare && !values->check)
		rc = daemon->prepare(values, argv, err);
	if (rc == 0)
		rc = cli_signals_init(&signals, err);
	if (rc == 0)
		rc = cli_ctx_create(daemon->program.name, values->json, values->log_level, 0, &ctx, err);
	if (rc)
		return rc;
	rc = values->check ? check(daemon, values, ctx, err) : daemon->serve(daemon, values, ctx, signals, err);
	dls_ctx_destroy(ctx);
	return rc;
}

int cli_daemon_main(const struct cli_daemon *daemon, void *values, int argc, char **argv)
{
	struct cli_options found;
	struct dls_error err = {0};
	int rc, exit_code = 0;

	cli_descriptors_hold();
	rc = cli_options_parse(&daemon->program, argc, argv, values, &found, &err);
	if (rc == 0 && daemon->rules)
		rc = cli_rules_check(daemon->rules, daemon->program.options, found.given, values, &err);
	if (rc < 0) {
		cli_report(daemon->program.name, &err);
		exit_code = CLI_EXIT_USAGE;
	} else if (rc > 0 ? cli_check_output(&err) : run(daemon, values, argv, &err)) {
		exit_code = cli_report(daemon->program.name, &err);
	}
	cli_options_fini(&found);
	return exit_code;
}
