/* Elements by a condition: Where. */
#include "base/shape.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_where(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *condition = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *x = dlsi_node_input(graph, node, 1), *y = dlsi_node_input(graph, node, 2);
	struct dlsi_value both = {.dtype = x->dtype};
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;

	if (condition->dtype != DLS_BOOL || x->dtype != y->dtype || !dlsi_op_broadcast(x, y, &both.rank, both.dims) ||
		!dlsi_op_broadcast(&both, condition, &rank, dims))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "chooses by %s between %s and %s, which do not fit",
			dlsi_shape_text(condition->dtype, condition->rank, condition->dims).text,
			dlsi_shape_text(x->dtype, x->rank, x->dims).text,
			dlsi_shape_text(y->dtype, y->rank, y->dims).text);
	return dlsi_node_set_output(graph, node, x->dtype, rank, dims, err);
}

/* Operands: output, condition, x, y. */
static void choose_row(
	const struct dlsi_walk *walk, void *to, const uint8_t *condition, const void *x, const void *y, size_t bytes)
{
	const int64_t *steps = walk->steps, *offsets = walk->offsets;

	condition += offsets[1];
#define CHOOSE(type)                                                                                                   \
	if (bytes == sizeof(type)) {                                                                                   \
		type *target = (type *)to + offsets[0];                                                                \
		const type *a = (const type *)x + offsets[2], *b = (const type *)y + offsets[3];                       \
                                                                                                                       \
		for (int64_t i = 0; i < walk->count; i++)                                                              \
			target[i * steps[0]] = condition[i * steps[1]] ? a[i * steps[2]] : b[i * steps[3]];            \
	}
	DLSI_WALK_WIDTHS(CHOOSE)
#undef CHOOSE
}

static int eval_where(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_walk walk = {.rank = outputs[0].rank, .operands = 4};

	(void)node, (void)alloc, (void)err;
	memcpy(walk.dims, outputs[0].dims, sizeof walk.dims);
	dlsi_strides(walk.rank, walk.dims, walk.strides[0]);
	for (uint32_t i = 0; i < 3; i++)
		dlsi_strides_broadcast(&inputs[i], walk.rank, walk.dims, walk.strides[i + 1]);
	for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))
		choose_row(&walk, outputs[0].data, inputs[0].data, inputs[1].data, inputs[2].data,
			dls_dtype_bytes(outputs[0].dtype));
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute none[] = {{0}};

const struct dlsi_op dlsi_op_where = {
	.name = "Where",
	DLSI_OP_ALL(V(9) | V(16)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_where,
	.mixes = dlsi_op_mixes_elements,
	.eval = eval_where,
};
