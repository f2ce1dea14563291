/* Element by element: Add, Relu, Clip. */
#include "base/shape.h"
#include "op/list.h"
#include <float.h>
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_add(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *a = dlsi_node_input(graph, node, 0), *b = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (!dlsi_op_broadcast(a, b, &rank, dims))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "combines %s and %s, which do not fit",
			dlsi_shape_text(a->dtype, a->rank, a->dims).text,
			dlsi_shape_text(b->dtype, b->rank, b->dims).text);
	return dlsi_node_set_output(graph, node, DLS_FLOAT32, rank, dims, err);
}

static int infer_relu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc = dlsi_node_require_float(graph, node, err);

	node->clamp = (struct dlsi_clamp){0, INFINITY};
	return rc ? rc : dlsi_op_infer_same(graph, node, err);
}

/* From operator set 11 on the bounds are inputs, before they are attributes. */
static int read_bound(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t input,
	const char *attribute, float *bound, struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, input);

	if (!value) {
		*bound = dlsi_node_float(node, attribute, *bound);
		return 0;
	}
	if (!value->data || dlsi_value_count(value) != 1)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"takes '%s' as its %s, which is not one constant number", value->name, attribute);
	memcpy(bound, value->data, sizeof *bound);
	return 0;
}

static int infer_clip(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	float low = -FLT_MAX, high = FLT_MAX;
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc == 0)
		rc = read_bound(graph, node, 1, "min", &low, err);
	if (rc == 0)
		rc = read_bound(graph, node, 2, "max", &high, err);
	if (rc)
		return rc;
	if (isnan(low) || isnan(high))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has a bound that is no number");
	if (low > high)
		low = high; /* ONNX: then everything is the upper bound */
	node->clamp = (struct dlsi_clamp){low <= -FLT_MAX ? -INFINITY : low, high >= FLT_MAX ? INFINITY : high};
	return dlsi_op_infer_same(graph, node, err);
}

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute bounds[] = {{"max", DLSI_ATTRIBUTE_FLOAT}, {"min", DLSI_ATTRIBUTE_FLOAT}, {0}};

const struct dlsi_op dlsi_op_add = {
	.name = "Add",
	DLSI_OP_ALL(V(1) | V(6) | V(7) | V(13) | V(14)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_add,
	.mixes = dlsi_op_mixes_elements,
};

const struct dlsi_op dlsi_op_relu = {
	.name = "Relu",
	DLSI_OP_ALL(V(1) | V(6) | V(13) | V(14)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_relu,
	.mixes = dlsi_op_mixes_weights,
};

const struct dlsi_op dlsi_op_clip = {
	.name = "Clip",
	DLSI_OP_ALL(V(1) | V(6) | V(11) | V(12) | V(13)),
	.inputs_least = 1,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = bounds,
	.infer = infer_clip,
	.mixes = dlsi_op_mixes_weights,
};
