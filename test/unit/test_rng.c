/* The generator gives the numbers of its authors' programs, for ever: recorded seeds must replay. */
#include "base/rng.h"
#include "test/unit/unit.h"

/* From the reference programs splitmix64.c and xoshiro256starstar.c. */
static void test_known_numbers(void **state)
{
	struct dlsi_rng rng = {{1, 2, 3, 4}};

	(void)state;
	assert_int_equal(dlsi_rng_next(&rng), 11520);
	assert_int_equal(dlsi_rng_next(&rng), 0);
	assert_int_equal(dlsi_rng_next(&rng), 1509978240);
	assert_int_equal(dlsi_rng_next(&rng), 1215971899390074240);
	dlsi_rng_init(&rng, 0);
	assert_int_equal(rng.state[0], 0xe220a8397b1dcdaf);
	assert_int_equal(rng.state[3], 0xf88bb8a8724c81ec);
	assert_int_equal(dlsi_rng_next(&rng), 0x99ec5f36cb75f2b4);
}

static void test_bounds(void **state)
{
	struct dlsi_rng rng = unit_rng(3);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t bound = dlsi_rng_next(&rng) | 1ULL << 63;

		assert_int_equal(dlsi_rng_below(&rng, 1), 0);
		assert_true(dlsi_rng_below(&rng, bound) < bound);
		assert_true(dlsi_rng_below(&rng, 7) < 7);
	}
}

/* Without rejection the lower half of a bound of 3 * 2^62 would come twice as often as the rest. */
static void test_no_bias(void **state)
{
	struct dlsi_rng rng = unit_rng(4);
	const uint64_t bound = 3ULL << 62;
	int thirds[3] = {0};

	(void)state;
	for (int i = 0; i < 30000; i++)
		thirds[dlsi_rng_below(&rng, bound) >> 62]++;
	for (int i = 0; i < 3; i++)
		assert_in_range(thirds[i], 9500, 10500);
}

UNIT_MAIN(test_known_numbers, test_bounds, test_no_bias)
