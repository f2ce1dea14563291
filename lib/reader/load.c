#include "reader/load.h"

#include "base/limits.h"
#include "graph/infer.h"
#include "graph/order.h"
#include "reader/read.h"
#include <inttypes.h>
#include <string.h>

bool dlsi_onnx_shapes_equal(const struct dlsi_onnx_shape *a, const struct dlsi_onnx_shape *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].rank != b[i].rank || memcmp(a[i].dims, b[i].dims, a[i].rank * sizeof *a[i].dims) != 0)
			return false;
	return true;
}

struct dlsi_onnx_shape *dlsi_onnx_shapes_copy(
	const struct dlsi_alloc *alloc, const struct dlsi_onnx_shape *shapes, size_t count)
{
	struct dlsi_onnx_shape *copy = dlsi_calloc(alloc, count, sizeof *copy);

	return copy ? memcpy(copy, shapes, count * sizeof *copy) : NULL;
}

int dlsi_onnx_check_length(uint64_t length, struct dls_error *err)
{
	if (length <= DLSI_ONNX_BYTES)
		return 0;
	return dlsi_fail(err, DLS_ELIMIT,
		"it has %" PRIu64
		" bytes, and an ONNX file ends at 2 GB: save the model with its data in files beside it "
		"(external data)",
		length);
}

int dlsi_graph_load(const struct dlsi_alloc *alloc, const struct dlsi_onnx *onnx, struct dlsi_graph **graph_out,
	struct dls_error *err)
{
	int rc = dlsi_onnx_check_length(onnx->length, err);
	struct dlsi_graph *graph;

	if (rc)
		return rc;
	graph = dlsi_calloc(alloc, 1, sizeof *graph);
	if (!graph)
		return dlsi_fail_memory(err);
	dlsi_arena_init(&graph->arena, alloc);
	rc = dlsi_graph_read(graph, onnx, err);
	if (rc == 0)
		rc = dlsi_graph_order(graph, err);
	if (rc == 0 && !graph->unsized)
		rc = dlsi_graph_infer(graph, err);
	if (rc == 0)
		*graph_out = graph;
	else
		dlsi_graph_destroy(graph);
	return rc;
}
