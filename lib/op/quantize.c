/* Numbers as small integers and back: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. There is one scale and
 * zero point for a whole tensor, one for each index of an axis, or one for each block along an axis. */
#include "base/shape.h"
#include "graph/type.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

#define SMALL(X, ...)                                                                                                  \
	X(DLS_INT8, int8_t, __VA_ARGS__)                                                                               \
	X(DLS_UINT8, uint8_t, __VA_ARGS__) X(DLS_INT16, int16_t, __VA_ARGS__) X(DLS_UINT16, uint16_t, __VA_ARGS__)
#define QUANTIZED(X, ...) SMALL(X, __VA_ARGS__) X(DLS_INT32, int32_t, __VA_ARGS__)

/* ---- shapes of scales */

static int refuse_scales(const struct dlsi_node *node, const struct dlsi_value *scale, const struct dlsi_value *input,
	struct dls_error *err)
{
	return dlsi_node_fail(node, err, DLS_EFORMAT, "has scales %s, which do not fit its input %s",
		dlsi_shape_text(scale->dtype, scale->rank, scale->dims).text,
		dlsi_shape_text(input->dtype, input->rank, input->dims).text);
}

/* Each block along the axis has a scale, at each place of the other axes. */
static bool fits_blocks(const struct dlsi_value *scale, const struct dlsi_value *input, uint32_t axis, int64_t block)
{
	if (scale->rank != input->rank)
		return false;
	for (uint32_t i = 0; i < input->rank; i++) {
		int64_t wanted = i == axis ? (input->dims[i] + block - 1) / block : input->dims[i];

		if (scale->dims[i] != wanted)
			return false;
	}
	return true;
}

/* Reads axis and block size, and checks the scales and zero points. */
static int infer_scales(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *scale = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *zero = dlsi_node_input(graph, node, 2);
	int64_t block = dlsi_node_int(node, "block_size", 0);
	int rc = 0;

	if (scale->dtype != DLS_FLOAT32)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has scales of %s", dls_dtype_name(scale->dtype));
	if (zero && !dlsi_value_same_shape(zero, scale))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has scales and zero points of different shapes");
	node->quantize.block = 0;
	node->quantize.per_place = block != 0;
	if (block == 0 && (scale->rank == 0 || (scale->rank == 1 && scale->dims[0] == 1)))
		return 0;
	rc = dlsi_node_axis(node, 1, input->rank, &node->quantize.axis, err);
	if (rc)
		return rc;
	if (block < 0 || block > INT32_MAX)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has blocks of %lld", (long long)block);
	node->quantize.block = block ? block : 1;
	if (block ? !fits_blocks(scale, input, node->quantize.axis, block)
		  : scale->rank != 1 || scale->dims[0] != input->dims[node->quantize.axis])
		return refuse_scales(node, scale, input, err);
	return 0;
}

static const char *quantize_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	bool rows = node->quantize.block && (node->quantize.per_place || node->quantize.axis == 0);

	return rows ? "has a scale for each row" : dlsi_op_mixes_weights(graph, node);
}

/* A tensor as [outer, size, inner] around the axis, and which scale is whose. */
struct layout {
	int64_t outer, size, inner;
	int64_t block, blocks; /* blocks along the axis; block 0: all have the same scale */
	bool per_place;
};

static struct layout layout_of(const struct dlsi_node *node, const struct dlsi_view *view)
{
	struct layout layout = {1, 1, 1, node->quantize.block, 0, node->quantize.per_place};

	for (uint32_t i = 0; i < view->rank; i++) {
		if (layout.block == 0 || i > node->quantize.axis)
			layout.inner *= view->dims[i];
		else if (i < node->quantize.axis)
			layout.outer *= view->dims[i];
		else
			layout.size = view->dims[i];
	}
	layout.blocks = layout.block ? (layout.size + layout.block - 1) / layout.block : 0;
	return layout;
}

/* The scale of the first of the `inner` elements of a row, one of outer * size; each next one has the next, if they are
 * per place. */
static int64_t scale_of(const struct layout *layout, int64_t row)
{
	int64_t block = layout->block ? row % layout->size / layout->block : 0;

	return layout->per_place ? (row / layout->size * layout->blocks + block) * layout->inner : block;
}

struct parameters {
	struct layout layout;
	const float *scales;
	int32_t *zeros;
};

