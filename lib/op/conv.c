/* Conv and ConvTranspose. */
#include "base/shape.h"
#include "op/convolve.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

static const struct dlsi_convolution_inputs forth = {.weights = 1, .bias = 2}, back = {1, 2, .back = true};

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, const struct dlsi_convolution_inputs *inputs,
	struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];
	int rc = dlsi_convolution_infer(graph, node, inputs, dims, err);

	return rc ? rc : dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static int infer_conv(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	return infer(graph, node, &forth, err);
}

static int infer_conv_transpose(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	return infer(graph, node, &back, err);
}

static double conv_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_convolution_steps(graph, node, &forth);
}

static double conv_transpose_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_convolution_steps(graph, node, &back);
}

static int eval_conv(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_convolution convolution = dlsi_convolution_of(node, inputs[0].dtype, &outputs[0], &inputs[0]);

	(void)alloc, (void)err;
	dlsi_convolution_begin(&outputs[0], node->input_count > 2 ? &inputs[2] : NULL);
	dlsi_convolve(&convolution, outputs[0].data, inputs[0].data, inputs[1].data);
	if (node->input_count > DLSI_CONV_ADDEND && inputs[DLSI_CONV_ADDEND].data) { /* of float32 only */
		float *target = outputs[0].data;
		const float *addend = inputs[DLSI_CONV_ADDEND].data;

		for (size_t i = 0; i < dlsi_view_count(&outputs[0]); i++)
			target[i] += addend[i];
	}
	return 0;
}

static int eval_conv_transpose(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_convolution convolution = dlsi_convolution_of(node, inputs[0].dtype, &inputs[0], &outputs[0]);

	(void)alloc, (void)err;
	dlsi_convolution_begin(&outputs[0], node->input_count > 2 ? &inputs[2] : NULL);
	dlsi_convolve_back(&convolution, outputs[0].data, inputs[0].data, inputs[1].data);
	return 0;
}

static const struct dlsi_op_attribute conv[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING}, {"dilations", DLSI_ATTRIBUTE_INTS},
	{"group", DLSI_ATTRIBUTE_INT}, {"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS},
	{"strides", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute conv_transpose[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"group", DLSI_ATTRIBUTE_INT}, {"kernel_shape", DLSI_ATTRIBUTE_INTS},
	{"output_padding", DLSI_ATTRIBUTE_INTS}, {"output_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS},
	{"strides", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_conv = {
	.name = "Conv",
	DLSI_OP_ALL(V(1) | V(11) | V(22)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = conv,
	.types = DLSI_OP_TYPE(DLS_FLOAT32) | DLSI_OP_TYPE(DLS_FLOAT64),
	.infer = infer_conv,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_conv,
	.steps = conv_steps,
	.flops = 2,
};

const struct dlsi_op dlsi_op_conv_transpose = {
	.name = "ConvTranspose",
	DLSI_OP_ALL(V(1) | V(11) | V(22)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = conv_transpose,
	.types = DLSI_OP_TYPE(DLS_FLOAT32) | DLSI_OP_TYPE(DLS_FLOAT64),
	.infer = infer_conv_transpose,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_conv_transpose,
	.steps = conv_transpose_steps,
	.flops = 2,
};
