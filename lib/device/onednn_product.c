/* Gemm and MatMul: an inner product where the right side is a constant matrix, whose layout oneDNN may then choose,
 * else a product of two dense stacks of matrices. */
#include "device/onednn_lower.h"
#include "device/own.h"
#include <string.h>

/* target = clamp(alpha * A * B + beta * C) */
struct product {
	const struct dlsi_node *node;
	uint32_t c; /* or DLSI_NO_VALUE */
	float alpha, beta;
	bool transpose_a, transpose_b;
};

/* C = beta * C, in a buffer of its own. */
static int scale(
	struct dlsi_program *program, const struct product *product, struct dlsi_operand *c, struct dls_error *err)
{
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC, .operand = *c}, {.index = DNNL_ARG_DST}};
	struct dlsi_epilogue nothing = {.scale = 1, .clamp = DLSI_CLAMP_NONE};
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dlsi_epilogue_attributes(&nothing, &attributes);
	int rc;

	if (status == dnnl_success)
		status = dnnl_eltwise_forward_primitive_desc_create(&pd, program->set->engine, dnnl_forward_inference,
			dnnl_eltwise_linear, c->md, c->md, product->beta, 0, attributes);
	rc = dlsi_program_keep(program, product->node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program, c->md, &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_step(program, product->node, pd, arguments, 2, err);
	if (rc == 0)
		*c = arguments[1].operand;
	return rc;
}

/* C as a dense matrix that is broadcast to the product, times beta. */
static int use_c(
	struct dlsi_program *program, const struct product *product, struct dlsi_operand *c, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK], padded[2] = {1, 1};
	uint32_t rank = dlsi_program_dims(program, product->c, dims);
	dlsi_md view;
	int rc;

	for (uint32_t i = 0; i < rank; i++)
		padded[2 - rank + i] = dims[i];
	view = dlsi_md_plain(&program->pool, 2, padded);
	rc = dlsi_program_use_as(program, product->c, view, view, c, err);
	return rc == 0 && product->beta != 1 ? scale(program, product, c, err) : rc;
}

/* Whether C is one constant per column, which kernels add for nothing. */
static bool is_bias(const struct dlsi_program *program, const struct product *product, int64_t columns)
{
	const struct dlsi_value *c = &program->set->graph->values[product->c];

	return c->data && product->alpha == 1 && product->beta == 1 && c->rank > 0 && c->dims[c->rank - 1] == columns &&
	       dlsi_value_count(c) == (size_t)columns;
}

/* ---- by a constant matrix */

/* B as [columns, rows...] over its elements as they lie: [rows, columns], or [columns, rows] if it is transposed. */
static dlsi_md view_weights(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims, bool transposed)
{
	int64_t strides[DLS_TENSOR_RANK], stride = transposed ? 1 : dims[0];

	for (uint32_t i = rank; i-- > 1;) {
		strides[i] = stride;
		stride *= dims[i];
	}
	strides[0] = transposed ? stride : 1;
	return dlsi_md_strided(pool, rank, dims, strides);
}

/* A's dimensions as an inner product sees them: rows first, then everything that is summed over. */
static uint32_t fold_rows(
	const struct dlsi_program *program, const struct dlsi_node *node, bool stacked, int64_t *dims_out)
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);

	if (!stacked) {
		memcpy(dims_out, dims, rank * sizeof *dims);
		return rank;
	}
	dims_out[0] = 1;
	for (uint32_t i = 0; i + 1 < rank; i++)
		dims_out[0] *= dims[i];
	dims_out[1] = dims[rank - 1];
	return 2;
}

