/* CRC-32C: the examples of RFC 3720 B.4, and the processor's instruction against the definition bit by bit. */
#include "lib/base/crc32c.c" /* the way bit by bit too, which runs only where the processor has no instruction */
#include "test/unit/unit.h"
#include <string.h>

static void test_examples_of_the_rfc(void **state)
{
	uint8_t bytes[32];
	const uint8_t read_command[48] = {
		0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28, [40] = 0x02};

	(void)state;
	memset(bytes, 0, sizeof bytes);
	assert_int_equal(dlsi_crc32c(0, bytes, sizeof bytes), 0x8a9136aa);
	memset(bytes, 0xff, sizeof bytes);
	assert_int_equal(dlsi_crc32c(0, bytes, sizeof bytes), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(dlsi_crc32c(0, bytes, sizeof bytes), 0x46dd794e);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(dlsi_crc32c(0, bytes, sizeof bytes), 0x113fdb5c);
	assert_int_equal(dlsi_crc32c(0, read_command, sizeof read_command), 0xd9963a56);
	assert_int_equal(dlsi_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(dlsi_crc32c(0, NULL, 0), 0);
}

/* x^32 + ... by long division over the bits, lowest first. */
static uint32_t by_definition(const uint8_t *data, size_t length)
{
	uint32_t rest = 0xffffffff;

	for (size_t bit = 0; bit < 8 * length; bit++) {
		uint32_t in = (data[bit / 8] >> bit % 8 & 1) ^ (rest & 1);

		rest = rest >> 1 ^ (in ? 0x82f63b78 : 0);
	}
	return ~rest;
}

static void test_any_place_length_and_division(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint8_t bytes[200];
		size_t from = dlsi_rng_below(&rng, 16), length = dlsi_rng_below(&rng, sizeof bytes - 16);
		size_t cut = dlsi_rng_below(&rng, length + 1);
		uint32_t expected;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)dlsi_rng_next(&rng);
		expected = by_definition(bytes + from, length);
		assert_int_equal(dlsi_crc32c(0, bytes + from, length), expected);
		assert_int_equal(~by_bits(~0U, bytes + from, length), expected);
		assert_int_equal(
			dlsi_crc32c(dlsi_crc32c(0, bytes + from, cut), bytes + from + cut, length - cut), expected);
	}
}

UNIT_MAIN(test_examples_of_the_rfc, test_any_place_length_and_division)
