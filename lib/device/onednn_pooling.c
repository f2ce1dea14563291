/* MaxPool, AveragePool and GlobalAveragePool. */
#include "device/onednn_lower.h"
#include "device/own.h"

/* oneDNN wants padding that the last window reaches exactly, also where ceil_mode lets it stick out further. */
static struct dlsi_onednn_window reach(const struct dlsi_window *window, const int64_t *source, const int64_t *target)
{
	struct dlsi_onednn_window reaching = dlsi_onednn_window(window);

	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t covered =
			(target[2 + i] - 1) * window->strides[i] + (window->kernel[i] - 1) * window->dilations[i] + 1;
		int64_t after = covered - source[2 + i] - window->pads_before[i];

		if (after > window->pads_after[i])
			reaching.pads_after[i] = after;
	}
	return reaching;
}

static int lower(
	struct dlsi_program *program, const struct dlsi_node *node, dnnl_alg_kind_t kind, struct dls_error *err)
{
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_DST}};
	int64_t source[DLS_TENSOR_RANK], target[DLS_TENSOR_RANK];
	struct dlsi_onednn_window window;
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], target);
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	int rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);

	if (rc)
		return rc;
	dlsi_program_dims(program, node->inputs[0], source);
	window = reach(&node->pool.window, source, target);
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_pooling_forward_primitive_desc_create(&pd, program->set->engine, dnnl_forward_inference,
			kind, arguments[0].operand.md, dlsi_md_any(&program->pool, rank, target), window.strides,
			window.kernel, window.gaps, window.pads_before, window.pads_after, attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), &arguments[1].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 2, err);
}

int dlsi_lower_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	int rc = dlsi_own_max_pool(program, node, err);

	return rc == DLS_EUNSUPPORTED ? lower(program, node, dnnl_pooling_max, err) : rc;
}

int dlsi_lower_average_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return lower(program, node,
		node->pool.count_padding ? dnnl_pooling_avg_include_padding : dnnl_pooling_avg_exclude_padding, err);
}
