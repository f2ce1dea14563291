/* Along an axis in its order: CumSum, ReverseSequence. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* ---- CumSum */

static int infer_cum_sum(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t axis = 0;
	uint32_t count;
	int rc = dlsi_node_constant_ints(graph, node, 1, &axis, 1, &count, err);

	if (rc)
		return rc;
	if (count != 1 || axis < -(int64_t)input->rank || axis >= (int64_t)input->rank)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axis %lld, its input has %u dimensions",
			(long long)axis, input->rank);
	node->axis = (uint32_t)(axis < 0 ? axis + input->rank : axis);
	return dlsi_op_infer_same(graph, node, err);
}

static const char *cum_sum_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->axis == 0 ? "sums over the items of the batch" : dlsi_op_mixes_weights(graph, node);
}

/* One step along the axis, of `count` elements beside each other: the sum that far is that before and one element. */
static void add_step(enum dls_dtype dtype, void *to, const void *sum, const void *from, size_t count)
{
	switch (dtype) {
#define ADD(value, type, ...)                                                                                          \
	case value: {                                                                                                  \
		const type *a = sum, *b = from;                                                                        \
                                                                                                                       \
		for (size_t i = 0; i < count; i++)                                                                     \
			((type *)to)[i] = (type)DLSI_SUM(a[i], b[i]);                                                  \
		break;                                                                                                 \
	}
		DLSI_NUMBERS(ADD, 0)
#undef ADD
	default:
		break;
	}
}

static int eval_cum_sum(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *input = &inputs[0];
	size_t outer = 1, inner = 1, count = (size_t)input->dims[node->axis], step;
	bool exclusive = dlsi_node_int(node, "exclusive", 0), reverse = dlsi_node_int(node, "reverse", 0);

	(void)alloc, (void)err;
	for (uint32_t i = 0; i < input->rank; i++)
		*(i < node->axis ? &outer : &inner) *= i == node->axis ? 1 : (size_t)input->dims[i];
	step = inner * dls_dtype_bytes(input->dtype);
	if (!dlsi_view_bytes(input))
		return 0;
	for (size_t i = 0; i < outer * count; i++) {
		size_t at = i % count, first = i - at;
		size_t place = (first + (reverse ? count - 1 - at : at)) * step,
		       before = reverse ? place + step : place - step;
		const uint8_t *from = (const uint8_t *)input->data;
		uint8_t *to = outputs[0].data;

		if (at == 0 && exclusive)
			memset(to + place, 0, step);
		else if (at == 0)
			memcpy(to + place, from + place, step);
		else
			add_step(input->dtype, to + place, to + before, from + (exclusive ? before : place), inner);
	}
	return 0;
}

/* ---- ReverseSequence */

static int infer_reverse_sequence(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *lengths = dlsi_node_input(graph, node, 1);
	int64_t batch = dlsi_node_int(node, "batch_axis", 1), time = dlsi_node_int(node, "time_axis", 0);

	if (batch < 0 || batch > 1 || time != 1 - batch || input->rank < 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axes %lld and %lld, which must be the first two",
			(long long)batch, (long long)time);
	if (lengths->dtype != DLS_INT64 || lengths->rank != 1 || lengths->dims[0] != input->dims[batch])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes the lengths %s for %lld sequences",
			dlsi_shape_text(lengths->dtype, lengths->rank, lengths->dims).text,
			(long long)input->dims[batch]);
	node->axis = (uint32_t)time;
	return dlsi_op_infer_same(graph, node, err);
}

static const char *reverse_sequence_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	if (node->axis == 0)
		return "turns the batch round";
	return dlsi_node_input(graph, node, 0)->batched && dlsi_node_input(graph, node, 1)->batched
		       ? NULL
		       : "takes sequences or their lengths that all items have in common";
}

static int eval_reverse_sequence(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *input = &inputs[0];
	const int64_t *lengths = inputs[1].data;
	int64_t times = input->dims[node->axis], sequences = input->dims[!node->axis];
	size_t time_step = node->axis ? 1 : (size_t)sequences, sequence_step = node->axis ? (size_t)times : 1;
	size_t bytes = dls_dtype_bytes(input->dtype);

	(void)alloc;
	for (uint32_t i = 2; i < input->rank; i++)
		bytes *= (size_t)input->dims[i];
	for (int64_t k = 0; k < sequences; k++) {
		if (lengths[k] < 0 || lengths[k] > times)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has a sequence of %lld among %lld",
				(long long)lengths[k], (long long)times);
		for (int64_t t = 0; bytes && t < times; t++) {
			int64_t source = t < lengths[k] ? lengths[k] - 1 - t : t;
			size_t base = (size_t)k * sequence_step;

			memcpy((uint8_t *)outputs[0].data + (base + (size_t)t * time_step) * bytes,
				(const uint8_t *)input->data + (base + (size_t)source * time_step) * bytes, bytes);
		}
	}
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute cum_sum[] = {
	{"exclusive", DLSI_ATTRIBUTE_INT}, {"reverse", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute reverse_sequence[] = {
	{"batch_axis", DLSI_ATTRIBUTE_INT}, {"time_axis", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_cum_sum = {
	.name = "CumSum",
	DLSI_OP_ALL(V(11) | V(14)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = cum_sum,
	.types = DLSI_TYPES(DLSI_NUMBERS),
	.typed = 1,
	.infer = infer_cum_sum,
	.mixes = cum_sum_mixes,
	.eval = eval_cum_sum,
};

const struct dlsi_op dlsi_op_reverse_sequence = {
	.name = "ReverseSequence",
	DLSI_OP_ALL(V(10) | V(28)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = reverse_sequence,
	.infer = infer_reverse_sequence,
	.mixes = reverse_sequence_mixes,
	.eval = eval_reverse_sequence,
	.steps = dlsi_op_steps_slow,
};
