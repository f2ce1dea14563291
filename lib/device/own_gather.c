/* Gather of an image's channels by constant indices, as the image lies. */
#include "device/own.h"
#include "graph/op.h"
#include "kernel/gather.h"
#include "kernel/isa.h"

enum { CHANNELS = 1 };

/* As the context of a step, its arguments are source and target. */
struct own_gather {
	struct dlsi_kernel_gather gather;
	int threads;
};

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_gather *own = context;

	(void)err;
	dlsi_gather_run(&own->gather, places[0], places[1], own->threads);
	return 0;
}

/* Counted from the front. DLS_EUNSUPPORTED where one is of no channel. */
static int list_channels(struct dlsi_program *program, const struct dlsi_node *node, int64_t channels,
	const int64_t **list_out, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const uint32_t most = (uint32_t)dlsi_value_count(dlsi_node_input(graph, node, 1));
	int64_t *list = dlsi_arena_take(&program->pool.arena, most, sizeof *list);
	uint32_t count;
	int rc = list ? dlsi_node_constant_ints(graph, node, 1, list, most, &count, err) : dlsi_fail_memory(err);

	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		list[i] += list[i] < 0 ? channels : 0;
		if (list[i] < 0 || list[i] >= channels)
			return DLS_EUNSUPPORTED;
	}
	*list_out = list;
	return rc;
}

/* Whether it lies in the blocks of our kernels. */
static bool is_blocked(struct dlsi_program *program, uint32_t value, uint32_t rank, dlsi_md md)
{
	dlsi_md blocked = rank <= 5 ? dlsi_own_image(program, value, false) : NULL;

	return blocked && dnnl_memory_desc_equal(md, blocked);
}

static int lower(
	struct dlsi_program *program, const struct dlsi_node *node, struct own_gather *own, struct dls_error *err)
{
	const struct dlsi_value *indices = dlsi_node_input(program->set->graph, node, 1);
	struct dlsi_argument arguments[2] = {{0}};
	int64_t dims[DLS_TENSOR_RANK];
	const uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);
	int rc = dlsi_program_use(program, node->inputs[0], NULL, &arguments[0].operand, err);
	bool last;

	if (rc)
		return rc;
	last = dlsi_own_is_last(program, node->inputs[0], arguments[0].operand.md);
	if (!last && !is_blocked(program, node->inputs[0], rank, arguments[0].operand.md))
		return DLS_EUNSUPPORTED;
	own->threads = program->sharers;
	own->gather = (struct dlsi_kernel_gather){.block = dlsi_isa_block(program->set->isa),
		.channels_last = last,
		.batch = dims[0],
		.source_channels = dims[CHANNELS],
		.target_channels = indices->dims[0],
		.pixels = 1};
	for (uint32_t i = 2; i < rank; i++)
		own->gather.pixels *= dims[i];
	rc = list_channels(program, node, dims[CHANNELS], &own->gather.channels, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_own_image(program, node->outputs[0], last),
			&arguments[1].operand, err);
	return rc ? rc : dlsi_program_call(program, "own:gather", run, own, arguments, 2, err);
}

int dlsi_own_gather(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *source = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	struct own_gather *own;

	if (node->axis != CHANNELS || source->rank < 3 || source->dtype != DLS_FLOAT32 || source->data ||
		!indices->data || indices->rank != 1)
		return DLS_EUNSUPPORTED;
	own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	return own ? lower(program, node, own, err) : dlsi_fail_memory(err);
}
