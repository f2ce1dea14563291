/* Quantiles of lateness against the sorted list of what was added. */
#include "core/lateness.h"
#include "test/unit/unit.h"
#include <stdlib.h>

enum { SEEDS = 100, TASKS = 500 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The answer is not below the true one, and above it by a quarter of an octave and what whole numbers cost. */
static void test_agrees_with_a_sorted_list(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_lateness lateness = {0};
		double ratios[TASKS], part, answer, truth;

		for (int i = 0; i < TASKS; i++) {
			uint64_t expected_ns = 1000 + dlsi_rng_below(&rng, 1000000000);
			uint64_t taken_ns = expected_ns / 4 + dlsi_rng_below(&rng, expected_ns * 20);

			ratios[i] = (double)taken_ns / (double)expected_ns;
			dlsi_lateness_add(&lateness, taken_ns, expected_ns);
		}
		qsort(ratios, TASKS, sizeof *ratios, compare);
		part = (double)(1 + dlsi_rng_below(&rng, 99)) / 100;
		truth = ratios[(int)(part * TASKS + 0.999) - 1];
		answer = dlsi_lateness_quantile(&lateness, part);
		assert_true(answer >= truth - 0.01);
		assert_true(answer <= truth * 1.27 + 0.01);
	}
}

static void test_little_is_known_at_first(void **state)
{
	struct dlsi_lateness lateness = {0};

	(void)state;
	for (int i = 0; i < 15; i++)
		dlsi_lateness_add(&lateness, 1000, 1000);
	assert_true(dlsi_lateness_quantile(&lateness, 0.95) == 2);
	dlsi_lateness_add(&lateness, 1000, 1000);
	assert_true(dlsi_lateness_quantile(&lateness, 0.95) < 1.3);
}

/* Thousands that were in time are outweighed by as many that were not, and nothing overflows. */
static void test_the_past_is_forgotten(void **state)
{
	struct dlsi_lateness lateness = {0};

	(void)state;
	for (int i = 0; i < 100000; i++)
		dlsi_lateness_add(&lateness, 0, 1);
	assert_true(dlsi_lateness_quantile(&lateness, 0.5) < 0.2);
	for (int i = 0; i < 3000; i++)
		dlsi_lateness_add(&lateness, UINT64_MAX, 1);
	assert_true(dlsi_lateness_quantile(&lateness, 0.5) > 64);
}

UNIT_MAIN(test_agrees_with_a_sorted_list, test_little_is_known_at_first, test_the_past_is_forgotten)
