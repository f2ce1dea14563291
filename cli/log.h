/* The library's log lines on standard error, for people or, as one JSON object per line, for machines. */
#ifndef DLSI_CLI_LOG_H
#define DLSI_CLI_LOG_H

#include <dlsched/ctx.h>

/* The words of a CLI_WORD option. */
extern const char *const cli_log_levels[];

/* The context of the process, which logs this way from the level of that index on, and runs models on so many threads
 * (0: as usual). Errors: as dls_ctx_create. */
int cli_ctx_create(
	const char *program, int json, int level, int64_t threads, struct dls_ctx **ctx_out, struct dls_error *err);

#endif
