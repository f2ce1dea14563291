/* Det: the determinants of a stack of square matrices. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

static int infer_det(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	uint32_t rank = input->rank;

	if (rank < 2 || input->dims[rank - 1] != input->dims[rank - 2])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s, which are no square matrices",
			dlsi_shape_text(input->dtype, rank, input->dims).text);
	return dlsi_node_set_output(graph, node, input->dtype, rank - 2, input->dims, err);
}

static const char *det_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_input(graph, node, 0)->rank > 2 ? NULL : "takes the batch for a side of its matrix";
}

static double det_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return dlsi_value_extent(input) * (double)input->dims[input->rank - 1];
}

static void swap_rows(double *a, double *b, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

/* By elimination with the largest pivot of each column; the matrix is lost. */
static double determinant(double *matrix, int64_t n)
{
	double result = 1;

	for (int64_t k = 0; k < n; k++) {
		int64_t pivot = k;

		for (int64_t i = k + 1; i < n; i++)
			pivot = fabs(matrix[i * n + k]) > fabs(matrix[pivot * n + k]) ? i : pivot;
		if (matrix[pivot * n + k] == 0)
			return 0;
		if (pivot != k)
			swap_rows(&matrix[pivot * n], &matrix[k * n], n);
		result *= pivot == k ? matrix[k * n + k] : -matrix[k * n + k];
		for (int64_t i = k + 1; i < n; i++) {
			double factor = matrix[i * n + k] / matrix[k * n + k];

			for (int64_t j = k; j < n; j++)
				matrix[i * n + j] -= factor * matrix[k * n + j];
		}
	}
	return result;
}

#define CASE(dtype, type, ...)                                                                                         \
	case dtype:                                                                                                    \
		for (size_t i = 0; i < count; i++) {                                                                   \
			const type *from = (const type *)inputs[0].data + i * (size_t)(n * n);                         \
                                                                                                                       \
			for (int64_t k = 0; k < n * n; k++)                                                            \
				matrix[k] = (double)from[k];                                                           \
			((type *)outputs[0].data)[i] = (type)determinant(matrix, n);                                   \
		}                                                                                                      \
		break;

static int eval_det(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	size_t count = dlsi_view_count(&outputs[0]);
	int64_t n = inputs[0].dims[inputs[0].rank - 1];
	double *matrix = count ? dlsi_calloc(alloc, (size_t)(n * n) + 1, sizeof *matrix) : NULL;

	(void)node;
	if (!matrix)
		return count ? dlsi_fail_memory(err) : 0;
	switch (inputs[0].dtype) {
		DLSI_FLOATS(CASE, 0)
	default:
		break;
	}
	dlsi_free(alloc, matrix);
	return 0;
}

static const struct dlsi_op_attribute none[] = {{0}};

const struct dlsi_op dlsi_op_det = {
	.name = "Det",
	DLSI_OP_ALL(V(11) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_det,
	.mixes = det_mixes,
	.eval = eval_det,
	.steps = det_steps,
};
