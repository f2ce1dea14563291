/* Attributes of nodes, and the values of Constant nodes, out of protobuf's structures. */
#ifndef DLSI_ATTRIBUTE_H
#define DLSI_ATTRIBUTE_H

#include "graph/graph.h"
#include "onnx/onnx.pb-c.h"
#include "reader/onnx.h"

/* Copies the attributes that have values into the node; a tensor becomes a constant of the graph. `onnx` is what its
 * data points into. Errors: DLS_EFORMAT (one without a type, two of one name), DLS_EUNSUPPORTED, DLS_ENOMEM. */
int dlsi_attributes_read(struct dlsi_graph *graph, const Onnx__NodeProto *proto, const struct dlsi_onnx *onnx,
	struct dlsi_node *node, struct dls_error *err);

/* Makes graph->values[value] what this Constant node says.
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED (a kind of constant), DLS_ENOMEM. */
int dlsi_constant_read(struct dlsi_graph *graph, const Onnx__NodeProto *proto, const struct dlsi_onnx *onnx,
	uint32_t value, struct dls_error *err);

#endif
