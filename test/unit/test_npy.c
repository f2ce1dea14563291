/* .npy headers: what numpy writes is read, what it can also write is refused by name, and nothing is read beyond the
 * end of a file that is cut short or damaged. */
#include "media/npy.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes lie in a block of exactly their length, so that the address sanitizer sees a read beyond it. */
static int parse(const void *data, size_t length, struct dlsi_array *array, struct dls_error *err)
{
	void *copy = malloc(length ? length : 1);
	int rc;

	memcpy(copy, data, length);
	rc = dlsi_npy_parse(copy, length, array, err);
	free(copy);
	return rc;
}

/* A file of this format version with this dict and `elements` zero bytes. */
static int parse_dict(int version, const char *dict, size_t elements, struct dlsi_array *array, struct dls_error *err)
{
	uint8_t file[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, (uint8_t)strlen(dict)};
	size_t header = version == 1 ? 10 : 12;

	memcpy(file + header, dict, strlen(dict));
	return parse(file, header + strlen(dict) + elements, array, err);
}

static void test_reads_every_version(void **state)
{
	(void)state;
	for (int version = 1; version <= 3; version++) {
		struct dlsi_array array = {0};
		uint64_t count, item_bytes;

		assert_int_equal(
			parse_dict(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (5, 2, 3), }  \n", 60,
				&array, NULL),
			0);
		assert_int_equal(array.dtype, DLS_INT16);
		assert_int_equal(array.rank, 3);
		assert_int_equal(array.dims[0], 5);
		assert_int_equal(array.dims[2], 3);
		assert_int_equal(array.offset, (version == 1 ? 10 : 12) + 65);
		assert_int_equal(array.bytes, 60);
		dlsi_array_items(&array, &count, &item_bytes);
		assert_int_equal(count, 5);
		assert_int_equal(item_bytes, 12);
	}
}

static void test_reads_any_order_quotes_and_empty_shapes(void **state)
{
	struct dlsi_array array = {.rank = 7};
	uint64_t count, item_bytes;

	(void)state;
	assert_int_equal(parse_dict(1, "{\"shape\":(),\"fortran_order\":False,\"descr\":\"|u1\"}", 1, &array, NULL), 0);
	assert_int_equal(array.rank, 0);
	dlsi_array_items(&array, &count, &item_bytes);
	assert_int_equal(count, 1);
	assert_int_equal(item_bytes, 1);
	assert_int_equal(
		parse_dict(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4)}", 0, &array, NULL), 0);
	dlsi_array_items(&array, &count, &item_bytes);
	assert_int_equal(count, 0);
	assert_int_equal(item_bytes, 0);
}

