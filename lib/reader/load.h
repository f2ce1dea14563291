/* From the bytes of an ONNX file to a checked graph with all shapes, in one call. */
#ifndef DLSI_LOAD_H
#define DLSI_LOAD_H

#include "graph/graph.h"

/* `file` stays borrowed by the graph. Nothing is rewritten yet (rewrite/rewrite.h).
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_graph_load(const struct dlsi_alloc *alloc, const void *file, size_t length, struct dlsi_graph **graph_out,
	struct dls_error *err);

#endif
