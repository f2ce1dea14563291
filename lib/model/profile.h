/* How long each node of a model takes on its device: runs on made-up inputs, measured step by step. */
#ifndef DLSI_MODEL_PROFILE_H
#define DLSI_MODEL_PROFILE_H

#include "device/model.h"
#include <dlsched/model.h>

/* Bytes of what the plan that was prepared or run last takes. */
struct dls_model_memory dlsi_profile_memory(const struct dlsi_model *model);

/* As dls_model_profile, on `batch` items in every case; *json_out is freed by the caller with `alloc`. By the thread
 * that runs the model. */
int dlsi_profile_measure(const struct dlsi_alloc *alloc, struct dlsi_model *model, const struct dls_tensor *inputs,
	int64_t batch, uint32_t runs, char **json_out, struct dls_error *err);

#endif
