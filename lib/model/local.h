/* A model that the program has opened: looked at, and run here on the context's executor. */
#ifndef DLSI_MODEL_LOCAL_H
#define DLSI_MODEL_LOCAL_H

#include "model/folder.h"
#include "model/sized.h"
#include "node/ctx.h"
#include <dlsched/model.h>

struct dls_model {
	struct dls_ctx *ctx;
	struct dlsi_model_folder folder;
	struct dlsi_model *model;
	struct dlsi_sized sized; /* of a model whose file leaves sizes open */
};

/* Errors: as dls_model_open. */
int dlsi_node_model_open(struct dls_ctx *ctx, const char *path, struct dls_model **model_out, struct dls_error *err);
void dlsi_node_model_destroy(struct dls_model *model);

/* Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_node_model_check(const struct dls_model *model, struct dls_error *err);

/* As dls_model_run. */
int dlsi_node_model_run(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	struct dls_tensor **outputs_out, uint32_t *count_out, struct dls_error *err);

/* As dls_model_prepare and dls_model_profile. */
int dlsi_node_model_prepare(
	struct dls_model *model, int64_t batch, struct dls_model_memory *memory_out, struct dls_error *err);
int dlsi_node_model_profile(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count, int64_t batch,
	uint32_t runs, char **json_out, struct dls_error *err);

#endif
