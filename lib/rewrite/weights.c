/* What becomes part of the weights: normalisations and biases. */
#include "op/list.h"
#include "rewrite/rewrite.h"
#include <string.h>

static bool is_constant(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);

	return !value || value->data;
}

/* Element `i` of a constant, which may lie at any alignment; `otherwise` if there is none. */
static float element(const struct dlsi_value *value, size_t i, float otherwise)
{
	float number = otherwise;

	if (value)
		memcpy(&number, (const char *)value->data + i * sizeof number, sizeof number);
	return number;
}

/* A new constant of the shape of value `like`; its elements are to be filled in. NULL when memory is exhausted. */
static float *add_constant(struct dlsi_graph *graph, uint32_t like, uint32_t *value_out)
{
	float *data = dlsi_arena_take(&graph->arena, dlsi_value_count(&graph->values[like]), sizeof *data);
	uint32_t value = data ? dlsi_graph_add_value(graph, graph->values[like].name) : DLSI_NO_VALUE;

	if (value == DLSI_NO_VALUE)
		return NULL;
	graph->values[value] = graph->values[like];
	graph->values[value].data = data;
	*value_out = value;
	return data;
}

/* ---- BatchNormalization: (conv(x) + bias - mean) * factor + shift, with factor = scale / sqrt(variance + epsilon) */

static double factor_of(const struct dlsi_graph *graph, const struct dlsi_node *normal, size_t channel)
{
	double variance = element(dlsi_node_input(graph, normal, 4), channel, 1);

	return element(dlsi_node_input(graph, normal, 1), channel, 1) / sqrt(variance + (double)normal->epsilon);
}

static int fold_normal(struct dlsi_graph *graph, struct dlsi_node *conv, const struct dlsi_node *normal)
{
	uint32_t weights, bias;
	float *new_weights = add_constant(graph, conv->inputs[1], &weights);
	float *new_bias = new_weights ? add_constant(graph, normal->inputs[1], &bias) : NULL;
	const struct dlsi_value *old_weights, *old_bias;
	size_t channels, per_channel;

	if (!new_bias || dlsi_node_set_input(graph, conv, 2, conv->input_count > 2 ? conv->inputs[2] : DLSI_NO_VALUE))
		return DLS_ENOMEM;
	old_weights = dlsi_node_input(graph, conv, 1);
	old_bias = dlsi_node_input(graph, conv, 2);
	channels = (size_t)old_weights->dims[0];
	per_channel = dlsi_value_count(old_weights) / channels;
	for (size_t c = 0; c < channels; c++) {
		double factor = factor_of(graph, normal, c);
		double mean = element(dlsi_node_input(graph, normal, 3), c, 0);
		double shift = element(dlsi_node_input(graph, normal, 2), c, 0);

		for (size_t i = c * per_channel; i < (c + 1) * per_channel; i++)
			new_weights[i] = (float)(element(old_weights, i, 0) * factor);
		new_bias[c] = (float)((element(old_bias, c, 0) - mean) * factor + shift);
	}
	conv->inputs[1] = weights;
	conv->inputs[2] = bias;
	return 0;
}

static bool has_constants(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 1; i < node->input_count; i++)
		if (!is_constant(graph, node, i))
			return false;
	return true;
}

int dlsi_rewrite_normal(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *normal = &graph->nodes[i], *conv;

		if (normal->op != &dlsi_op_batch_normalization || !has_constants(graph, normal))
			continue;
		conv = dlsi_uses_only(uses, graph, normal, 0, &dlsi_op_conv);
		if (!conv || !has_constants(graph, conv) || !dlsi_clamp_is_none(&conv->fused))
			continue;
		if (fold_normal(graph, conv, normal))
			return DLS_ENOMEM;
		dlsi_uses_take_over(uses, graph, conv, normal);
	}
	return 0;
}

/* ---- an Add of one constant per channel */

/* Whether `value`, broadcast to `result`, is one constant per index of this dimension. */
static bool is_per(const struct dlsi_value *value, const struct dlsi_value *result, uint32_t dimension)
{
	if (!value->data || value->rank > result->rank || value->rank < result->rank - dimension)
		return false;
	for (uint32_t i = 0; i < value->rank; i++) {
		uint32_t place = i + result->rank - value->rank;

		if (value->dims[i] != (place == dimension ? result->dims[dimension] : 1))
			return false;
	}
	return true;
}

/* `node` gets the bias input `added`, a vector, on top of the one that it has. */
static int add_bias(struct dlsi_graph *graph, struct dlsi_node *node, uint32_t added)
{
	size_t count = dlsi_value_count(&graph->values[added]);
	uint32_t bias;
	float *data = add_constant(graph, added, &bias);

	if (!data)
		return DLS_ENOMEM;
	for (size_t i = 0; i < count; i++)
		data[i] = element(&graph->values[added], i, 0) + element(dlsi_node_input(graph, node, 2), i, 0);
	graph->values[bias].rank = 1;
	graph->values[bias].dims[0] = (int64_t)count;
	return dlsi_node_set_input(graph, node, 2, bias);
}

/* A Gemm's bias is as good as a Conv's where it is a constant per column, taken once. */
static bool takes_bias(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *bias = dlsi_node_input(graph, node, 2);

	if (!dlsi_clamp_is_none(&node->fused))
		return false;
	if (node->op == &dlsi_op_conv)
		return !bias || bias->data;
	return !bias || (node->gemm.beta == 1 && is_per(bias, dlsi_node_output(graph, node), 1));
}

int dlsi_rewrite_bias(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *add = &graph->nodes[i], *node = NULL;
		uint32_t side = 0;

		if (add->op != &dlsi_op_add)
			continue;
		for (; side < 2 && !node; side++) {
			node = dlsi_uses_only(uses, graph, add, side, &dlsi_op_conv);
			node = node ? node : dlsi_uses_only(uses, graph, add, side, &dlsi_op_gemm);
		}
		if (!node || !takes_bias(graph, node) ||
			!is_per(dlsi_node_input(graph, add, side == 1), dlsi_node_output(graph, node), 1))
			continue;
		if (node->op == &dlsi_op_gemm)
			node->gemm.beta = 1;
		if (add_bias(graph, node, add->inputs[side == 1]))
			return DLS_ENOMEM;
		dlsi_uses_take_over(uses, graph, node, add);
	}
	return 0;
}
