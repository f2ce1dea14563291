/* Conv, with what was fused behind it. */
#include "device/onednn_conv.h"
#include "device/onednn_lower.h"
#include "device/own.h"
#include <string.h>

enum { LAST_LEAST = 8 }; /* channels that are worth to lie together */

struct dlsi_onednn_window dlsi_onednn_window(const struct dlsi_window *window)
{
	struct dlsi_onednn_window same = {.kernel = {0}};

	for (uint32_t i = 0; i < window->rank; i++) {
		same.kernel[i] = window->kernel[i];
		same.strides[i] = window->strides[i];
		same.gaps[i] = window->dilations[i] - 1;
		same.pads_before[i] = window->pads_before[i];
		same.pads_after[i] = window->pads_after[i];
	}
	return same;
}

/* The weights as oneDNN counts dimensions: groups come first where there are any. */
static uint32_t weight_dims(const struct dlsi_program *program, const struct dlsi_node *node, int64_t *dims_out)
{
	const struct dlsi_value *weights = &program->set->graph->values[node->inputs[1]];
	int64_t groups = node->conv.groups;

	memcpy(dims_out + (groups > 1), weights->dims, weights->rank * sizeof *dims_out);
	if (groups > 1) {
		dims_out[0] = groups;
		dims_out[1] /= groups;
	}
	return weights->rank + (groups > 1);
}

/* With images laid out as oneDNN likes, or with their channels last. */
static dnnl_status_t describe(struct dlsi_program *program, const struct dlsi_node *node, dlsi_md bias, bool last,
	dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *pd_out)
{
	dlsi_md (*const image)(struct dlsi_onednn_pool *, uint32_t, const int64_t *) =
		last ? dlsi_md_last : dlsi_md_any;
	struct dlsi_onednn_pool *pool = &program->pool;
	struct dlsi_onednn_window window = dlsi_onednn_window(&node->conv.window);
	int64_t source[DLS_TENSOR_RANK], weights[DLS_TENSOR_RANK + 1], target[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], source);

	dlsi_program_dims(program, node->outputs[0], target);
	return dnnl_convolution_forward_primitive_desc_create(pd_out, program->set->engine, dnnl_forward_inference,
		dnnl_convolution_direct, image(pool, rank, source),
		dlsi_md_any(pool, weight_dims(program, node, weights), weights), bias, image(pool, rank, target),
		window.strides, window.gaps, window.pads_before, window.pads_after, attributes);
}

bool dlsi_is_reference(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;

	return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) == dnnl_success && name &&
	       strncmp(name, "ref", 3) == 0;
}

/* Threads can have bands of images whose channels are last; if oneDNN has something good for it. */
static dnnl_status_t choose_layout(struct dlsi_program *program, const struct dlsi_node *node, dlsi_md bias,
	dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *pd_out)
{
	const int64_t *source = dlsi_node_input(program->set->graph, node, 0)->dims;

	if (program->banded && source[1] >= LAST_LEAST &&
		describe(program, node, bias, true, attributes, pd_out) == dnnl_success) {
		if (!dlsi_is_reference(*pd_out))
			return dnnl_success;
		dnnl_primitive_desc_destroy(*pd_out);
	}
	return describe(program, node, bias, false, attributes, pd_out);
}

/* The arguments as the primitive of `pd` wants them. */
static int use_arguments(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	dlsi_md bias, struct dlsi_conv_arguments *arguments, struct dls_error *err)
{
	struct dlsi_operand *source = &arguments->source.operand, *target = &arguments->target.operand;
	int64_t dims[DLS_TENSOR_RANK + 1];
	dlsi_md view = dlsi_md_plain(&program->pool, weight_dims(program, node, dims), dims);
	dlsi_md md = dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
	int rc = dlsi_program_use(
		program, node->inputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0), source, err);

	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[1], view,
			dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), &arguments->weights.operand, err);
	if (rc == 0 && bias)
		rc = dlsi_program_use_as(program, node->inputs[2], bias, bias, &arguments->bias.operand, err);
	if (rc)
		return rc;
	return dlsi_node_input(program->set->graph, node, DLSI_CONV_ADDEND)
		       ? dlsi_program_target_over(
				 program, node, node->inputs[DLSI_CONV_ADDEND], md, source, target, err)
		       : dlsi_program_target(program, node->outputs[0], md, target, err);
}

int dlsi_lower_conv(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const bool biased = dlsi_node_input(program->set->graph, node, 2) != NULL;
	const bool sum = dlsi_node_input(program->set->graph, node, DLSI_CONV_ADDEND) != NULL;
	const struct dlsi_epilogue epilogue = {.scale = 1, .sum = sum, .clamp = node->fused};
	struct dlsi_conv_arguments arguments = {.source = {.index = DNNL_ARG_SRC},
		.weights = {.index = DNNL_ARG_WEIGHTS},
		.target = {.index = DNNL_ARG_DST},
		.bias = {.index = DNNL_ARG_BIAS}};
	dlsi_md bias = biased ? dlsi_program_plain(program, node->inputs[2]) : NULL;
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dlsi_epilogue_attributes(&epilogue, &attributes);
	int rc;

	if (status == dnnl_success)
		status = choose_layout(program, node, bias, attributes, &pd);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc)
		return rc;
	rc = dlsi_own_conv(program, node, pd, err);
	if (rc != DLS_EUNSUPPORTED || dlsi_is_reference(pd))
		return rc;
	rc = use_arguments(program, node, pd, bias, &arguments, err);
	if (rc)
		return rc;
	rc = dlsi_conv_bands(program, node, pd, &arguments, err);
	return rc == DLS_EUNSUPPORTED ? dlsi_program_step(program, node, pd, &arguments.source, 3 + biased, err) : rc;
}
