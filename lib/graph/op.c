#include "graph/op.h"

#include "base/limits.h"
#include "base/shape.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct dlsi_attribute *dlsi_node_attribute(const struct dlsi_node *node, const char *name)
{
	for (uint32_t i = 0; i < node->attribute_count; i++)
		if (strcmp(node->attributes[i].name, name) == 0)
			return &node->attributes[i];
	return NULL;
}

int64_t dlsi_node_int(const struct dlsi_node *node, const char *name, int64_t otherwise)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	return attribute ? attribute->i : otherwise;
}

float dlsi_node_float(const struct dlsi_node *node, const char *name, float otherwise)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	return attribute ? attribute->f : otherwise;
}

const char *dlsi_node_string(const struct dlsi_node *node, const char *name, const char *otherwise)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	return attribute ? attribute->s : otherwise;
}

int dlsi_node_axis(
	const struct dlsi_node *node, int64_t otherwise, uint32_t rank, uint32_t *axis_out, struct dls_error *err)
{
	int64_t axis = dlsi_node_int(node, "axis", otherwise);

	if (axis < -(int64_t)rank || axis >= (int64_t)rank)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axis %lld, its input has %u dimensions",
			(long long)axis, rank);
	*axis_out = (uint32_t)(axis < 0 ? axis + rank : axis);
	return 0;
}

int dlsi_node_fail(const struct dlsi_node *node, struct dls_error *err, int code, const char *format, ...)
{
	char what[DLS_ERROR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	return dlsi_fail(err, code, "node '%s' (%s) %s", node->name, node->op->name, what);
}

int dlsi_node_set_output_at(struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	uint32_t rank, const int64_t *dims, struct dls_error *err)
{
	struct dlsi_value *output;
	size_t bytes;

	if (i >= node->output_count || node->outputs[i] == DLSI_NO_VALUE)
		return 0;
	output = &graph->values[node->outputs[i]];
	for (uint32_t k = 0; k < rank; k++)
		if (dims[k] < 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has an output of the impossible shape %s",
				dlsi_shape_text(dtype, rank, dims).text);
	if (dls_tensor_bytes(dtype, rank, dims, &bytes) || bytes > DLSI_VALUE_BYTES)
		return dlsi_node_fail(node, err, DLS_ELIMIT, "has an output %s, larger than any memory",
			dlsi_shape_text(dtype, rank, dims).text);
	output->dtype = dtype;
	output->rank = rank;
	if (rank)
		memcpy(output->dims, dims, rank * sizeof *dims);
	return 0;
}

int dlsi_node_set_output(struct dlsi_graph *graph, const struct dlsi_node *node, enum dls_dtype dtype, uint32_t rank,
	const int64_t *dims, struct dls_error *err)
{
	return dlsi_node_set_output_at(graph, node, 0, dtype, rank, dims, err);
}

int dlsi_node_set_bounded(struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	uint32_t rank, const int64_t *dims, struct dls_error *err)
{
	int rc = dlsi_node_set_output_at(graph, node, i, dtype, rank, dims, err);

	if (rc == 0 && i < node->output_count && node->outputs[i] != DLSI_NO_VALUE)
		graph->values[node->outputs[i]].bounded = true;
	return rc;
}

int dlsi_node_refuse_variable(const struct dlsi_node *node, const struct dlsi_value *value, struct dls_error *err)
{
	if (!value->unfolded)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes '%s', which is not constant", value->name);
	return dlsi_node_fail(node, err, DLS_ELIMIT,
		"takes '%s', which must be known when the model is loaded and takes too long to compute then: make it "
		"a constant of the file",
		value->name);
}

int dlsi_node_constant_ints(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, int64_t *ints_out,
	uint32_t capacity, uint32_t *count_out, struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);
	size_t count = dlsi_value_count(value);

	if (!value->data)
		return dlsi_node_refuse_variable(node, value, err);
	if (value->rank > 1 || count > capacity || (value->dtype != DLS_INT64 && value->dtype != DLS_INT32))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s; at most %u numbers of int64 or int32 fit",
			value->name, dlsi_shape_text(value->dtype, value->rank, value->dims).text, capacity);
	for (size_t k = 0; k < count; k++) {
		int32_t narrow;

		if (value->dtype == DLS_INT64) {
			memcpy(&ints_out[k], (const char *)value->data + k * sizeof *ints_out, sizeof *ints_out);
			continue;
		}
		memcpy(&narrow, (const char *)value->data + k * sizeof narrow, sizeof narrow);
		ints_out[k] = narrow;
	}
	*count_out = (uint32_t)count;
	return 0;
}

int dlsi_node_ints(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, const char *name,
	int64_t *ints_out, uint32_t capacity, uint32_t *count_out, struct dls_error *err)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	if (dlsi_node_input(graph, node, i))
		return dlsi_node_constant_ints(graph, node, i, ints_out, capacity, count_out, err);
	*count_out = attribute ? attribute->count : DLSI_OP_ABSENT;
	if (attribute && attribute->count > capacity)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u numbers as its %s; at most %u fit",
			attribute->count, name, capacity);
	if (attribute && attribute->count)
		memcpy(ints_out, attribute->ints, attribute->count * sizeof *ints_out);
	return 0;
}

