#include "model/local.h"

#include "base/export.h"

DLS_EXPORT int dls_model_open(
	struct dls_ctx *ctx, const char *folder, struct dls_model **model_out, struct dls_error *err)
{
	int rc = dlsi_ctx_check(ctx, err);

	if (rc)
		return rc;
	if (!folder || !*folder)
		return dlsi_fail(err, DLS_EINVAL, "no model folder is named");
	if (!model_out)
		return dlsi_fail(err, DLS_EINVAL, "model_out is NULL");
	return dlsi_node_model_open(ctx, folder, model_out, err);
}

DLS_EXPORT void dls_model_destroy(struct dls_model *model)
{
	dlsi_node_model_destroy(model);
}

DLS_EXPORT const char *dls_model_label(const struct dls_model *model, uint32_t index)
{
	return model && index < model->folder.labels.count ? model->folder.labels.names[index] : NULL;
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