#define WIDEN(dtype, type, ...)                                                                                        \
	case dtype:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			zeros[i] = ((const type *)view->data)[i];                                                      \
		break;

/* Zero points of any type, zeros where there is no view. NULL when memory is exhausted. */
static int32_t *widen(const struct dlsi_alloc *alloc, const struct dlsi_view *view, size_t count)
{
	int32_t *zeros = dlsi_calloc(alloc, count + 1, sizeof *zeros);

	if (!zeros || !view || !view->data)
		return zeros;
	switch (view->dtype) {
		QUANTIZED(WIDEN, 0)
	default:
		break;
	}
	return zeros;
}

static int find_parameters(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_alloc *alloc,
	struct parameters *parameters, struct dls_error *err)
{
	parameters->layout = layout_of(node, &inputs[0]);
	parameters->scales = inputs[1].data;
	parameters->zeros = widen(alloc, node->input_count > 2 ? &inputs[2] : NULL, dlsi_view_count(&inputs[1]));
	return parameters->zeros ? 0 : dlsi_fail_memory(err);
}

/* ---- QuantizeLinear */

static int infer_quantize(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *zero = dlsi_node_input(graph, node, 2);
	int64_t wanted = dlsi_node_int(node, "output_dtype", 0);
	enum dls_dtype dtype = wanted ? dlsi_onnx_dtype(wanted) : zero ? zero->dtype : DLS_UINT8;
	int rc = infer_scales(graph, node, err);

	if (rc)
		return rc;
	if (!dtype || !(DLSI_TYPES(SMALL) & DLSI_OP_TYPE(dtype)))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "quantizes to %s",
			wanted ? dlsi_onnx_dtype_name(wanted) : dls_dtype_name(dtype));
	if (zero && zero->dtype != dtype)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has zero points of %s, but quantizes to %s",
			dls_dtype_name(zero->dtype), dls_dtype_name(dtype));
	return dlsi_node_set_output(graph, node, dtype, input->rank, input->dims, err);
}

#define QUANTIZE(dtype, type, from_type)                                                                               \
	static void quantize_##from_type##_##type(const struct parameters *by, const from_type *from, type *to)        \
	{                                                                                                              \
		const struct layout *layout = &by->layout;                                                             \
                                                                                                                       \
		for (int64_t row = 0; row < layout->outer * layout->size; row++) {                                     \
			int64_t k = scale_of(layout, row), step = layout->per_place;                                   \
                                                                                                                       \
			for (int64_t i = 0; i < layout->inner; i++, k += step)                                         \
				*to++ = (type)dlsi_quantized((float)*from++ / by->scales[k], (float)by->zeros[k],      \
					(float)DLSI_LEAST(type), (float)DLSI_GREATEST(type));                          \
		}                                                                                                      \
	}
SMALL(QUANTIZE, float)
SMALL(QUANTIZE, int32_t)

#define QUANTIZE_CASE(dtype, type, from_type)                                                                          \
	case dtype:                                                                                                    \
		quantize_##from_type##_##type(by, input->data, output->data);                                          \
		break;

static void quantize(const struct parameters *by, const struct dlsi_view *input, const struct dlsi_view *output)
{
	if (input->dtype == DLS_FLOAT32)
		switch (output->dtype) {
			SMALL(QUANTIZE_CASE, float)
		default:
			break;
		}
	else
		switch (output->dtype) {
			SMALL(QUANTIZE_CASE, int32_t)
		default:
			break;
		}
}

static int eval_quantize(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct parameters by;
	int rc = find_parameters(node, inputs, alloc, &by, err);

	if (rc)
		return rc;
	quantize(&by, &inputs[0], &outputs[0]);
	dlsi_free(alloc, by.zeros);
	return 0;
}

/* ---- DequantizeLinear */

static int infer_dequantize(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *zero = dlsi_node_input(graph, node, 2);
	int64_t wanted = dlsi_node_int(node, "output_dtype", 0);
	int rc = infer_scales(graph, node, err);

	if (rc)
		return rc;
	if (wanted && dlsi_onnx_dtype(wanted) != DLS_FLOAT32)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "dequantizes to %s", dlsi_onnx_dtype_name(wanted));
	if (zero && zero->dtype != input->dtype)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has zero points of %s for %s",
			dls_dtype_name(zero->dtype), dls_dtype_name(input->dtype));
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, input->rank, input->dims, err);
}

