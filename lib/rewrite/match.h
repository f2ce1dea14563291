/* What passes that look for the pieces of a larger operator ask of a graph. */
#ifndef DLSI_MATCH_H
#define DLSI_MATCH_H

#include "graph/graph.h"
#include "graph/uses.h"

struct dlsi_match {
	struct dlsi_graph *graph;
	struct dlsi_uses *uses;
};

struct dlsi_node *dlsi_match_producer(const struct dlsi_match *match, uint32_t value);

/* Whether one node takes the value, and the model does not give it out. */
bool dlsi_match_is_only(const struct dlsi_match *match, uint32_t value);

/* The node of this operator that computes the float32 value for one other alone; or NULL. */
struct dlsi_node *dlsi_match_only(const struct dlsi_match *match, uint32_t value, const struct dlsi_op *op);

/* Whether the value is a constant of one float32. */
bool dlsi_match_number(const struct dlsi_match *match, uint32_t value, double *number_out);

/* Whether the Add is one of a value and a constant of one float32. */
bool dlsi_match_sum(
	const struct dlsi_match *match, const struct dlsi_node *add, uint32_t *value_out, double *number_out);

/* Whether both values have the shape of the node's output. */
bool dlsi_match_is_alike(const struct dlsi_match *match, const struct dlsi_node *node, uint32_t a, uint32_t b);

/* Whether a number that a model spells out is this one, up to the rounding of float32. */
bool dlsi_is_about(double number, double wanted);

#endif
