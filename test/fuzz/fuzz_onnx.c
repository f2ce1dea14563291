/* Any bytes as an ONNX file: what is accepted has shapes, an order, and constants inside the file; rewriting keeps
 * that. */
#include "graph/op.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check(const struct dlsi_graph *graph)
{
	volatile unsigned char sink = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (!dlsi_node_output(graph, &graph->nodes[i])->dtype)
			abort();
		for (uint32_t k = 0; k < graph->nodes[i].input_count; k++) {
			const struct dlsi_value *value = dlsi_node_input(graph, &graph->nodes[i], k);

			if (value && value->data && dlsi_value_bytes(value))
				sink = ((const unsigned char *)value->data)[dlsi_value_bytes(value) - 1];
		}
	}
	(void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct dlsi_graph *graph;
	struct dls_error err;

	if (dlsi_graph_load(&dlsi_alloc_libc, &(struct dlsi_onnx){.file = data, .length = length}, &graph, &err))
		return 0;
	check(graph);
	if (dlsi_graph_rewrite(graph, &err))
		abort();
	check(graph);
	dlsi_graph_destroy(graph);
	return 0;
}
