/* Constant folding: nodes that can be computed before any run. */
#ifndef DLSI_FOLD_H
#define DLSI_FOLD_H

#include "graph/graph.h"

/* Evaluates the node if its operator can and all that it reads is constant, takes the bytes of its outputs off *budget,
 * makes them constants and drops the node. *folded_out says whether. The node is inferred.
 *
 * Elements that are sizes of the batch (value->sizes) stay marked where they are only moved; computing with one marks
 * all of the result. A node that makes rows of such a size is not folded. Errors: DLS_EFORMAT (of the operator),
 * DLS_ENOMEM. */
int dlsi_graph_fold(
	struct dlsi_graph *graph, struct dlsi_node *node, size_t *budget, bool *folded_out, struct dls_error *err);

#endif
