/* A model folder: model.onnx, model.json (how inputs are prepared and outputs read) and labels.txt (line n names class
 * n - 1), opened here to be looked at, to name classes, or to be run without any cluster. */
#ifndef DLSCHED_MODEL_H
#define DLSCHED_MODEL_H

#include <dlsched/ctx.h>
#include <dlsched/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_model;

/* Reads and checks the whole folder: the graph with its operators, model.json against the graph, and the number of
 * labels against the classes. A folder without model.json takes tensors and gives tensors; labels.txt may be absent.
 * Errors: DLS_ENOTFOUND, DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_EINVAL, DLS_ELIMIT, DLS_ENOMEM; the sentence names file,
 * node or key. */
int dls_model_open(struct dls_ctx *ctx, const char *folder, struct dls_model **model_out, struct dls_error *err);
void dls_model_destroy(struct dls_model *model);

/* The name of a class, NULL if there is none. */
const char *dls_model_label(const struct dls_model *model, uint32_t index);

/* What the model takes and gives, as a JSON object: inputs and outputs with name, dtype and dims, operators,
 * parameters, max_batch, whether it can be batched and if not, why. An output that is "bounded" has at most these dims.
 * The caller frees *json_out with dls_free. */
int dls_model_describe(struct dls_model *model, char **json_out, struct dls_error *err);

/* Runs one batch on this machine: a tensor per model input, all with the same first dimension. The graph alone is run:
 * inputs are not prepared, outputs are as they come, whatever model.json says. *outputs_out is an array of *count_out
 * tensors in one block, freed by the caller with dls_free. Waits for the context's executor thread; a first run of a
 * batch size takes longer. An output whose size depends on its elements has the dims of this run.
 * Errors: DLS_EINVAL (shapes that do not fit, named), DLS_ENOMEM. */
int dls_model_run(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	struct dls_tensor **outputs_out, uint32_t *count_out, struct dls_error *err);

#ifdef __cplusplus
}
#endif
#endif
