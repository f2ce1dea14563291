#include "reader/load.h"

#include "graph/infer.h"
#include "graph/order.h"
#include "reader/read.h"

int dlsi_graph_load(const struct dlsi_alloc *alloc, const void *file, size_t length, struct dlsi_graph **graph_out,
	struct dls_error *err)
{
	struct dlsi_graph *graph = dlsi_calloc(alloc, 1, sizeof *graph);
	int rc;

	if (!graph)
		return dlsi_fail_memory(err);
	dlsi_arena_init(&graph->arena, alloc);
	rc = dlsi_graph_read(graph, file, length, err);
	if (rc == 0)
		rc = dlsi_graph_order(graph, err);
	if (rc == 0)
		rc = dlsi_graph_infer(graph, err);
	if (rc == 0)
		*graph_out = graph;
	else
		dlsi_graph_destroy(graph);
	return rc;
}
