/* Operators without a kernel: their own eval is a step, on dense buffers. One that takes a bounded value is inferred in
 * each run before it is evaluated. */
#include "base/shape.h"
#include "device/onednn_lower.h"
#include "graph/op.h"
#include <string.h>

struct evaluation {
	const struct dlsi_node *node;
	const struct dlsi_alloc *alloc;
	const struct dlsi_graph *graph;
	struct dlsi_view *inputs, *outputs; /* their places are those of the run */
	bool bounded;                       /* so are their dimensions */
};

static void clamp(const struct dlsi_view *view, const struct dlsi_clamp *by)
{
	float *elements = view->data;

	for (size_t i = 0; i < dlsi_view_count(view); i++) {
		elements[i] = elements[i] < by->low ? by->low : elements[i];
		elements[i] = elements[i] > by->high ? by->high : elements[i];
	}
}

/* ---- sizes that are known only in a run */

/* The output as it is now, for which there is room for what the graph says. */
static int size_output(
	const struct evaluation *evaluation, const struct dlsi_value *now, uint32_t i, struct dls_error *err)
{
	struct dlsi_view *output = &evaluation->outputs[i];

	if (dlsi_value_bytes(now) > dlsi_value_bytes(&evaluation->graph->values[evaluation->node->outputs[i]]))
		return dlsi_node_fail(evaluation->node, err, DLS_EFORMAT, "gives %s, more than there can be",
			dlsi_shape_text(now->dtype, now->rank, now->dims).text);
	memcpy(output->dims, now->dims, sizeof output->dims);
	memcpy(output->found, now->dims, sizeof output->dims);
	return 0;
}

/* The node in a graph of its own: the values that it takes and gives, one behind the other. False when memory is
 * exhausted. */
static bool set_apart(const struct evaluation *evaluation, struct dlsi_graph *graph, struct dlsi_node *node)
{
	const uint32_t count = node->input_count + node->output_count;
	uint32_t *numbers = dlsi_arena_take(&graph->arena, count, sizeof *numbers);

	graph->values = dlsi_arena_take(&graph->arena, count, sizeof *graph->values);
	if (!numbers || !graph->values)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t value = i < node->input_count ? node->inputs[i] : node->outputs[i - node->input_count];

		numbers[i] = value == DLSI_NO_VALUE ? DLSI_NO_VALUE : i;
		if (value != DLSI_NO_VALUE)
			graph->values[i] = evaluation->graph->values[value];
	}
	graph->value_count = graph->value_capacity = count;
	node->inputs = numbers;
	node->outputs = numbers + node->input_count;
	return true;
}

/* Infers the node with the sizes that its inputs have now. */
static int infer(
	const struct evaluation *evaluation, struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc;

	for (uint32_t i = 0; i < node->input_count; i++) {
		struct dlsi_view *input = &evaluation->inputs[i];

		if (!input->found)
			continue;
		memcpy(input->dims, input->found, sizeof input->dims);
		memcpy(graph->values[i].dims, input->found, sizeof input->dims);
	}
	rc = node->op->infer(graph, node, err);
	for (uint32_t i = 0; rc == 0 && i < node->output_count; i++)
		if (evaluation->outputs[i].dtype)
			rc = size_output(evaluation, &graph->values[node->outputs[i]], i, err);
	return rc;
}

static int evaluate_bounded(const struct evaluation *evaluation, struct dls_error *err)
{
	struct dlsi_graph graph = {.node_count = 0};
	struct dlsi_node node = *evaluation->node;
	int rc;

	dlsi_arena_init(&graph.arena, evaluation->alloc);
	rc = set_apart(evaluation, &graph, &node) ? infer(evaluation, &graph, &node, err) : dlsi_fail_memory(err);
	if (rc == 0)
		rc = dlsi_node_eval(&node, evaluation->inputs, evaluation->outputs, evaluation->alloc, err);
	dlsi_arena_fini(&graph.arena);
	return rc;
}

/* The places are those of the inputs and outputs that are not left out. */
static int evaluate(void *context, void *const *places, struct dls_error *err)
{
	const struct evaluation *evaluation = context;
	const struct dlsi_node *node = evaluation->node;
	int rc;

	for (uint32_t i = 0; i < node->input_count; i++)
		if (evaluation->inputs[i].dtype)
			evaluation->inputs[i].data = *places++;
	for (uint32_t i = 0; i < node->output_count; i++)
		if (evaluation->outputs[i].dtype)
			evaluation->outputs[i].data = *places++;
	if (evaluation->bounded)
		return evaluate_bounded(evaluation, err);
	rc = dlsi_node_eval(node, evaluation->inputs, evaluation->outputs, evaluation->alloc, err);
	if (rc == 0 && !dlsi_clamp_is_none(&node->fused))
		clamp(&evaluation->outputs[0], &node->fused);
	return rc;
}

static struct evaluation *describe(struct dlsi_program *program, const struct dlsi_node *node)
{
	struct dlsi_arena *arena = &program->pool.arena;
	struct evaluation *evaluation = dlsi_arena_take(arena, 1, sizeof *evaluation);

	if (!evaluation)
		return NULL;
	evaluation->node = node;
	evaluation->alloc = program->set->alloc;
	evaluation->graph = program->set->graph;
	evaluation->bounded = dlsi_node_is_bounded(program->set->graph, node);
	evaluation->inputs = dlsi_arena_take(arena, node->input_count, sizeof *evaluation->inputs);
	evaluation->outputs = dlsi_arena_take(arena, node->output_count, sizeof *evaluation->outputs);
	return evaluation->inputs && evaluation->outputs ? evaluation : NULL;
}

/* Fills the view of a value that is not left out and has a type. */
static bool view(const struct dlsi_program *program, uint32_t value, struct dlsi_view *view_out)
{
	if (value == DLSI_NO_VALUE || !program->set->graph->values[value].dtype)
		return false;
	view_out->found = program->found[value];
	view_out->dtype = program->set->graph->values[value].dtype;
	view_out->rank = dlsi_program_dims(program, value, view_out->dims);
	return true;
}

/* Makes room for the dimensions of the outputs that are bounded. */
static bool take_found(struct dlsi_program *program, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < node->output_count; i++) {
		uint32_t value = node->outputs[i];

		if (value == DLSI_NO_VALUE || !program->set->graph->values[value].bounded)
			continue;
		program->found[value] = dlsi_arena_take(&program->pool.arena, DLS_TENSOR_RANK, sizeof **program->found);
		if (!program->found[value])
			return false;
	}
	return true;
}

int dlsi_lower_eval(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct evaluation *evaluation = describe(program, node);
	struct dlsi_argument *arguments = dlsi_arena_take(
		&program->pool.arena, (size_t)node->input_count + node->output_count, sizeof *arguments);
	uint32_t count = 0;
	int rc = 0;

	if (!evaluation || !arguments || !take_found(program, node))
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; rc == 0 && i < node->input_count; i++)
		if (view(program, node->inputs[i], &evaluation->inputs[i]))
			rc = dlsi_program_use(program, node->inputs[i], dlsi_program_plain(program, node->inputs[i]),
				&arguments[count++].operand, err);
	for (uint32_t i = 0; rc == 0 && i < node->output_count; i++)
		if (view(program, node->outputs[i], &evaluation->outputs[i]))
			rc = dlsi_program_target(program, node->outputs[i],
				dlsi_program_plain(program, node->outputs[i]), &arguments[count++].operand, err);
	return rc ? rc : dlsi_program_call(program, "eval", evaluate, evaluation, arguments, count, err);
}
