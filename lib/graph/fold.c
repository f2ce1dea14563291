#include "graph/fold.h"

#include "base/limits.h"
#include "graph/op.h"
#include "graph/uses.h"
#include "graph/work.h"
#include <string.h>

enum { SIZES = 64 }; /* elements that value->sizes has bits for */

enum readiness {
	DEPENDS, /* on the inputs of a run */
	WAITS,   /* for a value that is the same in every run, but was too much to compute */
	IS_READY,
};

static enum readiness judge(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	enum readiness readiness = IS_READY;
	uint32_t shape = node->op->shape_input == DLSI_OP_SHAPE_FIRST ? 0 : node->op->shape_input;

	if (!node->op->eval || dlsi_node_is_bounded(graph, node))
		return DEPENDS;
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && !input->data && !(i == 0 && node->op->reads_shape)) {
			if (!input->unfolded)
				return DEPENDS;
			readiness = WAITS;
		}
		if (input && input->sizes && node->op->shape_input && i == shape)
			return DEPENDS;
	}
	return readiness;
}

/* False where the rest of the budget is not enough. Small nodes cost nothing: there are only so many, and what a
 * Reshape must know is theirs. */
static bool pay(struct dlsi_fold_budget *budget, double steps, size_t bytes)
{
	if (steps <= DLSI_FOLD_SMALL_STEPS)
		return true;
	if (bytes > budget->bytes || steps > budget->steps)
		return false;
	budget->bytes -= bytes;
	budget->steps -= steps;
	return true;
}

static void mark_unfolded(struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			graph->values[node->outputs[i]].unfolded = true;
}

static size_t output_bytes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE && graph->values[node->outputs[i]].dtype)
			bytes += dlsi_value_bytes(&graph->values[node->outputs[i]]);
	return bytes;
}

/* The constant as a view; a copy of what lies unaligned in the file. False when memory is exhausted. */
static bool view_input(struct dlsi_arena *scratch, const struct dlsi_value *value, struct dlsi_view *view)
{
	size_t bytes = dls_dtype_bytes(value->dtype);

	*view = (struct dlsi_view){.dtype = value->dtype, .rank = value->rank, .data = (void *)value->data};
	memcpy(view->dims, value->dims, sizeof view->dims);
	if (!view->data || (uintptr_t)view->data % bytes == 0)
		return true;
	view->data = dlsi_arena_take(scratch, dlsi_value_count(value), bytes);
	if (view->data)
		memcpy(view->data, value->data, dlsi_value_bytes(value));
	return view->data != NULL;
}

static bool view_output(
	struct dlsi_arena *arena, struct dlsi_arena *scratch, const struct dlsi_value *value, struct dlsi_view *view)
{
	*view = (struct dlsi_view){.dtype = value->dtype, .rank = value->rank};
	memcpy(view->dims, value->dims, sizeof view->dims);
	view->data =
		value->dtype ? dlsi_arena_take(arena, dlsi_value_count(value), dls_dtype_bytes(value->dtype)) : NULL;
	if (value->bounded)
		view->found = dlsi_arena_take(scratch, DLS_TENSOR_RANK, sizeof *view->found);
	return (!value->dtype || view->data) && (!value->bounded || view->found);
}

static bool make_views(struct dlsi_graph *graph, const struct dlsi_node *node, struct dlsi_arena *scratch,
	struct dlsi_view *inputs, struct dlsi_view *outputs)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && !view_input(scratch, input, &inputs[i]))
			return false;
	}
	for (uint32_t i = 0; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE &&
			!view_output(&graph->arena, scratch, &graph->values[node->outputs[i]], &outputs[i]))
			return false;
	return true;
}

/* ---- sizes of the batch */

static uint64_t all_of(const struct dlsi_value *value)
{
	size_t count = dlsi_value_count(value);

	return count < SIZES ? (1ULL << count) - 1 : UINT64_MAX;
}

/* Moves the marks as the operator moves the elements: evaluated once more, with each element's mark in its place. */
static int move_sizes(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dlsi_arena *scratch,
	struct dlsi_view *inputs, uint64_t *sizes_out, struct dls_error *err)
{
	const struct dlsi_value *output = dlsi_node_output(graph, node);
	struct dlsi_view marked = {.dtype = DLS_INT64, .rank = output->rank};
	int64_t marks[SIZES];
	int rc;

