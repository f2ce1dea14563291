/* Element by element: Add, Relu, Clip. */
#include "base/shape.h"
#include "graph/op.h"
#include <float.h>
#include <string.h>

bool dlsi_op_broadcast(const struct dlsi_value *a, const struct dlsi_value *b, uint32_t *rank_out, int64_t *dims_out)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	for (uint32_t i = 0; i < rank; i++) {
		int64_t x = i + a->rank < rank ? 1 : a->dims[i + a->rank - rank];
		int64_t y = i + b->rank < rank ? 1 : b->dims[i + b->rank - rank];

		if (x != y && x != 1 && y != 1)
			return false;
		dims_out[i] = x == 1 ? y : x;
	}
	*rank_out = rank;
	return true;
}

bool dlsi_op_broadcast_keeps_rows(const struct dlsi_value *a, const struct dlsi_value *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	bool a_fits = a->rank == rank ? a->dims[0] == 1 : !a->batched;
	bool b_fits = b->rank == rank ? b->dims[0] == 1 : !b->batched;

	return a_fits && b_fits;
}

int dlsi_op_infer_add(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
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

const char *dlsi_op_mixes_add(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_op_broadcast_keeps_rows(dlsi_node_input(graph, node, 0), dlsi_node_input(graph, node, 1))
		       ? NULL
		       : "combines rows of different items";
}

int dlsi_op_infer_relu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
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

int dlsi_op_infer_clip(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
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
