/* Files that hold one tensor: recognised by how they begin, and read whole or refused. */
#include "reader/tensor_file.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <string.h>

enum { FLOAT = 1, STRING = 8, COMPLEX64 = 14 };

/* float32 [2, 3] of 1 to 6 as raw data, with an odd name before them so that they lie at an odd place. */
static void write_raw(struct dlsi_buffer *file)
{
	static const float elements[] = {1, 2, 3, 4, 5, 6};

	dlsi_buffer_init(file, unit_alloc());
	unit_onnx_number(file, 1, 2);
	unit_onnx_number(file, 1, 3);
	unit_onnx_number(file, 2, FLOAT);
	unit_onnx_bytes(file, 8, "odd", file->length % 2 ? 2 : 3);
	unit_onnx_bytes(file, 9, elements, sizeof elements);
}

static int read_exactly(const struct dlsi_alloc *alloc, const struct dlsi_buffer *file, size_t length,
	struct dls_tensor *tensor, struct dls_error *err)
{
	uint8_t *exact = test_malloc(length ? length : 1); /* so that the sanitizer sees a read behind the end */
	int rc;

	memcpy(exact, file->data, length);
	rc = dlsi_tensor_file_read(alloc, exact, length, tensor, err);
	test_free(exact);
	return rc;
}

static void test_reads_what_is_there(void **state)
{
	struct dls_tensor tensor;
	struct dlsi_buffer file;

	(void)state;
	write_raw(&file);
	assert_true(dlsi_tensor_file_recognise(file.data, file.length));
	assert_int_equal(read_exactly(unit_alloc(), &file, file.length, &tensor, NULL), 0);
	assert_int_equal(tensor.dtype, DLS_FLOAT32);
	assert_int_equal(tensor.rank, 2);
	assert_true(tensor.dims[0] == 2 && tensor.dims[1] == 3);
	assert_int_equal(tensor.bytes, 24);
	assert_true(((const float *)tensor.data)[5] == 6);
	dlsi_free(unit_alloc(), (void *)(uintptr_t)tensor.data);
	dlsi_buffer_fini(&file);
}

/* A scalar has no dimensions, a packed run has them behind one tag, and an empty tensor has no data. */
static void test_forms_of_dimensions(void **state)
{
	static const uint8_t packed[] = {0x0a, 3, 0, 0x96, 0x01, 0x10, FLOAT};
	static const uint8_t scalar[] = {0x10, FLOAT, 0x25, 0, 0, 0x80, 0x3f};
	struct dls_tensor tensor;

	(void)state;
	assert_true(dlsi_tensor_file_recognise(packed, sizeof packed));
	assert_int_equal(dlsi_tensor_file_read(unit_alloc(), packed, sizeof packed, &tensor, NULL), 0);
	assert_true(tensor.rank == 2 && tensor.dims[0] == 0 && tensor.dims[1] == 150);
	assert_true(tensor.bytes == 0 && !tensor.data);
	assert_true(dlsi_tensor_file_recognise(scalar, sizeof scalar));
	assert_int_equal(dlsi_tensor_file_read(unit_alloc(), scalar, sizeof scalar, &tensor, NULL), 0);
	assert_true(tensor.rank == 0 && ((const float *)tensor.data)[0] == 1);
	dlsi_free(unit_alloc(), (void *)(uintptr_t)tensor.data);
}

static void test_other_files_are_not_taken_for_one(void **state)
{
	static const char *const others[] = {"", "\n", "\nA text that begins with an empty line, and goes on.\n",
		"\b\x03\x12 no type", "\b", "\n\x7f", "\x10", "\x10\x40", "\x93NUMPY\x01", "\xff\xd8\xff\xe0",
		"\x89PNG\r\n\x1a\n", "\b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x10\x01"};

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(dlsi_tensor_file_recognise(others[i], strlen(others[i])));
}

static void test_what_is_cut_short_is_refused(void **state)
{
	struct dls_tensor tensor = {.bytes = 7};
	struct dlsi_buffer file;

	(void)state;
	write_raw(&file);
	for (size_t length = 0; length < file.length; length++)
		assert_true(read_exactly(unit_alloc(), &file, length, &tensor, NULL) < 0);
	assert_int_equal(tensor.bytes, 7);
	dlsi_buffer_fini(&file);
}

static void assert_refused(struct dlsi_buffer *file, int code, const char *says)
{
	struct dls_tensor tensor;
	struct dls_error err = {0};

	assert_int_equal(dlsi_tensor_file_read(unit_alloc(), file->data, file->length, &tensor, &err), code);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	dlsi_buffer_fini(file);
	dlsi_buffer_init(file, unit_alloc());
}

static void test_what_is_none_names_the_reason(void **state)
{
	struct dlsi_buffer file;

	(void)state;
	dlsi_buffer_init(&file, unit_alloc());
	dlsi_buffer_append(&file, "This is a text.\n", 16);
	assert_refused(&file, DLS_EFORMAT, "not a whole tensor of ONNX");
	unit_onnx_number(&file, 2, COMPLEX64);
	assert_refused(&file, DLS_EUNSUPPORTED, "complex64");
	unit_onnx_number(&file, 2, STRING);
	assert_refused(&file, DLS_EUNSUPPORTED, "string");
	unit_onnx_number(&file, 1, 5);
	unit_onnx_number(&file, 2, FLOAT);
	unit_onnx_bytes(&file, 9, "1234", 4);
	assert_refused(&file, DLS_EFORMAT, "float32 [5] needs 20");
	unit_onnx_number(&file, 1, UINT64_MAX);
	unit_onnx_number(&file, 2, FLOAT);
	assert_refused(&file, DLS_EFORMAT, "impossible shape");
	unit_onnx_number(&file, 1, 1);
	unit_onnx_number(&file, 2, FLOAT);
	unit_onnx_bytes(&file, 13, "\n\blocation\022\004data", 16);
	unit_onnx_number(&file, 14, 1); /* data_location: external */
	assert_refused(&file, DLS_EUNSUPPORTED, "its data are in the file 'data'");
	dlsi_buffer_fini(&file);
}

static void test_memory_runs_out(void **state)
{
	struct dls_tensor tensor = {.bytes = 7};
	struct dlsi_buffer file;
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	write_raw(&file);
	for (n = 1; rc; n++) {
		assert_int_equal(tensor.bytes, 7);
		rc = dlsi_tensor_file_read(unit_alloc_failing_at(n), file.data, file.length, &tensor, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	}
	assert_true(n > 4);
	dlsi_free(unit_alloc(), (void *)(uintptr_t)tensor.data);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_reads_what_is_there, test_forms_of_dimensions, test_other_files_are_not_taken_for_one,
	test_what_is_cut_short_is_refused, test_what_is_none_names_the_reason, test_memory_runs_out)
