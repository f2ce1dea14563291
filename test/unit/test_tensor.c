/* dtypes and the size of a shape. */
#include "test/unit/unit.h"
#include <dlsched/tensor.h>

static void test_table(void **state)
{
	(void)state;
#define CHECK(name, value, bytes, spelling)                                                                            \
	assert_int_equal(dls_dtype_bytes(name), bytes);                                                                \
	assert_string_equal(dls_dtype_name(name), spelling);
	DLS_DTYPE_TABLE(CHECK)
#undef CHECK
	assert_int_equal(dls_dtype_bytes((enum dls_dtype)0), 0);
	assert_null(dls_dtype_name((enum dls_dtype)99));
}

static void test_bytes(void **state)
{
	const int64_t dims[DLS_TENSOR_RANK] = {2, 3, 4, 1, 1, 1, 1, 5};
	size_t bytes = 7;

	(void)state;
	assert_int_equal(dls_tensor_bytes(DLS_FLOAT32, 0, NULL, &bytes), 0);
	assert_int_equal(bytes, 4);
	assert_int_equal(dls_tensor_bytes(DLS_INT64, 3, dims, &bytes), 0);
	assert_int_equal(bytes, 192);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, DLS_TENSOR_RANK, dims, &bytes), 0);
	assert_int_equal(bytes, 120);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, 2, (const int64_t[]){0, 5}, &bytes), 0);
	assert_int_equal(bytes, 0);
}

static void test_shapes_that_cannot_be(void **state)
{
	size_t bytes = 7;

	(void)state;
	assert_int_equal(dls_tensor_bytes((enum dls_dtype)0, 0, NULL, &bytes), DLS_EINVAL);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, DLS_TENSOR_RANK + 1, NULL, &bytes), DLS_EINVAL);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, 1, (const int64_t[]){-1}, &bytes), DLS_EINVAL);
	assert_int_equal(dls_tensor_bytes(DLS_FLOAT64, 1, (const int64_t[]){INT64_MAX}, &bytes), DLS_EINVAL);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, 2, (const int64_t[]){INT64_MAX, 3}, &bytes), DLS_EINVAL);
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, 3, (const int64_t[]){0, -1, 4}, &bytes), DLS_EINVAL);
	assert_int_equal(bytes, 7);
}

UNIT_MAIN(test_table, test_bytes, test_shapes_that_cannot_be)