/* `stacked`: A is a stack of matrices whose last dimension is summed over; else all of its dimensions but the first. */
static int lower_inner(struct dlsi_program *program, const struct product *product, bool stacked, struct dls_error *err)
{
	const struct dlsi_node *node = product->node;
	const struct dlsi_value *b = &program->set->graph->values[node->inputs[1]];
	struct dlsi_onednn_pool *pool = &program->pool;
	struct dlsi_argument arguments[4] = {
		{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_WEIGHTS}, {.index = DNNL_ARG_DST}};
	struct dlsi_operand *extra = &arguments[3].operand;
	int64_t source[DLS_TENSOR_RANK], weights[DLS_TENSOR_RANK], target[2];
	uint32_t rank = fold_rows(program, node, stacked, source);
	struct dlsi_epilogue epilogue = {.scale = product->alpha, .clamp = node->fused};
	dlsi_md bias = NULL, view, source_md;
	dnnl_primitive_attr_t attributes = NULL;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	int rc = 0;

	memcpy(weights, source, rank * sizeof *source);
	weights[0] = target[1] = b->dims[!product->transpose_b];
	target[0] = source[0];
	if (product->c != DLSI_NO_VALUE && is_bias(program, product, target[1])) {
		bias = dlsi_md_plain(pool, 1, &target[1]);
		arguments[3].index = DNNL_ARG_BIAS;
		rc = dlsi_program_use_as(program, product->c, bias, bias, extra, err);
	} else if (product->c != DLSI_NO_VALUE) {
		rc = use_c(program, product, extra, err);
		epilogue.add = extra->md;
		arguments[3].index = dlsi_epilogue_add_index(&epilogue);
	}
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_inner_product_forward_primitive_desc_create(&pd, program->set->engine,
			dnnl_forward_inference, dlsi_md_any(pool, rank, source), dlsi_md_any(pool, rank, weights), bias,
			dlsi_md_plain(pool, 2, target), attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc)
		return rc;
	if (product->alpha == 1 && (product->c == DLSI_NO_VALUE || bias)) {
		const struct dlsi_own_full full = {.rows = source[0],
			.inputs = b->dims[product->transpose_b],
			.outputs = target[1],
			.bias = product->c,
			.transposed = product->transpose_b};

		rc = dlsi_own_full(program, node, &full, pd, err);
		if (rc != DLS_EUNSUPPORTED)
			return rc;
	}
	source_md = dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0);
	view = dlsi_md_plain(pool, rank, source);
	rc = stacked ? dlsi_program_use_as(program, node->inputs[0], view, source_md, &arguments[0].operand, err)
		     : dlsi_program_use(program, node->inputs[0], source_md, &arguments[0].operand, err);
	view = view_weights(pool, rank, weights, product->transpose_b);
	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[1], view,
			dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(
			program, node->outputs[0], dlsi_md_plain(pool, 2, target), &arguments[2].operand, err);
	if (rc == 0)
		rc = dlsi_program_step(program, node, pd, arguments, 3 + (product->c != DLSI_NO_VALUE), err);
	return rc ? rc
		  : dlsi_program_share(
			    program, node, &arguments[2].operand, dlsi_program_plain(program, node->outputs[0]), err);
}

/* ---- of two stacks */

/* The dense value as a stack of matrices of this rank; a vector is a row on the left and a column on the right. */
static dlsi_md view_stack(struct dlsi_program *program, uint32_t value, uint32_t rank, bool transposed, bool right)
{
	int64_t dims[DLS_TENSOR_RANK], padded[DLS_TENSOR_RANK], strides[DLS_TENSOR_RANK], stride = 1;
	uint32_t own = dlsi_program_dims(program, value, dims);

	if (own == 1 && right)
		dims[own++] = 1;
	for (uint32_t i = 0; i < rank; i++)
		padded[i] = i + own < rank ? 1 : dims[i + own - rank];
	for (uint32_t i = rank; i-- > 0;) {
		strides[i] = stride;
		stride *= padded[i];
	}
	if (transposed) {
		stride = strides[0];
		strides[0] = strides[1];
		strides[1] = stride;
		stride = padded[0];
		padded[0] = padded[1];
		padded[1] = stride;
	}
	return dlsi_md_strided(&program->pool, rank, padded, strides);
}

