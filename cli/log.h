/* The library's log lines on standard error, for people or, as one JSON object per line, for machines. */
#ifndef DLSI_CLI_LOG_H
#define DLSI_CLI_LOG_H

#include <dlsched/ctx.h>

/* The words of a CLI_WORD option. */
extern const char *const cli_log_levels[];

struct cli_log {
	const char *program;
	int json;
	int terminal; /* a line of progress may stand there, which a log line writes over */
};

/* A context that logs this way from the level of that index on. `log` must outlive it. Errors: as dls_ctx_create. */
int cli_ctx_create(struct cli_log *log, int level, struct dls_ctx **ctx_out, struct dls_error *err);

#endif
