/* Products of matrices on plain buffers, of all element types that matrices have. */
#ifndef DLSI_PRODUCT_H
#define DLSI_PRODUCT_H

#include "op/element.h"
#include "op/walk.h"

/* A list of types as in op/element.h. */
#define DLSI_MATRIX_TYPES(X, ...)                                                                                      \
	DLSI_FLOATS(X, __VA_ARGS__)                                                                                    \
	X(DLS_INT32, int32_t, __VA_ARGS__)                                                                             \
	X(DLS_INT64, int64_t, __VA_ARGS__) X(DLS_UINT32, uint32_t, __VA_ARGS__) X(DLS_UINT64, uint64_t, __VA_ARGS__)

/* C [rows, columns], dense, is the sum of A[i, k] * B[k, j] over `depth` numbers k. */
struct dlsi_product {
	int64_t rows, columns, depth;
	int64_t a_row, a_column; /* elements from one row or column of A to the next */
	int64_t b_row, b_column;
};

/* Integers wrap around. */
void dlsi_product_run(const struct dlsi_product *product, enum dls_dtype dtype, const void *a, const void *b, void *c);

/* The product of two stacks, as numpy's matmul: the last two dimensions of each are a matrix, a vector being a row on
 * the left and a column on the right; the others are broadcast. Views of one type; `c` is dense. */
void dlsi_product_stacks(const struct dlsi_view *a, const struct dlsi_view *b, const struct dlsi_view *c);

/* Infers the shape that it has, into the first output, of this type. Errors: DLS_EFORMAT. */
int dlsi_product_infer(struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_value *a,
	const struct dlsi_value *b, enum dls_dtype dtype, struct dls_error *err);

/* The products in it: as many as B has rows for each element of the result. `transposed`: its columns instead. */
double dlsi_product_steps(const struct dlsi_value *result, const struct dlsi_value *b, bool transposed);

/* Why rows of a batch do not stay apart in it, or NULL. */
const char *dlsi_product_mixes(const struct dlsi_value *a, const struct dlsi_value *b);

#endif
