/* Choices of kernels and the file that keeps them: what one process chose the next finds, whatever else is in the file.
 */
#include "base/file.h"
#include "device/tuning.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct dlsi_tuning_key one = {{1, 2, 3}}, two = {{1, 2, 4}};

static char *make_folder(void)
{
	char name[] = "/tmp/dlsched-tuning-XXXXXX";

	assert_non_null(mkdtemp(name));
	return strdup(name);
}

static void open_tuning(struct dlsi_tuning *tuning, const char *folder, const char *about)
{
	dlsi_tuning_init(tuning, unit_alloc());
	assert_int_equal(dlsi_tuning_remember(tuning, folder, about, NULL), 0);
}

static void choose(struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t choice)
{
	uint32_t chosen = choice;

	assert_int_equal(dlsi_tuning_settle(tuning, key, &chosen, NULL), 0);
	assert_int_equal(chosen, choice);
}

/* The choice that a new process finds; -1: none. */
static int found(const char *folder, const char *about, const struct dlsi_tuning_key *key)
{
	struct dlsi_tuning tuning;
	uint32_t choice;
	bool is;

	open_tuning(&tuning, folder, about);
	is = dlsi_tuning_find(&tuning, key, &choice);
	dlsi_tuning_fini(&tuning);
	return is ? (int)choice : -1;
}

static void test_the_next_process_finds_what_was_chosen(void **state)
{
	char *above = make_folder(), folder[64];
	struct dlsi_tuning tuning;

	(void)state;
	snprintf(folder, sizeof folder, "%s/a/b", above);
	open_tuning(&tuning, folder, "this");
	choose(&tuning, &one, 2);
	assert_int_equal(found(folder, "this", &one), -1);
	dlsi_tuning_save(&tuning);
	choose(&tuning, &two, 0);
	dlsi_tuning_save(&tuning);
	dlsi_tuning_fini(&tuning);
	assert_int_equal(found(folder, "this", &one), 2);
	assert_int_equal(found(folder, "this", &two), 0);
	assert_int_equal(found(folder, "another", &one), -1); /* processor, or version of the kernels */
	free(above);
}

static void test_of_two_processes_the_first_counts(void **state)
{
	char *folder = make_folder();
	struct dlsi_tuning first, second;
	uint32_t late = 3;

	(void)state;
	open_tuning(&first, folder, "this");
	open_tuning(&second, folder, "this");
	choose(&first, &one, 1);
	choose(&second, &one, 2);
	dlsi_tuning_save(&first);
	dlsi_tuning_save(&second);
	assert_int_equal(found(folder, "this", &one), 1);
	assert_int_equal(dlsi_tuning_settle(&first, &one, &late, NULL), 0);
	assert_int_equal(late, 1);
	dlsi_tuning_fini(&first);
	dlsi_tuning_fini(&second);
	free(folder);
}

static void write_file(const char *path, const char *text, size_t length)
{
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, text, length, NULL), 0);
}

static void test_what_is_no_line_is_passed_over(void **state)
{
	static const char *const odd[] = {"", "\n", "x\n", "00 1\n", "0123456789abcdef0123456789abcdef\n",
		"0123456789abcdef0123456789abcdef \n", "0123456789abcdef0123456789abcdef -1\n",
		"0123456789abcdef0123456789abcdef 99999999999999999999\n", "\xff\xfe\n",
		"0123456789abcdef0123456789abcdeg 1\n", "0123456789abcdef0123456789abcdef 1 1\n"};
	char *folder = make_folder();
	struct dlsi_tuning tuning;
	uint8_t *good;
	size_t length;

	(void)state;
	open_tuning(&tuning, folder, "this");
	choose(&tuning, &one, 2);
	dlsi_tuning_save(&tuning);
	assert_int_equal(dlsi_file_read(unit_alloc(), tuning.path, 1000, &good, &length, NULL), 0);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		char text[256];
		int all = snprintf(text, sizeof text, "%s%s%s", odd[i], (char *)good, odd[i]);

		write_file(tuning.path, text, (size_t)all);
		assert_int_equal(found(folder, "this", &one), 2);
		assert_int_equal(found(folder, "this", &two), -1);
	}
	for (size_t cut = 0; cut < length; cut++) { /* half a line is none */
		write_file(tuning.path, (char *)good, cut);
		assert_int_equal(found(folder, "this", &one), -1);
	}
	dlsi_free(unit_alloc(), good);
	dlsi_tuning_fini(&tuning);
	free(folder);
}

static void test_a_file_that_cannot_be_used_is_no_error(void **state)
{
	char *folder = make_folder();
	struct dlsi_tuning tuning;

	(void)state;
	open_tuning(&tuning, folder, "this");
	assert_int_equal(mkdir(tuning.path, 0700), 0); /* in the file's place */
	choose(&tuning, &one, 2);
	dlsi_tuning_save(&tuning);
	dlsi_tuning_fini(&tuning);
	assert_int_equal(found(folder, "this", &one), -1);
	assert_int_equal(found("/proc/none/such", "this", &one), -1);
	open_tuning(&tuning, folder, "pipe"); /* that nobody reads */
	assert_int_equal(mkfifo(tuning.path, 0700), 0);
	choose(&tuning, &one, 2);
	dlsi_tuning_save(&tuning);
	dlsi_tuning_fini(&tuning);
	free(folder);
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	char *folder = make_folder();
	struct dlsi_tuning tuning;
	int rc = DLS_ENOMEM;

	(void)state;
	open_tuning(&tuning, folder, "this");
	choose(&tuning, &one, 2);
	dlsi_tuning_save(&tuning);
	dlsi_tuning_fini(&tuning);
	for (unsigned n = 1; rc == DLS_ENOMEM; n++) {
		assert_true(n < 20);
		dlsi_tuning_init(&tuning, unit_alloc_failing_at(n));
		rc = dlsi_tuning_remember(&tuning, folder, "this", NULL);
		dlsi_tuning_fini(&tuning);
	}
	assert_int_equal(rc, 0);
	free(folder);
}

UNIT_MAIN(test_the_next_process_finds_what_was_chosen, test_of_two_processes_the_first_counts,
	test_what_is_no_line_is_passed_over, test_a_file_that_cannot_be_used_is_no_error,
	test_memory_exhaustion_is_an_error)
