/* How long a node takes, roughly: for whoever decides how many threads it is worth (device/team.h), and how a batch is
 * cut (device/piece.h). Pure. */
#ifndef DLSI_COST_H
#define DLSI_COST_H

#include "graph/graph.h"
#include "kernel/isa.h"

/* The nanoseconds of a run of `batch` items by one thread that has good kernels. */
double dlsi_cost_ns(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa);

/* What one more item of a batch adds to the time of the whole graph: weights are read once. */
double dlsi_cost_item_ns(const struct dlsi_graph *graph, enum dlsi_isa isa);

/* The bytes that it adds to what the node reads and writes. */
double dlsi_cost_item_bytes(const struct dlsi_graph *graph, const struct dlsi_node *node);

#endif
