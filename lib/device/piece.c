#include "device/piece.h"

#include "base/limits.h"

enum {
	LEAST_ITEMS = 4,      /* for threads to share */
	TIMES_A_LAYER = 2,    /* the weights may be so many times what the largest layer reads and writes */
	LEAST_BYTES = 1 << 20 /* of what the largest layer reads and writes: about a second cache */
};

static size_t computed_bytes(const struct dlsi_graph *graph, const uint32_t *values, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		if (values[i] != DLSI_NO_VALUE && !graph->values[values[i]].data)
			bytes += dlsi_value_bytes(&graph->values[values[i]]);
	return bytes;
}

/* What the node that reads and writes most of it has of one item. */
static size_t largest_layer_bytes(const struct dlsi_graph *graph)
{
	size_t most = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct dlsi_node *node = &graph->nodes[i];
		size_t bytes = computed_bytes(graph, node->inputs, node->input_count) +
			       computed_bytes(graph, node->outputs, node->output_count);

		most = bytes > most ? bytes : most;
	}
	return most;
}

int64_t dlsi_piece_items(const struct dlsi_graph *graph)
{
	const size_t weights = dlsi_graph_constant_bytes(graph), layer = largest_layer_bytes(graph);
	size_t items = LEAST_ITEMS;

	if (graph->unbatchable)
		return 1;
	for (uint32_t i = 0; i < graph->output_count; i++)
		if (graph->values[graph->outputs[i]].bounded)
			return DLSI_TASK_ITEMS;
	while (items < DLSI_TASK_ITEMS && (items * layer < LEAST_BYTES || items * layer * TIMES_A_LAYER < weights))
		items *= 2;
	return (int64_t)items;
}
