/* What dls-master and dls-worker share: they read their options, check them or serve until a signal comes, and report.
 */
#ifndef DLSI_CLI_DAEMON_H
#define DLSI_CLI_DAEMON_H

#include "cli/log.h"
#include "cli/options.h"

/* The first member of a daemon's values. */
struct cli_daemon_values {
	int check;
	int log_level;
	int json;
};

/* The rows of a daemon's table for them; `type` is the struct of its values. */
#define CLI_DAEMON_OPTIONS(type)                                                                                       \
	{"log-level", CLI_WORD, .offset = offsetof(type, daemon.log_level), "LEVEL", "What goes to standard error",    \
		.otherwise = "warning", .words = cli_log_levels},                                                      \
		{"json", CLI_FLAG, .offset = offsetof(type, daemon.json), NULL,                                        \
			"Write log and messages as JSON, one object per line."},                                       \
	{                                                                                                              \
		"check", CLI_FLAG, .offset = offsetof(type, daemon.check), NULL,                                       \
				   "Start nothing: say what would run, or what is wrong with the options."             \
	}

struct cli_daemon {
	struct cli_program program;

	/* How it says that it is up: the event and the name of the address in JSON, and the words before the address.
	 */
	const char *event;
	const char *address;
	const char *words;

	const struct cli_rule *rules; /* of the options */

	/* Before there is any thread; may start the program over. NULL: nothing is to be done. */
	int (*prepare)(const void *values, char **argv, struct dls_error *err);

	/* What would be refused. */
	int (*check)(const void *values, struct dls_ctx *ctx, struct dls_error *err);

	/* Until `signals` can be read, or a failure. */
	int (*serve)(const struct cli_daemon *daemon, const void *values, struct dls_ctx *ctx, int signals,
		struct dls_error *err);
};

/* `values` is the zeroed struct of the daemon's values. Returns the exit code. */
int cli_daemon_main(const struct cli_daemon *daemon, void *values, int argc, char **argv);

/* Says something on standard error that is no failure. */
void cli_daemon_note(const struct cli_daemon *daemon, const struct cli_daemon_values *values, const char *sentence);

/* Says on standard output that it is up, in a line that other programs wait for. */
void cli_daemon_announce(const struct cli_daemon *daemon, const struct cli_daemon_values *values, const char *address);

#endif
