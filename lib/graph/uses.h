/* Who computes and who takes each value, for rewriting. */
#ifndef DLSI_USES_H
#define DLSI_USES_H

#include "graph/graph.h"

#define DLSI_NO_NODE UINT32_MAX

struct dlsi_uses {
	uint32_t *counts;    /* by value: how often it is taken; the model's outputs count as well */
	uint32_t *producers; /* by value: the node that computes it, or DLSI_NO_NODE */
	bool *outputs;       /* by value: whether the model gives it out */
	uint32_t value_count;
	struct dlsi_arena arena;
};

/* Of the values that there are now. Errors: DLS_ENOMEM (nothing to finish). */
int dlsi_uses_init(struct dlsi_uses *uses, const struct dlsi_graph *graph);
void dlsi_uses_fini(struct dlsi_uses *uses);

/* The node that computes the value; NULL for DLSI_NO_VALUE and for what none computes or was added since. */
struct dlsi_node *dlsi_uses_producer(const struct dlsi_uses *uses, const struct dlsi_graph *graph, uint32_t value);

/* The node that computes input `i` and does so for nobody else, if it is of this operator (NULL: of any) and the input
 * float32, which all that is fused is computed in; else NULL. */
struct dlsi_node *dlsi_uses_only(const struct dlsi_uses *uses, const struct dlsi_graph *graph,
	const struct dlsi_node *node, uint32_t i, const struct dlsi_op *op);

/* `node` from now on computes what `later`, the only one that took its output, did; that one is dropped. */
void dlsi_uses_take_over(
	struct dlsi_uses *uses, const struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_node *later);

/* Leaves the node without inputs and outputs, so that ordering drops it. */
void dlsi_node_drop(struct dlsi_node *node);

#endif
