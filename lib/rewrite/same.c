/* Operators that change nothing need not be done in a run. */
#include "op/list.h"
#include "rewrite/rewrite.h"

static bool keeps_order(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < dlsi_node_output(graph, node)->rank; i++)
		if (node->permutation[i] != i)
			return false;
	return true;
}

/* Whether this node, whose output is of the type and shape of its first input, gives that out as it is. */
static bool passes_on(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	static const struct dlsi_op *const shapes[] = {&dlsi_op_cast, &dlsi_op_expand, &dlsi_op_flatten,
		&dlsi_op_reshape, &dlsi_op_squeeze, &dlsi_op_unsqueeze};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (node->op == shapes[i])
			return true;
	if (node->op == &dlsi_op_concat || node->op == &dlsi_op_sum)
		return node->input_count == 1;
	return node->op == &dlsi_op_transpose && keeps_order(graph, node);
}

static bool is_same(const struct dlsi_graph *graph, const struct dlsi_uses *uses, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *output;

	/* A Dropout's mask may be wanted as well. */
	for (uint32_t i = 1; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE && uses->counts[node->outputs[i]])
			return false;
	if (node->op == &dlsi_op_identity || node->op == &dlsi_op_dropout)
		return true;
	if (!input || node->outputs[0] == DLSI_NO_VALUE)
		return false;
	output = dlsi_node_output(graph, node);
	return input->dtype == output->dtype && input->batched == output->batched &&
	       dlsi_value_same_shape(input, output) && passes_on(graph, node);
}

static uint32_t resolve(const uint32_t *others, uint32_t value)
{
	while (value != DLSI_NO_VALUE && others[value] != value)
		value = others[value];
	return value;
}

/* The producer of `from` gives `to` out instead. */
static void rename_output(struct dlsi_node *producer, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < producer->output_count; i++)
		if (producer->outputs[i] == from)
			producer->outputs[i] = to;
}

/* The output stands for the input or, where the model gives the output out under its name, the other way round; if the
 * input is given out as well, or not computed at all, it remains a copy. */
static void merge(struct dlsi_graph *graph, const struct dlsi_uses *uses, struct dlsi_node *node, uint32_t *others)
{
	uint32_t input = resolve(others, node->inputs[0]), output = node->outputs[0];
	uint32_t producer = uses->producers[input];

	if (!uses->outputs[output]) {
		others[output] = input;
	} else if (producer != DLSI_NO_NODE && !uses->outputs[input]) {
		rename_output(&graph->nodes[producer], input, output);
		uses->producers[output] = producer;
		others[input] = output;
	} else {
		return;
	}
	dlsi_node_drop(node);
}

int dlsi_rewrite_same(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	uint32_t *others = dlsi_arena_take(&uses->arena, graph->value_count, sizeof *others);

	if (!others)
		return DLS_ENOMEM;
	for (uint32_t i = 0; i < graph->value_count; i++)
		others[i] = i;
	for (uint32_t i = 0; i < graph->node_count; i++)
		if (is_same(graph, uses, &graph->nodes[i]))
			merge(graph, uses, &graph->nodes[i], others);
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint32_t k = 0; k < graph->nodes[i].input_count; k++)
			graph->nodes[i].inputs[k] = resolve(others, graph->nodes[i].inputs[k]);
	return 0;
}
