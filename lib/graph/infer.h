/* Shapes, what can be computed already, and whether a batch is sound: one walk over the nodes. */
#ifndef DLSI_INFER_H
#define DLSI_INFER_H

#include "graph/graph.h"

/* Gives every value that is computed its type and shape for one item. The nodes are in order.
 *
 * A node whose inputs are all constant is evaluated at once and dropped, so a shape that the model computes of sizes
 * (Shape, Gather, Concat) is a constant where a Reshape takes it. What would need more than DLSI_FOLD_BYTES or
 * DLSI_FOLD_STEPS in all is left to the run.
 *
 * A run of n items at once is sound if every input's first dimension is open or 1, every operator keeps rows apart, and
 * every output has a row per item. A file that leaves a first dimension open says itself what becomes of several rows,
 * and what its operators make of those in ONNX counts; of a leading 1 it says nothing, and a 1 that a shape begins with
 * is the batch too. Then the values with rows are marked `batched`, else graph->unbatchable says what stands against
 * it.
 *
 * Errors: DLS_EFORMAT (shapes that do not fit), DLS_EUNSUPPORTED, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_graph_infer(struct dlsi_graph *graph, struct dls_error *err);

#endif