	for (uint32_t i = 0; i < node->input_count && i < node->op->moves; i++) {
		size_t count = dlsi_view_count(&inputs[i]);
		int64_t *input = dlsi_arena_take(scratch, count, sizeof *input);

		if (!input)
			return dlsi_fail_memory(err);
		for (size_t k = 0; k < count; k++)
			input[k] = k < SIZES && graph->values[node->inputs[i]].sizes >> k & 1;
		inputs[i].dtype = DLS_INT64;
		inputs[i].data = input;
	}
	memcpy(marked.dims, output->dims, sizeof marked.dims);
	marked.data = marks;
	rc = dlsi_node_eval(node, inputs, &marked, graph->arena.alloc, err);
	for (size_t k = 0; rc == 0 && k < dlsi_value_count(output); k++)
		*sizes_out |= marks[k] ? 1ULL << k : 0;
	return rc;
}

/* Whether element sizes have marks that only move: of inputs that are moved, few enough, and one output. */
static bool moves_sizes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && input->sizes && (i >= node->op->moves || dlsi_value_count(input) > SIZES))
			return false;
	}
	return node->output_count == 1 && dlsi_value_count(dlsi_node_output(graph, node)) <= SIZES;
}

static int find_sizes(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dlsi_arena *scratch,
	struct dlsi_view *inputs, uint64_t *sizes_out, struct dls_error *err)
{
	bool any = false;

	*sizes_out = 0;
	if (node->op->reads_shape && dlsi_node_input(graph, node, 0)->batched) {
		*sizes_out = dlsi_node_output(graph, node)->rank == 1 && node->shape.first > 0
				     ? 0
				     : dlsi_value_count(dlsi_node_output(graph, node)) > 0;
		return 0;
	}
	for (uint32_t i = 0; i < node->input_count; i++)
		any |= dlsi_node_input(graph, node, i) && dlsi_node_input(graph, node, i)->sizes;
	if (any && moves_sizes(graph, node))
		return move_sizes(graph, node, scratch, inputs, sizes_out, err);
	*sizes_out = any ? all_of(dlsi_node_output(graph, node)) : 0;
	return 0;
}

/* ---- folding */

static void make_constant(struct dlsi_value *value, const struct dlsi_view *view, uint64_t sizes)
{
	value->data = view->data;
	value->sizes = sizes;
	if (value->bounded)
		memcpy(value->dims, view->found, sizeof value->dims);
	value->bounded = false;
}

static int evaluate(struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_arena *scratch, struct dls_error *err)
{
	struct dlsi_view *inputs = dlsi_arena_take(scratch, node->input_count, sizeof *inputs);
	struct dlsi_view *outputs = dlsi_arena_take(scratch, node->output_count, sizeof *outputs);
	uint64_t sizes;
	int rc;

	if (!inputs || !outputs || !make_views(graph, node, scratch, inputs, outputs))
		return dlsi_fail_memory(err);
	rc = dlsi_node_eval(node, inputs, outputs, graph->arena.alloc, err);
	if (rc == 0)
		rc = find_sizes(graph, node, scratch, inputs, &sizes, err);
	for (uint32_t i = 0; rc == 0 && i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			make_constant(&graph->values[node->outputs[i]], &outputs[i], sizes);
	return rc;
}

int dlsi_graph_fold(struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_fold_budget *budget, bool *folded_out,
	struct dls_error *err)
{
	enum readiness readiness = judge(graph, node);
	struct dlsi_arena scratch;
	int rc;

	*folded_out = readiness == IS_READY && pay(budget, dlsi_node_steps(graph, node), output_bytes(graph, node));
	if (readiness != DEPENDS && !*folded_out)
		mark_unfolded(graph, node);
	if (!*folded_out)
		return 0;
	dlsi_arena_init(&scratch, graph->arena.alloc);
	rc = evaluate(graph, node, &scratch, err);
	dlsi_arena_fini(&scratch);
	if (rc == 0)
		dlsi_node_drop(node);
	return rc;
}
