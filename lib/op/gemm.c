/* Matrix products: Gemm and MatMul. */
#include "base/shape.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

static int refuse(
	const struct dlsi_node *node, const struct dlsi_value *a, const struct dlsi_value *b, struct dls_error *err)
{
	return dlsi_node_fail(node, err, DLS_EFORMAT, "combines %s and %s, which do not fit",
		dlsi_shape_text(a->dtype, a->rank, a->dims).text, dlsi_shape_text(b->dtype, b->rank, b->dims).text);
}

/* alpha * A' * B' + beta * C, where C is broadcast to the product's shape. */
static int infer_gemm(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0), *b = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *c = dlsi_node_input(graph, node, 2);
	bool transpose_a = dlsi_node_int(node, "transA", 0), transpose_b = dlsi_node_int(node, "transB", 0);
	struct dlsi_value product = {.dtype = DLS_FLOAT32, .rank = 2};
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = 2;
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (a->rank != 2 || b->rank != 2 || a->dims[!transpose_a] != b->dims[transpose_b])
		return refuse(node, a, b, err);
	product.dims[0] = a->dims[transpose_a];
	product.dims[1] = b->dims[!transpose_b];
	if (c && (!dlsi_op_broadcast(&product, c, &rank, dims) || rank != 2 || dims[0] != product.dims[0] ||
			 dims[1] != product.dims[1]))
		return refuse(node, &product, c, err);
	node->gemm.alpha = dlsi_node_float(node, "alpha", 1);
	node->gemm.beta = dlsi_node_float(node, "beta", 1);
	node->gemm.transpose_a = transpose_a;
	node->gemm.transpose_b = transpose_b;
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, 2, product.dims, err);
}

static const char *gemm_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0), *b = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *c = dlsi_node_input(graph, node, 2);

	if (b->batched)
		return "multiplies by rows of different items";
	if (!a->batched || node->gemm.transpose_a)
		return "puts the batch in another place than the first";
	return c && c->batched && c->rank != 2 ? "adds numbers of different items" : NULL;
}

/* numpy's matmul: matrices in the last two dimensions, the others broadcast; a vector gets a dimension of 1 that the
 * result loses again. */
static int infer_mat_mul(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0), *b = dlsi_node_input(graph, node, 1);
	struct dlsi_value a_stack = *a, b_stack = *b;
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (!a->rank || !b->rank || a->dims[a->rank - 1] != b->dims[b->rank < 2 ? 0 : b->rank - 2])
		return refuse(node, a, b, err);
	a_stack.rank = a->rank < 2 ? 0 : a->rank - 2;
	b_stack.rank = b->rank < 2 ? 0 : b->rank - 2;
	if (!dlsi_op_broadcast(&a_stack, &b_stack, &rank, dims))
		return refuse(node, a, b, err);
	if (a->rank > 1)
		dims[rank++] = a->dims[a->rank - 2];
	if (b->rank > 1)
		dims[rank++] = b->dims[b->rank - 1];
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, rank, dims, err);
}

/* The batch may be the rows of a matrix on the left, or the first of the dimensions that are stacked. */
static const char *mat_mul_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0), *b = dlsi_node_input(graph, node, 1);
	bool stacked = a->rank > 2 || b->rank > 2;
	bool apart = stacked ? dlsi_op_broadcast_keeps_rows(a, b) : a->batched && a->rank == 2 && !b->batched;

	return apart ? NULL : "multiplies rows of different items";
}

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute gemm_attributes[] = {{"alpha", DLSI_ATTRIBUTE_FLOAT},
	{"beta", DLSI_ATTRIBUTE_FLOAT}, {"transA", DLSI_ATTRIBUTE_INT}, {"transB", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_gemm = {
	.name = "Gemm",
	DLSI_OP_ALL(V(1) | V(6) | V(7) | V(9) | V(11) | V(13)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = gemm_attributes,
	.infer = infer_gemm,
	.mixes = gemm_mixes,
};

const struct dlsi_op dlsi_op_mat_mul = {
	.name = "MatMul",
	DLSI_OP_ALL(V(1) | V(9) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_mat_mul,
	.mixes = mat_mul_mixes,
};
