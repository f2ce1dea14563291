/* Ids and hexadecimal. */
#include "base/id.h"
#include "test/unit/unit.h"
#include <ctype.h>
#include <string.h>

static struct dlsi_id random_id(struct dlsi_rng *rng)
{
	struct dlsi_id id;

	for (int i = 0; i < DLSI_ID_BYTES; i++)
		id.bytes[i] = (uint8_t)dlsi_rng_below(rng, 256);
	return id;
}

static void test_hex_and_back(void **state)
{
	struct dlsi_rng rng = unit_rng(1);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct dlsi_id id = random_id(&rng);
		uint8_t again[DLSI_ID_BYTES + 1] = {[DLSI_ID_BYTES] = 77};
		char text[DLSI_ID_TEXT_BYTES];

		dlsi_hex(id.bytes, DLSI_ID_BYTES, text);
		assert_int_equal(strspn(text, "0123456789abcdef"), 2 * DLSI_ID_BYTES);
		for (int c = 0; c < 2 * DLSI_ID_BYTES; c += 3)
			text[c] = (char)toupper(text[c]);
		assert_true(dlsi_unhex(text, DLSI_ID_BYTES, again));
		assert_memory_equal(again, id.bytes, DLSI_ID_BYTES);
		assert_int_equal(again[DLSI_ID_BYTES], 77);
	}
}

static void test_known_text(void **state)
{
	char text[9];

	(void)state;
	dlsi_hex((const uint8_t *)"\x00\x9f\xa0\xff", 4, text);
	assert_string_equal(text, "009fa0ff");
}

static void test_texts_that_are_not_hex(void **state)
{
	const char *const wrong[] = {"", "0", "00000", "000000000", "0000000g", "0000 000", "-0000000", "0x000000",
		"0000000`", "0000000@", "0000000G", "0000000/", "0000000:",
		"\xb0"
		"0000000"};
	uint8_t bytes[4] = {1, 2, 3, 4};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(dlsi_unhex(wrong[i], 4, bytes));
	assert_memory_equal(bytes, "\1\2\3\4", 4);
}

static void test_order_is_that_of_the_bytes(void **state)
{
	struct dlsi_id low = {{0}}, high = {{0}};

	(void)state;
	assert_true(dlsi_id_is_zero(&low));
	low.bytes[15] = 0xff;
	high.bytes[14] = 1;
	assert_false(dlsi_id_is_zero(&low));
	assert_true(dlsi_id_compare(&low, &high) < 0);
	assert_true(dlsi_id_compare(&high, &low) > 0);
	assert_int_equal(dlsi_id_compare(&low, &low), 0);
	assert_false(dlsi_id_equal(&low, &high));
}

UNIT_MAIN(test_hex_and_back, test_known_text, test_texts_that_are_not_hex, test_order_is_that_of_the_bytes)
