/* The files that a verb about a model was given, as the tensors of the model's inputs. */
#ifndef DLSI_CLI_TENSORS_H
#define DLSI_CLI_TENSORS_H

#include <dlsched/model.h>

struct cli_tensors {
	struct dls_ctx *ctx;
	struct dls_tensor *inputs;  /* as dls_model_run takes them */
	struct dls_tensor **blocks; /* the library's, which they are copies of */
	uint32_t count;
};

/* `arguments` are as for cli_inputs_init: a file for each input of the model, and again for each further item. To be
 * given to fini in every case. Errors: as cli_inputs_init and dls_model_read; DLS_EINVAL (files for a part of an item).
 */
int cli_tensors_read(struct dls_ctx *ctx, struct dls_model *model, const char *const *arguments, size_t count,
	struct cli_tensors *tensors_out, struct dls_error *err);
void cli_tensors_fini(struct cli_tensors *tensors);

#endif
