/* Add, and clamps that stand alone (Relu, Clip). */
#include "device/onednn_lower.h"

int dlsi_lower_clamp(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_epilogue nothing = {.scale = 1, .clamp = DLSI_CLAMP_NONE};
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_DST}};
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	int rc = DLS_EUNSUPPORTED;

	if (dlsi_clamp_is_known(&node->clamp))
		rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&nothing, &attributes);
	if (status == dnnl_success) {
		dlsi_md md = arguments[0].operand.md;
		float alpha, beta;
		dnnl_alg_kind_t kind = dlsi_clamp_kind(&node->clamp, &alpha, &beta);

		status = dnnl_eltwise_forward_primitive_desc_create(
			&pd, program->set->engine, dnnl_forward_inference, kind, md, md, alpha, beta, attributes);
	}
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_target(
			program, node->outputs[0], arguments[0].operand.md, &arguments[1].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 2, err);
}

/* The value in the result's layout if it has its shape, else dense with dimensions of 1 in front. */
static int use_broadcast(struct dlsi_program *program, uint32_t value, uint32_t rank, const int64_t *result, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK], padded[DLS_TENSOR_RANK];
	uint32_t own = dlsi_program_dims(program, value, dims);
	bool same = own == rank;
	dlsi_md view;

	for (uint32_t i = 0; i < rank; i++) {
		padded[i] = i + own < rank ? 1 : dims[i + own - rank];
		same = same && padded[i] == result[i];
	}
	if (same)
		return dlsi_program_use(program, value, md, operand_out, err);
	view = dlsi_md_plain(&program->pool, rank, padded);
	return dlsi_program_use_as(program, value, view, view, operand_out, err);
}

/* oneDNN broadcasts its second source; the first one is the one that has the result's shape, if there is one. */
int dlsi_lower_add(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	size_t wanted = dlsi_value_count(&graph->values[node->outputs[0]]);
	bool swap = dlsi_value_count(&graph->values[node->inputs[0]]) != wanted;
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	struct dlsi_argument arguments[] = {
		{.index = DNNL_ARG_SRC_0}, {.index = DNNL_ARG_SRC_1}, {.index = DNNL_ARG_DST}};
	struct dlsi_operand *a = &arguments[0].operand, *b = &arguments[1].operand;
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], dims);
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	int rc = use_broadcast(program, node->inputs[swap], rank, dims, NULL, a, err);

	if (rc == 0)
		rc = use_broadcast(program, node->inputs[!swap], rank, dims, a->md, b, err);
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_binary_primitive_desc_create(&pd, program->set->engine, dnnl_binary_add, a->md, b->md,
			dlsi_md_any(&program->pool, rank, dims), attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), &arguments[2].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 3, err);
}
