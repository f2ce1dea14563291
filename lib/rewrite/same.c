/* Operators that change nothing need not be done in a run. */
#include "op/list.h"
#include "rewrite/rewrite.h"

/* A Dropout's mask may be wanted as well. */
static bool is_same(const struct dlsi_uses *uses, const struct dlsi_node *node)
{
	for (uint32_t i = 1; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE && uses->counts[node->outputs[i]])
			return false;
	return node->op == &dlsi_op_identity || node->op == &dlsi_op_dropout;
}

static uint32_t resolve(const uint32_t *others, uint32_t value)
{
	while (value != DLSI_NO_VALUE && others[value] != value)
		value = others[value];
	return value;
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
		graph->nodes[producer].outputs[0] = output;
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
		if (is_same(uses, &graph->nodes[i]))
			merge(graph, uses, &graph->nodes[i], others);
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint32_t k = 0; k < graph->nodes[i].input_count; k++)
			graph->nodes[i].inputs[k] = resolve(others, graph->nodes[i].inputs[k]);
	return 0;
}
