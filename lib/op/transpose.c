/* The same elements in another order of the axes: Transpose, DepthToSpace, SpaceToDepth. */
#include "base/shape.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_transpose(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_attribute *perm = dlsi_node_attribute(node, "perm");
	int64_t dims[DLS_TENSOR_RANK];
	unsigned seen = 0;

	if (perm && perm->count != input->rank)
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "orders %u axes, its input has %u", perm->count, input->rank);
	for (uint32_t i = 0; i < input->rank; i++) {
		int64_t axis = perm ? perm->ints[i] : input->rank - 1 - i;

		if (axis < 0 || axis >= (int64_t)input->rank || seen & 1U << axis)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has an order of the axes in which %lld is wrong",
				(long long)axis);
		seen |= 1U << axis;
		node->permutation[i] = (uint32_t)axis;
		dims[i] = input->dims[axis];
	}
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static const char *transpose_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->permutation[0] ? "moves the batch from the first axis to another" : NULL;
}

/* From the input, seen with these dimensions, to the output, whose axes are those of `permutation` one after another.
 */
static void permute(const struct dlsi_view *output, const struct dlsi_view *input, uint32_t rank, const int64_t *dims,
	const uint32_t *permutation)
{
	struct dlsi_walk walk = {.rank = rank, .operands = 2};
	int64_t strides[DLS_TENSOR_RANK];

	dlsi_strides(rank, dims, strides);
	for (uint32_t i = 0; i < rank; i++) {
		walk.dims[i] = dims[permutation[i]];
		walk.strides[1][i] = strides[permutation[i]];
	}
	dlsi_strides(rank, walk.dims, walk.strides[0]);
	dlsi_walk_copy(&walk, output->data, input->data, dls_dtype_bytes(output->dtype));
}

static int eval_transpose(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	permute(&outputs[0], &inputs[0], inputs[0].rank, inputs[0].dims, node->permutation);
	return 0;
}

/* ---- between channels and blocks of pixels */

enum { BLOCK_MOST = 1 << 15 }; /* its square still fits 32 bits */

/* The size of a block, and that the input has 4 dimensions. */
static int read_block(
	const struct dlsi_node *node, const struct dlsi_value *input, int64_t *block_out, struct dls_error *err)
{
	*block_out = dlsi_node_int(node, "blocksize", 0);
	if (*block_out < 1 || *block_out > BLOCK_MOST)
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "has the impossible block size %lld", (long long)*block_out);
	if (input->rank != 4)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s instead of 4 dimensions",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	return 0;
}

static bool is_crd(const struct dlsi_node *node)
{
	return strcmp(dlsi_node_string(node, "mode", "DCR"), "CRD") == 0;
}

/* DCR: the channels count blocks in the outermost place; CRD: in the innermost. */
static int check_mode(const struct dlsi_node *node, struct dls_error *err)
{
	const char *mode = dlsi_node_string(node, "mode", "DCR");

	return is_crd(node) || strcmp(mode, "DCR") == 0
		       ? 0
		       : dlsi_node_fail(node, err, DLS_EFORMAT, "has the mode '%s', neither DCR nor CRD", mode);
}

static int infer_depth_to_space(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t block, dims[4];
	int rc = read_block(node, input, &block, err);

	if (rc == 0)
		rc = check_mode(node, err);
	if (rc)
		return rc;
	if (input->dims[1] % (block * block))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "makes blocks of %lld by %lld out of %lld channels",
			(long long)block, (long long)block, (long long)input->dims[1]);
	dims[0] = input->dims[0];
	dims[1] = input->dims[1] / (block * block);
	dims[2] = input->dims[2] * block;
	dims[3] = input->dims[3] * block;
	return dlsi_node_set_output(graph, node, input->dtype, 4, dims, err);
}

static int eval_depth_to_space(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	static const uint32_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
	int64_t b = dlsi_node_int(node, "blocksize", 0);
	const int64_t *dims = inputs[0].dims, channels = dims[1] / (b * b);
	int64_t outermost[] = {dims[0], b, b, channels, dims[2], dims[3]};
	int64_t innermost[] = {dims[0], channels, b, b, dims[2], dims[3]};

	(void)alloc, (void)err;
	permute(&outputs[0], &inputs[0], 6, is_crd(node) ? innermost : outermost, is_crd(node) ? crd : dcr);
	return 0;
}

static int infer_space_to_depth(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t block, dims[4];
	int rc = read_block(node, input, &block, err);

	if (rc == 0)
		rc = check_mode(node, err);
	if (rc)
		return rc;
	if (input->dims[2] % block || input->dims[3] % block)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "divides %s into blocks of %lld by %lld",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, (long long)block,
			(long long)block);
	dims[0] = input->dims[0];
	if (__builtin_mul_overflow(input->dims[1], block * block, &dims[1]))
		dims[1] = INT64_MAX; /* which is refused as too large */
	dims[2] = input->dims[2] / block;
	dims[3] = input->dims[3] / block;
	return dlsi_node_set_output(graph, node, input->dtype, 4, dims, err);
}

static int eval_space_to_depth(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	static const uint32_t dcr[] = {0, 3, 5, 1, 2, 4}, crd[] = {0, 1, 3, 5, 2, 4};
	int64_t b = dlsi_node_int(node, "blocksize", 0);
	const int64_t *dims = inputs[0].dims;
	int64_t split[] = {dims[0], dims[1], dims[2] / b, b, dims[3] / b, b};

	(void)alloc, (void)err;
	permute(&outputs[0], &inputs[0], 6, split, is_crd(node) ? crd : dcr);
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute perm[] = {{"perm", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute block[] = {
	{"blocksize", DLSI_ATTRIBUTE_INT}, {"mode", DLSI_ATTRIBUTE_STRING}, {0}};

const struct dlsi_op dlsi_op_depth_to_space = {
	.name = "DepthToSpace",
	DLSI_OP_ALL(V(1) | V(11) | V(13) | V(28)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = block,
	.infer = infer_depth_to_space,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_depth_to_space,
};

const struct dlsi_op dlsi_op_space_to_depth = {
	.name = "SpaceToDepth",
	DLSI_OP_ALL(V(1) | V(13) | V(28)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = block,
	.infer = infer_space_to_depth,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_space_to_depth,
};

const struct dlsi_op dlsi_op_transpose = {
	.name = "Transpose",
	DLSI_OP_ALL(V(1) | V(13) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = perm,
	.infer = infer_transpose,
	.mixes = transpose_mixes,
	.eval = eval_transpose,
	.moves = 1,
};
