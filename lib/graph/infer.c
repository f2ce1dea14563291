#include "graph/infer.h"

#include "base/limits.h"
#include "base/shape.h"
#include "graph/fold.h"
#include "graph/op.h"
#include <stdarg.h>
#include <stdio.h>

/* Where the row says which types there are. */
static int check_types(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	uint32_t typed = node->op->typed ? node->op->typed : UINT32_MAX;
	const struct dlsi_value *first = NULL;

	for (uint32_t i = 0; node->op->types && i < node->input_count && i < typed; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input)
			continue;
		if (!(node->op->types & DLSI_OP_TYPE(input->dtype)))
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s' of %s, which it is not defined for", input->name,
				dls_dtype_name(input->dtype));
		first = first ? first : input;
		if (input->dtype != first->dtype)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' of %s beside '%s' of %s", first->name,
				dls_dtype_name(first->dtype), input->name, dls_dtype_name(input->dtype));
	}
	return 0;
}

/* What an operator may take for granted: its inputs and their shapes are known. */
static int check_inputs(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && !input->dtype)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s', an additional output of its operator that is not supported", input->name);
		if (input && input->bounded && !node->op->eval)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s', whose size is known only when it is computed, which is not supported",
				input->name);
	}
	return check_types(graph, node, err);
}

/* ---- rows of a batch */

/* The first reason is kept; NULL if memory is exhausted. */
static int __attribute__((format(printf, 3, 4)))
refuse_batch(struct dlsi_graph *graph, struct dls_error *err, const char *format, ...)
{
	char reason[512];
	va_list arguments;

	if (graph->unbatchable)
		return 0;
	va_start(arguments, format);
	vsnprintf(reason, sizeof reason, format, arguments);
	va_end(arguments);
	graph->unbatchable = dlsi_arena_strdup(&graph->arena, reason);
	return graph->unbatchable ? 0 : dlsi_fail_memory(err);
}

static int mark_inputs(struct dlsi_graph *graph, struct dls_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < graph->input_count; i++) {
		struct dlsi_value *input = &graph->values[graph->inputs[i]];

		input->batched = input->rank > 0 && input->dims[0] == 1;
		if (!input->batched)
			rc = refuse_batch(graph, err,
				"the input '%s' %s has no first dimension of 1 that could be the batch", input->name,
				dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	}
	return rc;
}

/* Whether input `i` says that the output has a row per item: a shape whose first number alone grows with the batch. */
static bool is_shape_of_rows(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i)
{
	uint32_t shape = node->op->shape_input == DLSI_OP_SHAPE_FIRST ? 0 : node->op->shape_input;

	return node->op->shape_input && i == shape && graph->values[node->inputs[i]].sizes == 1;
}

/* Marks the outputs that have rows. Sizes of the batch may be moved about and become shapes; whoever computes with them
 * otherwise would have to do it anew for each batch. */
static int mark_outputs(struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	const char *mixes = NULL;
	bool any = false, sizes = false;

	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input)
			continue;
		any |= input->batched || is_shape_of_rows(graph, node, i);
		sizes |= input->sizes && !is_shape_of_rows(graph, node, i);
	}
	if (!any && !sizes)
		return 0;
	mixes = sizes ? "computes with the size of the batch" : node->op->mixes(graph, node);
	if (mixes)
		return refuse_batch(graph, err, "node '%s' (%s) %s", node->name, node->op->name, mixes);
	for (uint32_t i = 0; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			graph->values[node->outputs[i]].batched = true;
	return 0;
}

static int check_outputs(struct dlsi_graph *graph, struct dls_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < graph->output_count; i++) {
		const struct dlsi_value *output = &graph->values[graph->outputs[i]];

		if (!output->dtype)
			return dlsi_fail(err, DLS_EUNSUPPORTED,
				"the output '%s' is an additional one of its operator, which is not supported",
				output->name);
		if (!output->batched)
			rc = refuse_batch(graph, err, "the output '%s' does not depend on the inputs", output->name);
		else if (output->dims[0] != 1)
			rc = refuse_batch(graph, err, "the output '%s' has %lld rows per item", output->name,
				(long long)output->dims[0]);
	}
	for (uint32_t i = 0; graph->unbatchable && i < graph->value_count; i++)
		graph->values[i].batched = false;
	return rc;
}

/* ---- the walk */

/* What is computed of something whose size is known only then has such a size too. */
static void bound_outputs(struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; dlsi_node_is_bounded(graph, node) && i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			graph->values[node->outputs[i]].bounded = true;
}

static int infer_node(
	struct dlsi_graph *graph, struct dlsi_node *node, struct dlsi_fold_budget *budget, struct dls_error *err)
{
	bool folded = false;
	int rc = check_inputs(graph, node, err);

	if (rc == 0)
		rc = node->op->infer(graph, node, err);
	if (rc == 0)
		bound_outputs(graph, node);
	if (rc == 0)
		rc = dlsi_graph_fold(graph, node, budget, &folded, err);
	return rc || folded ? rc : mark_outputs(graph, node, err);
}

int dlsi_graph_infer(struct dlsi_graph *graph, struct dls_error *err)
{
	struct dlsi_fold_budget budget = {DLSI_FOLD_BYTES, DLSI_FOLD_STEPS};
	uint32_t kept = 0;
	int rc = mark_inputs(graph, err);

	for (uint32_t i = 0; rc == 0 && i < graph->node_count; i++) {
		rc = infer_node(graph, &graph->nodes[i], &budget, err);
		if (rc == 0 && graph->nodes[i].output_count)
			graph->nodes[kept++] = graph->nodes[i];
	}
	if (rc)
		return rc;
	graph->node_count = kept;
	return check_outputs(graph, err);
}
