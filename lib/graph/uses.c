#include "graph/uses.h"

#include "graph/op.h"

int dlsi_uses_init(struct dlsi_uses *uses, const struct dlsi_graph *graph)
{
	dlsi_arena_init(&uses->arena, graph->arena.alloc);
	uses->value_count = graph->value_count;
	uses->counts = dlsi_arena_take(&uses->arena, graph->value_count, sizeof *uses->counts);
	uses->producers = dlsi_arena_take(&uses->arena, graph->value_count, sizeof *uses->producers);
	uses->outputs = dlsi_arena_take(&uses->arena, graph->value_count, sizeof *uses->outputs);
	if (!uses->counts || !uses->producers || !uses->outputs) {
		dlsi_arena_fini(&uses->arena);
		return DLS_ENOMEM;
	}
	for (uint32_t i = 0; i < graph->value_count; i++)
		uses->producers[i] = DLSI_NO_NODE;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct dlsi_node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->output_count; k++)
			if (node->outputs[k] != DLSI_NO_VALUE)
				uses->producers[node->outputs[k]] = i;
		for (uint32_t k = 0; k < node->input_count; k++)
			if (node->inputs[k] != DLSI_NO_VALUE)
				uses->counts[node->inputs[k]]++;
	}
	for (uint32_t i = 0; i < graph->output_count; i++) {
		uses->counts[graph->outputs[i]]++;
		uses->outputs[graph->outputs[i]] = true;
	}
	return 0;
}

void dlsi_uses_fini(struct dlsi_uses *uses)
{
	dlsi_arena_fini(&uses->arena);
}

struct dlsi_node *dlsi_uses_producer(const struct dlsi_uses *uses, const struct dlsi_graph *graph, uint32_t value)
{
	uint32_t producer = value < uses->value_count ? uses->producers[value] : DLSI_NO_NODE;

	return producer == DLSI_NO_NODE ? NULL : &graph->nodes[producer];
}

struct dlsi_node *dlsi_uses_only(const struct dlsi_uses *uses, const struct dlsi_graph *graph,
	const struct dlsi_node *node, uint32_t i, const struct dlsi_op *op)
{
	uint32_t value = i < node->input_count ? node->inputs[i] : DLSI_NO_VALUE;
	struct dlsi_node *producer = dlsi_uses_producer(uses, graph, value);

	if (!producer || uses->counts[value] != 1 || (op && producer->op != op) ||
		graph->values[value].dtype != DLS_FLOAT32)
		return NULL;
	return producer;
}

void dlsi_uses_take_over(
	struct dlsi_uses *uses, const struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_node *later)
{
	node->outputs[0] = later->outputs[0];
	uses->producers[node->outputs[0]] = (uint32_t)(node - graph->nodes);
	dlsi_node_drop(later);
}

void dlsi_node_drop(struct dlsi_node *node)
{
	node->input_count = 0;
	node->output_count = 0;
}
