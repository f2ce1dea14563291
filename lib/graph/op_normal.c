/* BatchNormalization and Softmax. */
#include "base/shape.h"
#include "graph/op.h"

int dlsi_op_infer_batch_normalization(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (dlsi_node_int(node, "training_mode", 0) || !dlsi_node_int(node, "spatial", 1))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"is in training mode or not spatial; export the model for inference");
	if (input->rank < 2 || input->rank > 2 + DLSI_SPATIAL_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes %s; 2 to %d dimensions are supported",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, 2 + DLSI_SPATIAL_RANK);
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *statistic = dlsi_node_input(graph, node, i);

		if (statistic->rank != 1 || statistic->dims[0] != input->dims[1])
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s for %lld channels",
				statistic->name,
				dlsi_shape_text(statistic->dtype, statistic->rank, statistic->dims).text,
				(long long)input->dims[1]);
	}
	node->epsilon = dlsi_node_float(node, "epsilon", 1e-5F);
	return dlsi_op_infer_same(graph, node, err);
}

/* Before operator set 13 all axes from `axis` on are normalised over together, from then on only this one. */
int dlsi_op_infer_softmax(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	bool together = graph->opset < 13;
	int64_t rank = input->rank, axis = dlsi_node_int(node, "axis", together ? 1 : -1);
	int rc = dlsi_node_require_float(graph, node, err);

	if (rc)
		return rc;
	if (axis < -rank || axis >= rank)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the axis %lld, its input has %lld dimensions",
			(long long)axis, (long long)rank);
	node->softmax.first = (uint32_t)(axis < 0 ? axis + rank : axis);
	node->softmax.end = together ? input->rank : node->softmax.first + 1;
	return dlsi_op_infer_same(graph, node, err);
}

const char *dlsi_op_mixes_softmax(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->softmax.first == 0 ? "normalises over axis 0, the batch" : NULL;
}
