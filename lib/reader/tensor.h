/* Constants of a file: from ONNX's many ways to write a tensor to one, dense and little-endian. */
#ifndef DLSI_TENSOR_H
#define DLSI_TENSOR_H

#include "graph/graph.h"
#include "onnx/onnx.pb-c.h"

/* Makes graph->values[value] the constant that `proto` describes; `what` names it in errors. Raw data stays in the file
 * (proto->raw_data holds its place there, see reader/scan.h), other forms are copied.
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED (an element type, data in another file), DLS_ENOMEM. */
int dlsi_tensor_read(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const uint8_t *file, const char *what,
	uint32_t value, struct dls_error *err);

#endif
