#include "cli/log.h"

#include "cli/json.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct log {
	const char *program;
	int json;
	int terminal; /* a line of progress may stand there, which a log line writes over */
};

const char *const cli_log_levels[] = {"error", "warning", "info", "debug", NULL};

static void spell(FILE *to, const struct log *log, enum dls_log_level level, int64_t time_ns, const char *line)
{
	const char *word = cli_log_levels[level - 1];
	time_t seconds = time_ns / 1000000000;
	int milliseconds = (int)(time_ns / 1000000 % 1000);
	struct tm utc;
	char date[32];

	gmtime_r(&seconds, &utc);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
	if (log->json) {
		fprintf(to, "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"program\":\"%s\",\"text\":", date, milliseconds,
			word, log->program);
		cli_json_text(to, line);
		fprintf(to, "}\n");
	} else {
		fprintf(to, "%s%s.%03dZ %s %s: %s\n", log->terminal ? "\r\033[K" : "", date, milliseconds, log->program,
			word, line);
	}
}

/* Waits as long as it takes, also where somebody has made standard error one that does not wait. A failure ends it:
 * there is nobody to tell. */
static void write_all(const char *text, size_t length)
{
	struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};

	while (length > 0) {
		ssize_t written = write(STDERR_FILENO, text, length);

		if (written >= 0) {
			text += written;
			length -= (size_t)written;
		} else if (errno == EAGAIN) {
			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return;
		}
	}
}

/* In one piece, and past stdio: were this to wait with stderr locked, the program's end would wait for it. */
static void write_line(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	if (!to)
		return;
	spell(to, log_arg, level, time_ns, line);
	if (fclose(to) == 0)
		write_all(text, length);
	free(text);
}

int cli_ctx_create(
	const char *program, int json, int level, int64_t threads, struct dls_ctx **ctx_out, struct dls_error *err)
{
	static struct log log; /* a thread that is left in write_line may still look at it */
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;

	log = (struct log){program, json, isatty(STDERR_FILENO)};
	options.log = write_line;
	options.log_arg = &log;
	options.log_level = (enum dls_log_level)(level + 1); /* the words stand in the order of the levels, from 1 */
	options.threads = (uint32_t)threads;
	return dls_ctx_create(&options, ctx_out, err);
}