#define DEQUANTIZE(dtype, type, ...)                                                                                   \
	case dtype: {                                                                                                  \
		const type *from = inputs[0].data;                                                                     \
                                                                                                                       \
		for (int64_t row = 0; row < by.layout.outer * by.layout.size; row++) {                                 \
			int64_t k = scale_of(&by.layout, row), step = by.layout.per_place;                             \
                                                                                                                       \
			for (int64_t i = 0; i < by.layout.inner; i++, k += step)                                       \
				*to++ = (float)((int64_t)*from++ - by.zeros[k]) * by.scales[k];                        \
		}                                                                                                      \
		break;                                                                                                 \
	}

static int eval_dequantize(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	float *to = outputs[0].data;
	struct parameters by;
	int rc = find_parameters(node, inputs, alloc, &by, err);

	if (rc)
		return rc;
	switch (inputs[0].dtype) {
		QUANTIZED(DEQUANTIZE, 0)
	default:
		break;
	}
	dlsi_free(alloc, by.zeros);
	return 0;
}

/* ---- DynamicQuantizeLinear */

static int infer_dynamic(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int rc = dlsi_node_set_output(graph, node, DLS_UINT8, input->rank, input->dims, err);

	if (rc == 0)
		rc = dlsi_node_set_output_at(graph, node, 1, DLS_FLOAT32, 0, NULL, err);
	return rc ? rc : dlsi_node_set_output_at(graph, node, 2, DLS_UINT8, 0, NULL, err);
}

static const char *dynamic_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "finds one scale for the whole batch";
}

/* The range of the elements and 0 becomes 0 to 255. */
static int eval_dynamic(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const float *from = inputs[0].data;
	size_t count = dlsi_view_count(&inputs[0]);
	float low = 0, high = 0, scale;
	int32_t zero;
	struct parameters by = {.layout = {1, 1, (int64_t)count, 0, 0, false}, .scales = &scale, .zeros = &zero};

	(void)alloc, (void)err;
	for (size_t i = 0; i < count; i++) {
		low = from[i] < low ? from[i] : low;
		high = from[i] > high ? from[i] : high;
	}
	scale = (high - low) / UINT8_MAX;
	scale = scale > 0 ? scale : 1; /* nothing but zeros */
	zero = (int32_t)dlsi_saturate((double)rintf(-low / scale), 0, UINT8_MAX);
	quantize(&by, &inputs[0], &outputs[0]);
	if (node->output_count > 1 && outputs[1].data)
		memcpy(outputs[1].data, &scale, sizeof scale);
	if (node->output_count > 2 && outputs[2].data)
		*(uint8_t *)outputs[2].data = (uint8_t)zero;
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute attributes[] = {{"axis", DLSI_ATTRIBUTE_INT}, {"block_size", DLSI_ATTRIBUTE_INT},
	{"output_dtype", DLSI_ATTRIBUTE_INT}, {"precision", DLSI_ATTRIBUTE_INT}, {"saturate", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_dequantize_linear = {
	.name = "DequantizeLinear",
	DLSI_OP_ALL(V(10) | V(13) | V(19) | V(21) | V(23) | V(24) | V(25) | V(28)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = attributes,
	.types = DLSI_TYPES(QUANTIZED),
	.typed = 1,
	.infer = infer_dequantize,
	.mixes = quantize_mixes,
	.eval = eval_dequantize,
};

const struct dlsi_op dlsi_op_dynamic_quantize_linear = {
	.name = "DynamicQuantizeLinear",
	DLSI_OP_ALL(V(11)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 3,
	.attributes = none,
	.types = DLSI_OP_TYPE(DLS_FLOAT32),
	.infer = infer_dynamic,
	.mixes = dynamic_mixes,
	.eval = eval_dynamic,
};

const struct dlsi_op dlsi_op_quantize_linear = {
	.name = "QuantizeLinear",
	DLSI_OP_ALL(V(10) | V(13) | V(19) | V(21) | V(23) | V(24) | V(25) | V(28)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = attributes,
	.types = DLSI_OP_TYPE(DLS_FLOAT32) | DLSI_OP_TYPE(DLS_INT32),
	.typed = 1,
	.infer = infer_quantize,
	.mixes = quantize_mixes,
	.eval = eval_quantize,
};
