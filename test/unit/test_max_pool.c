/* Max pooling against the plainest loop: random windows, sizes and channels, on every instruction set. */
#include "kernel/pool.h"
#include "test/unit/kernel.h"
#include <math.h>
#include <stdlib.h>

enum { SEEDS = 150 };

static struct dlsi_kernel_axis random_axis(struct dlsi_rng *rng)
{
	struct dlsi_kernel_axis axis = {.source = kernel_between(rng, 1, 14), .kernel = kernel_between(rng, 1, 5)};
	int64_t behind;

	axis.stride = kernel_between(rng, 1, 3);
	axis.pad = kernel_between(rng, 0, axis.kernel - 1);
	behind = kernel_between(rng, 0, axis.kernel - 1);
	if (axis.source + axis.pad + behind < axis.kernel)
		behind = axis.kernel - 1;
	axis.target = (axis.source + axis.pad + behind - axis.kernel) / axis.stride + 1;
	return axis;
}

static struct dlsi_kernel_pool random_pool(struct dlsi_rng *rng, int block)
{
	struct dlsi_kernel_pool pool = {
		.block = block, .batch = kernel_between(rng, 1, 5), .channels = kernel_between(rng, 1, 40)};

	if (dlsi_rng_below(rng, 2)) {
		pool.channels_last = true;
		pool.channels = block * kernel_between(rng, 1, 3);
	}
	pool.height = random_axis(rng);
	pool.width = random_axis(rng);
	return pool;
}

/* One number of the target, by the definition. */
static float expect(const struct dlsi_kernel_pool *pool, const float *plane, int64_t y, int64_t x)
{
	const struct dlsi_kernel_axis *height = &pool->height, *width = &pool->width;
	float most = -INFINITY;

	for (int64_t i = 0; i < height->kernel; i++)
		for (int64_t j = 0; j < width->kernel; j++) {
			const int64_t row = y * height->stride - height->pad + i;
			const int64_t column = x * width->stride - width->pad + j;

			if (row < 0 || row >= height->source || column < 0 || column >= width->source)
				continue;
			if (isnan(plane[row * width->source + column]))
				return NAN;
			most = fmaxf(most, plane[row * width->source + column]);
		}
	return most;
}

static void fill(struct dlsi_rng *rng, float *floats, int64_t count)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 3e38F};

	for (int64_t i = 0; i < count; i++)
		floats[i] = dlsi_rng_below(rng, 20) ? kernel_random(rng) : odd[dlsi_rng_below(rng, 5)];
}

static void check(struct dlsi_rng *rng, const struct dlsi_kernel_pool *pool, int threads)
{
	const int64_t planes = pool->batch * pool->channels;
	const int64_t from = pool->height.source * pool->width.source, to = pool->height.target * pool->width.target;
	const struct kernel_layout in = {pool->channels_last, pool->block, pool->batch, pool->channels, from};
	const struct kernel_layout out = {pool->channels_last, pool->block, pool->batch, pool->channels, to};
	float *dense = kernel_floats(planes * from), *source = kernel_floats(kernel_stored(&in));
	float *target = kernel_floats(kernel_stored(&out)), *actual = kernel_floats(planes * to);
	float *expected = kernel_floats(planes * to);

	fill(rng, dense, planes * from);
	kernel_store(&in, dense, source);
	for (int64_t plane = 0; plane < planes; plane++)
		for (int64_t p = 0; p < to; p++)
			expected[plane * to + p] =
				expect(pool, dense + plane * from, p / pool->width.target, p % pool->width.target);
	assert_true(dlsi_max_pool_supported(pool));
	dlsi_max_pool_run(pool, source, target, threads);
	kernel_unstore(&out, target, actual);
	kernel_assert_close(actual, expected, planes * to, 0);
	free(dense);
	free(source);
	free(target);
	free(actual);
	free(expected);
}

static void test_agrees_with_the_definition(void **state)
{
	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			struct dlsi_kernel_pool pool = random_pool(&rng, seed % 2 ? 8 : 16);

			pool.isa = isa;
			check(&rng, &pool, 1 + (int)(seed % 3));
		}
	}
}

static void test_refuses_windows_that_see_nothing(void **state)
{
	const struct dlsi_kernel_axis good = {.source = 5, .target = 3, .kernel = 3, .stride = 2, .pad = 1};
	struct dlsi_kernel_pool pool = {.block = 8, .batch = 1, .channels = 8, .height = good, .width = good};

	(void)state;
	assert_true(dlsi_max_pool_supported(&pool));
	pool.height.pad = 3;
	assert_false(dlsi_max_pool_supported(&pool));
	pool.height = good;
	pool.width.target = 5;
	assert_false(dlsi_max_pool_supported(&pool));
	pool.width = good;
	pool.channels_last = true;
	assert_true(dlsi_max_pool_supported(&pool));
	pool.channels = 9;
	assert_false(dlsi_max_pool_supported(&pool));
	pool.channels_last = false;
	pool.block = 4;
	assert_false(dlsi_max_pool_supported(&pool));
}

UNIT_MAIN(test_agrees_with_the_definition, test_refuses_windows_that_see_nothing)
