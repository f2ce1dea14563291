/* Conv. */
#include "base/shape.h"
#include "op/list.h"
#include "op/window.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int check_weights(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *weights = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *bias = dlsi_node_input(graph, node, 2);
	int64_t groups = node->conv.groups;

	if (weights->rank != input->rank || groups < 1 || input->dims[1] % groups != 0 ||
		input->dims[1] / groups != weights->dims[1] || weights->dims[0] % groups != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT,
			"has weights %s in %lld groups that do not fit its input %s",
			dlsi_shape_text(weights->dtype, weights->rank, weights->dims).text, (long long)groups,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	if (bias && (bias->rank != 1 || bias->dims[0] != weights->dims[0]))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has a bias %s for %lld channels",
			dlsi_shape_text(bias->dtype, bias->rank, bias->dims).text, (long long)weights->dims[0]);
	return 0;
}

static int infer_conv(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *weights = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], weights->dims[0]};
	int rc = dlsi_node_require_float(graph, node, err);

	node->conv.groups = dlsi_node_int(node, "group", 1);
	if (rc == 0)
		rc = check_weights(graph, node, err);
	if (rc == 0)
		rc = dlsi_window_infer(node, input, &weights->dims[2], &node->conv.window, &dims[2], err);
	if (rc)
		return rc;
	if (memcmp(node->conv.window.kernel, &weights->dims[2], node->conv.window.rank * sizeof *dims) != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has a kernel_shape that its weights %s do not have",
			dlsi_shape_text(weights->dtype, weights->rank, weights->dims).text);
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, input->rank, dims, err);
}

static const struct dlsi_op_attribute attributes[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"group", DLSI_ATTRIBUTE_INT}, {"kernel_shape", DLSI_ATTRIBUTE_INTS},
	{"pads", DLSI_ATTRIBUTE_INTS}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_conv = {
	.name = "Conv",
	DLSI_OP_ALL(V(1) | V(11) | V(22)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = attributes,
	.infer = infer_conv,
	.mixes = dlsi_op_mixes_weights,
};
