/* Shapes, and whether a batch is sound. */
#ifndef DLSI_INFER_H
#define DLSI_INFER_H

#include "graph/graph.h"

/* Gives every value that is computed its type and shape for one item. The nodes are in order.
 * Errors: DLS_EFORMAT (shapes that do not fit), DLS_EUNSUPPORTED, DLS_ELIMIT. */
int dlsi_graph_infer(struct dlsi_graph *graph, struct dls_error *err);

/* Decides whether a run of n items at once gives what n runs of one give: every input's first dimension is open or 1,
 * every operator keeps rows apart, every output has a row per item. Then the values with rows are marked `batched`,
 * else graph->unbatchable says what stands against it. Shapes are inferred. Errors: DLS_ENOMEM. */
int dlsi_graph_find_batch(struct dlsi_graph *graph, struct dls_error *err);

#endif