static void test_refusals_say_the_way_out(void **state)
{
	static const struct {
		const char *dict;
		int code;
		const char *words;
	} cases[] = {
		{"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", DLS_EUNSUPPORTED, "ascontiguousarray"},
		{"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, ".astype('<f4')"},
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, "<f2"},
		{"{'descr': '<U7', 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, "<U7"},
		{"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, "|O"},
		{"{'descr': '', 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, "f4"},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", DLS_EUNSUPPORTED, "field"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 9)}", DLS_EFORMAT,
			"float32 [1, 9] needs 36 bytes and 8 follow"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", DLS_ELIMIT, "reshape"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", DLS_ELIMIT, "2^63"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", DLS_ELIMIT, "larger"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'fortran_order': False}", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", DLS_EFORMAT, "numpy.save"},
		{"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", DLS_EFORMAT, "numpy.save"},
		{"", DLS_EFORMAT, "numpy.save"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_array array = {.rank = 7};
		struct dls_error err = {0};

		assert_int_equal(parse_dict(1, cases[i].dict, 8, &array, &err), cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		if (!strstr(err.text, cases[i].words))
			fail_msg("%s: %s", cases[i].dict, err.text);
		assert_int_equal(array.rank, 7);
	}
}

static void test_refuses_what_is_no_npy_file(void **state)
{
	static const uint8_t huge[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff, '{'};
	static const uint8_t newer[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0, 0, 0, 0, 0};
	struct dlsi_array array;

	(void)state;
	assert_int_equal(parse("PK\3\4 a zip file", 15, &array, NULL), DLS_EFORMAT);
	assert_int_equal(parse(huge, sizeof huge, &array, NULL), DLS_ELIMIT);
	assert_int_equal(parse(newer, sizeof newer, &array, NULL), DLS_EUNSUPPORTED);
}

/* A random array's file, written by the library. */
static void write_random(struct dlsi_rng *rng, struct dlsi_buffer *file, struct dlsi_array *array)
{
	size_t bytes;

	array->dtype = 1 + (enum dls_dtype)dlsi_rng_below(rng, DLS_BOOL);
	array->rank = (uint32_t)dlsi_rng_below(rng, DLS_TENSOR_RANK + 1);
	for (uint32_t i = 0; i < array->rank; i++)
		array->dims[i] = (int64_t)dlsi_rng_below(rng, 4);
	assert_int_equal(dls_tensor_bytes(array->dtype, array->rank, array->dims, &bytes), 0);
	dlsi_npy_append_header(file, array->dtype, array->rank, array->dims);
	array->offset = file->length;
	array->bytes = bytes;
	if (bytes)
		memset(dlsi_buffer_extend(file, bytes), 0, bytes);
	assert_false(file->failed);
}

static void test_written_headers_are_read_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_array wrote, read;
		struct dlsi_buffer file;

		dlsi_buffer_init(&file, unit_alloc());
		write_random(&rng, &file, &wrote);
		assert_int_equal(wrote.offset % 64, 0);
		assert_int_equal(parse(file.data, file.length, &read, NULL), 0);
		assert_int_equal(read.dtype, wrote.dtype);
		assert_int_equal(read.rank, wrote.rank);
		for (uint32_t i = 0; i < wrote.rank; i++)
			assert_int_equal(read.dims[i], wrote.dims[i]);
		assert_int_equal(read.offset, wrote.offset);
		assert_int_equal(read.bytes, wrote.bytes);
		dlsi_buffer_fini(&file);
	}
}

static void test_no_prefix_is_a_file(void **state)
{
	struct dlsi_array array;
	struct dlsi_buffer file;

	(void)state;
	dlsi_buffer_init(&file, unit_alloc());
	dlsi_npy_append_header(&file, DLS_FLOAT32, 2, (int64_t[]){2, 3});
	memset(dlsi_buffer_extend(&file, 24), 0, 24);
	for (size_t length = 0; length < file.length; length++)
		assert_int_equal(parse(file.data, length, &array, NULL), DLS_EFORMAT);
	assert_int_equal(parse(file.data, file.length, &array, NULL), 0);
	dlsi_buffer_fini(&file);
}

static void test_damaged_headers_are_survived(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_array array;
		struct dlsi_buffer file;

		dlsi_buffer_init(&file, unit_alloc());
		write_random(&rng, &file, &array);
		for (int change = 0; change < 2; change++)
			file.data[dlsi_rng_below(&rng, array.offset)] = (uint8_t)dlsi_rng_below(&rng, 256);
		if (parse(file.data, file.length, &array, NULL) == 0)
			assert_true(array.offset + array.bytes <= file.length);
		dlsi_buffer_fini(&file);
	}
}

static void test_header_without_memory(void **state)
{
	(void)state;
	for (unsigned n = 1;; n++) {
		struct dlsi_buffer file;
		bool failed;

		dlsi_buffer_init(&file, unit_alloc_failing_at(n));
		dlsi_npy_append_header(&file, DLS_UINT8, 1, (int64_t[]){7});
		failed = file.failed;
		dlsi_buffer_fini(&file);
		if (!failed)
			break;
		assert_true(n < 20);
	}
}

UNIT_MAIN(test_reads_every_version, test_reads_any_order_quotes_and_empty_shapes, test_refusals_say_the_way_out,
	test_refuses_what_is_no_npy_file, test_written_headers_are_read_back, test_no_prefix_is_a_file,
	test_damaged_headers_are_survived, test_header_without_memory)
