/* Building a program: lowering node by node, finding the passages of its steps, placing its buffers. */
#include "device/onednn_build.h"
#include "device/onednn_lower.h"
#include "device/team.h"
#include "graph/op.h"
#include "graph/plan.h"
#include "kernel/parallel.h"

static void note_last_nodes(struct dlsi_program *program)
{
	const struct dlsi_graph *graph = program->set->graph;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct dlsi_node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->input_count; k++)
			if (node->inputs[k] != DLSI_NO_VALUE)
				program->last_nodes[node->inputs[k]] = i;
	}
	for (uint32_t i = 0; i < graph->output_count; i++)
		program->last_nodes[graph->outputs[i]] = DLSI_FOREVER;
}

static int add_inputs(struct dlsi_program *program, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < graph->input_count; i++) {
		struct dlsi_program_buffer input = {.kind = DLSI_BUFFER_INPUT, .port = i};

		rc = dlsi_program_add_buffer(program, &input, dlsi_program_plain(program, graph->inputs[i]),
			&program->values[graph->inputs[i]], err);
	}
	return rc;
}

/* A value that lies dense in a buffer of the program's own is computed right into the caller's; others are copied there
 * at the end. */
static int add_outputs(struct dlsi_program *program, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;

	for (uint32_t i = 0; i < graph->output_count; i++) {
		struct dlsi_program_buffer output = {.kind = DLSI_BUFFER_OUTPUT, .port = i};
		dlsi_md dense = dlsi_program_plain(program, graph->outputs[i]);
		struct dlsi_operand from, to;
		int rc = dlsi_program_use(program, graph->outputs[i], NULL, &from, err);

		if (rc == 0 && program->buffers[from.buffer].kind == DLSI_BUFFER_SHARED &&
			program->buffers[from.buffer].inside == DLSI_NOWHERE && dense &&
			dnnl_memory_desc_equal(from.md, dense)) {
			program->buffers[from.buffer].kind = DLSI_BUFFER_OUTPUT;
			program->buffers[from.buffer].port = i;
			continue;
		}
		if (rc == 0)
			rc = dlsi_program_add_buffer(program, &output, dense, &to, err);
		if (rc == 0)
			rc = dlsi_program_reorder(program, &from, &to, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* What has a place of its own in the activations. */
static bool is_placed(const struct dlsi_program_buffer *buffer)
{
	return buffer->kind == DLSI_BUFFER_SHARED && buffer->inside == DLSI_NOWHERE &&
	       buffer->first_step <= buffer->last_step;
}

static int place_buffers(struct dlsi_program *program, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = program->set->alloc;
	struct dlsi_plan_block *blocks = dlsi_calloc(alloc, program->buffer_count, sizeof *blocks);
	size_t count = 0;
	int rc = DLS_ENOMEM;

	if (!blocks)
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct dlsi_program_buffer *buffer = &program->buffers[i];

		if (is_placed(buffer))
			blocks[count++] = (struct dlsi_plan_block){
				.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
	}
	rc = dlsi_plan_place(alloc, blocks, count, &program->activations_bytes);
	count = 0;
	for (uint32_t i = 0; rc == 0 && i < program->buffer_count; i++) {
		struct dlsi_program_buffer *buffer = &program->buffers[i];

		if (is_placed(buffer))
			buffer->offset = blocks[count++].offset;
	}
	dlsi_free(alloc, blocks);
	return rc ? dlsi_fail_memory(err) : dlsi_onednn_set_reserve(program->set, program->activations_bytes, err);
}

/* One memory object per argument. The fixed ones get their place now, the others when it is known. */
static int make_memories(struct dlsi_program *program, struct dls_error *err)
{
	program->exec = dlsi_calloc(program->set->alloc, program->argument_count + 1, sizeof *program->exec);
	program->places = dlsi_calloc(program->set->alloc, program->argument_count + 1, sizeof *program->places);
	if (!program->exec || !program->places)
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; i < program->argument_count; i++) {
		const struct dlsi_program_argument *argument = &program->arguments[i];
		const struct dlsi_program_buffer *buffer = &program->buffers[argument->operand.buffer];
		dnnl_status_t status = dlsi_onednn_memory(
			&program->pool, argument->operand.md, program->set->engine, &program->exec[i].memory);

		program->exec[i].arg = argument->index;
		if (buffer->kind == DLSI_BUFFER_FIXED)
			program->places[i] = (void *)buffer->data;
		if (status == dnnl_success && program->places[i])
			status = dnnl_memory_set_data_handle(program->exec[i].memory, program->places[i]);
		if (status != dnnl_success)
			return dlsi_onednn_fail(err, status, "cannot describe memory");
	}
	return 0;
}

static bool is_float(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return input && input->dtype == DLS_FLOAT32 && dlsi_node_output(graph, node)->dtype == DLS_FLOAT32;
}

/* oneDNN leaves a tensor alone that is computed from one without elements. */
static bool is_empty(const struct dlsi_program *program, const struct dlsi_node *node)
{
	int64_t dims[DLS_TENSOR_RANK];

	for (uint32_t i = 0; i < node->input_count; i++) {
		uint32_t rank =
			node->inputs[i] == DLSI_NO_VALUE ? 0 : dlsi_program_dims(program, node->inputs[i], dims);

		for (uint32_t k = 0; k < rank; k++)
			if (dims[k] == 0)
				return true;
	}
	return false;
}

static int lower(struct dlsi_program *program, const struct dlsi_lowering *lowering, const struct dlsi_node *node,
	struct dls_error *err)
{
	int rc = DLS_EUNSUPPORTED;

	while (lowering->op && lowering->op != node->op)
		lowering++;
	if (lowering->op && !dlsi_node_is_bounded(program->set->graph, node) &&
		(lowering->any_type || is_float(program->set->graph, node)) &&
		!(node->op->eval && is_empty(program, node)))
		rc = lowering->lower(program, node, err);
	return rc == DLS_EUNSUPPORTED && node->op->eval ? dlsi_lower_eval(program, node, err) : rc;
}

/* Whether oneDNN runs it on a team, which it calls together itself. */
static bool is_teams(const struct dlsi_program_step *step)
{
	return step->primitive && step->threads > 1;
}

/* What oneDNN's teams leave over are passages in which the others stand by, if there is more than one work to share. */
static void find_passages(struct dlsi_program *program)
{
	struct dlsi_program_step *steps = program->steps;
	uint32_t end;

	for (uint32_t first = 0; first < program->step_count; first = end) {
		uint32_t shared = 0;

		steps[first].standby = 1;
		for (end = first; end < program->step_count && is_teams(&steps[end]) == is_teams(&steps[first]);
			end++) {
			const bool is_shared = steps[end].together > 1 || (steps[end].call && steps[end].threads > 1);

			shared += is_shared;
			if (shared > 1)
				steps[first].standby = program->team;
		}
		steps[first].passage_end = end;
	}
}

static int build(struct dlsi_program *program, const struct dlsi_lowering *lowerings, struct dls_error *err)
{
	const struct dlsi_graph *graph = program->set->graph;
	const int threads = dlsi_parallel_threads();
	int rc = add_inputs(program, err);

	program->team = threads;
	program->sharers = 1;
	program->banded = dlsi_team_has_bands(graph, program->batch, program->set->isa, threads);
	note_last_nodes(program);
	for (program->node = 0; rc == 0 && program->node < graph->node_count; program->node++) {
		const struct dlsi_node *node = &graph->nodes[program->node];

		dlsi_parallel_set_threads(
			dlsi_team_for(graph, node, program->batch, program->set->isa, threads, false));
		program->sharers = dlsi_team_for(graph, node, program->batch, program->set->isa, threads, true);
		rc = lower(program, lowerings, node, err);
	}
	dlsi_parallel_set_threads(threads);
	if (rc == 0)
		rc = add_outputs(program, err);
	find_passages(program);
	if (rc == 0)
		rc = place_buffers(program, err);
	if (rc == 0)
		rc = make_memories(program, err);
	return rc;
}

int dlsi_program_create(struct dlsi_onednn_set *set, int64_t batch, const struct dlsi_lowering *lowerings,
	struct dlsi_program **program_out, struct dls_error *err)
{
	struct dlsi_program *program = dlsi_calloc(set->alloc, 1, sizeof *program);
	int rc;

	if (!program)
		return dlsi_fail_memory(err);
	program->set = set;
	program->batch = batch;
	dlsi_onednn_pool_init(&program->pool, set->alloc);
	program->values = dlsi_arena_take(&program->pool.arena, set->graph->value_count, sizeof *program->values);
	program->last_nodes =
		dlsi_arena_take(&program->pool.arena, set->graph->value_count, sizeof *program->last_nodes);
	program->found = dlsi_arena_take(&program->pool.arena, set->graph->value_count, sizeof *program->found);
	rc = program->values && program->last_nodes && program->found ? build(program, lowerings, err)
								      : dlsi_fail_memory(err);
	if (rc)
		dlsi_program_destroy(program);
	else
		*program_out = program;
	return rc;
}

void dlsi_program_destroy(struct dlsi_program *program)
{
	const struct dlsi_alloc *alloc = program->set->alloc;

	dlsi_onednn_pool_fini(&program->pool);
	dlsi_free(alloc, program->buffers);
	dlsi_free(alloc, program->steps);
	dlsi_free(alloc, program->arguments);
	dlsi_free(alloc, program->exec);
	dlsi_free(alloc, program->places);
	dlsi_free(alloc, program);
}

void dlsi_program_facts(const struct dlsi_program *program, struct dlsi_device_facts *facts_out)
{
	*facts_out = (struct dlsi_device_facts){.step_count = program->step_count,
		.activation_bytes = program->set->activations_bytes,
		.packed_bytes = dlsi_onednn_weights_bytes(program->set->weights)};
}

struct dlsi_device_step dlsi_program_tell_step(const struct dlsi_program *program, uint32_t step)
{
	return (struct dlsi_device_step){.node = program->steps[step].node, .kernel = program->steps[step].kernel};
}
