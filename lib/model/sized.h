/* The models that a file becomes by the sizes that it leaves open: each is inferred, rewritten and put on the device by
 * itself, and the DLSI_SIZES_PER_MODEL used last are kept. One thread at a time. */
#ifndef DLSI_MODEL_SIZED_H
#define DLSI_MODEL_SIZED_H

#include "base/limits.h"
#include "device/model.h"

struct dlsi_sized {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	struct {
		struct dlsi_model *model; /* NULL: the place is free */
		struct dlsi_onnx_shape *shapes;
		size_t count;
		uint64_t used;
	} at[DLSI_SIZES_PER_MODEL];
	uint64_t finds;
};

/* Whether tensors of these shapes need a model of their own, beside this one of the same file: it is unsized, or they
 * are no items for it and the file leaves their first dimension open. */
bool dlsi_sized_wanted(const struct dlsi_model *model, const struct dls_tensor *inputs);

/* Zeroed memory is one without models. */
void dlsi_sized_fini(struct dlsi_sized *sized);

/* The model for tensors of these shapes, and for how many items at once it is to be run on them: their common first
 * dimension, if the model keeps rows apart, else one item, of which the first dimension is a size as any other. Loads
 * it if it is not there. Valid until the next call. Errors: as dlsi_model_load. */
int dlsi_sized_find(struct dlsi_sized *sized, const char *name, const struct dlsi_onnx *onnx,
	const struct dls_tensor *inputs, size_t count, struct dlsi_model **model_out, int64_t *batch_out,
	struct dls_error *err);

#endif
