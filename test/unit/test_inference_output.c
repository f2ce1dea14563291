/* The highest values against sorting all of them, over random values with many ties; softmax against its formula. */
#include "test/unit/unit.h"
#include "worker/inference_output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 300, VALUES = 60 };

struct place {
	float value;
	uint32_t index;
};

static int compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (isnan(a->value) != isnan(b->value))
		return isnan(a->value) ? 1 : -1;
	if (!isnan(a->value) && a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static float any_value(struct dlsi_rng *rng)
{
	static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f};
	uint64_t kind = dlsi_rng_below(rng, 20);

	return kind < 5 ? special[kind] : (float)dlsi_rng_below(rng, 12) - 6;
}

static void test_top_agrees_with_sorting(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		size_t count = 1 + dlsi_rng_below(&rng, VALUES), top = 1 + dlsi_rng_below(&rng, count);
		struct place sorted[VALUES];
		float values[VALUES], highest[VALUES + 1];
		uint32_t indices[VALUES + 1];

		for (size_t i = 0; i < count; i++) {
			values[i] = any_value(&rng);
			sorted[i] = (struct place){values[i], (uint32_t)i};
		}
		qsort(sorted, count, sizeof *sorted, compare);
		highest[top] = 7.5f; /* must stay */
		indices[top] = 77;
		dlsi_output_top(values, count, top, highest, indices);
		for (size_t i = 0; i < top; i++) {
			assert_int_equal(indices[i], sorted[i].index);
			assert_memory_equal(&highest[i], &sorted[i].value, sizeof(float));
		}
		assert_true(highest[top] == 7.5f && indices[top] == 77);
	}
}

static void test_softmax_is_its_formula(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		size_t count = 1 + dlsi_rng_below(&rng, VALUES);
		double sum = 0, total = 0;
		float values[VALUES], before[VALUES];

		for (size_t i = 0; i < count; i++) {
			before[i] = values[i] = (float)dlsi_rng_below(&rng, 2000) / 100 - 10;
			sum += exp(before[i]);
		}
		dlsi_output_softmax(values, count);
		for (size_t i = 0; i < count; i++) {
			assert_true(fabs(values[i] - exp(before[i]) / sum) < 1e-6);
			total += values[i];
		}
		assert_true(fabs(total - 1) < 1e-5);
	}
}

static void test_softmax_keeps_to_the_range_of_floats(void **state)
{
	float high[] = {1000, 999, -1000}, unknown[] = {1, NAN};

	(void)state;
	dlsi_output_softmax(high, 3);
	assert_true(fabs(high[0] - 0.731059f) < 1e-5 && high[2] == 0);
	dlsi_output_softmax(unknown, 2);
	assert_true(isnan(unknown[0]) && isnan(unknown[1]));
}

UNIT_MAIN(test_top_agrees_with_sorting, test_softmax_is_its_formula, test_softmax_keeps_to_the_range_of_floats)
