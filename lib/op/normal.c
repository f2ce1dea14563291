/* BatchNormalization. */
#include "base/shape.h"
#include "op/list.h"

#define V DLSI_OP_SINCE

static int infer_batch_normalization(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
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

static const struct dlsi_op_attribute normalization[] = {{"epsilon", DLSI_ATTRIBUTE_FLOAT},
	{"momentum", DLSI_ATTRIBUTE_FLOAT}, {"spatial", DLSI_ATTRIBUTE_INT}, {"training_mode", DLSI_ATTRIBUTE_INT},
	{0}};

const struct dlsi_op dlsi_op_batch_normalization = {
	.name = "BatchNormalization",
	DLSI_OP_ALL(V(1) | V(6) | V(7) | V(9) | V(14) | V(15)),
	.inputs_least = 5,
	.inputs_most = 5,
	.outputs_most = 5,
	.attributes = normalization,
	.infer = infer_batch_normalization,
	.mixes = dlsi_op_mixes_weights,
};
