/* What only changes a shape, or nothing (Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout), and Shape and Size.
 */
#include "base/shape.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* Puts the one -1 right: what is left of `count` elements. */
static bool complete(int64_t *dims, uint32_t rank, int64_t count)
{
	int64_t product = 1, *missing = NULL;

	for (uint32_t i = 0; i < rank; i++) {
		if (dims[i] == -1 && !missing)
			missing = &dims[i];
		else if (dims[i] < 0 || __builtin_mul_overflow(product, dims[i], &product))
			return false;
	}
	if (!missing || product == 0)
		return !missing && product == count;
	*missing = count / product;
	return *missing * product == count;
}

static int infer_reshape(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	int rc = dlsi_node_constant_ints(graph, node, 1, dims, DLS_TENSOR_RANK, &rank, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < rank; i++)
		if (dims[i] == 0 && !dlsi_node_int(node, "allowzero", 0) && i < input->rank)
			dims[i] = input->dims[i];
	if (!complete(dims, rank, (int64_t)dlsi_value_count(input)))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "cannot make %s into %s",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text,
			dlsi_shape_text(0, rank, dims).text);
	return dlsi_node_set_output(graph, node, input->dtype, rank, dims, err);
}

static int infer_flatten(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
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

/* Takes out dimensions of 1: those listed, or all. */
static int infer_squeeze(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	uint32_t axes[DLS_TENSOR_RANK], count, rank = 0;
	int64_t dims[DLS_TENSOR_RANK];
	bool gone[DLS_TENSOR_RANK];
	int rc = dlsi_node_axes(graph, node, 1, input->rank, axes, &count, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < input->rank; i++)
		gone[i] = count == DLSI_OP_ABSENT && input->dims[i] == 1;
	for (uint32_t i = 0; count != DLSI_OP_ABSENT && i < count; i++) {
		if (input->dims[axes[i]] != 1)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes axis %u out of %s, which is not 1",
				axes[i], dlsi_shape_text(input->dtype, input->rank, input->dims).text);
		gone[axes[i]] = true;
	}
	for (uint32_t i = 0; i < input->rank; i++)
		if (!gone[i])
			dims[rank++] = input->dims[i];
	return dlsi_node_set_output(graph, node, input->dtype, rank, dims, err);
}

/* Puts in dimensions of 1, whose axes are those of the output. */
static int infer_unsqueeze(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	uint32_t axes[DLS_TENSOR_RANK], count, from = 0;
	int64_t listed[DLS_TENSOR_RANK], dims[DLS_TENSOR_RANK] = {0};
	int rc = dlsi_node_ints(graph, node, 1, "axes", listed, DLS_TENSOR_RANK, &count, err);

	if (rc)
		return rc;
	if (count == DLSI_OP_ABSENT || count + input->rank > DLS_TENSOR_RANK)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "has no axes, or makes more than %d dimensions", DLS_TENSOR_RANK);
	rc = dlsi_node_axes(graph, node, 1, input->rank + count, axes, &count, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < input->rank + count; i++)
		dims[i] = -1;
	for (uint32_t i = 0; i < count; i++)
		dims[axes[i]] = 1;
	for (uint32_t i = 0; i < input->rank + count; i++)
		if (dims[i] < 0)
			dims[i] = input->dims[from++];
	return dlsi_node_set_output(graph, node, input->dtype, input->rank + count, dims, err);
}

/* At inference it passes everything on, unless its input says that it trains. */
static int infer_dropout(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *training = dlsi_node_input(graph, node, 2);

	if (training && (!training->data || training->dtype != DLS_BOOL || dlsi_value_count(training) != 1 ||
				*(const uint8_t *)training->data))
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "is in training mode; export the model for inference");
	if (node->version >= 10) { /* earlier masks have no meaning at inference */
		const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
		int rc = dlsi_node_set_output_at(graph, node, 1, DLS_BOOL, input->rank, input->dims, err);

		if (rc)
			return rc;
	}
	return dlsi_op_infer_same(graph, node, err);
}

static int infer_shape(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int64_t rank = dlsi_node_input(graph, node, 0)->rank, dims[1];
	int64_t start = dlsi_node_int(node, "start", 0), end = dlsi_node_int(node, "end", rank);

	start = start < 0 ? start + rank : start;
	end = end < 0 ? end + rank : end;
	start = start < 0 ? 0 : start > rank ? rank : start;
	end = end < start ? start : end > rank ? rank : end;
	node->shape.first = (uint32_t)start;
	dims[0] = end - start;
	return dlsi_node_set_output(graph, node, DLS_INT64, 1, dims, err);
}

static int infer_size(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	return dlsi_node_set_output(graph, node, DLS_INT64, 0, NULL, err);
}

/* ---- rows of a batch */

/* Elements lie item after item before and after, so any other shape has them so too. */
static const char *keeps_rows(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_output(graph, node)->rank ? NULL : "leaves no dimension for the batch";
}

