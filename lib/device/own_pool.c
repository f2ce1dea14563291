/* MaxPool on our own kernel, in blocked layouts. */
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

/* False where the kernel does not apply. Blocks are computed one by one, so that those of all items count as a batch.
 */
static bool describe(struct own_pool *own, enum dlsi_isa isa, const struct dlsi_window *window, int64_t items,
	const struct dlsi_value *source, const struct dlsi_value *target)
{
	static const struct dlsi_kernel_axis one = {.source = 1, .target = 1, .kernel = 1, .stride = 1};
	int block = dlsi_isa_block(isa);
	int64_t planes = items * dlsi_kernel_blocks(block, source->dims[1]);
	uint32_t rank = window->rank;

	if (rank < 1 || rank > DLSI_SPATIAL_RANK)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (window->dilations[i] != 1)
			return false;
	own->deep = rank == 3;
	own->threads = dlsi_parallel_threads();
	own->images = (struct dlsi_kernel_pool){.isa = isa,
		.block = block,
		.batch = own->deep ? planes * source->dims[2] : planes,
		.channels = block,
		.height = rank == 1 ? one : dlsi_own_axis(window, rank - 2, source, target),
		.width = dlsi_own_axis(window, rank - 1, source, target)};
	own->depth =
		(struct dlsi_kernel_pool){.isa = isa, .block = block, .batch = planes, .channels = block, .width = one};
	if (own->deep) {
		own->depth.height = dlsi_own_axis(window, 0, source, target);
		own->depth.width.source = own->depth.width.target = target->dims[3] * target->dims[4];
	}
	return dlsi_max_pool_supported(&own->images) && (!own->deep || dlsi_max_pool_supported(&own->depth));
}

int dlsi_own_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *source = dlsi_node_input(graph, node, 0), *target = dlsi_node_output(graph, node);
	struct dlsi_window window = dlsi_pool_window(node, source);
	struct own_pool *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_argument arguments[3] = {{0}};
	int64_t dims[DLS_TENSOR_RANK], depth;
	int block = dlsi_isa_block(program->set->isa), rc;

	if (!own)
		return dlsi_fail_memory(err);
	dlsi_program_dims(program, node->inputs[0], dims);
	if (node->output_count > 1 || !dlsi_clamp_is_none(&node->fused) ||
		!describe(own, program->set->isa, &window, dims[0], source, target))
		return DLS_EUNSUPPORTED;
	rc = dlsi_program_use(program, node->inputs[0], dlsi_md_blocked(&program->pool, source->rank, dims, block),
		&arguments[0].operand, err);
	depth = dims[2];
	dlsi_program_dims(program, node->outputs[0], dims);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dlsi_md_blocked(&program->pool, source->rank, dims, block), &arguments[1].operand, err);
	dims[2] = depth;
	if (rc == 0 && own->deep)
		rc = dlsi_program_scratch(program, dlsi_md_blocked(&program->pool, source->rank, dims, block),
			&arguments[2].operand, err);
	return rc ? rc : dlsi_program_call(program, "own:pool", run, own, arguments, 2 + own->deep, err);
}
