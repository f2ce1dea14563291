/* The orientation is found in TIFF blocks of either byte order, and malformed blocks are plain "upright". */
#include "media/exif.h"
#include "test/unit/unit.h"
#include <stdlib.h>
#include <string.h>

/* The bytes lie in a block of exactly their length, so that the address sanitizer sees a read beyond it. */
static unsigned orientation(const void *tiff, size_t length)
{
	void *copy = malloc(length ? length : 1);
	unsigned found;

	memcpy(copy, tiff, length);
	found = dlsi_exif_orientation(copy, length);
	free(copy);
	return found;
}

/* A directory at 8 with an entry before the one that counts: width (256), orientation (274). */
static const uint8_t little[] = {
	'I', 'I', 42, 0, 8, 0, 0, 0, 2, 0, 0, 1, 4, 0, 1, 0, 0, 0, 9, 9, 0, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0};
static const uint8_t big[] = {
	'M', 'M', 0, 42, 0, 0, 0, 8, 0, 2, 1, 0, 0, 4, 0, 0, 0, 1, 0, 0, 9, 9, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0};
enum { VALUE_BIG = 31 };

static void test_both_byte_orders(void **state)
{
	(void)state;
	assert_int_equal(orientation(little, sizeof little), 6);
	assert_int_equal(orientation(big, sizeof big), 6);
}

static void test_only_eight_orientations(void **state)
{
	uint8_t block[sizeof big];

	(void)state;
	memcpy(block, big, sizeof big);
	for (unsigned value = 0; value < 12; value++) {
		block[VALUE_BIG] = (uint8_t)value;
		assert_int_equal(orientation(block, sizeof block), value >= 1 && value <= 8 ? value : 1);
	}
}

static void test_only_short_values_count(void **state)
{
	uint8_t block[sizeof little];

	(void)state;
	memcpy(block, little, sizeof little);
	block[24] = 4; /* a long */
	assert_int_equal(orientation(block, sizeof block), 1);
}

static void test_malformed_is_upright(void **state)
{
	(void)state;
	for (size_t length = 0; length + 2 < sizeof little; length++) {
		assert_int_equal(orientation(little, length), 1);
		assert_int_equal(orientation(big, length), 1);
	}
	assert_int_equal(orientation("II*\0\xff\xff\xff\xff", 8), 1);
	assert_int_equal(orientation("IM*\0\x08\0\0\0\0\0", 10), 1);
	assert_int_equal(orientation("XX*\0\x08\0\0\0\0\0", 10), 1);
}

static void test_random_damage_is_survived(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint8_t block[sizeof little];
		unsigned found;

		memcpy(block, seed & 1 ? little : big, sizeof block);
		for (int change = 0; change < 3; change++)
			block[dlsi_rng_below(&rng, sizeof block)] = (uint8_t)dlsi_rng_below(&rng, 256);
		found = orientation(block, sizeof block);
		assert_true(found >= 1 && found <= 8);
	}
}

UNIT_MAIN(test_both_byte_orders, test_only_eight_orientations, test_only_short_values_count, test_malformed_is_upright,
	test_random_damage_is_survived)
