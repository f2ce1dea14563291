/* The list against an array of the same order. */
#include "base/list.h"
#include "test/unit/unit.h"
#include <string.h>

enum { NODES = 30, STEPS = 500, SEEDS = 50 };

struct thing {
	int number;
	struct dlsi_list link;
};

static void assert_order(struct dlsi_list *list, const int *model, int count)
{
	int i = 0;

	dlsi_list_each (node, list)
		assert_int_equal(dlsi_list_entry(node, struct thing, link)->number, model[i++]);
	assert_int_equal(i, count);
	assert_int_equal(dlsi_list_empty(list), count == 0);
	for (struct dlsi_list *node = list->previous; node != list; node = node->previous)
		assert_int_equal(dlsi_list_entry(node, struct thing, link)->number, model[--i]);
}

static int remove_from_model(int *model, int count, int number)
{
	int at = 0;

	while (at < count && model[at] != number)
		at++;
	if (at == count)
		return count;
	memmove(model + at, model + at + 1, (size_t)(count - at - 1) * sizeof *model);
	return count - 1;
}

static void test_agrees_with_array(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct thing things[NODES];
		struct dlsi_list list;
		int model[NODES], count = 0;

		dlsi_list_init(&list);
		for (int i = 0; i < NODES; i++) {
			things[i].number = i;
			dlsi_list_init(&things[i].link);
		}
		for (int step = 0; step < STEPS; step++) {
			int i = (int)dlsi_rng_below(&rng, NODES);

			count = remove_from_model(model, count, i);
			dlsi_list_remove(&things[i].link); /* also when it is in no list */
			if (dlsi_rng_below(&rng, 3)) {
				dlsi_list_append(&list, &things[i].link);
				model[count++] = i;
			}
			assert_order(&list, model, count);
		}
	}
}

static void test_the_visited_node_may_go(void **state)
{
	struct thing things[5];
	struct dlsi_list list;
	int visited = 0;

	(void)state;
	dlsi_list_init(&list);
	for (int i = 0; i < 5; i++)
		dlsi_list_append(&list, &things[i].link);
	dlsi_list_each (node, &list) {
		dlsi_list_remove(node);
		visited++;
	}
	assert_int_equal(visited, 5);
	assert_true(dlsi_list_empty(&list));
}

UNIT_MAIN(test_agrees_with_array, test_the_visited_node_may_go)
