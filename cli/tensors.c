#include "cli/tensors.h"

#include "cli/failure.h"
#include "cli/inputs.h"
#include <inttypes.h>
#include <stdlib.h>

/* The files of one input: of each item one. */
static int read_input(struct cli_tensors *tensors, struct dls_model *model, const struct cli_inputs *files,
	uint32_t input, struct dls_error *err)
{
	uint32_t count = (uint32_t)(files->count / tensors->count);
	const char **paths = calloc(count, sizeof *paths);
	int rc;

	if (!paths)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count; i++)
		paths[i] = files->at[(size_t)i * tensors->count + input].path;
	rc = dls_model_read(model, input, paths, count, &tensors->blocks[input], err);
	free(paths);
	if (rc == 0)
		tensors->inputs[input] = *tensors->blocks[input];
	return rc;
}

static int read_files(
	struct cli_tensors *tensors, struct dls_model *model, const struct cli_inputs *files, struct dls_error *err)
{
	int rc = 0;

	if (files->count % tensors->count)
		return cli_fail(err, DLS_EINVAL,
			"the model has %" PRIu32 " inputs, and %zu files are not as many for each item", tensors->count,
			files->count);
	for (uint32_t i = 0; i < tensors->count && rc == 0; i++)
		rc = read_input(tensors, model, files, i, err);
	return rc;
}

int cli_tensors_read(struct dls_ctx *ctx, struct dls_model *model, const char *const *arguments, size_t count,
	struct cli_tensors *tensors_out, struct dls_error *err)
{
	uint32_t inputs = dls_model_inputs(model);
	struct cli_inputs files;
	int rc = cli_inputs_init(arguments, count, &files, err);

	*tensors_out = (struct cli_tensors){.ctx = ctx,
		.inputs = calloc(inputs, sizeof *tensors_out->inputs),
		.blocks = calloc(inputs, sizeof *tensors_out->blocks),
		.count = inputs};
	if (rc == 0 && (!tensors_out->inputs || !tensors_out->blocks))
		rc = cli_fail(err, DLS_ENOMEM, "out of memory");
	if (rc == 0)
		rc = read_files(tensors_out, model, &files, err);
	cli_inputs_fini(&files);
	return rc;
}

void cli_tensors_fini(struct cli_tensors *tensors)
{
	for (uint32_t i = 0; tensors->blocks && i < tensors->count; i++)
		dls_free(tensors->ctx, tensors->blocks[i]);
	free(tensors->blocks);
	free(tensors->inputs);
	*tensors = (struct cli_tensors){0};
}
