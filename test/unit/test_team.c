/* Which nodes are worth a team: never those that are too small to gain by it, and always large ones. */
#include "device/team.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"

#define LARGE "in x ? 64 56 56\nconst w 64 64 3 3\nnode Conv x w > c pads:I=1,1,1,1\nnode Relu c > y\nout y\n"
#define SMALL "in x ? 8 14 14\nconst w 16 8 5 5\nnode Conv x w > c\nnode Relu c > y\nout y\n"

enum { CONV, RELU };

struct loaded {
	struct dlsi_buffer file;
	struct dlsi_graph *graph;
};

static struct loaded load(const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct loaded loaded = {0};
	struct dlsi_onnx onnx = {0};

	unit_onnx(&loaded.file, &rng, text);
	onnx.file = loaded.file.data;
	onnx.length = loaded.file.length;
	assert_int_equal(dlsi_graph_load(unit_alloc(), &onnx, &loaded.graph, NULL), 0);
	return loaded;
}

static void unload(struct loaded *loaded)
{
	dlsi_graph_destroy(loaded->graph);
	dlsi_buffer_fini(&loaded->file);
}

static int team(const struct loaded *loaded, int node, int64_t batch, int threads)
{
	return dlsi_team_for(loaded->graph, &loaded->graph->nodes[node], batch, DLSI_ISA_AVX512, threads, false);
}

static void test_large_nodes_get_a_team(void **state)
{
	struct loaded large = load(LARGE);

	(void)state;
	assert_int_equal(team(&large, CONV, 1, 2), 2);
	assert_int_equal(team(&large, CONV, 1, 16), 16);
	assert_int_equal(team(&large, CONV, 1, 1), 1);
	assert_int_equal(team(&large, RELU, 32, 2), 2);
	unload(&large);
}

static void test_small_nodes_run_alone(void **state)
{
	struct loaded small = load(SMALL);

	(void)state;
	assert_int_equal(team(&small, CONV, 1, 2), 1);
	assert_int_equal(team(&small, CONV, 1, 64), 1);
	assert_int_equal(team(&small, CONV, 1000, 2), 2);
	assert_int_equal(team(&small, RELU, 1, 64), 1);
	unload(&small);
}

/* Some 44 us alone: threads that stand by are worth it, calling them together is not. */
static void test_middling_nodes_are_shared_by_who_stands_by(void **state)
{
	struct loaded middling =
		load("in x ? 32 14 14\nconst w 32 32 3 3\nnode Conv x w > c\nnode Relu c > y\nout y\n");
	struct loaded small = load(SMALL);

	(void)state;
	assert_int_equal(team(&middling, CONV, 1, 2), 1);
	assert_int_equal(dlsi_team_for(middling.graph, &middling.graph->nodes[CONV], 1, DLSI_ISA_AVX2, 2, true), 2);
	assert_int_equal(dlsi_team_for(small.graph, &small.graph->nodes[RELU], 1, DLSI_ISA_AVX2, 64, true), 1);
	assert_int_equal(dlsi_team_for(middling.graph, &middling.graph->nodes[CONV], 1, DLSI_ISA_AVX2, 4, true), 4);
	assert_int_equal(dlsi_team_for(middling.graph, &middling.graph->nodes[CONV], 1, DLSI_ISA_AVX512, 64, true), 1);
	unload(&middling);
	unload(&small);
}

static void test_small_convolutions_of_one_image_have_bands(void **state)
{
	struct loaded large = load("in x ? 256 56 56\nconst w 256 256 3 3\nnode Conv x w > c pads:I=1,1,1,1\nout c\n");
	struct loaded small = load(SMALL), none = load("in x ? 8 14 14\nnode Relu x > y\nout y\n");

	(void)state;
	assert_true(dlsi_team_has_bands(small.graph, 1, DLSI_ISA_AVX2, 2));
	assert_false(dlsi_team_has_bands(small.graph, 2, DLSI_ISA_AVX2, 2));
	assert_false(dlsi_team_has_bands(small.graph, 1, DLSI_ISA_AVX2, 1));
	assert_false(dlsi_team_has_bands(large.graph, 1, DLSI_ISA_AVX2, 2));
	assert_false(dlsi_team_has_bands(none.graph, 1, DLSI_ISA_AVX2, 2));
	unload(&large);
	unload(&small);
	unload(&none);
}

UNIT_MAIN(test_large_nodes_get_a_team, test_small_nodes_run_alone, test_middling_nodes_are_shared_by_who_stands_by,
	test_small_convolutions_of_one_image_have_bands)
