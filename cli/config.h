/* Configuration files: a JSON object whose keys are the long names of a program's options. */
#ifndef DLSI_CLI_CONFIG_H
#define DLSI_CLI_CONFIG_H

#include "cli/options.h"

/* Reads `path` and sets every option that it names, but for those in `given` (bit i: option i), which the command line
 * has set. A text is a string, a number a number, a flag true or false. *config_out owns the texts.
 * Errors: DLS_ENOTFOUND, DLS_EINVAL (not JSON, an unknown key, a wrong value), DLS_ENOMEM. */
int cli_config_read(const char *path, const struct cli_option *table, uint64_t given, void *values,
	struct cJSON **config_out, struct dls_error *err);
void cli_config_free(struct cJSON *config);

#endif
