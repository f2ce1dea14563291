/* The files beside model.onnx in which a model keeps the data of constants (ONNX's external data), each read once.
 *
 * The model says their names, and a model may come from anywhere: a file must lie in the folder itself, under a name
 * that can be sent (base/file.h), and a link is not followed. One thread at a time. */
#ifndef DLSI_MODEL_DATA_H
#define DLSI_MODEL_DATA_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include <stdint.h>

/* The other files of a model folder, whose names data may not have. */
#define DLSI_MODEL_ONNX   "model.onnx"
#define DLSI_MODEL_JSON   "model.json"
#define DLSI_MODEL_LABELS "labels.txt"

struct dlsi_model_data_file {
	char name[DLSI_BUNDLE_NAME_BYTES + 1];
	uint8_t *bytes; /* read, not mapped: the file may be written over while the model is in use */
	size_t length;
};

struct dlsi_model_data {
	const struct dlsi_alloc *alloc;
	char *folder;
	struct dlsi_model_data_file *files;
	size_t count;
};

/* For the ONNX file at this path; no other is read yet. dlsi_model_data_fini follows also a failure. Errors:
 * DLS_ENOMEM. */
int dlsi_model_data_init(
	struct dlsi_model_data *data, const struct dlsi_alloc *alloc, const char *onnx_path, struct dls_error *err);
void dlsi_model_data_fini(struct dlsi_model_data *data);

/* As struct dlsi_onnx has it; `data` is a struct dlsi_model_data and keeps the bytes. Errors: DLS_EINVAL (a name that
 * may not be, a link, no regular file), DLS_ENOTFOUND, DLS_ELIMIT, DLS_EIO, DLS_ENOMEM. */
int dlsi_model_data_find(
	void *data, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err);

#endif
