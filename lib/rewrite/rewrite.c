#include "rewrite/rewrite.h"

#include "graph/order.h"

const struct dlsi_rewrite dlsi_rewrites[] = {
	{"same", dlsi_rewrite_same},
	{"transposes", dlsi_rewrite_transposes},
	{"shapes", dlsi_rewrite_shapes},
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

int dlsi_graph_rewrite(struct dlsi_graph *graph, struct dls_error *err)
{
	int rc = 0;

	for (const struct dlsi_rewrite *rewrite = dlsi_rewrites; rc == 0 && rewrite->name; rewrite++)
		rc = dlsi_graph_rewrite_by(graph, rewrite, err);
	return rc;
}
