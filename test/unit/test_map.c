/* The map against an array that is searched from end to end, with few keys so that they collide and are removed often.
 */
#include "base/map.h"
#include "test/unit/unit.h"

enum { KEYS = 300, STEPS = 3000, SEEDS = 40 };

static int values[KEYS];

static void assert_agrees(const struct dlsi_map *map, void *const *model)
{
	size_t count = 0;

	for (uint64_t i = 0; i < KEYS; i++) {
		struct dlsi_id key = dlsi_map_key(i, ~i);

		assert_ptr_equal(dlsi_map_get(map, &key), model[i]);
		count += model[i] != NULL;
	}
	assert_int_equal(map->count, count);
}

static void test_agrees_with_array(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		void *model[KEYS] = {0};
		struct dlsi_map map;

		dlsi_map_init(&map, unit_alloc(), dlsi_rng_next(&rng));
		for (int step = 0; step < STEPS; step++) {
			uint64_t i = dlsi_rng_below(&rng, KEYS);
			struct dlsi_id key = dlsi_map_key(i, ~i);

			if (dlsi_rng_below(&rng, 2)) {
				model[i] = &values[dlsi_rng_below(&rng, KEYS)];
				assert_int_equal(dlsi_map_put(&map, &key, model[i]), 0);
			} else {
				assert_ptr_equal(dlsi_map_remove(&map, &key), model[i]);
				model[i] = NULL;
			}
			if (step % 100 == 0)
				assert_agrees(&map, model);
		}
		assert_agrees(&map, model);
		dlsi_map_fini(&map);
	}
}

static void test_unchanged_when_memory_runs_out(void **state)
{
	struct dlsi_map map;
	uint64_t held = 0;
	struct dlsi_id key = dlsi_map_key(0, 0);

	(void)state;
	dlsi_map_init(&map, unit_alloc_failing_at(3), 1);
	while (dlsi_map_put(&map, &key, &values[0]) == 0)
		key = dlsi_map_key(++held, 0);
	assert_int_equal(dlsi_map_put(&map, &key, &values[0]), DLS_ENOMEM);
	assert_int_equal(held, 24); /* three quarters of 32 */
	assert_int_equal(map.count, held);
	assert_null(dlsi_map_get(&map, &key));
	for (uint64_t i = 0; i < held; i++) {
		key = dlsi_map_key(i, 0);
		assert_ptr_equal(dlsi_map_get(&map, &key), &values[0]);
	}
	dlsi_map_fini(&map);
}

static void test_replacing_needs_no_memory(void **state)
{
	struct dlsi_map map;
	struct dlsi_id key;

	(void)state;
	dlsi_map_init(&map, unit_alloc_failing_at(2), 1);
	for (uint64_t i = 0; i < 12; i++) { /* full: one more would grow it */
		key = dlsi_map_key(i, 0);
		assert_int_equal(dlsi_map_put(&map, &key, &values[0]), 0);
	}
	assert_int_equal(dlsi_map_put(&map, &key, &values[1]), 0);
	assert_ptr_equal(dlsi_map_get(&map, &key), &values[1]);
	dlsi_map_fini(&map);
}

static void test_empty(void **state)
{
	struct dlsi_map map;
	struct dlsi_id key = dlsi_map_key(1, 2);

	(void)state;
	dlsi_map_init(&map, unit_alloc(), 1);
	assert_null(dlsi_map_get(&map, &key));
	assert_null(dlsi_map_remove(&map, &key));
	dlsi_map_fini(&map);
}

static void test_keys_of_two_numbers(void **state)
{
	struct dlsi_id a = dlsi_map_key(1, 2), b = dlsi_map_key(2, 1), c = dlsi_map_key(1, 2), d = dlsi_map_key(1, 3);

	(void)state;
	assert_false(dlsi_id_equal(&a, &b));
	assert_true(dlsi_id_equal(&a, &c));
	assert_false(dlsi_id_equal(&a, &d));
}

UNIT_MAIN(test_agrees_with_array, test_unchanged_when_memory_runs_out, test_replacing_needs_no_memory, test_empty,
	test_keys_of_two_numbers)
