/* Rewriting: the same function in fewer and better steps. Every pass by itself keeps the outputs, up to rounding. */
#ifndef DLSI_REWRITE_H
#define DLSI_REWRITE_H

#include "graph/graph.h"
#include "graph/uses.h"

/* What one pass may do: change nodes and add values; dlsi_uses_take_over and dlsi_node_drop keep `uses` right within
 * it. Errors: DLS_ENOMEM. */
typedef int dlsi_rewrite_pass(struct dlsi_graph *graph, struct dlsi_uses *uses);

struct dlsi_rewrite {
	const char *name;
	dlsi_rewrite_pass *pass;
};

/* In the order in which they run; a NULL name ends them. */
extern const struct dlsi_rewrite dlsi_rewrites[];

/* Runs one, or all. Errors: DLS_ENOMEM (the graph can only be destroyed then). */
int dlsi_graph_rewrite_by(struct dlsi_graph *graph, const struct dlsi_rewrite *rewrite, struct dls_error *err);
int dlsi_graph_rewrite(struct dlsi_graph *graph, struct dls_error *err);

/* ---- the passes */

dlsi_rewrite_pass
	dlsi_rewrite_same; /* what changes nothing (Identity, Dropout, a Cast to the type that is there) goes */
dlsi_rewrite_pass dlsi_rewrite_transposes;  /* Transposes become one, also with element-wise operators between them */
dlsi_rewrite_pass dlsi_rewrite_shapes;      /* of many changes of a shape (Reshape, Squeeze) one is left */
dlsi_rewrite_pass dlsi_rewrite_shuffles;    /* channels that change places between groups do so in one Gather */
dlsi_rewrite_pass dlsi_rewrite_activations; /* Swish, HardSwish and Gelu that are spelled out become one node */
dlsi_rewrite_pass dlsi_rewrite_layers;      /* as does a LayerNormalization */
dlsi_rewrite_pass dlsi_rewrite_products;    /* a MatMul of a matrix and a constant one is a Gemm, which knows more */
dlsi_rewrite_pass dlsi_rewrite_sums;        /* a Sum of two is an Add, which is fused */
dlsi_rewrite_pass dlsi_rewrite_pads;        /* a Pad becomes the padding of windows */
dlsi_rewrite_pass
	dlsi_rewrite_weights; /* constants per channel (BatchNormalization, Mul, Add) become part of weights */
dlsi_rewrite_pass dlsi_rewrite_flatten;   /* a Gemm sums over all dimensions itself */
dlsi_rewrite_pass dlsi_rewrite_addend;    /* a Conv adds the other side of an Add (a residual) itself */
dlsi_rewrite_pass dlsi_rewrite_clamp;     /* Relu and Clip become part of what is before them */
dlsi_rewrite_pass dlsi_rewrite_constants; /* those that nobody takes any more are forgotten */

#endif
