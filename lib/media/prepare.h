/* Items to tensors: what comes in for one model input, as a photo, an .npy or .pb file or a tensor, is made into the
 * values that the model computes with, as model.json describes it.
 *
 * A plan is made once per model input and does the checks that need no item. It is not changed afterwards: threads may
 * share it. */
#ifndef DLSI_PREPARE_H
#define DLSI_PREPARE_H

#include "media/description.h"
#include <dlsched/tensor.h>

struct dlsi_prepare {
	const char *name; /* of the input, in errors */
	const struct dlsi_input_description *how;
	enum dls_dtype dtype;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];    /* of one item */
	size_t bytes;                     /* of one item */
	uint32_t height, width, channels; /* of the picture, if it is one */
	float values[3][256];             /* by channel and sample */
};

/* For an input of this type and shape, that of one item: all dimensions known; a leading 1 stands for the batch. `name`
 * and `how` are borrowed and must outlive the plan.
 *
 * Errors: DLS_EINVAL: the input cannot become what model.json says (both shapes are named). */
int dlsi_prepare_init(struct dlsi_prepare *plan, const char *name, const struct dlsi_input_description *how,
	enum dls_dtype dtype, uint32_t rank, const int64_t *dims, struct dls_error *err);

/* Writes the item's plan->bytes to `out` (its slice of the batch, aligned to its elements), from a whole file: a JPEG
 * or PNG photo, .npy, or a TensorProto of ONNX, told by its first bytes. Memory for the time of the call comes from
 * `alloc`. What `out` holds after a failure is undefined.
 *
 * Errors: those of dlsi_photo_decode, dlsi_npy_parse and dlsi_tensor_file_read; DLS_EINVAL (the item cannot become this
 * input; both shapes are named), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_prepare_file(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc, const void *data, size_t length,
	void *out, struct dls_error *err);

/* The same from a tensor, of which leading dimensions of 1 do not count. For an image input, uint8 values are pixels,
 * [height, width] or [height, width, 1 or 3], and are treated as if decoded from a photo. All other values must be of
 * the input's own type and shape and are taken as they are. */
int dlsi_prepare_tensor(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc,
	const struct dls_tensor *tensor, void *out, struct dls_error *err);

#endif
