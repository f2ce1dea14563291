/* Files as tensors, for programs that run a model by themselves. */
#ifndef DLSI_MODEL_FILES_H
#define DLSI_MODEL_FILES_H

#include "model/folder.h"

/* As dls_tensor_read and dls_model_read; *tensor_out is one block, freed by the caller with `alloc`. */
int dlsi_tensor_read_file(
	const struct dlsi_alloc *alloc, const char *path, struct dls_tensor **tensor_out, struct dls_error *err);
int dlsi_model_folder_read(const struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, uint32_t input,
	const char *const *paths, uint32_t count, struct dls_tensor **tensor_out, struct dls_error *err);

#endif