int dlsi_node_axes(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, uint32_t rank,
	uint32_t axes_out[DLS_TENSOR_RANK], uint32_t *count_out, struct dls_error *err)
{
	int64_t axes[DLS_TENSOR_RANK];
	unsigned seen = 0;
	int rc = dlsi_node_ints(graph, node, i, "axes", axes, DLS_TENSOR_RANK, count_out, err);

	for (uint32_t k = 0; rc == 0 && *count_out != DLSI_OP_ABSENT && k < *count_out; k++) {
		int64_t axis = axes[k] < 0 ? axes[k] + rank : axes[k];

		if (axis < 0 || axis >= (int64_t)rank)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axis %lld, where there are %u",
				(long long)axes[k], rank);
		if (seen & 1U << axis)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "lists the axis %lld twice", (long long)axes[k]);
		seen |= 1U << axis;
		axes_out[k] = (uint32_t)axis;
	}
	return rc;
}

bool dlsi_node_lists_first(const struct dlsi_node *node, uint32_t rank)
{
	const struct dlsi_attribute *axes = dlsi_node_attribute(node, "axes");

	for (uint32_t i = 0; axes && i < axes->count; i++)
		if (axes->ints[i] == 0 || axes->ints[i] == -(int64_t)rank)
			return true;
	return !axes;
}

int dlsi_node_require_indices(
	const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);

	return !value || value->dtype == DLS_INT64 || value->dtype == DLS_INT32
		       ? 0
		       : dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' of %s as indices, which are int64 or int32",
				 value->name, dls_dtype_name(value->dtype));
}

int dlsi_op_infer_same(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return dlsi_node_set_output(graph, node, input->dtype, input->rank, input->dims, err);
}

const char *dlsi_op_mixes_weights(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && input->batched)
			return "takes its weights from the model's inputs, so that they differ from item to item";
	}
	return NULL;
}

/* ---- broadcasting */

bool dlsi_op_broadcast(const struct dlsi_value *a, const struct dlsi_value *b, uint32_t *rank_out, int64_t *dims_out)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	int64_t dims[DLS_TENSOR_RANK];

	for (uint32_t i = 0; i < rank; i++) {
		int64_t x = i + a->rank < rank ? 1 : a->dims[i + a->rank - rank];
		int64_t y = i + b->rank < rank ? 1 : b->dims[i + b->rank - rank];

		if (x != y && x != 1 && y != 1)
			return false;
		dims[i] = x == 1 ? y : x;
	}
	*rank_out = rank;
	memcpy(dims_out, dims, rank * sizeof *dims);
	return true;
}

int dlsi_op_infer_broadcast(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_value all = *dlsi_node_input(graph, node, 0);

	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "lacks its input %u", i);
		if (!dlsi_op_broadcast(&all, input, &all.rank, all.dims))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "combines %s and %s, which do not fit",
				dlsi_shape_text(all.dtype, all.rank, all.dims).text,
				dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	}
	return dlsi_node_set_output(graph, node, all.dtype, all.rank, all.dims, err);
}

/* Of a result with so many dimensions and rows. */
static bool keeps_rows(const struct dlsi_value *value, uint32_t rank, int64_t rows)
{
	if (value->batched)
		return value->rank == rank && value->dims[0] == rows;
	return value->rank < rank || value->dims[0] == 1;
}

bool dlsi_op_broadcast_keeps_rows(const struct dlsi_value *a, const struct dlsi_value *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	int64_t rows = a->batched ? a->dims[0] : b->dims[0];

	return keeps_rows(a, rank, rows) && keeps_rows(b, rank, rows);
}

const char *dlsi_op_mixes_elements(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *output = dlsi_node_output(graph, node);

	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && !keeps_rows(input, output->rank, output->rank ? output->dims[0] : 0))
			return "combines rows of different items";
	}
	return NULL;
}

/* ---- views */

size_t dlsi_view_count(const struct dlsi_view *view)
{
	size_t count = 1;

	for (uint32_t i = 0; i < view->rank; i++)
		count *= (size_t)view->dims[i];
	return count;
}

size_t dlsi_view_bytes(const struct dlsi_view *view)
{
	return dlsi_view_count(view) * dls_dtype_bytes(view->dtype);
}

/* Whether there is nothing to compute: no element, and no dimension that only eval can tell. */
static bool gives_nothing(const struct dlsi_node *node, const struct dlsi_view *outputs)
{
	for (uint32_t i = 0; i < node->output_count; i++)
		if (outputs[i].dtype && (outputs[i].found || dlsi_view_count(&outputs[i])))
			return false;
	return true;
}

int dlsi_node_eval(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return gives_nothing(node, outputs) ? 0 : node->op->eval(node, inputs, outputs, alloc, err);
}

void dlsi_view_tell(const struct dlsi_view *view, const int64_t *dims)
{
	if (view->found && view->rank)
		memcpy(view->found, dims, view->rank * sizeof *dims);
}

int64_t dlsi_view_int(const struct dlsi_view *view, size_t k)
{
	return view->dtype == DLS_INT64 ? ((const int64_t *)view->data)[k] : ((const int32_t *)view->data)[k];
}
