/* The operations of nodes, counted by hand. */
#include "graph/op.h"
#include "graph/work.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <string.h>

enum { BATCH = 5 };

/* Of the one node with this operator, in a batch. */
static double work(const char *operator, const char * text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	struct dls_error err;
	double found = -1;

	unit_onnx(&file, &rng, text);
	if (dlsi_graph_load(unit_alloc(), &(struct dlsi_onnx){.file = file.data, .length = file.length}, &graph, &err))
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < graph->node_count; i++)
		if (strcmp(graph->nodes[i].op->name, operator) == 0)
			found = dlsi_node_work(graph, &graph->nodes[i], BATCH);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return found;
}

static void test_windows(void **state)
{
	(void)state;
	assert_true(work("Conv", "in x ? 8 10 10\nconst w 6 4 3 3\nnode Conv x w > y group:i=2\nout y\n") ==
		    2.0 * BATCH * 6 * 8 * 8 * 4 * 3 * 3);
	assert_true(work("ConvTranspose", "in x ? 8 5 5\nconst w 8 3 2 2\nnode ConvTranspose x w > y\nout y\n") ==
		    2.0 * BATCH * 8 * 5 * 5 * 3 * 2 * 2);
	assert_true(
		work("ConvInteger", "in x ? 2 4 4\nconst w 3 2 3 3\nnode Cast x > a to:i=2\nnode Cast w > b to:i=2\n"
				    "node ConvInteger a b > c\nnode Cast c > y to:i=1\nout y\n") ==
		2.0 * BATCH * 3 * 2 * 2 * 2 * 3 * 3);
}

static void test_products(void **state)
{
	(void)state;
	assert_true(work("Gemm", "in x ? 7\nconst w 7 4\nnode Gemm x w > y\nout y\n") == 2.0 * BATCH * 7 * 4);
	assert_true(
		work("Gemm", "in x ? 7\nconst w 4 7\nnode Gemm x w > y transB:i=1\nout y\n") == 2.0 * BATCH * 7 * 4);
	assert_true(work("MatMul", "in x ? 3 6 7\nconst w 7 4\nnode MatMul x w > y\nout y\n") ==
		    2.0 * BATCH * 3 * 6 * 4 * 7);
	assert_true(work("MatMul", "in x ? 3 7\nconst w 7\nnode MatMul x w > y\nout y\n") == 2.0 * BATCH * 3 * 7);
	assert_true(work("MatMulInteger",
			    "in x ? 7\nconst w 7 4\nnode Cast x > a to:i=2\nnode Cast w > b to:i=2\n"
			    "node MatMulInteger a b > c\nnode Cast c > y to:i=1\nout y\n") == 2.0 * BATCH * 7 * 4);
}

/* What is the same in every item is computed once. */
static void test_others_and_what_no_batch_has(void **state)
{
	(void)state;
	assert_true(work("Relu", "in x ? 7\nnode Relu x > y\nout y\n") == 0);
	assert_true(work("MaxPool", "in x ? 2 4 4\nnode MaxPool x > y kernel_shape:I=2,2\nout y\n") == 0);
	assert_true(work("Gemm", "in x 3 7\nconst w 7 4\nnode Gemm x w > y\nout y\n") == 2.0 * 3 * 7 * 4);
}

UNIT_MAIN(test_windows, test_products, test_others_and_what_no_batch_has)
