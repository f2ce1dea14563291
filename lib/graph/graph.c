#include "graph/graph.h"

#include <string.h>

void dlsi_graph_destroy(struct dlsi_graph *graph)
{
	const struct dlsi_alloc *alloc;

	if (!graph)
		return;
	alloc = graph->arena.alloc;
	dlsi_arena_fini(&graph->arena);
	dlsi_free(alloc, graph);
}

uint32_t dlsi_graph_add_value(struct dlsi_graph *graph, const char *name)
{
	if (graph->value_count == graph->value_capacity) {
		uint32_t capacity = graph->value_capacity ? 2 * graph->value_capacity : 64;
		struct dlsi_value *grown = capacity > graph->value_capacity
						   ? dlsi_arena_take(&graph->arena, capacity, sizeof *grown)
						   : NULL;

		if (!grown)
			return DLSI_NO_VALUE;
		if (graph->value_count)
			memcpy(grown, graph->values, graph->value_count * sizeof *grown);
		graph->values = grown;
		graph->value_capacity = capacity;
	}
	graph->values[graph->value_count] = (struct dlsi_value){.name = name};
	return graph->value_count++;
}

size_t dlsi_value_count(const struct dlsi_value *value)
{
	size_t count = 1;

	for (uint32_t i = 0; i < value->rank; i++)
		count *= (size_t)value->dims[i];
	return count;
}

size_t dlsi_value_bytes(const struct dlsi_value *value)
{
	return dlsi_value_count(value) * dls_dtype_bytes(value->dtype);
}

bool dlsi_value_same_shape(const struct dlsi_value *a, const struct dlsi_value *b)
{
	return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool dlsi_value_same_in_any_batch(const struct dlsi_value *a, const struct dlsi_value *b)
{
	return dlsi_value_same_shape(a, b) && a->batched == b->batched;
}

size_t dlsi_graph_constant_bytes(const struct dlsi_graph *graph)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < graph->value_count; i++)
		if (graph->values[i].data)
			bytes += dlsi_value_bytes(&graph->values[i]);
	return bytes;
}

void dlsi_value_dims(const struct dlsi_value *value, int64_t batch, int64_t dims_out[DLS_TENSOR_RANK])
{
	memcpy(dims_out, value->dims, sizeof value->dims);
	if (value->batched)
		dims_out[0] *= batch;
}

bool dlsi_graph_rows_open(const struct dlsi_graph *graph)
{
	for (uint32_t i = 0; i < graph->input_count; i++)
		if (graph->values[graph->inputs[i]].open & 1)
			return true;
	return false;
}

const struct dlsi_value *dlsi_node_input(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i)
{
	return i < node->input_count && node->inputs[i] != DLSI_NO_VALUE ? &graph->values[node->inputs[i]] : NULL;
}

bool dlsi_node_is_bounded(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && input->bounded)
			return true;
	}
	return false;
}

int dlsi_node_set_input(struct dlsi_graph *graph, struct dlsi_node *node, uint32_t i, uint32_t value)
{
	if (i >= node->input_count) {
		uint32_t *inputs = dlsi_arena_take(&graph->arena, i + 1, sizeof *inputs);

		if (!inputs)
			return DLS_ENOMEM;
		for (uint32_t k = 0; k <= i; k++)
			inputs[k] = k < node->input_count ? node->inputs[k] : DLSI_NO_VALUE;
		node->inputs = inputs;
		node->input_count = i + 1;
	}
	node->inputs[i] = value;
	return 0;
}

int dlsi_node_set_attributes(
	struct dlsi_graph *graph, struct dlsi_node *node, const struct dlsi_attribute *attributes, uint32_t count)
{
	struct dlsi_attribute *copy = dlsi_arena_take(&graph->arena, count, sizeof *copy);

	if (!copy)
		return DLS_ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		copy[i] = attributes[i];
	node->attributes = copy;
	node->attribute_count = count;
	return 0;
}

struct dlsi_value *dlsi_node_output(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return &graph->values[node->outputs[0]];
}

bool dlsi_clamp_is_known(const struct dlsi_clamp *clamp)
{
	return !isnan(clamp->low);
}

bool dlsi_clamp_is_none(const struct dlsi_clamp *clamp)
{
	return clamp->low == -INFINITY && clamp->high == INFINITY;
}
