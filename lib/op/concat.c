/* Concat and Split: several tensors along one axis of another. */
#include "base/shape.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* Whether they differ in nothing but this axis. */
static bool fits(const struct dlsi_value *a, const struct dlsi_value *b, uint32_t axis)
{
	if (a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (i != axis && a->dims[i] != b->dims[i])
			return false;
	return true;
}

static int infer_concat(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *first = dlsi_node_input(graph, node, 0);
	struct dlsi_value joined = *first;
	int rc = dlsi_node_axis(node, 1, first->rank, &node->axis, err);

	for (uint32_t i = 1; rc == 0 && i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input || !fits(first, input, node->axis))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "joins %s and %s, which do not fit",
				dlsi_shape_text(first->dtype, first->rank, first->dims).text,
				input ? dlsi_shape_text(input->dtype, input->rank, input->dims).text : "nothing");
		if (__builtin_add_overflow(joined.dims[node->axis], input->dims[node->axis], &joined.dims[node->axis]))
			joined.dims[node->axis] = INT64_MAX; /* which is refused as too large */
	}
	return rc ? rc : dlsi_node_set_output(graph, node, joined.dtype, joined.rank, joined.dims, err);
}

/* What is not batched is joined to every row, so it must be one. */
static const char *concat_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	if (node->axis == 0)
		return "joins along axis 0, the batch";
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input->batched && input->dims[0] != 1)
			return "joins rows of an item to rows that all items have in common";
	}
	return NULL;
}

static int eval_concat(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0];
	int64_t offset = 0;

	(void)alloc, (void)err;
	for (uint32_t i = 0; i < node->input_count; i++) {
		struct dlsi_walk walk = {.rank = output->rank, .operands = 2};

		memcpy(walk.dims, output->dims, sizeof walk.dims);
		walk.dims[node->axis] = inputs[i].dims[node->axis];
		dlsi_strides(output->rank, output->dims, walk.strides[0]);
		dlsi_strides_broadcast(&inputs[i], output->rank, walk.dims, walk.strides[1]);
		walk.offsets[0] = offset * walk.strides[0][node->axis];
		dlsi_walk_copy(&walk, output->data, inputs[i].data, dls_dtype_bytes(output->dtype));
		offset += inputs[i].dims[node->axis];
	}
	return 0;
}

/* ---- Split */

/* Parts that the file does not list are of equal size, but for the last one. */
static int share_equally(
	const struct dlsi_node *node, int64_t whole, int64_t *sizes, uint32_t count, struct dls_error *err)
{
	int64_t parts = node->version < 18 ? count : dlsi_node_int(node, "num_outputs", count);
	int64_t size = parts > 0 ? whole / parts + (whole % parts != 0) : 0;

	if (parts < 1 || parts < count || (node->version < 18 && whole % parts))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "splits %lld into %lld parts for %u outputs",
			(long long)whole, (long long)parts, count);
	for (uint32_t i = 0; i < count; i++) {
		sizes[i] = size < whole ? size : whole;
		whole -= sizes[i];
	}
	return 0;
}

static int read_sizes(struct dlsi_graph *graph, const struct dlsi_node *node, int64_t whole, int64_t *sizes,
	uint32_t capacity, struct dls_error *err)
{
	int64_t sum = 0;
	uint32_t count;
	int rc = dlsi_node_ints(graph, node, 1, "split", sizes, capacity, &count, err);

	if (rc || count == DLSI_OP_ABSENT)
		return rc ? rc : share_equally(node, whole, sizes, node->output_count, err);
	for (uint32_t i = 0; i < count; i++)
		if (sizes[i] < 0 || __builtin_add_overflow(sum, sizes[i], &sum))
			return dlsi_node_fail(
				node, err, DLS_EFORMAT, "has a part of the impossible size %lld", (long long)sizes[i]);
	return count >= node->output_count && sum == whole
		       ? 0
		       : dlsi_node_fail(node, err, DLS_EFORMAT, "splits %lld into %u parts of %lld together",
				 (long long)whole, count, (long long)sum);
}

static int infer_split(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *listed = dlsi_node_input(graph, node, 1);
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, "split");
	size_t capacity = listed ? dlsi_value_count(listed) : attribute ? attribute->count : 0;
	int64_t *sizes, *offsets, offset = 0, dims[DLS_TENSOR_RANK];
	uint32_t axis;
	int rc = dlsi_node_axis(node, 0, input->rank, &axis, err);

	if (rc)
		return rc;
	capacity = capacity < node->output_count ? node->output_count : capacity;
	sizes = capacity <= UINT32_MAX ? dlsi_arena_take(&graph->arena, capacity, sizeof *sizes) : NULL;
	offsets = dlsi_arena_take(&graph->arena, node->output_count, sizeof *offsets);
	if (!sizes || !offsets)
		return dlsi_fail_memory(err);
	rc = read_sizes(graph, node, input->dims[axis], sizes, (uint32_t)capacity, err);
	memcpy(dims, input->dims, sizeof dims);
	for (uint32_t i = 0; rc == 0 && i < node->output_count; i++) {
		dims[axis] = sizes[i];
		rc = dlsi_node_set_output_at(graph, node, i, input->dtype, input->rank, dims, err);
		offsets[i] = offset;
		offset += sizes[i];
	}
	node->split.axis = axis;
	node->split.offsets = offsets;
	return rc;
}

static const char *split_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->split.axis == 0 ? "splits axis 0, the batch" : dlsi_op_mixes_weights(graph, node);
}

static int eval_split(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	for (uint32_t i = 0; i < node->output_count; i++) {
		struct dlsi_walk walk = {.rank = inputs[0].rank, .operands = 2};

		if (!outputs[i].data)
			continue;
		memcpy(walk.dims, outputs[i].dims, sizeof walk.dims);
		dlsi_strides(walk.rank, walk.dims, walk.strides[0]);
		dlsi_strides(walk.rank, inputs[0].dims, walk.strides[1]);
		walk.offsets[1] = node->split.offsets[i] * walk.strides[1][node->split.axis];
		dlsi_walk_copy(&walk, outputs[i].data, inputs[0].data, dls_dtype_bytes(inputs[0].dtype));
	}
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute split[] = {
	{"axis", DLSI_ATTRIBUTE_INT}, {"num_outputs", DLSI_ATTRIBUTE_INT}, {"split", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_concat = {
	.name = "Concat",
	DLSI_OP_ALL(V(1) | V(4) | V(11) | V(13)),
	.inputs_least = 1,
	.inputs_most = DLSI_OP_ANY_NUMBER,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_concat,
	.mixes = concat_mixes,
	.eval = eval_concat,
	.moves = DLSI_OP_MOVES_ALL,
};

const struct dlsi_op dlsi_op_split = {
	.name = "Split",
	DLSI_OP_ALL(V(1) | V(2) | V(11) | V(13) | V(18)),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = DLSI_OP_ANY_NUMBER,
	.attributes = split,
	.infer = infer_split,
	.mixes = split_mixes,
	.eval = eval_split,
	.moves = 1,
};
