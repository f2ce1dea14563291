/* The sizes that a model's file leaves open, found elsewhere: in model.json, which says how large pictures become, or
 * in the tensors that it is to run on. */
#ifndef DLSI_MODEL_SHAPES_H
#define DLSI_MODEL_SHAPES_H

#include "device/model.h"
#include "media/description.h"
#include "reader/onnx.h"

/* The shapes of one item's inputs by model.json. Returns whether all are known. */
bool dlsi_model_shapes_described(const struct dlsi_description *description, const struct dlsi_model_port *inputs,
	size_t count, struct dlsi_onnx_shape *shapes_out);

/* The shape of an input with an item that comes as a tensor of this type and shape: as it is, or without the batch's
 * dimension, or with leading dimensions of 1 that do not count; of a picture what model.json leaves open. A first
 * dimension that the file leaves open is as long as the tensor has it, for models that mix rows. The port may be that
 * of any model of the file. Errors: DLS_EINVAL (no shape of this input; both are named). */
int dlsi_model_shape_of_item(const struct dlsi_model_port *port, const struct dlsi_input_description *how,
	enum dls_dtype dtype, uint32_t rank, const int64_t *dims, struct dlsi_onnx_shape *shape_out,
	struct dls_error *err);

/* The same for an item that comes as a photo. Errors: DLS_EINVAL (model.json does not say how large it becomes). */
int dlsi_model_shape_of_photo(const struct dlsi_model_port *port, const struct dlsi_input_description *how,
	struct dlsi_onnx_shape *shape_out, struct dls_error *err);

#endif
