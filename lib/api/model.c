#include "model/local.h"

#include "api/options.h"
#include "base/export.h"
#include "model/files.h"
#include <inttypes.h>

enum { PROFILE_RUNS = 1000 };

DLS_EXPORT int dls_model_open(
	struct dls_ctx *ctx, const char *path, struct dls_model **model_out, struct dls_error *err)
{
	int rc = dlsi_ctx_check(ctx, err);

	if (rc)
		return rc;
	if (!path || !*path)
		return dlsi_fail(err, DLS_EINVAL, "no model is named");
	if (!model_out)
		return dlsi_fail(err, DLS_EINVAL, "model_out is NULL");
	return dlsi_node_model_open(ctx, path, model_out, err);
}

DLS_EXPORT void dls_model_destroy(struct dls_model *model)
{
	dlsi_node_model_destroy(model);
}

DLS_EXPORT const char *dls_model_label(const struct dls_model *model, uint32_t index)
{
	return model && index < model->folder.labels.count ? model->folder.labels.names[index] : NULL;
}

DLS_EXPORT uint32_t dls_model_inputs(const struct dls_model *model)
{
	return model ? (uint32_t)model->folder.plan.input_count : 0;
}

DLS_EXPORT uint32_t dls_model_outputs(const struct dls_model *model)
{
	return model ? (uint32_t)model->folder.plan.output_count : 0;
}

DLS_EXPORT const char *dls_model_input_name(const struct dls_model *model, uint32_t input)
{
	return input < dls_model_inputs(model) ? model->folder.plan.inputs[input].name : NULL;
}

DLS_EXPORT const char *dls_model_output_name(const struct dls_model *model, uint32_t output)
{
	return output < dls_model_outputs(model) ? model->folder.plan.outputs[output].name : NULL;
}

DLS_EXPORT int dls_model_describe(struct dls_model *model, char **json_out, struct dls_error *err)
{
	int rc = dlsi_node_model_check(model, err);
	char *json;

	if (rc)
		return rc;
	if (!json_out)
		return dlsi_fail(err, DLS_EINVAL, "json_out is NULL");
	json = dlsi_model_folder_describe(&model->folder, &model->ctx->alloc);
	if (!json)
		return dlsi_fail_memory(err);
	*json_out = json;
	return 0;
}

DLS_EXPORT int dls_model_run(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	struct dls_tensor **outputs_out, uint32_t *count_out, struct dls_error *err)
{
	int rc = dlsi_node_model_check(model, err);

	if (rc)
		return rc;
	if (!inputs || !outputs_out || !count_out)
		return dlsi_fail(err, DLS_EINVAL, "inputs, outputs_out or count_out is NULL");
	return dlsi_node_model_run(model, inputs, count, outputs_out, count_out, err);
}

DLS_EXPORT int dls_model_prepare(
	struct dls_model *model, int64_t batch, struct dls_model_memory *memory_out, struct dls_error *err)
{
	struct dls_model_memory memory;
	int rc = dlsi_node_model_check(model, err);

	if (rc == 0)
		rc = dlsi_node_model_prepare(model, batch, &memory, err);
	if (rc || !memory_out)
		return rc;
	return dlsi_options_write("dls_model_memory", &memory, sizeof memory, memory_out, err);
}

DLS_EXPORT int dls_model_profile(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	int64_t batch, uint32_t runs, char **json_out, struct dls_error *err)
{
	int rc = dlsi_node_model_check(model, err);

	if (rc)
		return rc;
	if (!json_out)
		return dlsi_fail(err, DLS_EINVAL, "json_out is NULL");
	if (runs < 1 || runs > PROFILE_RUNS)
		return dlsi_fail(err, DLS_EINVAL, "a profile is of 1 to %d runs, not %" PRIu32, PROFILE_RUNS, runs);
	return dlsi_node_model_profile(model, inputs, count, batch, runs, json_out, err);
}

DLS_EXPORT int dls_tensor_read(
	struct dls_ctx *ctx, const char *path, struct dls_tensor **tensor_out, struct dls_error *err)
{
	int rc = dlsi_ctx_check(ctx, err);

	if (rc)
		return rc;
	if (!path || !tensor_out)
		return dlsi_fail(err, DLS_EINVAL, "path or tensor_out is NULL");
	return dlsi_tensor_read_file(&ctx->alloc, path, tensor_out, err);
}

DLS_EXPORT int dls_model_read(struct dls_model *model, uint32_t input, const char *const *paths, uint32_t count,
	struct dls_tensor **tensor_out, struct dls_error *err)
{
	int rc = dlsi_node_model_check(model, err);

	if (rc)
		return rc;
	if (!paths || !tensor_out)
		return dlsi_fail(err, DLS_EINVAL, "paths or tensor_out is NULL");
	return dlsi_model_folder_read(&model->folder, &model->ctx->alloc, input, paths, count, tensor_out, err);
}
