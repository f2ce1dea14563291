/* Softmax, LogSoftmax and Hardmax. */
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

/* Before operator set 13 all axes from `axis` on are normalised over together, from then on only this one. */
static int infer_softmax(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	bool together = node->version < 13;
	int rc = dlsi_node_axis(node, together ? 1 : -1, input->rank, &node->softmax.first, err);
	if (rc)
		return rc;
	node->softmax.end = together ? input->rank : node->softmax.first + 1;
	return dlsi_op_infer_same(graph, node, err);
}

static const char *softmax_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->softmax.first == 0 ? "normalises over axis 0, the batch" : NULL;
}

/* `axes`: the dimensions before those that are normalised over together, theirs, and those behind. */
static void fold_axes(const struct dlsi_node *node, const struct dlsi_view *view, int64_t axes[3])
{
	axes[0] = axes[1] = axes[2] = 1;
	for (uint32_t i = 0; i < view->rank; i++)
		axes[(i >= node->softmax.first) + (i >= node->softmax.end)] *= view->dims[i];
}

enum kind { SOFTMAX, LOG_SOFTMAX, HARDMAX };

/* `n` elements that lie `step` apart. */
#define LINE(dtype, type, ...)                                                                                         \
	static void line_##type(enum kind kind, const type *from, type *to, int64_t n, int64_t step)                   \
	{                                                                                                              \
		int64_t best = 0;                                                                                      \
		double sum = 0;                                                                                        \
                                                                                                                       \
		for (int64_t i = 0; i < n; i++)                                                                        \
			best = from[i * step] > from[best * step] ? i : best;                                          \
		for (int64_t i = 0; i < n; i++) {                                                                      \
			to[i * step] = kind == HARDMAX ? i == best : exp(from[i * step] - from[best * step]);          \
			sum += (double)to[i * step];                                                                   \
		}                                                                                                      \
		for (int64_t i = 0; kind == SOFTMAX && i < n; i++)                                                     \
			to[i * step] = (type)((double)to[i * step] / sum);                                             \
		for (int64_t i = 0; kind == LOG_SOFTMAX && i < n; i++)                                                 \
			to[i * step] = (type)((double)(from[i * step] - from[best * step]) - log(sum));                \
	}
DLSI_FLOATS(LINE, 0)

#define LINES(dtype, type, ...)                                                                                        \
	case dtype:                                                                                                    \
		for (int64_t i = 0; i < axes[0] * axes[2]; i++) {                                                      \
			int64_t offset = i / axes[2] * axes[1] * axes[2] + i % axes[2];                                \
                                                                                                                       \
			line_##type(kind, (const type *)inputs[0].data + offset, (type *)outputs[0].data + offset,     \
				axes[1], axes[2]);                                                                     \
		}                                                                                                      \
		break;

static void run(
	const struct dlsi_node *node, enum kind kind, const struct dlsi_view *inputs, const struct dlsi_view *outputs)
{
	int64_t axes[3];

	fold_axes(node, &inputs[0], axes);
	switch (inputs[0].dtype) {
		DLSI_FLOATS(LINES, 0)
	default:
		break;
	}
}

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};

#define ROW(name_, onnx, kind)                                                                                         \
	static int eval_##name_(const struct dlsi_node *node, const struct dlsi_view *inputs,                          \
		const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)                \
	{                                                                                                              \
		(void)alloc, (void)err;                                                                                \
		run(node, kind, inputs, outputs);                                                                      \
		return 0;                                                                                              \
	}                                                                                                              \
	const struct dlsi_op dlsi_op_##name_ = {.name = (onnx),                                                        \
		DLSI_OP_ALL(V(1) | V(11) | V(13)),                                                                     \
		.inputs_least = 1,                                                                                     \
		.inputs_most = 1,                                                                                      \
		.outputs_most = 1,                                                                                     \
		.attributes = axis,                                                                                    \
		.types = DLSI_TYPES(DLSI_FLOATS),                                                                      \
		.infer = infer_softmax,                                                                                \
		.mixes = softmax_mixes,                                                                                \
		.eval = eval_##name_,                                                                                  \
		.steps = dlsi_op_steps_slow};

ROW(hardmax, "Hardmax", HARDMAX)
ROW(log_softmax, "LogSoftmax", LOG_SOFTMAX)
ROW(softmax, "Softmax", SOFTMAX)
