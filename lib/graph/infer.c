#include "graph/infer.h"

#include "base/shape.h"
#include "graph/op.h"
#include <stdio.h>

/* What an operator may take for granted: its inputs are known and not empty. */
static int check_inputs(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input)
			continue;
		if (!input->dtype)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s', an additional output of its operator that is not supported", input->name);
		if (i == 0 && dlsi_value_count(input) == 0)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes '%s', which is empty", input->name);
	}
	return 0;
}

int dlsi_graph_infer(struct dlsi_graph *graph, struct dls_error *err)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];
		int rc = check_inputs(graph, node, err);

		if (rc == 0)
			rc = node->op->infer(graph, node, err);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < graph->output_count; i++)
		if (!graph->values[graph->outputs[i]].dtype)
			return dlsi_fail(err, DLS_EUNSUPPORTED,
				"the output '%s' is an additional one of its operator, which is not supported",
				graph->values[graph->outputs[i]].name);
	return 0;
}

/* Writes why not into `reason` and returns false, or marks what has rows. */
static bool keeps_rows(struct dlsi_graph *graph, char *reason, size_t size)
{
	for (uint32_t i = 0; i < graph->input_count; i++) {
		struct dlsi_value *input = &graph->values[graph->inputs[i]];

		input->batched = input->rank > 0 && input->dims[0] == 1;
		if (!input->batched) {
			snprintf(reason, size, "the input '%s' %s has no first dimension of 1 that could be the batch",
				input->name, dlsi_shape_text(input->dtype, input->rank, input->dims).text);
			return false;
		}
	}
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct dlsi_node *node = &graph->nodes[i];
		struct dlsi_value *output = dlsi_node_output(graph, node);
		const char *mixes = NULL;
		bool any = false;

		for (uint32_t k = 0; k < node->input_count; k++)
			any |= node->inputs[k] != DLSI_NO_VALUE && graph->values[node->inputs[k]].batched;
		if (any)
			mixes = node->op->mixes(graph, node);
		if (any && !mixes && (output->rank == 0 || output->dims[0] != 1))
			mixes = "moves the first dimension, the batch, to another place";
		if (mixes) {
			snprintf(reason, size, "node '%s' (%s) %s", node->name, node->op->name, mixes);
			return false;
		}
		output->batched = any;
	}
	for (uint32_t i = 0; i < graph->output_count; i++) {
		const struct dlsi_value *output = &graph->values[graph->outputs[i]];

		if (!output->batched) {
			snprintf(reason, size, "the output '%s' does not depend on the inputs", output->name);
			return false;
		}
	}
	return true;
}

int dlsi_graph_find_batch(struct dlsi_graph *graph, struct dls_error *err)
{
	char reason[512];

	if (keeps_rows(graph, reason, sizeof reason))
		return 0;
	for (uint32_t i = 0; i < graph->value_count; i++)
		graph->values[i].batched = false;
	graph->unbatchable = dlsi_arena_strdup(&graph->arena, reason);
	return graph->unbatchable ? 0 : dlsi_fail_memory(err);
}