/* The product's dense shape, with the dimensions of 1 that MatMul drops for vectors. */
static dlsi_md view_target(struct dlsi_program *program, const struct dlsi_node *node, uint32_t rank)
{
	int64_t dims[DLS_TENSOR_RANK], padded[DLS_TENSOR_RANK], a[DLS_TENSOR_RANK], b[DLS_TENSOR_RANK];
	uint32_t own = dlsi_program_dims(program, node->outputs[0], dims);
	bool row = dlsi_program_dims(program, node->inputs[0], a) == 1;
	bool column = dlsi_program_dims(program, node->inputs[1], b) == 1;
	uint32_t next = own;

	for (uint32_t i = rank; i-- > 0;) {
		bool dropped = (i == rank - 1 && column) || (i == rank - 2 && row) || next == 0;

		padded[i] = dropped ? 1 : dims[--next];
	}
	return dlsi_md_plain(&program->pool, rank, padded);
}

static int lower_stacks(struct dlsi_program *program, const struct product *product, struct dls_error *err)
{
	const struct dlsi_node *node = product->node;
	const struct dlsi_value *values = program->set->graph->values;
	uint32_t a_rank = values[node->inputs[0]].rank, b_rank = values[node->inputs[1]].rank;
	uint32_t rank = a_rank > b_rank ? a_rank : b_rank;
	struct dlsi_epilogue epilogue = {.scale = product->alpha, .clamp = node->fused};
	struct dlsi_argument arguments[4] = {
		{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_WEIGHTS}, {.index = DNNL_ARG_DST}};
	dnnl_primitive_attr_t attributes = NULL;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	dlsi_md a, b, target;
	int rc = 0;

	rank = rank < 2 ? 2 : rank;
	a = view_stack(program, node->inputs[0], rank, product->transpose_a, false);
	b = view_stack(program, node->inputs[1], rank, product->transpose_b, true);
	target = view_target(program, node, rank);
	if (product->c != DLSI_NO_VALUE) {
		rc = use_c(program, product, &arguments[3].operand, err);
		epilogue.add = arguments[3].operand.md;
		arguments[3].index = dlsi_epilogue_add_index(&epilogue);
	}
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_matmul_primitive_desc_create(&pd, program->set->engine, a, b, NULL, target, attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[0], a, a, &arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[1], b, b, &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], target, &arguments[2].operand, err);
	if (rc == 0)
		rc = dlsi_program_step(program, node, pd, arguments, 3 + (product->c != DLSI_NO_VALUE), err);
	return rc ? rc
		  : dlsi_program_share(
			    program, node, &arguments[2].operand, dlsi_program_plain(program, node->outputs[0]), err);
}

static bool is_constant_matrix(const struct dlsi_value *value)
{
	return value->data && value->rank == 2;
}

int dlsi_lower_gemm(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct product product = {.node = node,
		.c = node->input_count > 2 && node->gemm.beta != 0 ? node->inputs[2] : DLSI_NO_VALUE,
		.alpha = node->gemm.alpha,
		.beta = node->gemm.beta,
		.transpose_a = node->gemm.transpose_a,
		.transpose_b = node->gemm.transpose_b};

	if (!product.transpose_a && is_constant_matrix(dlsi_node_input(program->set->graph, node, 1)))
		return lower_inner(program, &product, false, err);
	return lower_stacks(program, &product, err);
}

int dlsi_lower_mat_mul(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct product product = {.node = node,
		.c = node->input_count > DLSI_MAT_MUL_BIAS ? node->inputs[DLSI_MAT_MUL_BIAS] : DLSI_NO_VALUE,
		.alpha = 1,
		.beta = 1};

	if (dlsi_node_input(program->set->graph, node, 0)->rank > 1 &&
		is_constant_matrix(dlsi_node_input(program->set->graph, node, 1)))
		return lower_inner(program, &product, true, err);
	return lower_stacks(program, &product, err);
}
