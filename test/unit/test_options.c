/* Option structures of older, the same and newer builds. */
#include "api/options.h"
#include "test/unit/unit.h"
#include <string.h>

struct older {
	size_t size;
	int first;
};

struct known {
	size_t size;
	int first;
	int second;
};

struct newer {
	size_t size;
	int first;
	int second;
	const char *third;
};

static void test_null_gives_zeros(void **state)
{
	struct known read = {1, 2, 3};

	(void)state;
	assert_int_equal(dlsi_options_read("known", NULL, sizeof read, &read, NULL), 0);
	assert_int_equal(read.size, sizeof read);
	assert_int_equal(read.first, 0);
	assert_int_equal(read.second, 0);
}

static void test_older_leaves_the_rest_zero(void **state)
{
	struct older given = {sizeof given, 5};
	struct known read = {1, 2, 3};

	(void)state;
	given.size = offsetof(struct known, second);
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), 0);
	assert_int_equal(read.size, sizeof read);
	assert_int_equal(read.first, 5);
	assert_int_equal(read.second, 0);
}

static void test_newer_may_not_want_what_is_unknown(void **state)
{
	struct newer given = {sizeof given, 5, 6, NULL};
	struct known read;
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), 0);
	assert_int_equal(read.second, 6);
	given.third = "x";
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "known"));
}

static void test_size_is_required(void **state)
{
	struct known given = {0, 5, 6}, read;

	(void)state;
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), DLS_EINVAL);
}

UNIT_MAIN(test_null_gives_zeros, test_older_leaves_the_rest_zero, test_newer_may_not_want_what_is_unknown,
	test_size_is_required)
