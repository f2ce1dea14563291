/* Elements to places by their indices: Scatter, ScatterElements, ScatterND. */
#include "base/shape.h"
#include "op/element.h"
#include "op/indices.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* What becomes of an element and the update to it. */
enum reduction { REPLACE, ADD, MULTIPLY, MOST, LEAST };

static int read_reduction(const struct dlsi_node *node, enum reduction *reduction_out, struct dls_error *err)
{
	static const char *const words[] = {
		[REPLACE] = "none", [ADD] = "add", [MULTIPLY] = "mul", [MOST] = "max", [LEAST] = "min"};
	const char *word = dlsi_node_string(node, "reduction", "none");

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(words[i], word) == 0) {
			*reduction_out = (enum reduction)i;
			return 0;
		}
	}
	return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has '%s' as its reduction, which is not known", word);
}

static void combine(enum dls_dtype dtype, enum reduction reduction, void *to, const void *by, size_t count)
{
	switch (dtype) {
#define COMBINE(value, type, ...)                                                                                      \
	case value: {                                                                                                  \
		type *x = to;                                                                                          \
		const type *y = by;                                                                                    \
                                                                                                                       \
		for (size_t i = 0; reduction == ADD && i < count; i++)                                                 \
			x[i] = (type)DLSI_SUM(x[i], y[i]);                                                             \
		for (size_t i = 0; reduction == MULTIPLY && i < count; i++)                                            \
			x[i] = (type)DLSI_PRODUCT(x[i], y[i]);                                                         \
		for (size_t i = 0; reduction == MOST && i < count; i++)                                                \
			x[i] = DLSI_GREATER(x[i], y[i]);                                                               \
		for (size_t i = 0; reduction == LEAST && i < count; i++)                                               \
			x[i] = DLSI_SMALLER(x[i], y[i]);                                                               \
		break;                                                                                                 \
	}
		DLSI_ALL_TYPES(COMBINE, 0)
#undef COMBINE
	}
}

static void update(enum dls_dtype dtype, enum reduction reduction, void *to, const void *by, size_t count)
{
	if (reduction == REPLACE && count)
		memcpy(to, by, count * dls_dtype_bytes(dtype));
	else if (reduction != REPLACE)
		combine(dtype, reduction, to, by, count);
}

static void copy_data(const struct dlsi_view *output, const struct dlsi_view *data)
{
	if (dlsi_view_bytes(output))
		memcpy(output->data, data->data, dlsi_view_bytes(output));
}

/* ---- Scatter, ScatterElements */

static int infer_elements(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *updates = dlsi_node_input(graph, node, 2);
	enum reduction reduction;
	int rc = dlsi_indices_check_elements(graph, node, &node->axis, err);

	if (rc == 0)
		rc = read_reduction(node, &reduction, err);
	if (rc)
		return rc;
	if (updates->dtype != data->dtype || updates->rank != indices->rank ||
		memcmp(updates->dims, indices->dims, indices->rank * sizeof *indices->dims) != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "puts %s at the places %s, which do not fit",
			dlsi_shape_text(updates->dtype, updates->rank, updates->dims).text,
			dlsi_shape_text(indices->dtype, indices->rank, indices->dims).text);
	return dlsi_op_infer_same(graph, node, err);
}

static const char *elements_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0);

	for (uint32_t i = 0; i < 3; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input->batched || input->dims[0] != data->dims[0])
			return "puts elements of some items at the same places of others";
	}
	return node->axis == 0 ? "puts elements at places in the whole batch" : NULL;
}

