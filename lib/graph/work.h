/* How much there is to compute in a node: for constant folding, which must come to an end, and for those who measure
 * how fast a node is. */
#ifndef DLSI_WORK_H
#define DLSI_WORK_H

#include "graph/op.h"

/* The value's elements in one item, as if its dimensions of 0 were 1: who walks over rows of nothing takes time too. */
double dlsi_value_extent(const struct dlsi_value *value);

/* How many steps the operator's own eval takes for one item, of a nanosecond or two each: one for each element that it
 * reads or writes, some for each row of them, and those that its row tells of. The node is inferred. */
double dlsi_node_steps(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* Multiplications and additions of the node in a run of `batch` items, as its definition has them (whatever a kernel
 * saves of them): of convolutions and products of matrices. 0 for all others. */
double dlsi_node_work(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch);

/* For rows: what functions like exp take, or looking for a place, for each element of the first output; and the same
 * for each of the first input. */
double dlsi_op_steps_slow(const struct dlsi_graph *graph, const struct dlsi_node *node);
double dlsi_op_steps_slow_input(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* For rows: of sorting the first input. */
double dlsi_op_steps_sort(const struct dlsi_graph *graph, const struct dlsi_node *node);

#endif
