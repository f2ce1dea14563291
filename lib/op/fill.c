/* Tensors out of a shape or of bounds: ConstantOfShape, Range, EyeLike, OneHot, Trilu. */
#include "base/limits.h"
#include "base/shape.h"
#include "graph/type.h"
#include "graph/work.h"
#include "op/cast.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

static void fill(const struct dlsi_view *view, const void *element)
{
	size_t bytes = dls_dtype_bytes(view->dtype);

	for (size_t i = 0; i < dlsi_view_count(view); i++)
		memcpy((uint8_t *)view->data + i * bytes, element, bytes);
}

/* ---- ConstantOfShape */

static int infer_constant_of_shape(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, "value");
	const struct dlsi_value *value = attribute ? &graph->values[attribute->value] : NULL;
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	int rc = dlsi_node_constant_ints(graph, node, 0, dims, DLS_TENSOR_RANK, &rank, err);

	if (rc)
		return rc;
	if (value && dlsi_value_count(value) != 1)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "fills with %s, which is not one element",
			dlsi_shape_text(value->dtype, value->rank, value->dims).text);
	node->fill = value ? value->data : NULL;
	return dlsi_node_set_output(graph, node, value ? value->dtype : DLS_FLOAT32, rank, dims, err);
}

/* Asked when its shape has a row per item; then all rows are alike. */
static const char *keeps_apart(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return NULL;
}

static int eval_constant_of_shape(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	static const uint64_t zero;

	(void)inputs, (void)alloc, (void)err;
	fill(&outputs[0], node->fill ? node->fill : &zero);
	return 0;
}

/* ---- Range */

static int64_t count_floats(double start, double limit, double delta)
{
	double count = ceil((limit - start) / delta);

	return count > 0 ? count < (double)DLSI_VALUE_BYTES ? (int64_t)count : INT64_MAX : 0;
}

static int64_t count_ints(int64_t start, int64_t limit, int64_t delta)
{
	uint64_t distance = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
	uint64_t step = delta > 0 ? (uint64_t)delta : -(uint64_t)delta, count;

	if (delta > 0 ? start >= limit : start <= limit)
		return 0;
	count = distance / step + (distance % step != 0);
	return count < DLSI_VALUE_BYTES ? (int64_t)count : INT64_MAX;
}

static int infer_range(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *first = dlsi_node_input(graph, node, 0);
	bool floats = first->dtype == DLS_FLOAT32 || first->dtype == DLS_FLOAT64;
	double bounds[3];
	int64_t ints[3], dims[1];

	for (uint32_t i = 0; i < 3; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input->data || dlsi_value_count(input) != 1 || input->dtype != first->dtype)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s' as a bound, which is not one constant number of %s", input->name,
				dls_dtype_name(first->dtype));
		dlsi_cast_constant(DLS_FLOAT64, &bounds[i], input);
		dlsi_cast_constant(DLS_INT64, &ints[i], input);
	}
	if (floats ? !(fabs(bounds[2]) > 0) : ints[2] == 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has a step of 0");
	dims[0] = floats ? count_floats(bounds[0], bounds[1], bounds[2]) : count_ints(ints[0], ints[1], ints[2]);
	return dlsi_node_set_output(graph, node, first->dtype, 1, dims, err);
}

static int eval_range(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0];
	bool floats = output->dtype == DLS_FLOAT32 || output->dtype == DLS_FLOAT64;
	size_t bytes = dls_dtype_bytes(output->dtype);
	double start, delta;
	uint64_t first, step; /* which wrap around */

	(void)node, (void)alloc, (void)err;
	dlsi_cast(DLS_FLOAT64, &start, inputs[0].dtype, inputs[0].data, 1);
	dlsi_cast(DLS_FLOAT64, &delta, inputs[2].dtype, inputs[2].data, 1);
	dlsi_cast(DLS_INT64, &first, inputs[0].dtype, inputs[0].data, 1);
	dlsi_cast(DLS_INT64, &step, inputs[2].dtype, inputs[2].data, 1);
	for (int64_t i = 0; i < output->dims[0]; i++) {
		void *to = (uint8_t *)output->data + (size_t)i * bytes;
		double x = start + (double)i * delta;
		uint64_t n = first + (uint64_t)i * step;

		dlsi_cast(output->dtype, to, floats ? DLS_FLOAT64 : DLS_INT64, floats ? (void *)&x : &n, 1);
	}
	return 0;
}

/* ---- matrices */

static int infer_eye_like(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, "dtype");
	enum dls_dtype dtype = attribute ? dlsi_onnx_dtype(attribute->i) : input->dtype;

	if (!dtype)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "makes %s, which is not supported",
			dlsi_onnx_dtype_name(attribute->i));
	if (input->rank != 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s instead of a matrix",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	return dlsi_node_set_output(graph, node, dtype, 2, input->dims, err);
}

static const char *eye_like_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "makes one matrix for the whole batch";
}

/* Diagonals further away than any matrix is large are as good as those. */
static int64_t diagonal(int64_t k)
{
	int64_t most = (int64_t)DLSI_VALUE_BYTES;

	return k < -most ? -most : k > most ? most : k;
}

static int eval_eye_like(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0];
	size_t bytes = dls_dtype_bytes(output->dtype);
	int64_t k = diagonal(dlsi_node_int(node, "k", 0)), one = 1;

	(void)inputs, (void)alloc, (void)err;
	memset(output->data, 0, dlsi_view_bytes(output));
	for (int64_t row = 0; row < output->dims[0]; row++)
		if (row + k >= 0 && row + k < output->dims[1])
			dlsi_cast(output->dtype,
				(uint8_t *)output->data + (size_t)(row * output->dims[1] + row + k) * bytes, DLS_INT64,
				&one, 1);
	return 0;
}

