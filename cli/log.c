#include "cli/log.h"

#include "cli/json.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

const char *const cli_log_levels[] = {"error", "warning", "info", "debug", NULL};

static void write_line(void *log_arg, enum dls_log_level level, const char *line)
{
	const struct cli_log *log = log_arg;
	struct timespec now;
	struct tm utc;
	char date[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
	flockfile(stderr);
	if (log->json) {
		fprintf(stderr, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"program\":\"%s\",\"text\":", date,
			now.tv_nsec / 1000000, cli_log_levels[level - 1], log->program);
		cli_json_text(stderr, line);
		fprintf(stderr, "}\n");
	} else {
		fprintf(stderr, "%s%s.%03ldZ %s %s: %s\n", log->terminal ? "\r\033[K" : "", date, now.tv_nsec / 1000000,
			log->program, cli_log_levels[level - 1], line);
	}
	funlockfile(stderr);
}

int cli_ctx_create(struct cli_log *log, int level, struct dls_ctx **ctx_out, struct dls_error *err)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;

	log->terminal = isatty(STDERR_FILENO);
	options.log = write_line;
	options.log_arg = log;
	options.log_level = (enum dls_log_level)(level + 1); /* the words stand in the order of the levels, from 1 */
	return dls_ctx_create(&options, ctx_out, err);
}
