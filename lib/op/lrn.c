/* LRN: x / (bias + alpha / size * s) ^ beta, where s is the sum of squares over a window of `size` channels that begins
 * (size - 1) / 2 before the channel. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_lrn(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	if (input->rank < 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s, which has no channels",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	node->lrn.size = dlsi_node_int(node, "size", 0);
	if (node->lrn.size < 1)
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "has a window of %lld channels", (long long)node->lrn.size);
	node->lrn.alpha = dlsi_node_float(node, "alpha", 1e-4F);
	node->lrn.beta = dlsi_node_float(node, "beta", 0.75F);
	node->lrn.bias = dlsi_node_float(node, "bias", 1);
	return dlsi_op_infer_same(graph, node, err);
}

/* Each element sees the window and is raised to a power. */
static double lrn_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t window = node->lrn.size < input->dims[1] ? node->lrn.size : input->dims[1];

	return dlsi_op_steps_slow(graph, node) + dlsi_value_extent(input) * (double)window;
}

/* One item. Channel after channel, whose pixels lie side by side; `to` holds the sums first. */
#define ITEM(dtype, type, ...)                                                                                         \
	static void item_##type(                                                                                       \
		const struct dlsi_node *node, const type *from, type *to, int64_t channels, int64_t pixels)            \
	{                                                                                                              \
		const type factor = (type)node->lrn.alpha / (type)node->lrn.size;                                      \
		const type beta = (type)node->lrn.beta, bias = (type)node->lrn.bias;                                   \
		int64_t before = (node->lrn.size - 1) / 2, after = node->lrn.size - 1 - before;                        \
                                                                                                                       \
		for (int64_t c = 0; c < channels; c++) {                                                               \
			int64_t first = c > before ? c - before : 0;                                                   \
			int64_t last = after < channels - 1 - c ? c + after : channels - 1;                            \
			const type *x = from + c * pixels;                                                             \
			type *y = to + c * pixels;                                                                     \
                                                                                                                       \
			memset(y, 0, (size_t)pixels * sizeof *y);                                                      \
			for (int64_t k = first; k <= last; k++)                                                        \
				for (int64_t i = 0; i < pixels; i++)                                                   \
					y[i] += from[k * pixels + i] * from[k * pixels + i];                           \
			for (int64_t i = 0; i < pixels; i++)                                                           \
				y[i] = x[i] / pow(bias + factor * y[i], beta);                                         \
		}                                                                                                      \
	}
DLSI_FLOATS(ITEM, 0)

#define ITEMS(dtype, type, ...)                                                                                        \
	case dtype:                                                                                                    \
		for (int64_t i = 0; i < items; i++)                                                                    \
			item_##type(node, (const type *)inputs[0].data + i * channels * pixels,                        \
				(type *)outputs[0].data + i * channels * pixels, channels, pixels);                    \
		break;

static int eval_lrn(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	int64_t items = inputs[0].dims[0], channels = inputs[0].dims[1], pixels = 1;

	(void)alloc, (void)err;
	for (uint32_t i = 2; i < inputs[0].rank; i++)
		pixels *= inputs[0].dims[i];
	switch (inputs[0].dtype) {
		DLSI_FLOATS(ITEMS, 0)
	default:
		break;
	}
	return 0;
}

static const struct dlsi_op_attribute attributes[] = {{"alpha", DLSI_ATTRIBUTE_FLOAT}, {"beta", DLSI_ATTRIBUTE_FLOAT},
	{"bias", DLSI_ATTRIBUTE_FLOAT}, {"size", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_lrn = {
	.name = "LRN",
	DLSI_OP_ALL(V(1) | V(13)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = attributes,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_lrn,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_lrn,
	.steps = lrn_steps,
};
