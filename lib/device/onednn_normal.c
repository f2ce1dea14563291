/* BatchNormalization that could not be folded, Softmax and LogSoftmax. */
#include "device/onednn_lower.h"
#include "device/own.h"
#include "op/list.h"
#include <float.h>

enum { RANK_MOST = 5 }; /* of oneDNN */

/* Channels that fill up a block have a variance of 0, by whose root nothing may be divided. */
static float epsilon_of(const struct dlsi_node *node)
{
	return node->epsilon > FLT_MIN ? node->epsilon : FLT_MIN;
}

int dlsi_lower_batch_normalization(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	static const int indices[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	struct dlsi_argument arguments[6] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_DST}};
	dlsi_md channels = dlsi_program_plain(program, node->inputs[1]);
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	int rc;

	if (dlsi_node_input(program->set->graph, node, 0)->rank > RANK_MOST)
		return DLS_EUNSUPPORTED;
	rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);
	for (uint32_t i = 0; rc == 0 && i < 4; i++) {
		arguments[2 + i].index = indices[i];
		rc = dlsi_program_use_as(
			program, node->inputs[1 + i], channels, channels, &arguments[2 + i].operand, err);
	}
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_batch_normalization_forward_primitive_desc_create(&pd, program->set->engine,
			dnnl_forward_inference, arguments[0].operand.md, arguments[0].operand.md, epsilon_of(node),
			dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift, attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_target(
			program, node->outputs[0], arguments[0].operand.md, &arguments[1].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 6, err);
}

/* Seen as [before, normalised over, behind], whichever axes these are. */
static int lower_softmax(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_epilogue nothing = {.scale = 1, .clamp = DLSI_CLAMP_NONE};
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_DST}};
	int64_t dims[DLS_TENSOR_RANK], view[3] = {1, 1, 1};
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dlsi_epilogue_attributes(&nothing, &attributes);
	dlsi_md md;
	int rc;

	for (uint32_t i = 0; i < rank; i++)
		view[(i >= node->softmax.first) + (i >= node->softmax.end)] *= dims[i];
	md = dlsi_md_plain(&program->pool, view[2] == 1 ? 2 : 3, view);
	if (status == dnnl_success)
		status = dnnl_softmax_forward_primitive_desc_create(&pd, program->set->engine, dnnl_forward_inference,
			node->op == &dlsi_op_log_softmax ? dnnl_softmax_log : dnnl_softmax_accurate, md, md, 1,
			attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0 && dlsi_is_reference(pd))
		return DLS_EUNSUPPORTED;
	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[0], md, md, &arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], md, &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_step(program, node, pd, arguments, 2, err);
	return rc ? rc
		  : dlsi_program_share(
			    program, node, &arguments[1].operand, dlsi_program_plain(program, node->outputs[0]), err);
}

int dlsi_lower_softmax(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	int rc = dlsi_own_softmax(program, node, err);

	return rc == DLS_EUNSUPPORTED ? lower_softmax(program, node, err) : rc;
}
