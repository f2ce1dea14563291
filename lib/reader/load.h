/* From the bytes of an ONNX file to a checked graph with all shapes, in one call. */
#ifndef DLSI_LOAD_H
#define DLSI_LOAD_H

#include "graph/graph.h"
#include "reader/onnx.h"

/* The bytes of the files stay borrowed by the graph, `onnx` itself does not. Nothing is rewritten yet
 * (rewrite/rewrite.h). A graph is unsized, and only to be looked at, where dimensions of inputs other than the first
 * are open and no shapes are given. Errors: DLS_EINVAL (shapes that do not fit the model), DLS_EFORMAT,
 * DLS_EUNSUPPORTED, DLS_ELIMIT, DLS_ENOMEM, those of onnx->find. */
int dlsi_graph_load(const struct dlsi_alloc *alloc, const struct dlsi_onnx *onnx, struct dlsi_graph **graph_out,
	struct dls_error *err);

#endif
