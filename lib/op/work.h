/* How much there is to compute in a node, for those who measure how fast it is. */
#ifndef DLSI_OP_WORK_H
#define DLSI_OP_WORK_H

#include "graph/graph.h"

/* Multiplications and additions of the node in a run of `batch` items, as its definition has them (whatever a kernel
 * saves of them): of convolutions and products of matrices. 0 for all others. */
double dlsi_node_work(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch);

#endif
