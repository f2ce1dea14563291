/* Convolutions of uint8 and int8: ConvInteger and QLinearConv. */
#include "op/convolve.h"
#include "op/element.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

/* The input numbers of what both operators have. */
struct operands {
	struct dlsi_convolution_inputs convolved;
	uint32_t zero, weights_zero;
};

static const struct operands plain = {{.weights = 1, .bias = UINT32_MAX}, .zero = 2, .weights_zero = 3};
static const struct operands quantized = {{.weights = 3, .bias = 8}, .zero = 2, .weights_zero = 5};

/* ---- inference */

/* Checks that input `i`, if there is one, has this type; 0: int8 or uint8. */
static int check_type(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);

	if (!value || value->dtype == dtype || (!dtype && (value->dtype == DLS_INT8 || value->dtype == DLS_UINT8)))
		return 0;
	return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' of %s in the place of %s", value->name,
		dls_dtype_name(value->dtype), dtype ? dls_dtype_name(dtype) : "int8 or uint8");
}

/* Checks that it has this type and is one number, or one for each of `channels` (0: only one). */
static int check_scale(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	int64_t channels, struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);
	int rc = check_type(graph, node, i, dtype, err);

	if (rc || !value || dlsi_value_count(value) == 1 ||
		(channels && value->rank == 1 && value->dims[0] == channels))
		return rc;
	return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' of %zu numbers in the place of one%s", value->name,
		dlsi_value_count(value), channels ? " or one for each channel" : "");
}

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, const struct operands *operands,
	int64_t dims_out[DLS_TENSOR_RANK], struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *weights = dlsi_node_input(graph, node, operands->convolved.weights);
	int rc = check_type(graph, node, 0, 0, err);

	if (rc == 0)
		rc = check_type(graph, node, operands->convolved.weights, 0, err);
	if (rc == 0)
		rc = check_scale(graph, node, operands->zero, input->dtype, 0, err);
	if (rc == 0)
		rc = dlsi_convolution_infer(graph, node, &operands->convolved, dims_out, err);
	return rc ? rc : check_scale(graph, node, operands->weights_zero, weights->dtype, dims_out[1], err);
}

static int infer_conv_integer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK];
	int rc = infer(graph, node, &plain, dims, err);

	return rc ? rc : dlsi_node_set_output(graph, node, DLS_INT32, dlsi_node_input(graph, node, 0)->rank, dims, err);
}

static int infer_q_linear_conv(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK];
	int rc = infer(graph, node, &quantized, dims, err);

	if (rc == 0)
		rc = check_scale(graph, node, 1, DLS_FLOAT32, 0, err);
	if (rc == 0)
		rc = check_scale(graph, node, 4, DLS_FLOAT32, dims[1], err);
	if (rc == 0)
		rc = check_scale(graph, node, 6, DLS_FLOAT32, 0, err);
	if (rc == 0)
		rc = check_scale(graph, node, 7, 0, 0, err);
	if (rc == 0)
		rc = check_type(graph, node, quantized.convolved.bias, DLS_INT32, err);
	return rc ? rc
		  : dlsi_node_set_output(graph, node, dlsi_node_input(graph, node, 7)->dtype,
			    dlsi_node_input(graph, node, 0)->rank, dims, err);
}

static double conv_integer_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_convolution_steps(graph, node, &plain.convolved);
}

static double q_linear_conv_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_convolution_steps(graph, node, &quantized.convolved);
}

/* ---- evaluation */

static int32_t element(const struct dlsi_view *view, size_t i)
{
	return view->dtype == DLS_INT8 ? ((const int8_t *)view->data)[i] : ((const uint8_t *)view->data)[i];
}

/* All elements less the zero point of the first dimension's part that they are in (one for all, or NULL: 0). */
static void widen(const struct dlsi_view *from, const struct dlsi_view *zero, uint32_t *to)
{
	size_t count = dlsi_view_count(from), zeros = zero && zero->data ? dlsi_view_count(zero) : 0;

	for (size_t i = 0; i < count; i++) {
		size_t part = zeros > 1 ? i / (count / zeros) : 0;

		to[i] = (uint32_t)(element(from, i) - (zeros ? element(zero, part) : 0));
	}
}

