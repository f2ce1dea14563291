#include "op/work.h"

#include "op/list.h"

/* Elements in a run of `batch` items. */
static double count(const struct dlsi_value *value, int64_t batch)
{
	double elements = (double)dlsi_value_count(value);

	return value->batched ? elements * (double)batch : elements;
}

/* As many as the second matrix has rows are summed up for each element of the result. */
static double product_work(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t second, int64_t batch)
{
	const struct dlsi_value *matrix = dlsi_node_input(graph, node, second);
	bool transposed = node->op == &dlsi_op_gemm && node->gemm.transpose_b;
	uint32_t axis = matrix->rank < 2 ? 0 : matrix->rank - 2 + transposed;

	return matrix->rank ? 2 * count(dlsi_node_output(graph, node), batch) * (double)matrix->dims[axis] : 0;
}

/* Each element of `swept` (the output, or of a ConvTranspose the input) meets the weights of its channel. */
static double window_work(const struct dlsi_value *swept, const struct dlsi_value *weights, int64_t batch)
{
	return weights->dims[0] ? 2 * count(swept, batch) * (double)dlsi_value_count(weights) / (double)weights->dims[0]
				: 0;
}

double dlsi_node_work(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch)
{
	if (node->op == &dlsi_op_gemm || node->op == &dlsi_op_mat_mul || node->op == &dlsi_op_mat_mul_integer)
		return product_work(graph, node, 1, batch);
	if (node->op == &dlsi_op_q_linear_mat_mul)
		return product_work(graph, node, 3, batch);
	if (node->op == &dlsi_op_conv || node->op == &dlsi_op_conv_integer)
		return window_work(dlsi_node_output(graph, node), dlsi_node_input(graph, node, 1), batch);
	if (node->op == &dlsi_op_q_linear_conv)
		return window_work(dlsi_node_output(graph, node), dlsi_node_input(graph, node, 3), batch);
	if (node->op == &dlsi_op_conv_transpose)
		return window_work(dlsi_node_input(graph, node, 0), dlsi_node_input(graph, node, 1), batch);
	return 0;
}
