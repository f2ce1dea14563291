/* UTF-8 against its definition: a run of bytes is a character exactly if encoding some number gives these bytes. */
#include "base/utf8.h"
#include "test/unit/unit.h"
#include <stdbool.h>
#include <string.h>

static size_t encode(uint32_t code, uint8_t *bytes)
{
	if (code < 0x80) {
		bytes[0] = (uint8_t)code;
		return 1;
	}
	if (code < 0x800) {
		bytes[0] = (uint8_t)(0xc0 | code >> 6);
		bytes[1] = (uint8_t)(0x80 | (code & 63));
		return 2;
	}
	if (code < 0x10000) {
		bytes[0] = (uint8_t)(0xe0 | code >> 12);
		bytes[1] = (uint8_t)(0x80 | (code >> 6 & 63));
		bytes[2] = (uint8_t)(0x80 | (code & 63));
		return 3;
	}
	bytes[0] = (uint8_t)(0xf0 | code >> 18);
	bytes[1] = (uint8_t)(0x80 | (code >> 12 & 63));
	bytes[2] = (uint8_t)(0x80 | (code >> 6 & 63));
	bytes[3] = (uint8_t)(0x80 | (code & 63));
	return 4;
}

static void test_every_character(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 0x120000; code++) {
		uint8_t bytes[4];
		size_t length = encode(code, bytes);
		uint32_t decoded = UINT32_MAX;
		bool exists = code < 0xd800 || (code >= 0xe000 && code <= 0x10ffff);

		assert_int_equal(dlsi_utf8_next(bytes, length, &decoded), exists ? length : 0);
		assert_int_equal(decoded, exists ? code : UINT32_MAX);
		assert_int_equal(dlsi_utf8_next(bytes, length - 1, &decoded), 0);
	}
}

/* Accepts nothing that is no encoding: all runs of three bytes from 0x7f on, then random runs of four. */
static void test_nothing_else(void **state)
{
	struct dlsi_rng rng = unit_rng(1);

	(void)state;
	for (uint32_t i = 0; i < 0x1000000; i += 7) {
		uint32_t random = (uint32_t)dlsi_rng_next(&rng), code = 0;
		uint8_t bytes[4] = {(uint8_t)(0x80 | i >> 16), (uint8_t)(i >> 8), (uint8_t)i}, again[4];
		size_t length;

		if (i & 1) {
			memcpy(bytes, &random, sizeof bytes);
			bytes[0] |= 0xf0;
		}
		length = dlsi_utf8_next(bytes, sizeof bytes, &code);
		if (length) {
			assert_int_equal(encode(code, again), length);
			assert_memory_equal(again, bytes, length);
		}
	}
}

static void test_cuts_between_characters(void **state)
{
	const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"; /* 1, 2, 3 and 4 bytes */
	const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};

	(void)state;
	for (size_t room = 0; room < sizeof cuts / sizeof *cuts; room++)
		assert_int_equal(dlsi_utf8_cut(text, room), cuts[room]);
	assert_int_equal(dlsi_utf8_cut("\x80\x80\x80\x80\x80\x80\x80", 6), 6);
}

UNIT_MAIN(test_every_character, test_nothing_else, test_cuts_between_characters)
