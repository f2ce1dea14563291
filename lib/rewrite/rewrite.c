#include "rewrite/rewrite.h"

#include "graph/order.h"
#include <string.h>

const struct dlsi_rewrite dlsi_rewrites[] = {
	{"same", dlsi_rewrite_same},
	{"transposes", dlsi_rewrite_transposes},
	{"shapes", dlsi_rewrite_shapes},
	{"shuffles", dlsi_rewrite_shuffles},
	{"same again", dlsi_rewrite_same},
	{"activations", dlsi_rewrite_activations},
	{"layers", dlsi_rewrite_layers},
	{"products", dlsi_rewrite_products},
	{"sums", dlsi_rewrite_sums},
	{"pads", dlsi_rewrite_pads},
	{"weights", dlsi_rewrite_weights},
	{"flatten", dlsi_rewrite_flatten},
	{"addend", dlsi_rewrite_addend},
	{"clamp", dlsi_rewrite_clamp},
	{"constants", dlsi_rewrite_constants},
	{NULL, NULL},
};

/* Ordering afterwards moves a node that took over a later one to where its new inputs are known, and drops what nobody
 * needs any more. */
int dlsi_graph_rewrite_by(struct dlsi_graph *graph, const struct dlsi_rewrite *rewrite, struct dls_error *err)
{
	struct dlsi_uses uses;
	int rc = dlsi_uses_init(&uses, graph);

	if (rc)
		return dlsi_fail_memory(err);
	rc = rewrite->pass(graph, &uses);
	dlsi_uses_fini(&uses);
	return rc ? dlsi_fail_memory(err) : dlsi_graph_order(graph, err);
}

static int rewrite_all(struct dlsi_graph *graph, struct dls_error *err)
{
	int rc = 0;

	for (const struct dlsi_rewrite *rewrite = dlsi_rewrites; rc == 0 && rewrite->name; rewrite++)
		rc = dlsi_graph_rewrite_by(graph, rewrite, err);
	return rc;
}

/* ---- nodes that take bounded values stay as they are, since they are inferred again in each run */

/* The graph without such nodes, which nobody else depends on, and with what they take as further outputs. */
struct rest {
	struct dlsi_node *nodes;
	uint32_t count;
	uint32_t *outputs; /* those of the whole graph */
	uint32_t output_count;
};

static void set_apart(struct dlsi_graph *graph, struct rest *rest)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < graph->node_count; i++)
		if (dlsi_node_is_bounded(graph, &graph->nodes[i]))
			rest->nodes[rest->count++] = graph->nodes[i];
		else
			graph->nodes[kept++] = graph->nodes[i];
	graph->node_count = kept;
}

static int give_out_what_it_takes(struct dlsi_graph *graph, const struct rest *rest)
{
	size_t count = rest->output_count;

	for (uint32_t i = 0; i < rest->count; i++)
		count += rest->nodes[i].input_count;
	graph->outputs = dlsi_arena_take(&graph->arena, count, sizeof *graph->outputs);
	if (!graph->outputs)
		return DLS_ENOMEM;
	memcpy(graph->outputs, rest->outputs, rest->output_count * sizeof *graph->outputs);
	for (uint32_t i = 0; i < rest->count; i++)
		for (uint32_t k = 0; k < rest->nodes[i].input_count; k++)
			if (dlsi_node_input(graph, &rest->nodes[i], k))
				graph->outputs[graph->output_count++] = rest->nodes[i].inputs[k];
	return 0;
}

static int put_back(struct dlsi_graph *graph, const struct rest *rest)
{
	struct dlsi_node *nodes =
		dlsi_arena_take(&graph->arena, (size_t)graph->node_count + rest->count, sizeof *nodes);

	if (!nodes)
		return DLS_ENOMEM;
	if (graph->node_count)
		memcpy(nodes, graph->nodes, graph->node_count * sizeof *nodes);
	memcpy(nodes + graph->node_count, rest->nodes, rest->count * sizeof *nodes);
	graph->nodes = nodes;
	graph->node_count += rest->count;
	graph->outputs = rest->outputs;
	graph->output_count = rest->output_count;
	return 0;
}

int dlsi_graph_rewrite(struct dlsi_graph *graph, struct dls_error *err)
{
	struct rest rest = {.outputs = graph->outputs, .output_count = graph->output_count};
	int rc;

	rest.nodes = dlsi_arena_take(&graph->arena, graph->node_count, sizeof *rest.nodes);
	if (!rest.nodes)
		return dlsi_fail_memory(err);
	set_apart(graph, &rest);
	if (!rest.count)
		return rewrite_all(graph, err);
	if (give_out_what_it_takes(graph, &rest))
		return dlsi_fail_memory(err);
	rc = rewrite_all(graph, err);
	return rc ? rc : put_back(graph, &rest) ? dlsi_fail_memory(err) : 0;
}