/* A shape that begins with a number of its own and leaves another one to be worked out puts all rows into as many,
 * however many they are. (With no other one to be worked out there can be one number of rows only.) */
static const char *reshape_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *shape = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;

	if (!dlsi_graph_rows_open(graph) || shape->sizes ||
		dlsi_node_constant_ints(graph, node, 1, dims, DLS_TENSOR_RANK, &rank, NULL) || !rank || dims[0] < 1)
		return keeps_rows(graph, node);
	for (uint32_t i = 1; i < rank; i++)
		if (dims[i] == -1)
			return "puts the whole batch into so many rows";
	return keeps_rows(graph, node);
}

static const char *unsqueeze_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	uint32_t axes[DLS_TENSOR_RANK], count;

	if (!dlsi_graph_rows_open(graph) ||
		dlsi_node_axes(graph, node, 1, dlsi_node_output(graph, node)->rank, axes, &count, NULL))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (axes[i] == 0)
			return "puts the batch in another place than the first";
	return NULL;
}

static const char *flatten_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	int64_t axis = dlsi_node_int(node, "axis", 1);

	return axis == 0 || axis == -(int64_t)dlsi_node_input(graph, node, 0)->rank ? "makes one row of the whole batch"
										    : NULL;
}

static const char *shape_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "gives the size of the batch";
}

/* ---- evaluation */

static int copy(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)node, (void)alloc, (void)err;
	if (outputs[0].data)
		memcpy(outputs[0].data, inputs[0].data, dlsi_view_bytes(&outputs[0]));
	return 0;
}

static int eval_dropout(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	if (node->output_count > 1 && outputs[1].data)
		memset(outputs[1].data, 1, dlsi_view_bytes(&outputs[1]));
	return copy(node, inputs, outputs, alloc, err);
}

static int eval_shape(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	memcpy(outputs[0].data, &inputs[0].dims[node->shape.first], dlsi_view_bytes(&outputs[0]));
	return 0;
}

static int eval_size(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)node, (void)alloc, (void)err;
	*(int64_t *)outputs[0].data = (int64_t)dlsi_view_count(&inputs[0]);
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute axes[] = {{"axes", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute dropout[] = {{"ratio", DLSI_ATTRIBUTE_FLOAT}, {"seed", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute flatten[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute reshape[] = {{"allowzero", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute shape[] = {{"end", DLSI_ATTRIBUTE_INT}, {"start", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_dropout = {
	.name = "Dropout",
	DLSI_OP_ALL(V(1) | V(6) | V(7) | V(10) | V(12) | V(13) | V(22)),
	.inputs_least = 1,
	.inputs_most = 3,
	.outputs_most = 2,
	.attributes = dropout,
	.infer = infer_dropout,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_dropout,
};

const struct dlsi_op dlsi_op_flatten = {
	.name = "Flatten",
	DLSI_OP_ALL(V(1) | V(9) | V(11) | V(13) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = flatten,
	.infer = infer_flatten,
	.mixes = flatten_mixes,
	.eval = copy,
	.moves = 1,
};

const struct dlsi_op dlsi_op_identity = {
	.name = "Identity",
	DLSI_OP_ALL(V(1) | V(13) | V(14) | V(16) | V(19) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.infer = dlsi_op_infer_same,
	.mixes = dlsi_op_mixes_weights,
	.eval = copy,
	.moves = 1,
};

const struct dlsi_op dlsi_op_reshape = {
	.name = "Reshape",
	.defined = V(1) | V(5) | V(13) | V(14) | V(19) | V(21) | V(23) | V(24) | V(25),
	.known = V(5) | V(13) | V(14) | V(19) | V(21) | V(23) | V(24) | V(25),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = reshape,
	.infer = infer_reshape,
	.mixes = reshape_mixes,
	.eval = copy,
	.moves = 1,
	.shape_input = 1,
};

const struct dlsi_op dlsi_op_shape = {
	.name = "Shape",
	DLSI_OP_ALL(V(1) | V(13) | V(15) | V(19) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = shape,
	.infer = infer_shape,
	.mixes = shape_mixes,
	.eval = eval_shape,
	.reads_shape = true,
};

const struct dlsi_op dlsi_op_size = {
	.name = "Size",
	DLSI_OP_ALL(V(1) | V(13) | V(19) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_size,
	.mixes = shape_mixes,
	.eval = eval_size,
	.reads_shape = true,
};

const struct dlsi_op dlsi_op_squeeze = {
	.name = "Squeeze",
	DLSI_OP_ALL(V(1) | V(11) | V(13) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axes,
	.infer = infer_squeeze,
	.mixes = keeps_rows,
	.eval = copy,
	.moves = 1,
};

const struct dlsi_op dlsi_op_unsqueeze = {
	.name = "Unsqueeze",
	DLSI_OP_ALL(V(1) | V(11) | V(13) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axes,
	.infer = infer_unsqueeze,
	.mixes = unsqueeze_mixes,
	.eval = copy,
	.moves = 1,
};
