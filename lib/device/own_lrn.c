/* LRN on our own kernel: images as they lie, anything else dense. */
#include "device/own.h"
#include "kernel/isa.h"
#include "kernel/lrn.h"
#include "kernel/parallel.h"

/* As the context of a step, its arguments are source, target and scratch. */
struct own_lrn {
	struct dlsi_kernel_lrn lrn;
	int threads;
};

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_lrn *own = context;

	(void)err;
	dlsi_lrn_run(&own->lrn, places[0], places[1], places[2], own->threads);
	return 0;
}

/* False if the kernel does not serve the node. */
static bool describe(
	const struct dlsi_program *program, const struct dlsi_node *node, bool channels_last, struct own_lrn *own)
{
	int64_t dims[DLS_TENSOR_RANK], pixels = 1;
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);

	for (uint32_t i = 2; i < rank; i++)
		pixels *= dims[i];
	own->threads = program->sharers;
	own->lrn = (struct dlsi_kernel_lrn){.isa = program->set->isa,
		.block = rank == 4 ? dlsi_isa_block(program->set->isa) : 1,
		.channels_last = channels_last,
		.batch = dims[0],
		.channels = dims[1],
		.pixels = pixels,
		.size = node->lrn.size,
		.alpha = node->lrn.alpha,
		.beta = node->lrn.beta,
		.bias = node->lrn.bias};
	return dlsi_clamp_is_none(&node->fused) && dlsi_lrn_supported(&own->lrn);
}

int dlsi_own_lrn(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct own_lrn *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_argument arguments[3] = {{0}};
	int64_t bytes;
	dlsi_md md;
	bool last;
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);
	if (rc)
		return rc;
	last = program->set->graph->values[node->inputs[0]].rank == 4 &&
	       dlsi_own_is_last(program, node->inputs[0], arguments[0].operand.md) &&
	       dlsi_own_fills_blocks(program, node->inputs[0]);
	if (!describe(program, node, last, own))
		return DLS_EUNSUPPORTED;
	md = own->lrn.block == 1 ? dlsi_program_plain(program, node->inputs[0])
				 : dlsi_own_image(program, node->inputs[0], last);
	bytes = (int64_t)dlsi_lrn_scratch_bytes(&own->lrn, own->threads);
	rc = dlsi_program_use(program, node->inputs[0], md, &arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], md, &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program, dlsi_md_bytes(&program->pool, bytes), &arguments[2].operand, err);
	return rc ? rc : dlsi_program_call(program, "own:lrn", run, own, arguments, 3, err);
}
