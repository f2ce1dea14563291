/* Products of quantized matrices: MatMulInteger and QLinearMatMul. A has one scale and zero point, or one for each row;
 * B one, or one for each column. */
#include "base/shape.h"
#include "op/list.h"
#include "op/product.h"
#include <string.h>

#define V             DLSI_OP_SINCE

#define BYTES(X, ...) X(DLS_INT8, int8_t, __VA_ARGS__) X(DLS_UINT8, uint8_t, __VA_ARGS__)

/* An input with the places of what belongs to it among the node's inputs (0: there is none). */
struct side {
	uint32_t matrix, scale, zero;
	bool is_left;
};

/* Makes what belongs to a matrix something that is broadcast to it: a number, a column on the left, a row on the right.
 */
static void align(uint32_t *rank, int64_t *dims, bool is_left)
{
	bool single = true;

	for (uint32_t i = 0; i < *rank; i++)
		single = single && dims[i] == 1;
	if (single)
		*rank = 0;
	else if (*rank == 1 && is_left)
		dims[(*rank)++] = 1;
}

/* Whether there is a number for all, for each row on the left, or for each column on the right. */
static bool fits(const struct dlsi_value *value, const struct dlsi_value *matrix, bool is_left)
{
	struct dlsi_value given = *value, wanted = *matrix, all;

	align(&given.rank, given.dims, is_left);
	if (given.rank == 0 || matrix->rank < 2)
		return given.rank == 0;
	wanted.dims[is_left ? matrix->rank - 1 : matrix->rank - 2] = 1;
	return dlsi_op_broadcast(&wanted, &given, &all.rank, all.dims) && dlsi_value_same_shape(&all, &wanted);
}

static int check_side(
	const struct dlsi_graph *graph, const struct dlsi_node *node, const struct side *side, struct dls_error *err)
{
	const struct dlsi_value *matrix = dlsi_node_input(graph, node, side->matrix);
	const uint32_t places[] = {side->scale, side->zero};

	if (!(DLSI_TYPES(BYTES) & DLSI_OP_TYPE(matrix->dtype)))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes '%s' of %s, which it is not defined for",
			matrix->name, dls_dtype_name(matrix->dtype));
	for (uint32_t i = 0; i < 2; i++) {
		const struct dlsi_value *value = places[i] ? dlsi_node_input(graph, node, places[i]) : NULL;

		if (value && (value->dtype != (i ? matrix->dtype : DLS_FLOAT32) || !fits(value, matrix, side->is_left)))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s for '%s' %s", value->name,
				dlsi_shape_text(value->dtype, value->rank, value->dims).text, matrix->name,
				dlsi_shape_text(matrix->dtype, matrix->rank, matrix->dims).text);
	}
	return 0;
}

static const struct side integer_sides[] = {{0, 0, 2, true}, {1, 0, 3, false}};
static const struct side linear_sides[] = {{0, 1, 2, true}, {3, 4, 5, false}};

static int infer_mat_mul_integer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc = check_side(graph, node, &integer_sides[0], err);

	if (rc == 0)
		rc = check_side(graph, node, &integer_sides[1], err);
	return rc ? rc
		  : dlsi_product_infer(graph, node, dlsi_node_input(graph, node, 0), dlsi_node_input(graph, node, 1),
			    DLS_INT32, err);
}

static int infer_linear_mat_mul(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *scale = dlsi_node_input(graph, node, 6), *zero = dlsi_node_input(graph, node, 7);
	int rc = check_side(graph, node, &linear_sides[0], err);

	if (rc == 0)
		rc = check_side(graph, node, &linear_sides[1], err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < 2; i++) {
		const struct dlsi_value *other = dlsi_node_input(graph, node, linear_sides[!i].matrix);

		if (other->rank < 2 && dlsi_value_count(dlsi_node_input(graph, node, linear_sides[i].scale)) != 1)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"has a scale for each row or column of '%s', which is multiplied by the vector '%s'",
				dlsi_node_input(graph, node, linear_sides[i].matrix)->name, other->name);
	}
	if (scale->dtype != DLS_FLOAT32 || dlsi_value_count(scale) != 1 || dlsi_value_count(zero) != 1 ||
		!(DLSI_TYPES(BYTES) & DLSI_OP_TYPE(zero->dtype)))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"makes its output with '%s' %s and '%s' %s; one float32 and one int8 or uint8 are supported",
			scale->name, dlsi_shape_text(scale->dtype, scale->rank, scale->dims).text, zero->name,
			dlsi_shape_text(zero->dtype, zero->rank, zero->dims).text);
	return dlsi_product_infer(
		graph, node, dlsi_node_input(graph, node, 0), dlsi_node_input(graph, node, 3), zero->dtype, err);
}

/* Numbers for each row of A are numbers for each row of the batch, wherever that is. */
static const char *mixes(const struct dlsi_graph *graph, const struct dlsi_node *node, const struct side sides[2])
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);
		bool is_matrix = i == sides[0].matrix || i == sides[1].matrix;

		if (input && !is_matrix &&
			(input->batched || (dlsi_value_count(input) != 1 &&
						   (input->rank > 1 || i == sides[0].scale || i == sides[0].zero))))
			return "has a scale or zero point for each row";
	}
	return dlsi_product_mixes(
		dlsi_node_input(graph, node, sides[0].matrix), dlsi_node_input(graph, node, sides[1].matrix));
}

static const char *mat_mul_integer_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return mixes(graph, node, integer_sides);
}

