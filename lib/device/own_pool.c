/* MaxPool on our own kernel. */
#include "device/onednn_lower.h"
#include "device/own.h"
#include "kernel/conv.h"
#include "kernel/isa.h"
#include "kernel/parallel.h"
#include "kernel/pool.h"

/* As the context of a step, its arguments are source, target and, for three dimensions, what is between them: images
 * are pooled first, then from image to image. */
struct own_pool {
	struct dlsi_kernel_pool images, depth;
	bool deep;
	int threads;
};

struct dlsi_kernel_axis dlsi_own_axis(
	const struct dlsi_window *window, uint32_t i, const struct dlsi_value *source, const struct dlsi_value *target)
{
	return (struct dlsi_kernel_axis){.source = source->dims[2 + i],
		.target = target->dims[2 + i],
		.kernel = window->kernel[i],
		.stride = window->strides[i],
		.gap = window->dilations[i] - 1,
		.pad = window->pads_before[i]};
}

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_pool *own = context;
	float *target = places[1], *between = own->deep ? places[2] : target;

	(void)err;
	dlsi_max_pool_run(&own->images, places[0], between, own->threads);
	if (own->deep)
		dlsi_max_pool_run(&own->depth, between, target, own->threads);
	return 0;
}

/* False where the kernel does not apply. In depth, images and then rows of images count as items; blocks, which lie
 * one behind the other, do as well. */
static bool describe(struct own_pool *own, int threads, enum dlsi_isa isa, bool channels_last,
	const struct dlsi_window *window, int64_t items, const struct dlsi_value *source,
	const struct dlsi_value *target)
{
	static const struct dlsi_kernel_axis one = {.source = 1, .target = 1, .kernel = 1, .stride = 1};
	int block = dlsi_isa_block(isa);
	int64_t channels = channels_last ? source->dims[1] : block;
	int64_t planes = channels_last ? items : items * dlsi_kernel_blocks(block, source->dims[1]);
	uint32_t rank = window->rank;

	if (rank < 1 || rank > DLSI_SPATIAL_RANK)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (window->dilations[i] != 1)
			return false;
	own->deep = rank == 3;
	own->threads = threads;
	own->images = (struct dlsi_kernel_pool){.isa = isa,
		.block = block,
		.channels_last = channels_last,
		.batch = own->deep ? planes * source->dims[2] : planes,
		.channels = channels,
		.height = rank == 1 ? one : dlsi_own_axis(window, rank - 2, source, target),
		.width = dlsi_own_axis(window, rank - 1, source, target)};
	own->depth = (struct dlsi_kernel_pool){.isa = isa,
		.block = block,
		.channels_last = channels_last,
		.batch = planes,
		.channels = channels,
		.width = one};
	if (own->deep) {
		own->depth.height = dlsi_own_axis(window, 0, source, target);
		own->depth.width.source = own->depth.width.target = target->dims[3] * target->dims[4];
	}
	return dlsi_max_pool_supported(&own->images) && (!own->deep || dlsi_max_pool_supported(&own->depth));
}

/* What is between the two pools of three dimensions: as deep as the source. */
static dlsi_md between(struct dlsi_program *program, const struct dlsi_node *node, bool channels_last)
{
	int64_t dims[DLS_TENSOR_RANK], source[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], dims);

	dlsi_program_dims(program, node->inputs[0], source);
	dims[2] = source[2];
	return channels_last ? dlsi_md_last(&program->pool, rank, dims)
			     : dlsi_md_blocked(&program->pool, rank, dims, dlsi_isa_block(program->set->isa));
}

int dlsi_own_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *source = dlsi_node_input(graph, node, 0), *target = dlsi_node_output(graph, node);
	struct dlsi_window window = dlsi_pool_window(node, source);
	struct own_pool *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_argument arguments[3] = {{0}};
	int64_t dims[DLS_TENSOR_RANK];
	bool last;
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);
	if (rc)
		return rc;
	last = dlsi_own_is_last(program, node->inputs[0], arguments[0].operand.md) &&
	       dlsi_own_fills_blocks(program, node->inputs[0]);
	dlsi_program_dims(program, node->inputs[0], dims);
	if (node->output_count > 1 || !dlsi_clamp_is_none(&node->fused) ||
		!describe(own, program->sharers, program->set->isa, last, &window, dims[0], source, target))
		return DLS_EUNSUPPORTED;
	rc = dlsi_program_use(
		program, node->inputs[0], dlsi_own_image(program, node->inputs[0], last), &arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_own_image(program, node->outputs[0], last),
			&arguments[1].operand, err);
	if (rc == 0 && own->deep)
		rc = dlsi_program_scratch(program, between(program, node, last), &arguments[2].operand, err);
	return rc ? rc : dlsi_program_call(program, "own:pool", run, own, arguments, 2 + own->deep, err);
}
