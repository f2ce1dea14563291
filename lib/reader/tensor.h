/* Constants of a file: from ONNX's many ways to write a tensor to one, dense and little-endian, with floats of 16 bits
 * widened. */
#ifndef DLSI_TENSOR_H
#define DLSI_TENSOR_H

#include "graph/graph.h"
#include "onnx/onnx.pb-c.h"
#include "reader/onnx.h"

/* Makes graph->values[value] the constant that `proto` describes; `what` names it in errors. Raw data and what is in
 * another file stay where they are (proto->raw_data holds its place in the file, see reader/scan.h), other forms and
 * floats of 16 bits are copied. Errors: DLS_EFORMAT, DLS_EUNSUPPORTED (an element type), DLS_ENOMEM, those of
 * dlsi_external_find. */
int dlsi_tensor_read(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx,
	const char *what, uint32_t value, struct dls_error *err);

#endif
