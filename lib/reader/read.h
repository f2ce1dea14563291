/* From protobuf's structures to a graph: names become numbers, and everything is checked that does not need shapes. */
#ifndef DLSI_READ_H
#define DLSI_READ_H

#include "graph/graph.h"
#include "reader/onnx.h"

/* Fills the empty graph (its arena is initialised) from an ONNX file: values, nodes in the file's order, inputs,
 * outputs. Only constants and inputs have types and shapes, and in an unsized graph the outputs those that the file
 * declares (-1 for what it leaves open; none where it says nothing); no names are left open. Errors: DLS_EFORMAT,
 * DLS_EUNSUPPORTED, DLS_EINVAL (onnx->shapes do not fit the file), DLS_ELIMIT, DLS_ENOMEM, those of onnx->find. */
int dlsi_graph_read(struct dlsi_graph *graph, const struct dlsi_onnx *onnx, struct dls_error *err);

#endif
