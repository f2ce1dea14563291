/* What only gives the elements another shape, one after another, does so once. */
#include "op/list.h"
#include "rewrite/rewrite.h"

/* Whether only dimensions of 1 change places. The batch, which is not always 1, is the first and stays so. */
static bool moves_ones(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	uint32_t next = 0;

	for (uint32_t i = 0; i < input->rank; i++) {
		uint32_t axis = node->permutation[i];

		if (input->dims[axis] == 1)
			continue;
		if (axis < next)
			return false;
		next = axis;
	}
	return true;
}

static bool reshapes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->op == &dlsi_op_reshape || node->op == &dlsi_op_flatten || node->op == &dlsi_op_squeeze ||
	       node->op == &dlsi_op_unsqueeze || (node->op == &dlsi_op_transpose && moves_ones(graph, node));
}

/* A Reshape to the shape that inference found. */
static void make_reshape(struct dlsi_node *node, uint32_t input)
{
	node->op = &dlsi_op_reshape;
	node->inputs[0] = input;
	node->input_count = 1;
}

int dlsi_rewrite_shapes(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i], *earlier;

		if (!reshapes(graph, node))
			continue;
		if (node->op == &dlsi_op_transpose)
			make_reshape(node, node->inputs[0]);
		earlier = dlsi_uses_producer(uses, graph, node->inputs[0]);
		if (earlier && reshapes(graph, earlier))
			make_reshape(node, earlier->inputs[0]);
	}
	return 0;
}
