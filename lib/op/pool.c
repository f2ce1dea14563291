/* Pooling: the largest or the mean of each window. */
#include "base/shape.h"
#include "op/list.h"
#include "op/window.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]};
	struct dlsi_window *window = &node->pool.window;
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc == 0)
		rc = dlsi_window_infer(node, input, NULL, window, &dims[2], err);
	for (uint32_t i = 0; rc == 0 && i < window->rank; i++)
		if (window->pads_before[i] >= window->kernel[i] || window->pads_after[i] >= window->kernel[i])
			rc = dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has padding as large as its window");
	return rc ? rc : dlsi_node_set_output(graph, node, DLS_FLOAT32, input->rank, dims, err);
}

static int infer_max_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	return infer(graph, node, err);
}

static int infer_average_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_window *window = &node->pool.window;
	int rc = infer(graph, node, err);

	node->pool.count_padding = dlsi_node_int(node, "count_include_pad", 0);
	for (uint32_t i = 0; rc == 0 && i < window->rank; i++) {
		int64_t covered =
			(dlsi_node_output(graph, node)->dims[2 + i] - 1) * window->strides[i] + window->kernel[i];
		int64_t padded =
			dlsi_node_input(graph, node, 0)->dims[2 + i] + window->pads_before[i] + window->pads_after[i];

		if (window->dilations[i] != 1)
			rc = dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has dilations, which are not supported");
		else if (node->pool.count_padding && covered > padded)
			rc = dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"has count_include_pad and a last window that ceil_mode lets stick out");
	}
	return rc;
}

static int infer_global_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]};
	struct dlsi_window window = {.rank = input->rank - 2};
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (input->rank < 3 || window.rank > DLSI_SPATIAL_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes %s; 1 to %d spatial dimensions are supported",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, DLSI_SPATIAL_RANK);
	for (uint32_t i = 0; i < window.rank; i++) {
		window.kernel[i] = input->dims[2 + i];
		window.strides[i] = window.dilations[i] = dims[2 + i] = 1;
	}
	node->pool.window = window;
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, input->rank, dims, err);
}

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute average_attributes[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"ceil_mode", DLSI_ATTRIBUTE_INT}, {"count_include_pad", DLSI_ATTRIBUTE_INT},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS},
	{"strides", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute max_attributes[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"ceil_mode", DLSI_ATTRIBUTE_INT}, {"dilations", DLSI_ATTRIBUTE_INTS}, {"kernel_shape", DLSI_ATTRIBUTE_INTS},
	{"pads", DLSI_ATTRIBUTE_INTS}, {"storage_order", DLSI_ATTRIBUTE_INT}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_average_pool = {
	.name = "AveragePool",
	DLSI_OP_ALL(V(1) | V(7) | V(10) | V(11) | V(19) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = average_attributes,
	.infer = infer_average_pool,
	.mixes = dlsi_op_mixes_weights,
};

const struct dlsi_op dlsi_op_global_average_pool = {
	.name = "GlobalAveragePool",
	DLSI_OP_ALL(V(1) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_global_pool,
	.mixes = dlsi_op_mixes_weights,
};

const struct dlsi_op dlsi_op_max_pool = {
	.name = "MaxPool",
	DLSI_OP_ALL(V(1) | V(8) | V(10) | V(11) | V(12) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 2,
	.attributes = max_attributes,
	.infer = infer_max_pool,
	.mixes = dlsi_op_mixes_weights,
};
