/* Conv of one image by several threads at the same time, each with a primitive for a band of the target's rows. Threads
 * that stand by (kernel/standby.h) take these; oneDNN's own team would have to be called together. A thread has the
 * same band of one image after another, so what it reads it has mostly written itself. */
#include "device/onednn_conv.h"
#include "device/onednn_lower.h"
#include "device/own.h"
#include "kernel/parallel.h"
#include <string.h>

enum { RANK = 4, CHANNELS = 1, HEIGHT = 2, WIDTH = 3 };

struct band {
	int64_t source[DLS_TENSOR_RANK], target[DLS_TENSOR_RANK]; /* dimensions */
	int64_t source_row, target_row;                           /* the first ones, in the whole images */
	struct dlsi_onednn_window window;
	dnnl_primitive_desc_t pd;
};

/* What the bands have in common. */
struct whole {
	const struct dlsi_node *node;
	const_dnnl_primitive_desc_t pd;
	bool biased, sum;
	int64_t source[DLS_TENSOR_RANK], target[DLS_TENSOR_RANK];
	int64_t count; /* of the bands */
};

/* False where the images do not lie so that bands are whole, or are too small. */
static bool describe(
	struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd, struct whole *whole)
{
	const struct dlsi_graph *graph = program->set->graph;

	*whole = (struct whole){.node = node,
		.pd = pd,
		.biased = dlsi_node_input(graph, node, 2) != NULL,
		.sum = dlsi_node_input(graph, node, DLSI_CONV_ADDEND) != NULL,
		.count = program->sharers};
	if (!program->banded || program->sharers == 1 ||
		dlsi_program_dims(program, node->inputs[0], whole->source) != RANK || whole->source[0] != 1 ||
		!dlsi_own_is_last(program, node->inputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0)) ||
		!dlsi_own_is_last(program, node->outputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0)))
		return false;
	dlsi_program_dims(program, node->outputs[0], whole->target);
	return whole->target[HEIGHT] >= 2 * whole->count;
}

/* The rows of the target, and those that its windows see; what they see beyond the image is padding. */
static void place(const struct whole *whole, int64_t number, struct band *band)
{
	const struct dlsi_window *window = &whole->node->conv.window;
	const int64_t rows = whole->target[HEIGHT], first = number * rows / whole->count;
	const int64_t last = (number + 1) * rows / whole->count - 1;
	const int64_t sees = first * window->strides[0] - window->pads_before[0];
	const int64_t sees_end =
		last * window->strides[0] - window->pads_before[0] + (window->kernel[0] - 1) * window->dilations[0] + 1;
	const int64_t before = sees < 0 ? -sees : 0;
	const int64_t after = sees_end > whole->source[HEIGHT] ? sees_end - whole->source[HEIGHT] : 0;

	*band = (struct band){.source_row = sees + before, .target_row = first, .window = dlsi_onednn_window(window)};
	memcpy(band->source, whole->source, sizeof band->source);
	memcpy(band->target, whole->target, sizeof band->target);
	band->source[HEIGHT] = sees_end - after - band->source_row;
	band->target[HEIGHT] = last - first + 1;
	band->window.pads_before[0] = before;
	band->window.pads_after[0] = after;
}

/* With the weights as the whole has them. DLS_EUNSUPPORTED also for what oneDNN would do slowly. */
static int make_descriptor(
	struct dlsi_program *program, const struct whole *whole, struct band *band, struct dls_error *err)
{
	const struct dlsi_epilogue epilogue = {.scale = 1, .sum = whole->sum, .clamp = whole->node->fused};
	const struct dlsi_onednn_window *window = &band->window;
	dnnl_primitive_attr_t attributes;
	dnnl_status_t status = dlsi_epilogue_attributes(&epilogue, &attributes);
	int rc;

	if (status == dnnl_success)
		status = dnnl_convolution_forward_primitive_desc_create(&band->pd, program->set->engine,
			dnnl_forward_inference, dnnl_convolution_direct,
			dlsi_md_last(&program->pool, RANK, band->source),
			dnnl_primitive_desc_query_md(whole->pd, dnnl_query_weights_md, 0),
			whole->biased ? dnnl_primitive_desc_query_md(whole->pd, dnnl_query_weights_md, 1) : NULL,
			dlsi_md_last(&program->pool, RANK, band->target), window->strides, window->gaps,
			window->pads_before, window->pads_after, attributes);
	rc = dlsi_program_keep(program, whole->node, status, band->pd, attributes, err);
	return rc == 0 && dlsi_is_reference(band->pd) ? DLS_EUNSUPPORTED : rc;
}

static size_t row_bytes(const int64_t *dims)
{
	return (size_t)(dims[WIDTH] * dims[CHANNELS]) * sizeof(float);
}

/* The same arguments, but of the images only what the band has. */
static int add_band(struct dlsi_program *program, const struct whole *whole, const struct band *band,
	const struct dlsi_conv_arguments *arguments, struct dls_error *err)
{
	struct dlsi_conv_arguments own = *arguments;
	int rc = dlsi_program_view(program, &arguments->source.operand,
		(size_t)band->source_row * row_bytes(whole->source),
		dnnl_primitive_desc_query_md(band->pd, dnnl_query_src_md, 0), &own.source.operand, err);

	if (rc == 0)
		rc = dlsi_program_view(program, &arguments->target.operand,
			(size_t)band->target_row * row_bytes(whole->target),
			dnnl_primitive_desc_query_md(band->pd, dnnl_query_dst_md, 0), &own.target.operand, err);
	return rc ? rc : dlsi_program_step(program, whole->node, band->pd, &own.source, 3 + whole->biased, err);
}

/* All descriptors before the first step, since one may fail. A band of padding alone, which sees no row, has none. */
static int add_bands(struct dlsi_program *program, const struct whole *whole,
	const struct dlsi_conv_arguments *arguments, struct dls_error *err)
{
	struct band *bands = dlsi_arena_take(&program->pool.arena, (size_t)whole->count, sizeof *bands);
	const uint32_t first = program->step_count;
	int rc = bands ? 0 : dlsi_fail_memory(err);

	for (int64_t i = 0; rc == 0 && i < whole->count; i++) {
		place(whole, i, &bands[i]);
		rc = bands[i].source[HEIGHT] < 1 ? DLS_EUNSUPPORTED : make_descriptor(program, whole, &bands[i], err);
	}
	for (int64_t i = 0; rc == 0 && i < whole->count; i++)
		rc = add_band(program, whole, &bands[i], arguments, err);
	if (rc == 0)
		dlsi_program_together(program, first);
	return rc;
}

int dlsi_conv_bands(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	const struct dlsi_conv_arguments *arguments, struct dls_error *err)
{
	const int threads = dlsi_parallel_threads();
	struct whole whole;
	int rc;

	if (!describe(program, node, pd, &whole))
		return DLS_EUNSUPPORTED;
	dlsi_parallel_set_threads(1);
	rc = add_bands(program, &whole, arguments, err);
	dlsi_parallel_set_threads(threads);
	return rc;
}
