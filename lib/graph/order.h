/* The order of execution. */
#ifndef DLSI_ORDER_H
#define DLSI_ORDER_H

#include "graph/graph.h"

/* Orders the nodes so that each comes after those whose outputs it takes, keeping the file's order where it already is
 * so, and drops those that no output depends on. Errors: DLS_EFORMAT (names a node of a cycle), DLS_ENOMEM. */
int dlsi_graph_order(struct dlsi_graph *graph, struct dls_error *err);

#endif
