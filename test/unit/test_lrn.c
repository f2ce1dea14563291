/* Local response normalisation against the plainest loop in double precision: odd and even windows, windows beyond all
 * channels, any beta, blocked and dense, in place and not, on every instruction set. */
#include "kernel/lrn.h"
#include "test/unit/kernel.h"
#include <math.h>
#include <stdlib.h>

enum { SEEDS = 200 };

static struct dlsi_kernel_lrn random_lrn(struct dlsi_rng *rng)
{
	static const int blocks[] = {1, 8, 16};
	struct dlsi_kernel_lrn lrn = {.block = blocks[dlsi_rng_below(rng, 3)],
		.batch = kernel_between(rng, 1, 5),
		.channels = kernel_between(rng, 1, 70),
		.pixels = kernel_between(rng, 1, 40),
		.size = kernel_between(rng, 1, 11),
		.alpha = (float)kernel_between(rng, 0, 20) / 4,
		.beta = dlsi_rng_below(rng, 2) ? 0.75F : (float)kernel_between(rng, 0, 8) / 4,
		.bias = (float)kernel_between(rng, 1, 8) / 4};

	if (lrn.block > 1 && dlsi_rng_below(rng, 2)) {
		lrn.channels_last = true;
		lrn.channels = lrn.block * kernel_between(rng, 1, 4);
	}
	return lrn;
}

static float expect(const struct dlsi_kernel_lrn *lrn, const float *item, int64_t channel, int64_t pixel)
{
	const int64_t first = channel - (lrn->size - 1) / 2;
	double sum = 0;

	for (int64_t c = first; c < first + lrn->size; c++)
		if (c >= 0 && c < lrn->channels)
			sum += (double)item[c * lrn->pixels + pixel] * item[c * lrn->pixels + pixel];
	return (float)(item[channel * lrn->pixels + pixel] /
		       pow(lrn->bias + lrn->alpha / (double)lrn->size * sum, lrn->beta));
}

static void check(struct dlsi_rng *rng, const struct dlsi_kernel_lrn *lrn, bool in_place, int threads)
{
	const int64_t item = lrn->channels * lrn->pixels, count = lrn->batch * item;
	float *dense = kernel_floats(count), *expected = kernel_floats(count), *actual = kernel_floats(count);
	const struct kernel_layout layout = {lrn->channels_last, lrn->block, lrn->batch, lrn->channels, lrn->pixels};
	float *source = kernel_floats(kernel_stored(&layout));
	float *target = in_place ? source : kernel_floats(kernel_stored(&layout));
	float *scratch = kernel_floats((int64_t)(dlsi_lrn_scratch_bytes(lrn, threads) / sizeof(float)));

	for (int64_t i = 0; i < count; i++)
		dense[i] = 4 * kernel_random(rng);
	for (int64_t i = 0; i < count; i++)
		expected[i] = expect(lrn, dense + i / item * item, i % item / lrn->pixels, i % lrn->pixels);
	kernel_store(&layout, dense, source);
	assert_true(dlsi_lrn_supported(lrn));
	dlsi_lrn_run(lrn, source, target, scratch, threads);
	kernel_unstore(&layout, target, actual);
	kernel_assert_close(actual, expected, count, 1e-6F);
	free(dense);
	free(expected);
	free(actual);
	free(source);
	if (!in_place)
		free(target);
	free(scratch);
}

static void test_agrees_with_the_definition(void **state)
{
	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			struct dlsi_kernel_lrn lrn = random_lrn(&rng);

			lrn.isa = isa;
			check(&rng, &lrn, seed % 5 == 0, 1 + (int)(seed % 3));
		}
	}
}

static void test_refuses_what_it_cannot(void **state)
{
	const struct dlsi_kernel_lrn good = {.block = 8, .batch = 1, .channels = 20, .pixels = 4, .size = 5, .bias = 1};
	struct dlsi_kernel_lrn lrn = good;

	(void)state;
	assert_true(dlsi_lrn_supported(&lrn));
	lrn.bias = 0;
	assert_false(dlsi_lrn_supported(&lrn));
	lrn = good;
	lrn.block = 3;
	assert_false(dlsi_lrn_supported(&lrn));
	lrn = good;
	lrn.channels_last = true;
	assert_false(dlsi_lrn_supported(&lrn));
	lrn = good;
	lrn.size = 0;
	assert_false(dlsi_lrn_supported(&lrn));
}

UNIT_MAIN(test_agrees_with_the_definition, test_refuses_what_it_cannot)
