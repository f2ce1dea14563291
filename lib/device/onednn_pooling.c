/* MaxPool, AveragePool, the global ones, and means over all pixels, which are global averages. */
#include "device/onednn_lower.h"
#include "device/own.h"
#include "op/window.h"

struct pooling {
	struct dlsi_onednn_window window;
	struct dlsi_slide slide;
	int64_t source[DLS_TENSOR_RANK], target[DLS_TENSOR_RANK];
	uint32_t rank;
};

/* Whether in every place the window sees a pixel: oneDNN refuses others. */
static bool sees_all(const struct dlsi_slide *slide)
{
	for (uint32_t d = 0; d < DLSI_SPATIAL_RANK; d++) {
		for (int64_t place = 0; place < slide->places[d]; place++) {
			int64_t first, end;

			dlsi_slide_sight(slide, d, place, &first, &end);
			if (first == end)
				return false;
		}
	}
	return true;
}

/* oneDNN wants padding that the last window reaches exactly, also where ceil_mode lets it stick out further; what it
 * then counts as padding in an average is too much. */
static bool reach(struct pooling *pooling, const struct dlsi_window *window, bool count_padding)
{
	bool exact = true;

	pooling->window = dlsi_onednn_window(window);
	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t covered = (pooling->target[2 + i] - 1) * window->strides[i] +
				  (window->kernel[i] - 1) * window->dilations[i] + 1;
		int64_t after = covered - pooling->source[2 + i] - window->pads_before[i];

		if (after > window->pads_after[i]) {
			pooling->window.pads_after[i] = after;
			exact = false;
		}
	}
	return exact || !count_padding;
}

/* The window that sees the whole image. */
static struct dlsi_window whole(uint32_t rank, const int64_t *source)
{
	struct dlsi_window window = {.rank = rank - 2};

	for (uint32_t i = 0; i < window.rank && i < DLSI_SPATIAL_RANK; i++) {
		window.kernel[i] = source[2 + i];
		window.strides[i] = window.dilations[i] = 1;
	}
	return window;
}

struct dlsi_window dlsi_pool_window(const struct dlsi_node *node, const struct dlsi_value *input)
{
	return node->pool.global ? whole(input->rank, input->dims) : node->pool.window;
}

/* Whether oneDNN can pool like this, and rightly. */
static bool fits(struct pooling *pooling, const struct dlsi_window *window, dnnl_alg_kind_t kind)
{
	if (window->rank < 1 || window->rank > DLSI_SPATIAL_RANK)
		return false;
	for (uint32_t i = 0; i < window->rank; i++)
		if (window->dilations[i] != 1)
			return false;
	dlsi_slide_init(&pooling->slide, window, &pooling->source[2], &pooling->target[2]);
	return sees_all(&pooling->slide) && reach(pooling, window, kind == dnnl_pooling_avg_include_padding);
}

/* Appends the step, with the output as a scratch in the layout that oneDNN likes, or as the value `target`. */
static int add_step(struct dlsi_program *program, const struct dlsi_node *node, const struct pooling *pooling,
	dnnl_alg_kind_t kind, uint32_t target, struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	struct dlsi_argument arguments[] = {{.index = DNNL_ARG_SRC}, {.index = DNNL_ARG_DST}};
	const struct dlsi_onednn_window *window = &pooling->window;
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	dlsi_md md;
	int rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);

	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_pooling_forward_primitive_desc_create(&pd, program->set->engine, dnnl_forward_inference,
			kind, arguments[0].operand.md, dlsi_md_any(&program->pool, pooling->rank, pooling->target),
			window->strides, window->kernel, window->gaps, window->pads_before, window->pads_after,
			attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc)
		return rc;
	md = dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
	rc = target == DLSI_NO_VALUE ? dlsi_program_scratch(program, md, &arguments[1].operand, err)
				     : dlsi_program_target(program, target, md, &arguments[1].operand, err);
	*operand_out = arguments[1].operand;
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 2, err);
}

int dlsi_lower_average_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	dnnl_alg_kind_t kind =
		node->pool.count_padding ? dnnl_pooling_avg_include_padding : dnnl_pooling_avg_exclude_padding;
	struct dlsi_window window = dlsi_pool_window(node, dlsi_node_input(program->set->graph, node, 0));
	struct dlsi_operand operand;
	struct pooling pooling;

	pooling.rank = dlsi_program_dims(program, node->inputs[0], pooling.source);
	dlsi_program_dims(program, node->outputs[0], pooling.target);
	if (!fits(&pooling, &window, kind))
		return DLS_EUNSUPPORTED;
	return add_step(program, node, &pooling, kind, node->outputs[0], &operand, err);
}

/* oneDNN passes over what is not a number, and begins at the least number instead of minus infinity. */
int dlsi_lower_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return dlsi_own_max_pool(program, node, err);
}

/* The result is small: it becomes dense, and that has the elements of the output with dimensions of 1 or without. */
int dlsi_lower_mean(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_operand pooled, dense;
	struct dlsi_window window;
	struct pooling pooling;
	uint32_t axes;
	int rc;

	pooling.rank = dlsi_program_dims(program, node->inputs[0], pooling.source);
	axes = (1U << pooling.rank) - 1;
	if (pooling.rank < 3 || (node->reduced & axes) != (axes & ~3U))
		return dlsi_own_reduce(program, node, err);
	for (uint32_t i = 0; i < pooling.rank; i++)
		pooling.target[i] = i < 2 ? pooling.source[i] : 1;
	window = whole(pooling.rank, pooling.source);
	if (!fits(&pooling, &window, dnnl_pooling_avg_exclude_padding))
		return DLS_EUNSUPPORTED;
	rc = add_step(program, node, &pooling, dnnl_pooling_avg_exclude_padding, DLSI_NO_VALUE, &pooled, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dlsi_md_plain(&program->pool, pooling.rank, pooling.target), &dense, err);
	if (rc == 0)
		rc = dlsi_program_reorder(program, &pooled, &dense, err);
	return rc ? rc : dlsi_program_share(program, node, &dense, dlsi_program_plain(program, node->outputs[0]), err);
}
