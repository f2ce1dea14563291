/* Random bytes: all of them are drawn, and no two draws are alike. */
#include "base/random.h"
#include "test/unit/unit.h"

static void test_every_byte_is_drawn(void **state)
{
	uint8_t bytes[64], seen[64] = {0};

	(void)state;
	assert_int_equal(dlsi_random_start(), 0);
	assert_int_equal(dlsi_random_start(), 0); /* again is no error */
	for (int draw = 0; draw < 64; draw++) {
		dlsi_random_bytes(bytes, sizeof bytes);
		for (size_t i = 0; i < sizeof bytes; i++)
			seen[i] |= bytes[i];
	}
	for (size_t i = 0; i < sizeof seen; i++)
		assert_int_equal(seen[i], 0xff); /* a bit that stays 0 in 64 draws: once in 2^55 runs */
}

static void test_draws_differ(void **state)
{
	struct dlsi_id a = dlsi_random_id(), b = dlsi_random_id();

	(void)state;
	assert_false(dlsi_id_equal(&a, &b));
	assert_true(dlsi_random_u64() != dlsi_random_u64());
}

UNIT_MAIN(test_every_byte_is_drawn, test_draws_differ)
