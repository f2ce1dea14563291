/* The heap against a search of all nodes for the first. */
#include "base/heap.h"
#include "test/unit/unit.h"

enum { NODES = 60, STEPS = 2000, SEEDS = 60 };

static struct dlsi_heap_node *first_of_all(struct dlsi_heap_node *nodes, const int64_t *dues)
{
	struct dlsi_heap_node *first = NULL;

	for (int i = 0; i < NODES; i++) {
		struct dlsi_heap_node *node = &nodes[i];

		if (!node->place)
			continue;
		if (!first || dues[i] < dues[first - nodes] ||
			(dues[i] == dues[first - nodes] && node->order < first->order))
			first = node;
	}
	return first;
}

static void test_agrees_with_search(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_heap_node nodes[NODES] = {{0}};
		int64_t dues[NODES];
		struct dlsi_heap heap;
		size_t count = 0;

		for (uint64_t i = 0; i < NODES; i++)
			nodes[i].order = NODES - i; /* against the order of addresses */
		dlsi_heap_init(&heap, unit_alloc());
		for (int step = 0; step < STEPS; step++) {
			struct dlsi_heap_node *node = &nodes[dlsi_rng_below(&rng, NODES)];

			if (dlsi_rng_below(&rng, 3)) {
				int64_t due = (int64_t)dlsi_rng_below(&rng, 20) - 10;

				count += !node->place;
				dues[node - nodes] = due;
				assert_int_equal(dlsi_heap_set(&heap, node, due), 0);
				assert_int_equal(dlsi_heap_due(&heap, node), due);
			} else {
				count -= node->place != 0;
				dlsi_heap_remove(&heap, node);
				assert_int_equal(node->place, 0);
			}
			assert_int_equal(heap.count, count);
			assert_ptr_equal(dlsi_heap_first(&heap), first_of_all(nodes, dues));
		}
		dlsi_heap_fini(&heap);
	}
}

static void test_unchanged_when_memory_runs_out(void **state)
{
	struct dlsi_heap_node nodes[40] = {{0}};
	struct dlsi_heap heap;
	int held = 0;

	(void)state;
	dlsi_heap_init(&heap, unit_alloc_failing_at(2));
	while (dlsi_heap_set(&heap, &nodes[held], 100 - held) == 0)
		held++;
	assert_int_equal(dlsi_heap_set(&heap, &nodes[held], 0), DLS_ENOMEM);
	assert_int_equal(heap.count, held);
	assert_int_equal(nodes[held].place, 0);
	assert_ptr_equal(dlsi_heap_first(&heap), &nodes[held - 1]);
	assert_int_equal(dlsi_heap_set(&heap, &nodes[0], -1), 0); /* moving needs none */
	assert_ptr_equal(dlsi_heap_first(&heap), &nodes[0]);
	dlsi_heap_fini(&heap);
}

static void test_reserved_cannot_fail(void **state)
{
	struct dlsi_heap_node nodes[100] = {{0}};
	struct dlsi_heap heap;

	(void)state;
	dlsi_heap_init(&heap, unit_alloc_failing_at(2));
	assert_int_equal(dlsi_heap_reserve(&heap, 100), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(dlsi_heap_set(&heap, &nodes[i], i), 0);
	assert_int_equal(dlsi_heap_reserve(&heap, 1000), DLS_ENOMEM);
	assert_int_equal(heap.count, 100);
	dlsi_heap_fini(&heap);
}

UNIT_MAIN(test_agrees_with_search, test_unchanged_when_memory_runs_out, test_reserved_cannot_fail)
