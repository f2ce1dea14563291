/* Work along an axis against the plainest loops in double precision: any shape, ties, NaN and infinities, on every
 * instruction set, by one thread and by several. */
#include "kernel/along.h"
#include "test/unit/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 300 };

static struct dlsi_kernel_along random_along(struct dlsi_rng *rng)
{
	static const enum dlsi_isa isas[] = {DLSI_ISA_GENERIC, DLSI_ISA_AVX2, DLSI_ISA_AVX512};
	struct dlsi_kernel_along along = {.outer = kernel_between(rng, 1, 40), .count = kernel_between(rng, 1, 90)};

	do
		along.isa = isas[dlsi_rng_below(rng, 3)];
	while (along.isa > dlsi_isa_of_processor());
	along.inner = dlsi_rng_below(rng, 2) ? 1 : kernel_between(rng, dlsi_isa_block(along.isa), 300);
	if (dlsi_rng_below(rng, 8) == 0)
		along.count = kernel_between(rng, 1000, 6000), along.outer = 2;
	return along;
}

/* With ties and, if `odd`, with what is no number. */
static float *random_source(struct dlsi_rng *rng, int64_t count, bool odd)
{
	static const float numbers[] = {NAN, INFINITY, -INFINITY};
	float *source = kernel_floats(count);

	for (int64_t i = 0; i < count; i++) {
		source[i] = rintf(40 * kernel_random(rng)) / 4;
		if (odd && dlsi_rng_below(rng, 10) == 0)
			source[i] = numbers[dlsi_rng_below(rng, 3)];
	}
	return source;
}

static double reduce(enum dlsi_reduction reduction, const float *source, int64_t count, int64_t step)
{
	double sum = reduction == DLSI_REDUCE_MAX ? -INFINITY : reduction == DLSI_REDUCE_MIN ? INFINITY : 0;

	for (int64_t i = 0; i < count; i++) {
		const double x = source[i * step];

		if (reduction == DLSI_REDUCE_MAX)
			sum = isnan(x) || isnan(sum) ? NAN : fmax(sum, x);
		else if (reduction == DLSI_REDUCE_MIN)
			sum = isnan(x) || isnan(sum) ? NAN : fmin(sum, x);
		else
			sum += reduction == DLSI_REDUCE_SQUARES ? x * x : x;
	}
	return reduction == DLSI_REDUCE_MEAN ? sum / (double)count : sum;
}

static void test_reductions(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		const struct dlsi_kernel_along along = random_along(&rng);
		const enum dlsi_reduction reduction = (enum dlsi_reduction)dlsi_rng_below(&rng, 5);
		const int64_t count = along.outer * along.inner;
		float *source = random_source(&rng, count * along.count, reduction <= DLSI_REDUCE_MIN);
		float *expected = kernel_floats(count), *actual = kernel_floats(count);

		for (int64_t i = 0; i < count; i++)
			expected[i] = (float)reduce(reduction,
				source + i / along.inner * along.inner * along.count + i % along.inner, along.count,
				along.inner);
		assert_true(dlsi_along_supported(&along));
		dlsi_along_reduce(&along, reduction, source, actual, (int)kernel_between(&rng, 1, 3));
		kernel_assert_close(actual, expected, count, 1e-6F);
		free(source);
		free(expected);
		free(actual);
	}
}

/* A NaN is above all numbers. */
static bool is_greater(float a, float b)
{
	return isnan(a) ? !isnan(b) : !isnan(b) && a > b;
}

static int64_t find(enum dlsi_arg arg, const float *source, int64_t count, int64_t step)
{
	const bool greatest = arg == DLSI_ARG_MAX || arg == DLSI_ARG_MAX_LAST;
	const bool last = arg == DLSI_ARG_MAX_LAST || arg == DLSI_ARG_MIN_LAST;
	int64_t place = 0;

	for (int64_t i = 1; i < count; i++) {
		const float x = source[i * step], best = source[place * step];
		const bool better = greatest ? is_greater(x, best) : is_greater(best, x);

		if (better || (last && !is_greater(x, best) && !is_greater(best, x)))
			place = i;
	}
	return place;
}

