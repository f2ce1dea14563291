/* ConvTranspose, which oneDNN calls deconvolution. */
#include "device/onednn_lower.h"

struct deconvolution {
	struct dlsi_onednn_window window;
	dlsi_md source, weights, target, bias; /* weights: in any layout */
	dlsi_md given;                         /* the weights as they lie in the model */
};

/* Groups, target channels, source channels, kernel; in the model source channels come before target channels. */
static void describe_weights(struct dlsi_program *program, const struct dlsi_node *node, struct deconvolution *made)
{
	const struct dlsi_value *weights = &program->set->graph->values[node->inputs[1]];
	uint32_t rank = weights->rank + 1;
	int64_t dims[DLS_TENSOR_RANK + 1] = {node->conv.groups, weights->dims[1], weights->dims[0] / node->conv.groups};
	int64_t strides[DLS_TENSOR_RANK + 1], step = 1;
	bool grouped = node->conv.groups > 1;

	for (uint32_t i = rank; i-- > 3;) {
		dims[i] = weights->dims[i - 1];
		strides[i] = step;
		step *= dims[i];
	}
	strides[1] = step;
	strides[2] = step * dims[1];
	strides[0] = strides[2] * dims[2];
	made->given = dlsi_md_strided(&program->pool, rank - !grouped, dims + !grouped, strides + !grouped);
	made->weights = dlsi_md_any(&program->pool, rank - !grouped, dims + !grouped);
}

/* oneDNN wants padding that makes the target exactly as large as it is: less than none for output_padding. */
static void describe(struct dlsi_program *program, const struct dlsi_node *node, struct deconvolution *made)
{
	const struct dlsi_window *window = &node->conv.window;
	int64_t source[DLS_TENSOR_RANK], target[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], source);

	dlsi_program_dims(program, node->outputs[0], target);
	made->window = dlsi_onednn_window(window);
	for (uint32_t i = 0; i < window->rank; i++)
		made->window.pads_after[i] = (source[2 + i] - 1) * window->strides[i] +
					     (window->kernel[i] - 1) * window->dilations[i] + 1 -
					     window->pads_before[i] - target[2 + i];
	made->source = dlsi_md_any(&program->pool, rank, source);
	made->target = dlsi_md_any(&program->pool, rank, target);
	made->bias =
		dlsi_node_input(program->set->graph, node, 2) ? dlsi_program_plain(program, node->inputs[2]) : NULL;
	describe_weights(program, node, made);
}

static int make(struct dlsi_program *program, const struct dlsi_node *node, const struct deconvolution *made,
	dnnl_primitive_desc_t *pd_out, struct dls_error *err)
{
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	const struct dlsi_onednn_window *window = &made->window;
	dnnl_primitive_attr_t attributes;
	dnnl_status_t status = dlsi_epilogue_attributes(&epilogue, &attributes);

	if (status == dnnl_success)
		status = dnnl_deconvolution_forward_primitive_desc_create(pd_out, program->set->engine,
			dnnl_forward_inference, dnnl_deconvolution_direct, made->source, made->weights, made->bias,
			made->target, window->strides, window->gaps, window->pads_before, window->pads_after,
			attributes);
	if (status == dnnl_invalid_arguments) /* a window beside the image, say */
		status = dnnl_unimplemented;
	return dlsi_program_keep(program, node, status, *pd_out, attributes, err);
}

int dlsi_lower_conv_transpose(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_WEIGHTS},
		{.index = DNNL_ARG_DST}, {.index = DNNL_ARG_BIAS}};
	struct deconvolution made;
	dnnl_primitive_desc_t pd = NULL;
	int rc;

	describe(program, node, &made);
	rc = make(program, node, &made, &pd, err);
	if (rc)
		return rc;
	rc = dlsi_program_use(program, node->inputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0),
		&arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[1], made.given,
			dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), &arguments[1].operand, err);
	if (rc == 0 && made.bias)
		rc = dlsi_program_use_as(program, node->inputs[2], made.bias, made.bias, &arguments[3].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), &arguments[2].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, made.bias ? 4 : 3, err);
}
