/* What is fused behind an operator, as oneDNN's post-ops. */
#include "device/onednn_lower.h"

/* Without an upper bound Relu is the form that more kernels know. */
dnnl_alg_kind_t dlsi_clamp_kind(const struct dlsi_clamp *clamp, float *alpha_out, float *beta_out)
{
	bool relu = clamp->low == 0 && clamp->high == INFINITY;

	*alpha_out = relu ? 0 : clamp->low;
	*beta_out = relu ? 0 : clamp->high;
	return relu ? dnnl_eltwise_relu : dnnl_eltwise_clip;
}

static dnnl_status_t append(dnnl_post_ops_t ops, const struct dlsi_epilogue *epilogue)
{
	dnnl_status_t status = dnnl_success;
	float alpha, beta;

	if (epilogue->scale != 1)
		status = dlsi_post_ops_append_eltwise(ops, dnnl_eltwise_linear, epilogue->scale, 0);
	if (status == dnnl_success && epilogue->add)
		status = dnnl_post_ops_append_binary(ops, dnnl_binary_add, epilogue->add);
	if (status == dnnl_success && epilogue->sum)
		status = dlsi_post_ops_append_sum(ops);
	if (status == dnnl_success && !dlsi_clamp_is_none(&epilogue->clamp)) {
		dnnl_alg_kind_t kind = dlsi_clamp_kind(&epilogue->clamp, &alpha, &beta);

		status = dlsi_post_ops_append_eltwise(ops, kind, alpha, beta);
	}
	return status;
}

dnnl_status_t dlsi_epilogue_attributes(const struct dlsi_epilogue *epilogue, dnnl_primitive_attr_t *attributes_out)
{
	dnnl_primitive_attr_t attributes = NULL;
	dnnl_post_ops_t ops = NULL;
	dnnl_status_t status = dnnl_primitive_attr_create(&attributes);

	*attributes_out = NULL;
	if (status != dnnl_success)
		return status;
	*attributes_out = attributes;
	status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
	if (status == dnnl_success)
		status = dnnl_post_ops_create(&ops);
	if (status == dnnl_success)
		status = append(ops, epilogue);
	if (status == dnnl_success)
		status = dnnl_primitive_attr_set_post_ops(attributes, ops);
	if (ops)
		dnnl_post_ops_destroy(ops);
	return status;
}

int dlsi_epilogue_add_index(const struct dlsi_epilogue *epilogue)
{
	return DNNL_ARG_ATTR_MULTIPLE_POST_OP(epilogue->scale != 1) | DNNL_ARG_SRC_1;
}