static int eval_elements(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0], *indices = &inputs[1];
	struct dlsi_walk walk = {.rank = output->rank, .operands = 2};
	size_t bytes = dls_dtype_bytes(output->dtype);
	enum reduction reduction = REPLACE;
	int64_t stride, *places;
	int rc = dlsi_indices_take(node, indices, output->dims[node->axis], alloc, &places, err);

	if (rc)
		return rc;
	read_reduction(node, &reduction, err); /* which inference has checked */
	copy_data(output, &inputs[0]);
	memcpy(walk.dims, indices->dims, sizeof walk.dims);
	dlsi_strides(walk.rank, indices->dims, walk.strides[0]);
	dlsi_strides(walk.rank, output->dims, walk.strides[1]);
	stride = walk.strides[1][node->axis];
	walk.strides[1][node->axis] = 0;
	for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {
		for (int64_t i = 0; i < walk.count; i++) {
			int64_t from = walk.offsets[0] + i * walk.steps[0];
			int64_t to = walk.offsets[1] + i * walk.steps[1] + places[from] * stride;

			update(output->dtype, reduction, (uint8_t *)output->data + (size_t)to * bytes,
				(const uint8_t *)inputs[2].data + (size_t)from * bytes, 1);
		}
	}
	dlsi_free(alloc, places);
	return 0;
}

/* ---- ScatterND */

static int infer_nd(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *updates = dlsi_node_input(graph, node, 2);
	int64_t length = indices->rank ? indices->dims[indices->rank - 1] : INT64_MAX;
	bool fits = length <= data->rank && updates->dtype == data->dtype;
	enum reduction reduction;
	uint32_t rank = 0;
	int rc = dlsi_node_require_indices(graph, node, 1, err);

	if (rc == 0)
		rc = read_reduction(node, &reduction, err);
	if (rc)
		return rc;
	fits = fits && updates->rank == indices->rank - 1 + data->rank - (uint32_t)length;
	for (; fits && rank + 1 < indices->rank; rank++)
		fits = updates->dims[rank] == indices->dims[rank];
	for (; fits && rank < updates->rank; rank++)
		fits = updates->dims[rank] == data->dims[data->rank - updates->rank + rank];
	if (!fits)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "puts %s at the places %s of %s, which do not fit",
			dlsi_shape_text(updates->dtype, updates->rank, updates->dims).text,
			dlsi_shape_text(indices->dtype, indices->rank, indices->dims).text,
			dlsi_shape_text(data->dtype, data->rank, data->dims).text);
	return dlsi_op_infer_same(graph, node, err);
}

static const char *nd_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "puts elements at places in the whole batch";
}

static int eval_nd(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0], *indices = &inputs[1];
	size_t tuples = 1, block = 1, bytes = dls_dtype_bytes(output->dtype);
	enum reduction reduction = REPLACE;
	int rc = 0;

	(void)alloc;
	read_reduction(node, &reduction, err); /* which inference has checked */
	copy_data(output, &inputs[0]);
	for (uint32_t i = 0; i + 1 < indices->rank; i++)
		tuples *= (size_t)indices->dims[i];
	for (uint32_t i = (uint32_t)indices->dims[indices->rank - 1]; i < output->rank; i++)
		block *= (size_t)output->dims[i];
	for (size_t i = 0; rc == 0 && i < tuples; i++) {
		size_t place;

		rc = dlsi_indices_find(node, indices, i, output, &place, err);
		if (rc == 0)
			update(output->dtype, reduction, (uint8_t *)output->data + place * block * bytes,
				(const uint8_t *)inputs[2].data + i * block * bytes, block);
	}
	return rc;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute elements[] = {
	{"axis", DLSI_ATTRIBUTE_INT}, {"reduction", DLSI_ATTRIBUTE_STRING}, {0}};
static const struct dlsi_op_attribute nd[] = {{"reduction", DLSI_ATTRIBUTE_STRING}, {0}};

const struct dlsi_op dlsi_op_scatter = {
	.name = "Scatter",
	DLSI_OP_ALL(V(9) | V(11)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_elements,
	.mixes = elements_mixes,
	.eval = eval_elements,
};

const struct dlsi_op dlsi_op_scatter_elements = {
	.name = "ScatterElements",
	DLSI_OP_ALL(V(11) | V(13) | V(16) | V(18)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = elements,
	.infer = infer_elements,
	.mixes = elements_mixes,
	.eval = eval_elements,
};

const struct dlsi_op dlsi_op_scatter_nd = {
	.name = "ScatterND",
	DLSI_OP_ALL(V(11) | V(13) | V(16) | V(18)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = nd,
	.infer = infer_nd,
	.mixes = nd_mixes,
	.eval = eval_nd,
};
