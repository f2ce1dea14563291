#include "op/product.h"

#include "base/shape.h"
#include "graph/work.h"
#include <string.h>

/* Row by row of B where those lie in one piece, else column by column. */
#define ROW(dtype, type, ...)                                                                                          \
	static void row_##type(const struct dlsi_product *by, const type *a, const type *b, type *c)                   \
	{                                                                                                              \
		const int64_t columns = by->columns, depth = by->depth;                                                \
                                                                                                                       \
		for (int64_t j = 0; j < columns; j++) {                                                                \
			type sum = 0;                                                                                  \
                                                                                                                       \
			for (int64_t k = 0; by->b_column != 1 && k < depth; k++)                                       \
				sum = (type)DLSI_SUM(sum,                                                              \
					(type)DLSI_PRODUCT(a[k * by->a_column], b[k * by->b_row + j * by->b_column])); \
			c[j] = sum;                                                                                    \
		}                                                                                                      \
		for (int64_t k = 0; by->b_column == 1 && k < depth; k++) {                                             \
			const type x = a[k * by->a_column], *y = b + k * by->b_row;                                    \
                                                                                                                       \
			for (int64_t j = 0; j < columns; j++)                                                          \
				c[j] = (type)DLSI_SUM(c[j], (type)DLSI_PRODUCT(x, y[j]));                              \
		}                                                                                                      \
	}
DLSI_MATRIX_TYPES(ROW, 0)

#define ROWS(dtype, type, ...)                                                                                         \
	case dtype:                                                                                                    \
		for (int64_t i = 0; i < product->rows; i++)                                                            \
			row_##type(                                                                                    \
				product, (const type *)a + i * product->a_row, b, (type *)c + i * product->columns);   \
		break;

void dlsi_product_run(const struct dlsi_product *product, enum dls_dtype dtype, const void *a, const void *b, void *c)
{
	switch (dtype) {
		DLSI_MATRIX_TYPES(ROWS, 0)
	default:
		break;
	}
}

/* The strides of the stacked dimensions, where they are broadcast. */
static void stack_strides(const struct dlsi_view *view, const struct dlsi_walk *stack, int64_t *strides_out)
{
	uint32_t own = view->rank < 2 ? 0 : view->rank - 2;
	int64_t strides[DLS_TENSOR_RANK];

	dlsi_strides(view->rank, view->dims, strides);
	for (uint32_t i = 0; i < stack->rank; i++) {
		uint32_t k = i + own - stack->rank;
		bool repeats = i + own < stack->rank || (view->dims[k] == 1 && stack->dims[i] != 1);

		strides_out[i] = repeats ? 0 : strides[k];
	}
}

void dlsi_product_stacks(const struct dlsi_view *a, const struct dlsi_view *b, const struct dlsi_view *c)
{
	struct dlsi_product product = {.rows = a->rank < 2 ? 1 : a->dims[a->rank - 2],
		.columns = b->rank < 2 ? 1 : b->dims[b->rank - 1],
		.depth = a->dims[a->rank - 1],
		.a_column = 1,
		.b_column = 1};
	size_t bytes = dls_dtype_bytes(c->dtype);
	struct dlsi_walk walk = {.rank = c->rank - (a->rank > 1) - (b->rank > 1), .operands = 3};

	product.a_row = product.depth;
	product.b_row = product.columns;
	memcpy(walk.dims, c->dims, sizeof walk.dims);
	dlsi_strides(c->rank, c->dims, walk.strides[0]);
	stack_strides(a, &walk, walk.strides[1]);
	stack_strides(b, &walk, walk.strides[2]);
	for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))
		for (int64_t i = 0; i < walk.count; i++)
			dlsi_product_run(&product, c->dtype,
				(const uint8_t *)a->data + (size_t)(walk.offsets[1] + i * walk.steps[1]) * bytes,
				(const uint8_t *)b->data + (size_t)(walk.offsets[2] + i * walk.steps[2]) * bytes,
				(uint8_t *)c->data + (size_t)(walk.offsets[0] + i * walk.steps[0]) * bytes);
}

int dlsi_product_infer(struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_value *a,
	const struct dlsi_value *b, enum dls_dtype dtype, struct dls_error *err)
{
	struct dlsi_value a_stack = *a, b_stack = *b;
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	bool fits = a->rank && b->rank && a->dims[a->rank - 1] == b->dims[b->rank < 2 ? 0 : b->rank - 2];

	a_stack.rank = a->rank < 2 ? 0 : a->rank - 2;
	b_stack.rank = b->rank < 2 ? 0 : b->rank - 2;
	if (!fits || !dlsi_op_broadcast(&a_stack, &b_stack, &rank, dims))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "combines %s and %s, which do not fit",
			dlsi_shape_text(a->dtype, a->rank, a->dims).text,
			dlsi_shape_text(b->dtype, b->rank, b->dims).text);
	if (a->rank > 1)
		dims[rank++] = a->dims[a->rank - 2];
	if (b->rank > 1)
		dims[rank++] = b->dims[b->rank - 1];
	return dlsi_node_set_output(graph, node, dtype, rank, dims, err);
}

double dlsi_product_steps(const struct dlsi_value *result, const struct dlsi_value *b, bool transposed)
{
	int64_t depth = b->dims[b->rank < 2 ? 0 : b->rank - 2 + transposed];

	return dlsi_value_extent(result) * (depth ? (double)depth : 1);
}

/* The batch may be the rows of a matrix on the left, or the first of the dimensions that are stacked. */
const char *dlsi_product_mixes(const struct dlsi_value *a, const struct dlsi_value *b)
{
	bool stacked = a->rank > 2 || b->rank > 2;
	bool apart = stacked ? dlsi_op_broadcast_keeps_rows(a, b) : a->batched && a->rank == 2 && !b->batched;

	return apart ? NULL : "multiplies rows of different items";
}
