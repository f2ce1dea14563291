/* How many items of a batch a model computes at once.
 *
 * A large batch is run in pieces: what a layer hands to the next one then stays in a cache, where a whole batch's goes
 * out to memory and comes back. But each piece reads the weights again. So a piece is as small as it can be while the
 * weights are no more than twice what it reads and writes at the layer that has most of that; and not so small that
 * starting the kernels is what costs. */
#ifndef DLSI_PIECE_H
#define DLSI_PIECE_H

#include "graph/graph.h"

/* A power of two; of a model that is not batchable 1. Outputs of any size do not lie one behind the other, so such a
 * model's batch stays whole. The graph's shapes are known. */
int64_t dlsi_piece_items(const struct dlsi_graph *graph);

#endif