static void test_places(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		const struct dlsi_kernel_along along = random_along(&rng);
		const enum dlsi_arg arg = (enum dlsi_arg)dlsi_rng_below(&rng, 4);
		const int64_t count = along.outer * along.inner;
		float *source = random_source(&rng, count * along.count, dlsi_rng_below(&rng, 2));
		int64_t *actual = calloc((size_t)count, sizeof *actual);

		assert_non_null(actual);
		dlsi_along_arg(&along, arg, source, actual, (int)kernel_between(&rng, 1, 3));
		for (int64_t i = 0; i < count; i++)
			assert_int_equal(actual[i],
				find(arg, source + i / along.inner * along.inner * along.count + i % along.inner,
					along.count, along.inner));
		free(source);
		free(actual);
	}
}

static void expect_softmax(bool log, const float *source, int64_t count, int64_t step, float *target)
{
	const double most = reduce(DLSI_REDUCE_MAX, source, count, step);
	double sum = 0;

	for (int64_t k = 0; k < count; k++)
		sum += exp(source[k * step] - most);
	for (int64_t k = 0; k < count; k++) {
		const double x = source[k * step] - most;

		target[k * step] = (float)(log ? x - log1p(sum - 1) : exp(x) / sum);
	}
}

static void test_softmax(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_kernel_along along = random_along(&rng);
		const bool log = dlsi_rng_below(&rng, 2);
		int64_t count;
		float *source, *expected, *actual;

		along.outer = along.inner == 1 ? kernel_between(&rng, 1, 200) : kernel_between(&rng, 1, 3);
		along.count = kernel_between(&rng, 1, along.inner == 1 ? DLSI_ALONG_SHORT : 90);
		count = along.outer * along.count * along.inner;
		source = random_source(&rng, count, false);
		expected = kernel_floats(count);
		actual = kernel_floats(count);
		for (int64_t i = 0; i < count; i++) /* some far below */
			source[i] = dlsi_rng_below(&rng, 9) == 0 ? -200 : source[i];
		for (int64_t i = 0; i < along.outer * along.inner; i++) {
			const int64_t first = i / along.inner * along.inner * along.count + i % along.inner;

			if (!log && dlsi_rng_below(&rng, 3)) /* masked */
				source[first] = -INFINITY;
			expect_softmax(log, source + first, along.count, along.inner, expected + first);
		}
		dlsi_along_softmax(&along, log, source, actual, (int)kernel_between(&rng, 1, 3));
		kernel_assert_close(actual, expected, count, 1e-6F);
		free(source);
		free(expected);
		free(actual);
	}
}

static void test_standardised_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_kernel_rows rows = {.isa = random_along(&rng).isa,
			.rows = kernel_between(&rng, 1, 40),
			.length = kernel_between(&rng, 2, 400),
			.rms = dlsi_rng_below(&rng, 2),
			.epsilon = 0.01F,
			.period = dlsi_rng_below(&rng, 2) ? kernel_between(&rng, 1, 7) : 0};
		const int64_t count = rows.rows * rows.length, given = rows.period ? rows.period : rows.length;
		float *source = random_source(&rng, count, false), *expected = kernel_floats(count);
		float *scale = random_source(&rng, given, false), *shift = random_source(&rng, given, false);

		rows.scale = scale;
		rows.shift = dlsi_rng_below(&rng, 2) ? shift : NULL;
		for (int64_t i = 0; i < count; i++) {
			const float *row = source + i / rows.length * rows.length;
			const int64_t k = rows.period ? i / rows.length % rows.period : i % rows.length;
			const double mean = rows.rms ? 0 : reduce(DLSI_REDUCE_MEAN, row, rows.length, 1);
			double squares = 0;

			for (int64_t n = 0; n < rows.length; n++)
				squares += (row[n] - mean) * (row[n] - mean) / (double)rows.length;
			expected[i] = (float)((source[i] - mean) / sqrt(squares + (double)rows.epsilon) * scale[k] +
					      (rows.shift ? shift[k] : 0));
		}
		dlsi_rows_run(&rows, source, source, (int)kernel_between(&rng, 1, 3));
		kernel_assert_close(source, expected, count, 3e-6F);
		free(source);
		free(expected);
		free(scale);
		free(shift);
	}
}

static void test_refuses_what_it_cannot(void **state)
{
	const struct dlsi_kernel_along wrong[] = {{.outer = 1, .count = 3, .inner = 7},
		{.outer = 1, .count = 0, .inner = 1}, {.outer = 0, .count = 3, .inner = 1},
		{.outer = 1, .count = INT32_MAX, .inner = 1}};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(dlsi_along_supported(&wrong[i]));
}

UNIT_MAIN(test_reductions, test_places, test_softmax, test_standardised_rows, test_refuses_what_it_cannot)
