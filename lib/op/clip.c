/* Clip, whose bounds were attributes before operator set 11 and are inputs from there on. */
#include "op/element.h"
#include "op/list.h"
#include <float.h>
#include <string.h>

#define V DLSI_OP_SINCE

/* Whether the bound is known now; it stays as it is where there is none. */
static bool read_bound(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t input,
	const char *attribute, float *bound)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, input);

	if (!value)
		*bound = dlsi_node_float(node, attribute, *bound);
	else if (value->data)
		memcpy(bound, value->data, sizeof *bound);
	return (!value || value->data) && !isnan(*bound);
}

/* What is clamped to constants of float32 may be fused with what comes before. */
static struct dlsi_clamp find_clamp(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	float low = -FLT_MAX, high = FLT_MAX;

	if (dlsi_node_input(graph, node, 0)->dtype != DLS_FLOAT32 || !read_bound(graph, node, 1, "min", &low) ||
		!read_bound(graph, node, 2, "max", &high))
		return DLSI_CLAMP_UNKNOWN;
	if (low > high)
		low = high; /* ONNX: then everything is the upper bound */
	return (struct dlsi_clamp){low <= -FLT_MAX ? -INFINITY : low, high >= FLT_MAX ? INFINITY : high};
}

static int infer_clip(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *bound = dlsi_node_input(graph, node, i);

		if (bound && dlsi_value_count(bound) != 1)
			return dlsi_node_fail(
				node, err, DLS_EFORMAT, "takes '%s' as a bound, which is not one number", bound->name);
	}
	node->clamp = find_clamp(graph, node);
	return dlsi_op_infer_same(graph, node, err);
}

static const void *bound_of(const struct dlsi_node *node, const struct dlsi_view *inputs, uint32_t i)
{
	return i < node->input_count ? inputs[i].data : NULL;
}

#define CASE(dtype, type, ...)                                                                                         \
	case dtype: {                                                                                                  \
		const type *from = inputs[0].data, *lows = bound_of(node, inputs, 1),                                  \
			   *highs = bound_of(node, inputs, 2);                                                         \
		const type low = lows ? *lows : (type)DLSI_CHOOSE((type)0, minimum, DLSI_LEAST(type));                 \
		const type high = highs ? *highs : (type)DLSI_CHOOSE((type)0, maximum, DLSI_GREATEST(type));           \
		type *to = outputs[0].data;                                                                            \
                                                                                                                       \
		for (size_t i = 0; i < count; i++) {                                                                   \
			const type x = from[i] < low ? low : from[i];                                                  \
                                                                                                                       \
			to[i] = x > high ? high : x;                                                                   \
		}                                                                                                      \
		break;                                                                                                 \
	}

static int eval_clip(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	float minimum = dlsi_node_float(node, "min", -INFINITY), maximum = dlsi_node_float(node, "max", INFINITY);
	size_t count = dlsi_view_count(&outputs[0]);

	(void)alloc, (void)err;
	switch (inputs[0].dtype) {
		DLSI_NUMBERS(CASE, 0)
	default:
		break;
	}
	return 0;
}

static const struct dlsi_op_attribute bounds[] = {{"max", DLSI_ATTRIBUTE_FLOAT}, {"min", DLSI_ATTRIBUTE_FLOAT}, {0}};

const struct dlsi_op dlsi_op_clip = {
	.name = "Clip",
	DLSI_OP_ALL(V(1) | V(6) | V(11) | V(12) | V(13)),
	.inputs_least = 1,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = bounds,
	.types = DLSI_TYPES(DLSI_NUMBERS),
	.infer = infer_clip,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_clip,
};
