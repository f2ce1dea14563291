/* How often items are tried again, as --retry says it: FAILURE=TIMES[,WAIT[,MOST]], the waits in seconds. */
#ifndef DLSI_CLI_RETRIES_H
#define DLSI_CLI_RETRIES_H

#include "cli/options.h"
#include <dlsched/job.h>

enum { CLI_FAILURES = 3 };

struct cli_retries {
	struct dls_retry at[CLI_FAILURES + 1]; /* ends with a row without a failure */
};

/* Errors: DLS_EINVAL, also for a failure that is named twice. */
int cli_retries_read(const struct cli_texts *texts, struct cli_retries *retries_out, struct dls_error *err);

#endif
