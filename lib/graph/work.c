#include "graph/work.h"

/* Steps of an element: of a function of libm, of a sort of as many as memory has; and of the begin of a row. */
enum { SLOW = 16, SORT = 64, ROW = 8 };

double dlsi_value_extent(const struct dlsi_value *value)
{
	double extent = 1;

	for (uint32_t i = 0; i < value->rank; i++)
		extent *= value->dims[i] ? (double)value->dims[i] : 1;
	return extent;
}

/* One for each element and some for each row, which many operators begin anew. */
static double walk_steps(const struct dlsi_value *value)
{
	int64_t row = value->rank ? value->dims[value->rank - 1] : 1;

	return dlsi_value_extent(value) * (1 + (double)ROW / (row ? (double)row : 1));
}

double dlsi_node_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	double steps = node->op->steps ? node->op->steps(graph, node) : 0;

	for (uint32_t i = node->op->reads_shape; i < node->input_count; i++)
		if (node->inputs[i] != DLSI_NO_VALUE)
			steps += walk_steps(&graph->values[node->inputs[i]]);
	for (uint32_t i = 0; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			steps += walk_steps(&graph->values[node->outputs[i]]);
	return steps;
}

double dlsi_node_work(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch)
{
	const struct dlsi_value *output = dlsi_node_output(graph, node);

	if (!node->op->flops || !dlsi_value_count(output))
		return 0;
	return (double)node->op->flops * node->op->steps(graph, node) * (output->batched ? (double)batch : 1);
}

double dlsi_op_steps_slow(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return SLOW * dlsi_value_extent(dlsi_node_output(graph, node));
}

double dlsi_op_steps_slow_input(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return SLOW * dlsi_value_extent(dlsi_node_input(graph, node, 0));
}

double dlsi_op_steps_sort(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return SORT * dlsi_value_extent(dlsi_node_input(graph, node, 0));
}
