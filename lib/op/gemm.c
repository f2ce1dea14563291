/* Matrix products: Gemm and MatMul. */
#include "base/shape.h"
#include "op/element.h"
#include "op/list.h"
#include "op/product.h"

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
	struct dlsi_value product = {.dtype = a->dtype, .rank = 2};
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = 2;

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
	return dlsi_node_set_output(graph, node, a->dtype, 2, product.dims, err);
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

static double gemm_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_product_steps(
		dlsi_node_output(graph, node), dlsi_node_input(graph, node, 1), node->gemm.transpose_b);
}

static int infer_mat_mul(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0);

	return dlsi_product_infer(graph, node, a, dlsi_node_input(graph, node, 1), a->dtype, err);
}

static const char *mat_mul_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_product_mixes(dlsi_node_input(graph, node, 0), dlsi_node_input(graph, node, 1));
}

static double mat_mul_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_product_steps(dlsi_node_output(graph, node), dlsi_node_input(graph, node, 1), false);
}

/* ---- evaluation */

static int eval_mat_mul(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	dlsi_product_stacks(&inputs[0], &inputs[1], &outputs[0]);
	if (node->input_count > DLSI_MAT_MUL_BIAS) { /* of float32 only */
		const struct dlsi_view *bias = &inputs[DLSI_MAT_MUL_BIAS];
		const size_t columns = dlsi_view_count(bias);
		float *target = outputs[0].data;

		for (size_t i = 0; i < dlsi_view_count(&outputs[0]); i++)
			target[i] += ((const float *)bias->data)[i % columns];
	}
	return 0;
}

/* Rewriting may have taken a Flatten away: then A has more dimensions than two, all but the first to be summed over. */
static struct dlsi_product product_of(
	const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *output)
{
	struct dlsi_product product = {.rows = output->dims[0], .columns = output->dims[1]};

	product.depth = inputs[1].dims[node->gemm.transpose_b];
	product.a_row = node->gemm.transpose_a ? 1 : product.depth;
	product.a_column = node->gemm.transpose_a ? product.rows : 1;
	product.b_row = node->gemm.transpose_b ? 1 : product.columns;
	product.b_column = node->gemm.transpose_b ? product.depth : 1;
	return product;
}

/* Integers are exact where nothing is multiplied. */
#define COMBINED(x, y)                                                                                                 \
	DLSI_CHOOSE(x, (type)alpha *(x) + (type)beta * (y),                                                            \
		alpha == 1 && beta == 1 ? (type)DLSI_SUM(x, y)                                                         \
					: (type)((double)alpha * (double)(x) + (double)beta * (double)(y)))

#define COMBINE(dtype, element, ...)                                                                                   \
	case dtype:                                                                                                    \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {                         \
			typedef element type;                                                                          \
			type *to = (type *)output->data + walk.offsets[0];                                             \
			const type *from = (const type *)c->data + walk.offsets[1];                                    \
                                                                                                                       \
			for (int64_t i = 0; i < walk.count; i++)                                                       \
				to[i] = (type)COMBINED(to[i], from[i * walk.steps[1]]);                                \
		}                                                                                                      \
		break;

/* alpha * output + beta * C */
static void combine(const struct dlsi_node *node, const struct dlsi_view *c, const struct dlsi_view *output)
{
	static const uint64_t zero;
	const struct dlsi_view none = {.dtype = output->dtype, .data = (void *)&zero};
	const float alpha = node->gemm.alpha, beta = c ? node->gemm.beta : 1;
	struct dlsi_walk walk;

	if (alpha == 1 && !c)
		return;
	c = c ? c : &none;
	dlsi_walk_broadcast(&walk, output, &c, 1);
	switch (output->dtype) {
		DLSI_MATRIX_TYPES(COMBINE, 0)
	default:
		break;
	}
}

static int eval_gemm(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_product product = product_of(node, inputs, &outputs[0]);
	bool adds = node->input_count > 2 && inputs[2].data && node->gemm.beta != 0;

	(void)alloc, (void)err;
	dlsi_product_run(&product, outputs[0].dtype, inputs[0].data, inputs[1].data, outputs[0].data);
	combine(node, adds ? &inputs[2] : NULL, &outputs[0]);
	return 0;
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
	.types = DLSI_TYPES(DLSI_MATRIX_TYPES),
	.infer = infer_gemm,
	.mixes = gemm_mixes,
	.eval = eval_gemm,
	.steps = gemm_steps,
	.flops = 2,
};

const struct dlsi_op dlsi_op_mat_mul = {
	.name = "MatMul",
	DLSI_OP_ALL(V(1) | V(9) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.types = DLSI_TYPES(DLSI_MATRIX_TYPES),
	.infer = infer_mat_mul,
	.mixes = mat_mul_mixes,
	.eval = eval_mat_mul,
	.steps = mat_mul_steps,
	.flops = 2,
};
