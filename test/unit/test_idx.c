/* idx headers: the files of MNIST are read, and a file that is not whole or not plain is refused with the reason. */
#include "media/idx.h"
#include "test/unit/unit.h"
#include <stdlib.h>
#include <string.h>

/* The bytes lie in a block of exactly their length, so that the address sanitizer sees a read beyond it. */
static int parse(const void *data, size_t length, struct dlsi_array *array, struct dls_error *err)
{
	void *copy = malloc(length ? length : 1);
	int rc;

	memcpy(copy, data, length);
	rc = dlsi_idx_parse(copy, length, array, err);
	free(copy);
	return rc;
}

static const uint8_t pictures[16 + 24] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};

static void test_reads_pictures(void **state)
{
	struct dlsi_array array = {0};
	uint64_t count, item_bytes;

	(void)state;
	assert_int_equal(parse(pictures, sizeof pictures, &array, NULL), 0);
	assert_int_equal(array.dtype, DLS_UINT8);
	assert_int_equal(array.rank, 3);
	assert_int_equal(array.dims[0], 2);
	assert_int_equal(array.dims[1], 3);
	assert_int_equal(array.dims[2], 4);
	assert_int_equal(array.offset, 16);
	assert_int_equal(array.bytes, 24);
	dlsi_array_items(&array, &count, &item_bytes);
	assert_int_equal(count, 2);
	assert_int_equal(item_bytes, 12);
}

static void test_no_prefix_is_a_file(void **state)
{
	struct dlsi_array array;

	(void)state;
	for (size_t length = 0; length < sizeof pictures; length++)
		assert_int_equal(parse(pictures, length, &array, NULL), DLS_EFORMAT);
}

static void test_refusals_say_why(void **state)
{
	static const struct {
		uint8_t file[48];
		size_t length;
		int code;
		const char *words;
	} cases[] = {
		{{0x1f, 0x8b, 8, 0}, 16, DLS_EFORMAT, "gunzip"},
		{{0, 0, 7, 1, 0, 0, 0, 1}, 9, DLS_EFORMAT, "not an idx file"},
		{{0, 0, 8, 0}, 5, DLS_EFORMAT, "rank from 1 to 8"},
		{{0, 0, 8, 9}, 48, DLS_EFORMAT, "rank from 1 to 8"},
		{{0, 0, 8, 1, 0, 0, 0, 1}, 10, DLS_EFORMAT, "uint8 [1] needs 1 bytes and 2 follow"},
		{{0, 0, 0x0d, 1, 0, 0, 0, 1}, 12, DLS_EUNSUPPORTED, "big-endian float32"},
		{{0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 40, DLS_ELIMIT,
			"larger"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_array array = {.rank = 7};
		struct dls_error err = {0};

		assert_int_equal(parse(cases[i].file, cases[i].length, &array, &err), cases[i].code);
		if (!strstr(err.text, cases[i].words))
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(array.rank, 7);
	}
}

UNIT_MAIN(test_reads_pictures, test_no_prefix_is_a_file, test_refusals_say_why)
