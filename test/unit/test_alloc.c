/* The promises of the allocator that hold for every implementation behind it. */
#include "base/alloc.h"
#include "test/unit/unit.h"
#include <string.h>

static void test_nothing_is_null(void **state)
{
	(void)state;
	assert_null(dlsi_malloc(unit_alloc(), 0));
	assert_null(dlsi_calloc(unit_alloc(), 0, 8));
	assert_null(dlsi_calloc(unit_alloc(), 8, 0));
	assert_null(dlsi_realloc(unit_alloc(), NULL, 0));
	dlsi_free(unit_alloc(), NULL);
}

static void test_zeroed_and_kept(void **state)
{
	unsigned char *memory = dlsi_calloc(unit_alloc(), 100, 3);

	(void)state;
	for (int i = 0; i < 300; i++)
		assert_int_equal(memory[i], 0);
	memset(memory, 'x', 300);
	memory = dlsi_realloc(unit_alloc(), memory, 100000);
	for (int i = 0; i < 300; i++)
		assert_int_equal(memory[i], 'x');
	dlsi_free(unit_alloc(), memory);
}

static void test_product_that_overflows(void **state)
{
	(void)state;
	assert_null(dlsi_calloc(unit_alloc(), SIZE_MAX / 2, 3));
	assert_null(dlsi_calloc(unit_alloc(), SIZE_MAX / 2 + 2, 2)); /* 2 in arithmetic modulo 2^64 */
}

static void test_failure_leaves_the_old(void **state)
{
	char *memory = dlsi_strdup(unit_alloc(), "kept");

	(void)state;
	assert_null(dlsi_realloc(unit_alloc_failing_at(1), memory, 1000));
	assert_string_equal(memory, "kept");
	dlsi_free(unit_alloc(), memory);
	assert_null(dlsi_strdup(unit_alloc_failing_at(1), "text"));
}

static void test_copies_of_text(void **state)
{
	char *part = dlsi_strndup(unit_alloc(), "abcdef", 3), *none = dlsi_strdup(unit_alloc(), "");

	(void)state;
	assert_string_equal(part, "abc");
	assert_string_equal(none, "");
	dlsi_free(unit_alloc(), part);
	dlsi_free(unit_alloc(), none);
}

static void test_of_the_c_library(void **state)
{
	char *memory = dlsi_malloc(&dlsi_alloc_libc, 10);

	(void)state;
	assert_non_null(memory);
	memory = dlsi_realloc(&dlsi_alloc_libc, memory, 1000);
	assert_non_null(memory);
	assert_null(dlsi_alloc_libc.resize(NULL, memory, 0)); /* frees: the address sanitizer would tell */
}

UNIT_MAIN(test_nothing_is_null, test_zeroed_and_kept, test_product_that_overflows, test_failure_leaves_the_old,
	test_copies_of_text, test_of_the_c_library)
