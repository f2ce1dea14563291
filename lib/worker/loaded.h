/* The models that a worker's devices have loaded: each once, with its files and its weights, however many of them run
 * it. Thread-safe. */
#ifndef DLSI_LOADED_H
#define DLSI_LOADED_H

#include "base/hash.h"
#include "base/limits.h"
#include "base/list.h"
#include "device/device.h"
#include "device/model.h"
#include "net/frame.h"

struct dlsi_loaded;

struct dlsi_model_file {
	char name[DLSI_BUNDLE_NAME_BYTES + 1];
	struct dlsi_frame *bytes;
};

/* The files of a model, as their hashes say: model.onnx, model.json if there is one, and those in which the first keeps
 * data. Loading it takes references. */
struct dlsi_model_files {
	struct dlsi_hash id;
	const struct dlsi_model_file *at;
	size_t count;
};

struct dlsi_loaded_model {
	struct dlsi_model *model; /* for dlsi_model_share: nobody runs it */
	uint64_t bytes;           /* of its files */

	/* not for others */
	struct dlsi_list node;
	struct dlsi_hash id;
	struct dlsi_onnx_shape *shapes;
	unsigned takers;
	struct dlsi_frame **files;
	size_t file_count;
};

/* The bytes of the file of this name, NULL if there is none. */
struct dlsi_frame *dlsi_model_file_find(const struct dlsi_model_files *files, const char *name);

/* Opens the device. Errors: as dlsi_device_create. */
int dlsi_loaded_create(const struct dlsi_alloc *alloc, const struct dlsi_device_ops *device, const char *folder,
	struct dlsi_loaded **loaded_out, struct dls_error *err);

/* All that was taken has been given back. NULL is allowed. */
void dlsi_loaded_destroy(struct dlsi_loaded *loaded);

/* The model of these files for inputs of these shapes, DLSI_ROW_FIELDS of them or NULL (as in struct dlsi_onnx): read
 * now, while others wait, unless somebody has taken one of that id and these shapes and not given it back. Errors: as
 * dlsi_model_load. */
int dlsi_loaded_take(struct dlsi_loaded *loaded, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dlsi_loaded_model **model_out, struct dls_error *err);

/* When what shares it has been destroyed. NULL is allowed. */
void dlsi_loaded_give(struct dlsi_loaded *loaded, struct dlsi_loaded_model *model);

#endif
