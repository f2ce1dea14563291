/* What only changes a shape, or nothing: Reshape, Flatten, Dropout. */
#include "base/shape.h"
#include "graph/op.h"
#include <string.h>

/* Puts the one -1 right: what is left of `count` elements. */
static bool complete(int64_t *dims, uint32_t rank, int64_t count)
{
	int64_t product = 1, *missing = NULL;

	for (uint32_t i = 0; i < rank; i++) {
		if (dims[i] == -1 && !missing)
			missing = &dims[i];
		else if (dims[i] < 1 || __builtin_mul_overflow(product, dims[i], &product))
			return false;
	}
	if (!missing)
		return product == count;
	*missing = count / product;
	return *missing * product == count;
}

int dlsi_op_infer_reshape(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *shape = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;

	if (!shape->data)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "takes the shape '%s', which is not constant", shape->name);
	if (shape->dtype != DLS_INT64 || shape->rank != 1 || shape->dims[0] > DLS_TENSOR_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"takes the shape '%s' %s; at most %d numbers of int64 are "
			"supported",
			shape->name, dlsi_shape_text(shape->dtype, shape->rank, shape->dims).text, DLS_TENSOR_RANK);
	rank = (uint32_t)shape->dims[0];
	if (rank)
		memcpy(dims, shape->data, rank * sizeof *dims);
	for (uint32_t i = 0; i < rank; i++)
		if (dims[i] == 0 && !dlsi_node_int(node, "allowzero", 0) && i < input->rank)
			dims[i] = input->dims[i];
	if (!complete(dims, rank, (int64_t)dlsi_value_count(input)))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "cannot make %s into %s",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text,
			dlsi_shape_text(0, rank, dims).text);
	return dlsi_node_set_output(graph, node, input->dtype, rank, dims, err);
}

int dlsi_op_infer_flatten(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t rank = input->rank, axis = dlsi_node_int(node, "axis", 1), dims[2] = {1, 1};

	if (axis < -rank || axis > rank)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axis %lld, its input has %lld dimensions",
			(long long)axis, (long long)rank);
	axis = axis < 0 ? axis + rank : axis;
	for (int64_t i = 0; i < rank; i++)
		dims[i >= axis] *= input->dims[i];
	return dlsi_node_set_output(graph, node, input->dtype, 2, dims, err);
}

/* At inference it passes everything on, unless its input says that it trains. */
int dlsi_op_infer_dropout(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *training = dlsi_node_input(graph, node, 2);

	if (training && (!training->data || training->dtype != DLS_BOOL || dlsi_value_count(training) != 1 ||
				*(const uint8_t *)training->data))
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "is in training mode; export the model for inference");
	return dlsi_op_infer_same(graph, node, err);
}
