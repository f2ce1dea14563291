/* What one operator does for another in the same pass over memory. */
#include "op/list.h"
#include "rewrite/rewrite.h"

/* ---- products */

static bool is_matrix(const struct dlsi_value *value)
{
	return value->rank == 2;
}

int dlsi_rewrite_products(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	(void)uses;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];

		if (node->op != &dlsi_op_mat_mul || !is_matrix(dlsi_node_input(graph, node, 0)) ||
			!is_matrix(dlsi_node_input(graph, node, 1)) || !dlsi_node_input(graph, node, 1)->data)
			continue;
		node->op = &dlsi_op_gemm;
		node->gemm.alpha = node->gemm.beta = 1;
		node->gemm.transpose_a = node->gemm.transpose_b = false;
	}
	return 0;
}

/* Whether the node makes [rows, everything else] out of a shape that a Gemm can sum over itself. */
static bool flattens(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *output = dlsi_node_output(graph, node);

	return (node->op == &dlsi_op_flatten || node->op == &dlsi_op_reshape) && output->rank == 2 && input->rank > 2 &&
	       input->rank <= 2 + DLSI_SPATIAL_RANK && input->dims[0] == output->dims[0] &&
	       input->batched == output->batched;
}

int dlsi_rewrite_flatten(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];
		uint32_t producer;

		if (node->op != &dlsi_op_gemm || node->gemm.transpose_a || !dlsi_node_input(graph, node, 1)->data)
			continue;
		producer = uses->producers[node->inputs[0]];
		if (producer != DLSI_NO_NODE && flattens(graph, &graph->nodes[producer]))
			node->inputs[0] = graph->nodes[producer].inputs[0];
	}
	return 0;
}

/* ---- sums */

int dlsi_rewrite_sums(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	(void)uses;
	for (uint32_t i = 0; i < graph->node_count; i++)
		if (graph->nodes[i].op == &dlsi_op_sum && graph->nodes[i].input_count == 2)
			graph->nodes[i].op = &dlsi_op_add;
	return 0;
}

/* The Conv on this side of the Add, if it can add the other side. */
static struct dlsi_node *find_conv(
	const struct dlsi_graph *graph, const struct dlsi_uses *uses, const struct dlsi_node *add, uint32_t side)
{
	struct dlsi_node *conv = dlsi_uses_only(uses, graph, add, side, &dlsi_op_conv);
	const struct dlsi_value *other = dlsi_node_input(graph, add, !side);

	if (!conv || !dlsi_clamp_is_none(&conv->fused) || dlsi_node_input(graph, conv, DLSI_CONV_ADDEND))
		return NULL;
	if (!dlsi_node_input(graph, conv, 1)->data || other->data ||
		!dlsi_value_same_in_any_batch(dlsi_node_output(graph, conv), other))
		return NULL;
	return conv;
}

int dlsi_rewrite_addend(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *add = &graph->nodes[i], *left, *conv;

		if (add->op != &dlsi_op_add)
			continue;
		left = find_conv(graph, uses, add, 0);
		conv = left ? left : find_conv(graph, uses, add, 1);
		if (!conv)
			continue;
		if (dlsi_node_set_input(graph, conv, DLSI_CONV_ADDEND, add->inputs[conv == left]))
			return DLS_ENOMEM;
		conv->fused = add->fused;
		dlsi_uses_take_over(uses, graph, conv, add);
	}
	return 0;
}

/* ---- clamps */

static float clamp(float number, const struct dlsi_clamp *by)
{
	number = number < by->low ? by->low : number;
	return number > by->high ? by->high : number;
}

int dlsi_rewrite_clamp(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	static const struct dlsi_op *const takers[] = {&dlsi_op_conv, &dlsi_op_gemm, &dlsi_op_mat_mul, &dlsi_op_add};

	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i], *before = NULL;

		if ((node->op != &dlsi_op_relu && node->op != &dlsi_op_clip) || !dlsi_clamp_is_known(&node->clamp))
			continue;
		for (size_t k = 0; k < sizeof takers / sizeof *takers && !before; k++)
			before = dlsi_uses_only(uses, graph, node, 0, takers[k]);
		if (!before)
			continue;
		before->fused.low = clamp(before->fused.low, &node->clamp);
		before->fused.high = clamp(before->fused.high, &node->clamp);
		dlsi_uses_take_over(uses, graph, before, node);
	}
	return 0;
}