static const char *linear_mat_mul_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return mixes(graph, node, linear_sides);
}

static double mat_mul_integer_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_product_steps(
		dlsi_node_output(graph, node), dlsi_node_input(graph, node, integer_sides[1].matrix), false);
}

static double linear_mat_mul_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_product_steps(
		dlsi_node_output(graph, node), dlsi_node_input(graph, node, linear_sides[1].matrix), false);
}

/* ---- evaluation */

#define SUBTRACT(dtype, type, ...)                                                                                     \
	case dtype:                                                                                                    \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))                           \
			for (int64_t i = 0; i < walk.count; i++)                                                       \
				to[walk.offsets[0] + i] =                                                              \
					((const type *)view->data)[walk.offsets[1] + i] -                              \
					((const type *)given.data)[walk.offsets[2] + i * walk.steps[2]];               \
		break;

/* The matrices less their zero points, in memory of `alloc` (view_out->data); false when that is exhausted. */
static bool centre(const struct side *side, const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_alloc *alloc, struct dlsi_view *view_out)
{
	static const int32_t nothing;
	const struct dlsi_view *view = &inputs[side->matrix];
	struct dlsi_view given = {.dtype = view->dtype, .data = (void *)&nothing};
	int32_t *to = dlsi_calloc(alloc, dlsi_view_count(view) + 1, sizeof *to);
	struct dlsi_walk walk;

	*view_out = *view;
	view_out->dtype = DLS_INT32;
	view_out->data = to;
	if (side->zero < node->input_count && inputs[side->zero].data)
		given = inputs[side->zero];
	align(&given.rank, given.dims, side->is_left);
	dlsi_walk_broadcast(&walk, view_out, (const struct dlsi_view *[]){view, &given}, 2);
	if (!to)
		return false;
	switch (view->dtype) {
		BYTES(SUBTRACT, 0)
	default:
		break;
	}
	return true;
}

/* The product of the two sides into `output` of int32. */
static int multiply(const struct side sides[2], const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *output, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_view a, b;
	bool left = centre(&sides[0], node, inputs, alloc, &a), right = centre(&sides[1], node, inputs, alloc, &b);

	if (left && right)
		dlsi_product_stacks(&a, &b, output);
	dlsi_free(alloc, a.data);
	dlsi_free(alloc, b.data);
	return left && right ? 0 : dlsi_fail_memory(err);
}

static int eval_mat_mul_integer(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return multiply(integer_sides, node, inputs, &outputs[0], alloc, err);
}

#define REQUANTIZE(dtype, type, ...)                                                                                   \
	case dtype: {                                                                                                  \
		int32_t zero = *(const type *)inputs[7].data;                                                          \
                                                                                                                       \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))                           \
			for (int64_t i = 0; i < walk.count; i++) {                                                     \
				float factor = a[walk.offsets[2] + i * walk.steps[2]] *                                \
					       b[walk.offsets[3] + i * walk.steps[3]] / scale;                         \
				float x = (float)sums[walk.offsets[1] + i] * factor;                                   \
                                                                                                                       \
				((type *)output->data)[walk.offsets[0] + i] = (type)dlsi_quantized(                    \
					x, (float)zero, (float)DLSI_LEAST(type), (float)DLSI_GREATEST(type));          \
			}                                                                                              \
		break;                                                                                                 \
	}

static void requantize(const struct dlsi_view *inputs, const struct dlsi_view *product, const struct dlsi_view *output)
{
	struct dlsi_view a_scale = inputs[1], b_scale = inputs[4];
	const float *a = a_scale.data, *b = b_scale.data, scale = *(const float *)inputs[6].data;
	const int32_t *sums = product->data;
	struct dlsi_walk walk;

	align(&a_scale.rank, a_scale.dims, true);
	align(&b_scale.rank, b_scale.dims, false);
	dlsi_walk_broadcast(&walk, output, (const struct dlsi_view *[]){product, &a_scale, &b_scale}, 3);
	switch (output->dtype) {
		BYTES(REQUANTIZE, 0)
	default:
		break;
	}
}

static int eval_linear_mat_mul(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_view product = outputs[0];
	int rc;

	product.dtype = DLS_INT32;
	product.data = dlsi_calloc(alloc, dlsi_view_count(&product) + 1, sizeof(int32_t));
	if (!product.data)
		return dlsi_fail_memory(err);
	rc = multiply(linear_sides, node, inputs, &product, alloc, err);
	if (rc == 0)
		requantize(inputs, &product, &outputs[0]);
	dlsi_free(alloc, product.data);
	return rc;
}

static const struct dlsi_op_attribute none[] = {{0}};

const struct dlsi_op dlsi_op_mat_mul_integer = {
	.name = "MatMulInteger",
	DLSI_OP_ALL(V(10)),
	.inputs_least = 2,
	.inputs_most = 4,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_mat_mul_integer,
	.mixes = mat_mul_integer_mixes,
	.eval = eval_mat_mul_integer,
	.steps = mat_mul_integer_steps,
	.flops = 2,
};

const struct dlsi_op dlsi_op_q_linear_mat_mul = {
	.name = "QLinearMatMul",
	DLSI_OP_ALL(V(10) | V(21)),
	.inputs_least = 8,
	.inputs_most = 8,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_linear_mat_mul,
	.mixes = linear_mat_mul_mixes,
	.eval = eval_linear_mat_mul,
	.steps = linear_mat_mul_steps,
	.flops = 2,
};
