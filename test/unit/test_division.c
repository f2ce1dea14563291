/* Task sizes and credits: bounds that must hold whatever was measured, and the shapes that the figures promise. */
#include "base/limits.h"
#include "core/division.h"
#include "test/unit/unit.h"

enum { DRAWS = 20000 };

static void test_size_is_within_bounds(void **state)
{
	struct dlsi_rng rng = unit_rng(1);

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		uint64_t ready = 1 + dlsi_rng_below(&rng, 1 << 20), devices = dlsi_rng_below(&rng, 100);
		uint32_t fixed = (uint32_t)dlsi_rng_below(&rng, 2) * (uint32_t)dlsi_rng_below(&rng, 10000);
		struct dlsi_measured measured = {dlsi_rng_next(&rng) >> dlsi_rng_below(&rng, 64),
			dlsi_rng_next(&rng) >> dlsi_rng_below(&rng, 64)};
		uint64_t items = dlsi_division_items(ready, devices, fixed, &measured);

		assert_in_range(items, 1, DLSI_TASK_ITEMS);
		assert_true(items <= ready);
		if (fixed)
			assert_true(items <= fixed);
	}
}

static void test_last_tasks_are_small(void **state)
{
	struct dlsi_measured measured = {1000000, 10};
	uint64_t left = 10000, last = UINT64_MAX;

	(void)state;
	while (left) {
		uint64_t items = dlsi_division_items(left, 4, 0, &measured);

		assert_true(items <= last);
		last = items;
		left -= items;
	}
	assert_int_equal(last, 1);
}

static void test_quick_items_are_not_scattered(void **state)
{
	struct dlsi_measured measured = {1000, 10};

	(void)state;
	assert_int_equal(dlsi_division_items(10000, 100, 0, &measured), 250);
	assert_int_equal(dlsi_division_items(100, 100, 0, &measured), 100);
	assert_int_equal(dlsi_division_items(10000, 100, 7, &measured), 7);
}

static void test_slow_items_and_large_results_make_small_tasks(void **state)
{
	struct dlsi_measured slow = {1000000000, 10}, large = {1000, 16 * 1024};

	(void)state;
	assert_int_equal(dlsi_division_items(100000, 1, 0, &slow), 1);
	assert_in_range(dlsi_division_items(100000, 1, 0, &large), 2, 4);
	large.item_bytes = 1000000;
	assert_in_range(dlsi_division_items(100000, 1, 0, &large), 1, 4);
	large.item_bytes = UINT64_MAX / 2;
	assert_int_equal(dlsi_division_items(100000, 1, 0, &large), 1);
}

static void test_average_follows(void **state)
{
	struct dlsi_measured measured = {0};

	(void)state;
	dlsi_measured_add(&measured, 10, 1000, 50);
	assert_in_range(measured.item_ns, 100, 101);
	for (int i = 0; i < 100; i++)
		dlsi_measured_add(&measured, 1, 5000, 5);
	assert_in_range(measured.item_ns, 4900, 5001);
}

static void test_credits(void **state)
{
	(void)state;
	assert_int_equal(dlsi_division_credits(64, 0, 0), 8);
	assert_int_equal(dlsi_division_credits(64, 1000, 100), 64);
	assert_int_equal(dlsi_division_credits(64, 20000000, 100), 8);
	assert_int_equal(dlsi_division_credits(64, 1000000000, 100), 2);
	assert_int_equal(dlsi_division_credits(64, 1000, 200 * 1024), 2);
	assert_int_equal(dlsi_division_credits(1, 1000, 100), 1);
}

UNIT_MAIN(test_size_is_within_bounds, test_last_tasks_are_small, test_quick_items_are_not_scattered,
	test_slow_items_and_large_results_make_small_tasks, test_average_follows, test_credits)
