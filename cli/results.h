/* What `dls-submit run` makes of its results: a table for people, a JSON object per line for programs, or a .npy file.
 */
#ifndef DLSI_CLI_RESULTS_H
#define DLSI_CLI_RESULTS_H

#include "cli/inputs.h"
#include "cli/npy.h"
#include <dlsched/model.h>
#include <stdbool.h>

enum cli_results_form {
	CLI_RESULTS_TABLE,
	CLI_RESULTS_JSON,
	CLI_RESULTS_FILE,
	CLI_RESULTS_NONE,
};

struct cli_results_options {
	enum cli_results_form form;
	const char *output; /* of CLI_RESULTS_FILE */
	uint32_t top;       /* classes shown of an item */
	int json;           /* the summary is a JSON object */
	int quiet;          /* there is none */
};

struct cli_results {
	struct cli_results_options options;
	const struct cli_inputs *inputs;
	const struct dls_model *model; /* names the classes; NULL for a handler's results */
	uint32_t labels;               /* of the model */
	struct cli_npy npy;
	int name_columns;
	uint64_t done, failed;
};

/* `items` are those of the job. `inputs` and `model` must outlive it. Errors: as cli_npy_init. */
int cli_results_init(const struct cli_results_options *options, const struct cli_inputs *inputs,
	const struct dls_model *model, uint64_t items, struct cli_results *results_out, struct dls_error *err);

/* Whether adding this result prints something. */
bool cli_results_prints(const struct cli_results *results, const struct dls_result *result);

/* Results come in the order of the items. Errors: as cli_npy_add, and DLS_EIO if standard output takes no more. */
int cli_results_add(struct cli_results *results, const struct dls_result *result, struct dls_error *err);

/* The job has ended with all results: writes counts and speed. Errors: as cli_npy_finish. */
int cli_results_finish(struct cli_results *results, double seconds, struct dls_error *err);

void cli_results_fini(struct cli_results *results);

#endif
