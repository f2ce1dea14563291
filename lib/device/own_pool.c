/* MaxPool on our own kernel, in blocked layouts. */
#include "device/own.h"
#include "kernel/isa.h"
#include "kernel/parallel.h"
#include "kernel/pool.h"

/* As the context of a step, its arguments are source and target. */
struct own_pool {
	struct dlsi_kernel_pool pool;
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

	(void)err;
	dlsi_max_pool_run(&own->pool, places[0], places[1], own->threads);
	return 0;
}

int dlsi_own_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *source = dlsi_node_input(graph, node, 0), *target = dlsi_node_output(graph, node);
	const struct dlsi_window *window = &node->pool.window;
	struct own_pool *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_argument arguments[2] = {{0}};
	int64_t dims[DLS_TENSOR_RANK];
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	if (source->rank != 4 || node->output_count > 1 || window->dilations[0] != 1 || window->dilations[1] != 1 ||
		!dlsi_clamp_is_none(&node->fused))
		return DLS_EUNSUPPORTED;
	dlsi_program_dims(program, node->inputs[0], dims);
	own->threads = dlsi_parallel_threads();
	own->pool = (struct dlsi_kernel_pool){.isa = program->set->isa,
		.block = dlsi_isa_block(program->set->isa),
		.batch = dims[0],
		.channels = source->dims[1],
		.height = dlsi_own_axis(window, 0, source, target),
		.width = dlsi_own_axis(window, 1, source, target)};
	if (!dlsi_max_pool_supported(&own->pool))
		return DLS_EUNSUPPORTED;
	rc = dlsi_program_use(program, node->inputs[0], dlsi_md_blocked(&program->pool, dims, own->pool.block),
		&arguments[0].operand, err);
	dlsi_program_dims(program, node->outputs[0], dims);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dlsi_md_blocked(&program->pool, dims, own->pool.block), &arguments[1].operand, err);
	return rc ? rc : dlsi_program_call(program, run, own, arguments, 2, err);
}
