#include "device/cost.h"

#include "graph/work.h"

/* What one thread does in a nanosecond, roughly. */
static const double operations[] = {[DLSI_ISA_GENERIC] = 8, [DLSI_ISA_AVX2] = 60, [DLSI_ISA_AVX512] = 120};

#define BYTES 20.0 /* that it reads or writes meanwhile */

static double bytes_of(const struct dlsi_graph *graph, const uint32_t *values, uint32_t count, int64_t batch)
{
	double bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct dlsi_value *value = values[i] == DLSI_NO_VALUE ? NULL : &graph->values[values[i]];

		if (value)
			bytes += (double)dlsi_value_bytes(value) * (double)(value->batched ? batch : 1);
	}
	return bytes;
}

static double node_bytes(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch)
{
	return bytes_of(graph, node->inputs, node->input_count, batch) +
	       bytes_of(graph, node->outputs, node->output_count, batch);
}

double dlsi_cost_ns(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa)
{
	return dlsi_node_work(graph, node, batch) / operations[isa] + node_bytes(graph, node, batch) / BYTES;
}

double dlsi_cost_item_ns(const struct dlsi_graph *graph, enum dlsi_isa isa)
{
	double ns = 0;

	for (uint32_t i = 0; i < graph->node_count; i++)
		ns += dlsi_cost_ns(graph, &graph->nodes[i], 2, isa) - dlsi_cost_ns(graph, &graph->nodes[i], 1, isa);
	return ns;
}

double dlsi_cost_item_bytes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node_bytes(graph, node, 2) - node_bytes(graph, node, 1);
}