static const struct dlsi_view *find(const struct dlsi_node *node, const struct dlsi_view *inputs, uint32_t i)
{
	return i < node->input_count ? &inputs[i] : NULL;
}

/* Adds the products to the sums. */
static int convolve(const struct dlsi_node *node, const struct operands *operands, const struct dlsi_view *inputs,
	const struct dlsi_view *sums, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *weights = &inputs[operands->convolved.weights];
	struct dlsi_convolution convolution = dlsi_convolution_of(node, DLS_UINT32, sums, &inputs[0]);
	uint32_t *wide = dlsi_calloc(alloc, dlsi_view_count(&inputs[0]) + 1, sizeof *wide);
	uint32_t *wide_weights = dlsi_calloc(alloc, dlsi_view_count(weights) + 1, sizeof *wide);
	bool ready = wide && wide_weights;

	if (ready) {
		widen(&inputs[0], find(node, inputs, operands->zero), wide);
		widen(weights, find(node, inputs, operands->weights_zero), wide_weights);
		dlsi_convolve(&convolution, sums->data, wide, wide_weights);
	}
	dlsi_free(alloc, wide);
	dlsi_free(alloc, wide_weights);
	return ready ? 0 : dlsi_fail_memory(err);
}

static int eval_conv_integer(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	dlsi_convolution_begin(&outputs[0], NULL);
	return convolve(node, &plain, inputs, &outputs[0], alloc, err);
}

/* Sums, scaled, become elements of the target from `first` on. */
static void requantize(
	const int32_t *sums, size_t count, float scale, int32_t zero, const struct dlsi_view *target, size_t first)
{
	float low = target->dtype == DLS_INT8 ? INT8_MIN : 0, high = target->dtype == DLS_INT8 ? INT8_MAX : UINT8_MAX;

	for (size_t i = 0; i < count; i++)
		((uint8_t *)target->data)[first + i] =
			(uint8_t)(int32_t)dlsi_quantized((float)sums[i] * scale, (float)zero, low, high);
}

static int eval_q_linear_conv(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const float *scale = inputs[1].data, *weights_scale = inputs[4].data, *target_scale = inputs[6].data;
	struct dlsi_view sums = outputs[0];
	size_t channels = (size_t)sums.dims[1], planes = (size_t)sums.dims[0] * channels, pixels;
	int rc;

	sums.dtype = DLS_INT32;
	sums.data = dlsi_calloc(alloc, dlsi_view_count(&sums) + 1, sizeof(int32_t));
	if (!sums.data)
		return dlsi_fail_memory(err);
	dlsi_convolution_begin(&sums, find(node, inputs, quantized.convolved.bias));
	rc = convolve(node, &quantized, inputs, &sums, alloc, err);
	pixels = planes ? dlsi_view_count(&sums) / planes : 0;
	for (size_t p = 0; rc == 0 && p < planes; p++) {
		float by = weights_scale[dlsi_view_count(&inputs[4]) > 1 ? p % channels : 0];

		requantize((const int32_t *)sums.data + p * pixels, pixels, *scale * by / *target_scale,
			element(&inputs[7], 0), &outputs[0], p * pixels);
	}
	dlsi_free(alloc, sums.data);
	return rc;
}

static const struct dlsi_op_attribute attributes[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"group", DLSI_ATTRIBUTE_INT}, {"kernel_shape", DLSI_ATTRIBUTE_INTS},
	{"pads", DLSI_ATTRIBUTE_INTS}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_conv_integer = {
	.name = "ConvInteger",
	DLSI_OP_ALL(V(10)),
	.inputs_least = 2,
	.inputs_most = 4,
	.outputs_most = 1,
	.attributes = attributes,
	.infer = infer_conv_integer,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_conv_integer,
	.steps = conv_integer_steps,
	.flops = 2,
};

const struct dlsi_op dlsi_op_q_linear_conv = {
	.name = "QLinearConv",
	DLSI_OP_ALL(V(10)),
	.inputs_least = 8,
	.inputs_most = 9,
	.outputs_most = 1,
	.attributes = attributes,
	.infer = infer_q_linear_conv,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_q_linear_conv,
	.steps = q_linear_conv_steps,
	.flops = 2,
};