static int infer_trilu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *k = dlsi_node_input(graph, node, 1);

	if (input->rank < 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s instead of matrices",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	if (k && (k->dtype != DLS_INT64 || dlsi_value_count(k) != 1))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s as the diagonal, which is one int64",
			dlsi_shape_text(k->dtype, k->rank, k->dims).text);
	return dlsi_op_infer_same(graph, node, err);
}

static const char *trilu_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_input(graph, node, 0)->rank == 2 ? "takes the batch as the rows of a matrix"
							  : dlsi_op_mixes_weights(graph, node);
}

static int eval_trilu(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *input = &inputs[0];
	int64_t k = diagonal(node->input_count > 1 ? *(const int64_t *)inputs[1].data : 0);
	int64_t rows = input->dims[input->rank - 2], columns = input->dims[input->rank - 1];
	size_t bytes = dls_dtype_bytes(input->dtype), row_bytes = (size_t)columns * bytes;
	bool upper = dlsi_node_int(node, "upper", 1);
	size_t count = row_bytes ? dlsi_view_bytes(input) / row_bytes : 0;

	(void)alloc, (void)err;
	for (size_t i = 0; i < count; i++) {
		int64_t edge = (int64_t)(i % (size_t)rows) + k + !upper;
		size_t before = (size_t)(edge < 0 ? 0 : edge > columns ? columns : edge) * bytes;
		const uint8_t *from = (const uint8_t *)input->data + i * row_bytes;
		uint8_t *to = (uint8_t *)outputs[0].data + i * row_bytes;

		memcpy(to, from, row_bytes);
		if (upper)
			memset(to, 0, before);
		else
			memset(to + before, 0, row_bytes - before);
	}
	return 0;
}

/* ---- OneHot */

static int infer_one_hot(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *indices = dlsi_node_input(graph, node, 0), *depth = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *values = dlsi_node_input(graph, node, 2);
	int64_t dims[DLS_TENSOR_RANK + 1];
	int rc;

	if (indices->rank == DLS_TENSOR_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "makes more than %d dimensions", DLS_TENSOR_RANK);
	if (values->rank != 1 || values->dims[0] != 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s instead of the values for off and on",
			dlsi_shape_text(values->dtype, values->rank, values->dims).text);
	if (!depth->data || dlsi_value_count(depth) != 1)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"takes '%s' as its depth, which is not one constant number", depth->name);
	rc = dlsi_node_axis(node, -1, indices->rank + 1, &node->axis, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < indices->rank; i++)
		dims[i + (i >= node->axis)] = indices->dims[i];
	dlsi_cast_constant(DLS_INT64, &dims[node->axis], depth);
	return dlsi_node_set_output(graph, node, values->dtype, indices->rank + 1, dims, err);
}

static const char *one_hot_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->axis == 0 ? "puts the batch in another place than the first" : dlsi_op_mixes_weights(graph, node);
}

static int eval_one_hot(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0];
	size_t bytes = dls_dtype_bytes(output->dtype), count = dlsi_view_count(&inputs[0]), inner = 1;
	size_t index_bytes = dls_dtype_bytes(inputs[0].dtype);
	const uint8_t *off = inputs[2].data, *on = off + bytes, *indices = inputs[0].data;
	int64_t depth = output->dims[node->axis];

	(void)alloc, (void)err;
	for (uint32_t i = node->axis + 1; i < output->rank; i++)
		inner *= (size_t)output->dims[i];
	fill(output, off);
	for (size_t i = 0; i < count; i++) {
		int64_t index;
		size_t place;

		dlsi_cast(DLS_INT64, &index, inputs[0].dtype, indices + i * index_bytes, 1);
		index = index < 0 ? index + depth : index;
		if (index < 0 || index >= depth)
			continue; /* ONNX: all are off */
		place = (i / inner * (size_t)depth + (size_t)index) * inner + i % inner;
		memcpy((uint8_t *)output->data + place * bytes, on, bytes);
	}
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute eye[] = {{"dtype", DLSI_ATTRIBUTE_INT}, {"k", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute range[] = {{"stash_type", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute triangle[] = {{"upper", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute value[] = {{"value", DLSI_ATTRIBUTE_TENSOR}, {0}};

const struct dlsi_op dlsi_op_constant_of_shape = {
	.name = "ConstantOfShape",
	DLSI_OP_ALL(V(9) | V(20) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = value,
	.infer = infer_constant_of_shape,
	.mixes = keeps_apart,
	.eval = eval_constant_of_shape,
	.shape_input = DLSI_OP_SHAPE_FIRST,
};

const struct dlsi_op dlsi_op_eye_like = {
	.name = "EyeLike",
	DLSI_OP_ALL(V(9) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = eye,
	.infer = infer_eye_like,
	.mixes = eye_like_mixes,
	.eval = eval_eye_like,
	.steps = dlsi_op_steps_slow,
};

const struct dlsi_op dlsi_op_one_hot = {
	.name = "OneHot",
	DLSI_OP_ALL(V(9) | V(11) | V(28)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_one_hot,
	.mixes = one_hot_mixes,
	.eval = eval_one_hot,
};

const struct dlsi_op dlsi_op_range = {
	.name = "Range",
	DLSI_OP_ALL(V(11) | V(27)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = range,
	.infer = infer_range,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_range,
};

const struct dlsi_op dlsi_op_trilu = {
	.name = "Trilu",
	DLSI_OP_ALL(V(14)),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = triangle,
	.infer = infer_trilu,
	.mixes = trilu_mixes,
	.eval = eval_trilu,
	.steps = dlsi_op_steps_slow,
};
