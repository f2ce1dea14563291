/* Errors: the table is sound, and a sentence is printable and whole whatever went into it. */
#include "base/error.h"
#include "base/utf8.h"
#include "test/unit/unit.h"
#include <errno.h>
#include <string.h>

static const int codes[] = {
#define CODE(name, value, text, exit_code, http, retry) name,
	DLS_ERROR_TABLE(CODE)
#undef CODE
};

enum { CODES = sizeof codes / sizeof *codes };

static void test_table(void **state)
{
	(void)state;
	for (int i = 0; i < CODES; i++) {
		assert_int_equal(codes[i], -1 - i); /* no gap, no value twice: they are part of the ABI */
		assert_memory_equal(dls_error_name(codes[i]), "DLS_E", 5);
		assert_true(strlen(dls_error_meaning(codes[i])) > 0);
		assert_in_range(dls_error_exit_code(codes[i]), 1, 255);
		assert_in_range(dls_error_http_status(codes[i]), 400, 599);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(dls_error_name(codes[i]), dls_error_name(codes[j]));
	}
	assert_string_equal(dls_error_name(DLS_EINVAL), "DLS_EINVAL");
	assert_true(dls_error_is_temporary(DLS_EBUSY));
	assert_false(dls_error_is_temporary(DLS_EINVAL));
}

static void test_codes_that_do_not_exist(void **state)
{
	(void)state;
	assert_int_equal(dls_error_exit_code(DLS_OK), 0);
	assert_int_equal(dls_error_http_status(DLS_OK), 200);
	for (int code = -CODES - 1; code <= 1; code += CODES + 2) {
		assert_string_equal(dls_error_name(code), "DLS_UNKNOWN");
		assert_non_null(dls_error_meaning(code));
		assert_int_equal(dls_error_exit_code(code), 4);
		assert_int_equal(dls_error_http_status(code), 500);
	}
}

static void assert_printable(const struct dls_error *err)
{
	size_t length = strnlen(err->text, sizeof err->text);
	uint32_t code;

	assert_true(length < sizeof err->text);
	for (size_t i = 0; i < length;) {
		size_t step = dlsi_utf8_next((const uint8_t *)err->text + i, length - i, &code);

		assert_int_not_equal(step, 0);
		assert_false(code < 0x20 || (code >= 0x7f && code < 0xa0));
		i += step;
	}
}

static void test_random_bytes_become_printable(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		char name[2 * DLS_ERROR_TEXT_BYTES];
		size_t length = dlsi_rng_below(&rng, sizeof name);
		struct dls_error err;

		for (size_t i = 0; i < length; i++)
			name[i] = (char)(1 + dlsi_rng_below(&rng, 255));
		name[length] = '\0';
		assert_int_equal(dlsi_fail(&err, DLS_EFORMAT, "%s", name), DLS_EFORMAT);
		assert_printable(&err);
		assert_int_equal(dlsi_fail_errno(&err, DLS_EIO, ENOENT, "%s", name), DLS_EIO);
		assert_printable(&err);
		assert_int_equal(dlsi_fail_in(&err, DLS_EIO, "%s", name), DLS_EIO);
		assert_printable(&err);
	}
}

static void test_names_are_kept_when_they_are_good(void **state)
{
	struct dls_error err;

	(void)state;
	dlsi_fail(&err, DLS_ENOTFOUND, "no model \"%s\"", "caf\xc3\xa9");
	assert_string_equal(err.text, "no model \"caf\xc3\xa9\"");
	assert_int_equal(err.code, DLS_ENOTFOUND);
	assert_int_equal(err.os_error, 0);
	dlsi_fail(&err, DLS_ENOTFOUND, "no model \"%s\"", "a\nb\x1b[0m\xff");
	assert_string_equal(err.text, "no model \"a?b?[0m?\"");
}

static void test_cut_between_characters(void **state)
{
	struct dls_error err;
	char name[DLS_ERROR_TEXT_BYTES + 10] = "";

	(void)state;
	for (int lead = 0; lead < 3; lead++) {
		memset(name, 'x', sizeof name);
		for (size_t i = (size_t)lead; i + 3 < sizeof name; i += 3)
			memcpy(name + i, "\xe2\x82\xac", 3);
		name[sizeof name - 4] = '\0';
		dlsi_fail(&err, DLS_EINVAL, "%s", name);
		assert_null(strchr(err.text, '?'));
		assert_in_range(strlen(err.text), DLS_ERROR_TEXT_BYTES - 3, DLS_ERROR_TEXT_BYTES - 1);
	}
}

static void test_system_error_is_kept(void **state)
{
	char name[2 * DLS_ERROR_TEXT_BYTES];
	struct dls_error err;

	(void)state;
	dlsi_fail_errno(&err, DLS_EIO, ENOENT, "cannot open %s", "x");
	assert_string_equal(err.text, "cannot open x: No such file or directory");
	assert_int_equal(err.os_error, ENOENT);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	dlsi_fail_errno(&err, DLS_EIO, ENOENT, "cannot open %s", name);
	assert_non_null(strstr(err.text, ": No such file or directory"));
}

static void test_context_goes_before(void **state)
{
	struct dls_error err;

	(void)state;
	dlsi_fail_errno(&err, DLS_EIO, ENOENT, "inner");
	assert_int_equal(dlsi_fail_in(&err, DLS_EFORMAT, "node %d", 7), DLS_EFORMAT);
	assert_string_equal(err.text, "node 7: inner: No such file or directory");
	assert_int_equal(err.code, DLS_EFORMAT);
	assert_int_equal(err.os_error, ENOENT);
}

static void test_no_error_wanted(void **state)
{
	(void)state;
	assert_int_equal(dlsi_fail(NULL, DLS_EINVAL, "%d", 1), DLS_EINVAL);
	assert_int_equal(dlsi_fail_errno(NULL, DLS_EIO, ENOENT, "%d", 1), DLS_EIO);
	assert_int_equal(dlsi_fail_in(NULL, DLS_EIO, "%d", 1), DLS_EIO);
	assert_int_equal(dlsi_fail_memory(NULL), DLS_ENOMEM);
}

UNIT_MAIN(test_table, test_codes_that_do_not_exist, test_random_bytes_become_printable,
	test_names_are_kept_when_they_are_good, test_cut_between_characters, test_system_error_is_kept,
	test_context_goes_before, test_no_error_wanted)
