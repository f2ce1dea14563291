/* Constant folding: nodes that can be computed before any run. */
#ifndef DLSI_FOLD_H
#define DLSI_FOLD_H

#include "graph/graph.h"

/* What may still be spent on a model. */
struct dlsi_fold_budget {
	size_t bytes; /* of outputs */
	double steps; /* as dlsi_node_steps counts them */
};

/* Evaluates the node if its operator can and all that it reads is constant, takes what that costs off the budget, makes
 * its outputs constants and drops it. *folded_out says whether. The node is inferred. One that costs more than there is
 * left to the run, and its outputs are marked `unfolded`; one of a few steps always can be paid.
 *
 * Elements that are sizes of the batch (value->sizes) stay marked where they are only moved; computing with one marks
 * all of the result. A node that makes rows of such a size is not folded. Errors: DLS_EFORMAT (of the operator),
 * DLS_ENOMEM. */
int dlsi_graph_fold(struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_fold_budget *budget, bool *folded_out,
	struct dls_error *err);

#endif
