/* Task sizes and credits: bounds that must hold whatever was measured, and the shapes that the figures promise. */
#include "base/limits.h"
#include "core/division.h"
#include "test/unit/unit.h"

enum { DRAWS = 20000, MS = 1000000 };

static uint64_t draw(struct dlsi_rng *rng)
{
	return dlsi_rng_next(rng) >> dlsi_rng_below(rng, 64);
}

static uint64_t divide(uint64_t ready, uint64_t devices, const struct dlsi_measured *job,
	const struct dlsi_measured *own, const struct dlsi_sizes *sizes)
{
	struct dlsi_division division = {.ready = ready, .devices = devices, .all = job, .own = own, .sizes = sizes};

	return dlsi_division_items(&division);
}

static void test_size_is_within_bounds(void **state)
{
	struct dlsi_rng rng = unit_rng(1);

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		struct dlsi_measured job = {draw(&rng), draw(&rng)}, own = {draw(&rng), draw(&rng)};
		struct dlsi_sizes sizes = {0};
		struct dlsi_division division = {
			.ready = 1 + dlsi_rng_below(&rng, DLSI_JOB_ITEMS),
			.devices = draw(&rng) >> 20,
			.fixed = (uint32_t)dlsi_rng_below(&rng, 2) * (uint32_t)dlsi_rng_below(&rng, 10000),
			.all = &job,
			.own = &own,
			.sizes = &sizes,
		};
		uint64_t items;

		for (uint64_t n = dlsi_rng_below(&rng, 5); n; n--)
			sizes.item_ns[dlsi_rng_below(&rng, DLSI_TASK_SIZES)] = draw(&rng);
		items = dlsi_division_items(&division);
		assert_in_range(items, 1, DLSI_TASK_ITEMS);
		assert_true(items <= division.ready);
		if (division.fixed)
			assert_true(items <= division.fixed);
	}
}

static void test_last_tasks_are_small(void **state)
{
	struct dlsi_measured measured = {MS, 10};
	struct dlsi_sizes sizes = {{0}};
	uint64_t left = 10000, last = UINT64_MAX;

	(void)state;
	dlsi_sizes_add(&sizes, 1, MS);
	dlsi_sizes_add(&sizes, 2, 2 * MS);
	while (left) {
		uint64_t items = divide(left, 4, &measured, &measured, &sizes);

		assert_true(items <= last);
		last = items;
		left -= items;
	}
	assert_int_equal(last, 1);
}

/* Unequal devices get work for the same time, however unequal they are. */
static void test_each_device_gets_work_for_the_same_time(void **state)
{
	struct dlsi_measured job = {3 * MS, 10}, fast = {MS, 10}, slow = {8 * MS, 10};
	struct dlsi_sizes sizes = {{0}};

	(void)state;
	dlsi_sizes_add(&sizes, 1, MS);
	dlsi_sizes_add(&sizes, 2, 2 * MS);
	assert_int_equal(divide(1000000, 10, &job, &fast, &sizes), 64);
	assert_int_equal(divide(1000000, 10, &job, &slow, &sizes), 8);
	/* the same of a job that ends soon */
	assert_int_equal(divide(300, 10, &job, &fast, &sizes), 32);
	assert_int_equal(divide(300, 10, &job, &slow, &sizes), 4);
}

static void test_quick_items_are_not_scattered(void **state)
{
	struct dlsi_measured measured = {1000, 10};
	struct dlsi_sizes sizes = {{0}};

	(void)state;
	assert_int_equal(divide(10000, 100, &measured, &measured, &sizes), 256);
	assert_int_equal(divide(100, 100, &measured, &measured, &sizes), 64);
}

static void test_thousands_of_devices_get_longer_tasks(void **state)
{
	struct dlsi_measured measured = {MS, 10};
	struct dlsi_sizes sizes = {{0}};

	(void)state;
	dlsi_sizes_add(&sizes, 1, MS);
	dlsi_sizes_add(&sizes, 2, 2 * MS);
	assert_int_equal(divide(100000000, 1000, &measured, &measured, &sizes), 64);
	assert_int_equal(divide(100000000, 10000, &measured, &measured, &sizes), 256);
}

static void test_large_results_make_small_tasks(void **state)
{
	struct dlsi_measured large = {1000, 16 * 1024};
	struct dlsi_sizes sizes = {{0}};

	(void)state;
	assert_in_range(divide(100000, 1, &large, &large, &sizes), 2, 4);
	large.item_bytes = 1000000;
	assert_in_range(divide(100000, 1, &large, &large, &sizes), 1, 4);
	large.item_bytes = UINT64_MAX / 2;
	assert_int_equal(divide(100000, 1, &large, &large, &sizes), 1);
}

/* A device on which an item takes `alone` longer in a run of its own, in runs of at most `batch`. */
static uint64_t run_ns(uint64_t items, uint64_t alone_ns, uint64_t item_ns, uint64_t batch)
{
	return items * item_ns + (items + batch - 1) / batch * alone_ns;
}

/* The batch that is found by giving it tasks. */
static uint64_t settle(uint64_t alone_ns, uint64_t item_ns, uint64_t batch)
{
	struct dlsi_sizes sizes = {{0}};

	for (int i = 0; i < 50; i++) {
		uint64_t items = dlsi_sizes_best(&sizes, 1);

		dlsi_sizes_add(&sizes, items, run_ns(items, alone_ns, item_ns, batch));
	}
	return dlsi_sizes_best(&sizes, 1);
}

static void test_best_batch_is_found(void **state)
{
	(void)state;
	assert_int_equal(settle(10 * MS, 6 * MS, 32), 32);  /* more at once is cheaper, as far as the device goes */
	assert_int_equal(settle(0, MS, 32), 1);             /* it makes no difference */
	assert_int_equal(settle(100 * MS, MS, 4096), 1024); /* nobody tries for more than two seconds */
	assert_int_equal(settle(0, 3000 * (uint64_t)MS, 4096), 1); /* nor has to */
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
	assert_int_equal(dlsi_division_credits(64, 0, 0), 2);
	assert_int_equal(dlsi_division_credits(64, 1000, 100), 64);
	assert_int_equal(dlsi_division_credits(64, 10 * MS, 100), 7);
	assert_int_equal(dlsi_division_credits(64, 1000 * MS, 100), 2);
	assert_int_equal(dlsi_division_credits(64, 1000, 200 * 1024), 2);
	assert_int_equal(dlsi_division_credits(1, 1000, 100), 1);
}

UNIT_MAIN(test_size_is_within_bounds, test_last_tasks_are_small, test_each_device_gets_work_for_the_same_time,
	test_quick_items_are_not_scattered, test_thousands_of_devices_get_longer_tasks,
	test_large_results_make_small_tasks, test_best_batch_is_found, test_average_follows, test_credits)
