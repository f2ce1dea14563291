/* A LayerNormalization that a model spells out: (x - mean) / sqrt(mean of squares + epsilon) * scale + shift. */
#include "op/list.h"
#include "rewrite/match.h"
#include "rewrite/rewrite.h"
#include <string.h>

struct layer {
	uint32_t x, scale, shift;
	uint32_t axis; /* the first that is normalised over */
	double epsilon;
};

/* Whether the node is a mean over the last axes, which it keeps as 1. */
static bool is_mean(const struct dlsi_match *match, const struct dlsi_node *node, uint32_t *axis)
{
	const struct dlsi_value *input = node ? dlsi_node_input(match->graph, node, 0) : NULL;
	uint32_t reduced;

	if (!node || node->op != &dlsi_op_reduce_mean || dlsi_node_output(match->graph, node)->rank != input->rank)
		return false;
	reduced = node->reduced & ((1U << input->rank) - 1);
	for (*axis = 0; *axis < input->rank && !(reduced >> *axis & 1);)
		++*axis;
	return *axis < input->rank && reduced >> *axis == (1U << (input->rank - *axis)) - 1;
}

/* x - mean of x over these axes. */
static bool is_centred(const struct dlsi_match *match, uint32_t value, struct layer *layer)
{
	const struct dlsi_node *node = dlsi_match_producer(match, value), *mean;

	if (!node || node->op != &dlsi_op_sub || !dlsi_clamp_is_none(&node->fused))
		return false;
	mean = dlsi_match_producer(match, node->inputs[1]);
	layer->x = node->inputs[0];
	return is_mean(match, mean, &layer->axis) && mean->inputs[0] == layer->x;
}

/* The value of which this one is the square, or DLSI_NO_VALUE. */
static uint32_t root_of(const struct dlsi_match *match, uint32_t value)
{
	const struct dlsi_node *node = dlsi_match_producer(match, value);
	double number;

	if (node && node->op == &dlsi_op_pow && dlsi_match_number(match, node->inputs[1], &number) && number == 2)
		return node->inputs[0];
	return node && node->op == &dlsi_op_mul && node->inputs[0] == node->inputs[1] ? node->inputs[0] : DLSI_NO_VALUE;
}

/* Whether the value is sqrt(mean of squares of `centred`, or of what is computed alike, + epsilon). */
static bool is_deviation(const struct dlsi_match *match, uint32_t value, struct layer *layer)
{
	const struct dlsi_node *root = dlsi_match_only(match, value, &dlsi_op_sqrt), *sum, *mean;
	struct layer again;
	uint32_t variance, centred, axis;

	sum = root ? dlsi_match_only(match, root->inputs[0], &dlsi_op_add) : NULL;
	if (!sum || !dlsi_match_sum(match, sum, &variance, &layer->epsilon))
		return false;
	mean = dlsi_match_only(match, variance, &dlsi_op_reduce_mean);
	if (!mean || !is_mean(match, mean, &axis) || axis != layer->axis)
		return false;
	centred = root_of(match, mean->inputs[0]);
	return centred != DLSI_NO_VALUE && is_centred(match, centred, &again) && again.x == layer->x &&
	       again.axis == layer->axis;
}

/* Whether the value is a constant with one number for each element that is normalised over. */
static bool fits(const struct dlsi_match *match, uint32_t value, const struct layer *layer)
{
	const struct dlsi_value *constant = &match->graph->values[value], *x = &match->graph->values[layer->x];
	uint32_t rank = x->rank - layer->axis;

	return constant->data && constant->dtype == DLS_FLOAT32 && constant->rank == rank &&
	       memcmp(constant->dims, &x->dims[layer->axis], rank * sizeof *constant->dims) == 0;
}

/* The node's constant side and the other one, if it is of this operator. */
static bool divide(const struct dlsi_match *match, const struct dlsi_node *node, const struct dlsi_op *op,
	uint32_t *constant, uint32_t *other)
{
	uint32_t side;

	if (!node || node->op != op || !dlsi_clamp_is_none(&node->fused))
		return false;
	side = match->graph->values[node->inputs[0]].data ? 0 : 1;
	*constant = node->inputs[side];
	*other = node->inputs[!side];
	return true;
}

/* Whether the Add is the end of one. */
static bool read_layer(const struct dlsi_match *match, const struct dlsi_node *add, struct layer *layer)
{
	const struct dlsi_node *mul, *quotient;
	uint32_t product, standard;

	if (!divide(match, add, &dlsi_op_add, &layer->shift, &product))
		return false;
	mul = dlsi_match_only(match, product, &dlsi_op_mul);
	if (!divide(match, mul, &dlsi_op_mul, &layer->scale, &standard))
		return false;
	quotient = dlsi_match_only(match, standard, &dlsi_op_div);
	return quotient && is_centred(match, quotient->inputs[0], layer) &&
	       is_deviation(match, quotient->inputs[1], layer) && fits(match, layer->scale, layer) &&
	       fits(match, layer->shift, layer);
}

static int make(struct dlsi_graph *graph, struct dlsi_node *node, const struct layer *layer)
{
	const struct dlsi_attribute attributes[] = {
		{.name = "axis", .kind = DLSI_ATTRIBUTE_INT, .count = 1, .i = layer->axis},
		{.name = "epsilon", .kind = DLSI_ATTRIBUTE_FLOAT, .count = 1, .f = (float)layer->epsilon}};

	if (dlsi_node_set_attributes(graph, node, attributes, 2) || dlsi_node_set_input(graph, node, 2, layer->shift))
		return DLS_ENOMEM;
	node->op = &dlsi_op_layer_normalization;
	node->inputs[0] = layer->x;
	node->inputs[1] = layer->scale;
	return 0;
}

int dlsi_rewrite_layers(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	struct dlsi_match match = {graph, uses};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < graph->node_count; i++) {
		struct layer layer;

		if (graph->nodes[i].output_count && read_layer(&match, &graph->nodes[i], &layer))
			rc = make(graph, &graph->nodes[i], &layer);
	}
	return rc;
}
