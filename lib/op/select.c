/* Elements by a condition: Where, Compress, NonZero. */
#include "base/shape.h"
#include "op/cast.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_where(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *condition = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *x = dlsi_node_input(graph, node, 1), *y = dlsi_node_input(graph, node, 2);
	struct dlsi_value both = {.dtype = x->dtype};
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;

	if (condition->dtype != DLS_BOOL || x->dtype != y->dtype || !dlsi_op_broadcast(x, y, &both.rank, both.dims) ||
		!dlsi_op_broadcast(&both, condition, &rank, dims))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "chooses by %s between %s and %s, which do not fit",
			dlsi_shape_text(condition->dtype, condition->rank, condition->dims).text,
			dlsi_shape_text(x->dtype, x->rank, x->dims).text,
			dlsi_shape_text(y->dtype, y->rank, y->dims).text);
	return dlsi_node_set_output(graph, node, x->dtype, rank, dims, err);
}

/* Operands: output, condition, x, y. */
static void choose_row(
	const struct dlsi_walk *walk, void *to, const uint8_t *condition, const void *x, const void *y, size_t bytes)
{
	const int64_t *steps = walk->steps, *offsets = walk->offsets;

	condition += offsets[1];
#define CHOOSE(type)                                                                                                   \
	if (bytes == sizeof(type)) {                                                                                   \
		type *target = (type *)to + offsets[0];                                                                \
		const type *a = (const type *)x + offsets[2], *b = (const type *)y + offsets[3];                       \
                                                                                                                       \
		for (int64_t i = 0; i < walk->count; i++)                                                              \
			target[i * steps[0]] = condition[i * steps[1]] ? a[i * steps[2]] : b[i * steps[3]];            \
	}
	DLSI_WALK_WIDTHS(CHOOSE)
#undef CHOOSE
}

static int eval_where(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_walk walk = {.rank = outputs[0].rank, .operands = 4};

	(void)node, (void)alloc, (void)err;
	memcpy(walk.dims, outputs[0].dims, sizeof walk.dims);
	dlsi_strides(walk.rank, walk.dims, walk.strides[0]);
	for (uint32_t i = 0; i < 3; i++)
		dlsi_strides_broadcast(&inputs[i], walk.rank, walk.dims, walk.strides[i + 1]);
	for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))
		choose_row(&walk, outputs[0].data, inputs[0].data, inputs[1].data, inputs[2].data,
			dls_dtype_bytes(outputs[0].dtype));
	return 0;
}

/* ---- Compress */

/* How many of a constant condition hold; all that may if it is none. */
static int64_t count_kept(const struct dlsi_value *condition, int64_t most)
{
	const uint8_t *holds = condition->data;
	int64_t considered = condition->dims[0] < most ? condition->dims[0] : most, kept = 0;

	for (int64_t i = 0; holds && i < considered; i++)
		kept += holds[i] != 0;
	return holds ? kept : considered;
}

static int infer_compress(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *condition = dlsi_node_input(graph, node, 1);
	bool flat = !dlsi_node_attribute(node, "axis");
	int64_t dims[DLS_TENSOR_RANK];
	int rc = flat ? 0 : dlsi_node_axis(node, 0, input->rank, &node->axis, err);

	if (rc)
		return rc;
	if (condition->dtype != DLS_BOOL || condition->rank != 1)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes the condition %s, which is no vector of bool",
			dlsi_shape_text(condition->dtype, condition->rank, condition->dims).text);
	memcpy(dims, input->dims, sizeof dims);
	node->axis = flat ? 0 : node->axis;
	dims[node->axis] = count_kept(condition, flat ? (int64_t)dlsi_value_count(input) : dims[node->axis]);
	return condition->data ? dlsi_node_set_output(graph, node, input->dtype, flat ? 1 : input->rank, dims, err)
			       : dlsi_node_set_bounded(graph, node, 0, input->dtype, flat ? 1 : input->rank, dims, err);
}

static const char *compress_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	if (dlsi_node_input(graph, node, 1)->batched || !dlsi_node_input(graph, node, 1)->data)
		return "keeps as much as its input says, so that items differ in size";
	return !dlsi_node_attribute(node, "axis") || node->axis == 0 ? "takes some rows of the batch" : NULL;
}

static int eval_compress(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *input = &inputs[0];
	bool flat = !dlsi_node_attribute(node, "axis");
	struct dlsi_view from = {.dtype = input->dtype, .rank = 3, .dims = {1, 1, 1}, .data = input->data}, to;
	const uint8_t *holds = inputs[1].data;
	const int64_t *maps[3] = {NULL};
	static const uint64_t nothing;
	int64_t *kept = dlsi_calloc(alloc, (size_t)inputs[1].dims[0] + 1, sizeof *kept), dims[DLS_TENSOR_RANK];

	if (!kept)
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; i < input->rank; i++)
		from.dims[flat || i == node->axis ? 1 : i < node->axis ? 0 : 2] *= input->dims[i];
	to = from;
	to.data = outputs[0].data;
	to.dims[1] = 0;
	for (int64_t i = 0; i < inputs[1].dims[0] && i < from.dims[1]; i++)
		if (holds[i])
			kept[to.dims[1]++] = i;
	maps[1] = kept;
	dlsi_mapped_copy(&to, &from, maps, &nothing);
	memcpy(dims, outputs[0].dims, sizeof dims);
	dims[node->axis] = to.dims[1];
	dlsi_view_tell(&outputs[0], dims);
	dlsi_free(alloc, kept);
	return 0;
}

/* ---- NonZero */

/* A scalar counts as a vector of one. */
static int infer_non_zero(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[2] = {input->rank ? input->rank : 1, (int64_t)dlsi_value_count(input)};

	return dlsi_node_set_bounded(graph, node, 0, DLS_INT64, 2, dims, err);
}

static const char *non_zero_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "finds so many elements as there are, so that items differ in size";
}

static int eval_non_zero(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *input = &inputs[0];
	size_t count = dlsi_view_count(input), found = 0, stride = 1;
	uint8_t *holds = dlsi_calloc(alloc, count + 1, 1);
	int64_t *to = outputs[0].data, dims[2] = {outputs[0].dims[0], 0};

	(void)node;
	if (!holds)
		return dlsi_fail_memory(err);
	dlsi_cast(DLS_BOOL, holds, input->dtype, input->data, count);
	for (size_t i = 0; i < count; i++)
		dims[1] += holds[i];
	for (uint32_t axis = input->rank; axis-- > 0; stride *= (size_t)input->dims[axis]) {
		int64_t *row = to + axis * (size_t)dims[1];

		found = 0;
		for (size_t i = 0; i < count; i++)
			if (holds[i])
				row[found++] = (int64_t)(i / stride % (size_t)input->dims[axis]);
	}
	if (!input->rank && dims[1])
		to[0] = 0;
	dlsi_view_tell(&outputs[0], dims);
	dlsi_free(alloc, holds);
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute none[] = {{0}};

const struct dlsi_op dlsi_op_compress = {
	.name = "Compress",
	DLSI_OP_ALL(V(9) | V(11) | V(28)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_compress,
	.mixes = compress_mixes,
	.eval = eval_compress,
};

const struct dlsi_op dlsi_op_non_zero = {
	.name = "NonZero",
	DLSI_OP_ALL(V(9) | V(13)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_non_zero,
	.mixes = non_zero_mixes,
	.eval = eval_non_zero,
};

const struct dlsi_op dlsi_op_where = {
	.name = "Where",
	DLSI_OP_ALL(V(9) | V(16)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_where,
	.mixes = dlsi_op_mixes_elements,
	.eval = eval_where,
};
