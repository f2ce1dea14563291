/* Whole files: what is read is what was written, and everything that is no readable file is refused by name. */
#include "base/file.h"
#include "base/random.h"
#include "test/unit/unit.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[256];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", unit_folder(), name);
	return path;
}

static void write_whole(const char *data, size_t length)
{
	struct dls_error err;

	assert_int_equal(dlsi_random_start(), 0);
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, data, length, &err), 0);
}

static void assert_content(const char *data, size_t length)
{
	struct dls_error err;
	uint8_t *read;
	size_t read_length;

	assert_int_equal(dlsi_file_read(unit_alloc(), path, length, &read, &read_length, &err), 0);
	assert_int_equal(read_length, length);
	assert_memory_equal(read, data, length);
	assert_int_equal(read[length], 0);
	dlsi_free(unit_alloc(), read);
}

static void test_written_and_read(void **state)
{
	static char big[300000];
	struct stat status;

	(void)state;
	in_folder("file");
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (char)(i * 7);
	write_whole("old", 3);
	assert_content("old", 3);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600); /* keys and tokens are written this way too */
	write_whole(big, sizeof big);
	assert_content(big, sizeof big);
	write_whole(NULL, 0);
	assert_content("", 0);
}

static void assert_refused(const char *what, uint64_t limit, int code)
{
	uint8_t *data = NULL, head[4];
	size_t length = 7;
	struct dls_error err;

	assert_int_equal(dlsi_file_read(unit_alloc(), what, limit, &data, &length, &err), code);
	assert_non_null(strstr(err.text, what));
	assert_null(data);
	assert_int_equal(length, 7);
	assert_int_equal(dlsi_file_read_head(what, limit, head, sizeof head, &length, &err), code);
	assert_non_null(strstr(err.text, what));
	assert_int_equal(length, 7);
}

static void test_what_is_no_readable_file(void **state)
{
	(void)state;
	assert_refused(in_folder("missing"), 100, DLS_ENOTFOUND);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, 100, DLS_EINVAL); /* and does not wait for a writer */
	*strrchr(path, '/') = '\0';
	assert_refused(path, 100, DLS_EINVAL);
	assert_refused("/dev/zero", 100, DLS_EINVAL);
	assert_refused("/dev/null/x", 100, DLS_ENOTFOUND);
}

static void test_limit(void **state)
{
	(void)state;
	in_folder("file");
	write_whole("12345", 5);
	assert_content("12345", 5);
	assert_refused(path, 4, DLS_ELIMIT);
	assert_int_equal(truncate(path, 1LL << 40), 0); /* sparse */
	assert_refused(path, 1 << 20, DLS_ELIMIT);
}

static void test_head(void **state)
{
	uint8_t head[4] = "....";
	struct dls_error err;
	size_t length;

	(void)state;
	in_folder("file");
	write_whole("12345", 5);
	assert_int_equal(dlsi_file_read_head(path, 5, head, sizeof head, &length, &err), 0);
	assert_int_equal(length, 5);
	assert_memory_equal(head, "1234", 4);
	write_whole("xy", 2);
	assert_int_equal(dlsi_file_read_head(path, 5, head, sizeof head, &length, &err), 0);
	assert_int_equal(length, 2);
	assert_memory_equal(head, "xy34", 4);
}

/* As one that becomes shorter after its length was asked. */
static void test_file_with_less_in_it_than_it_says(void **state)
{
	const char *short_file = "/sys/kernel/uevent_seqnum";
	struct dls_error err;
	struct stat status;
	uint8_t head[1024];
	size_t length;

	(void)state;
	if (stat(short_file, &status) || status.st_size < (off_t)sizeof head)
		skip();
	assert_int_equal(dlsi_file_read_head(short_file, 1 << 20, head, sizeof head, &length, &err), DLS_EIO);
	assert_non_null(strstr(err.text, short_file));
}

static int files_in_folder(void)
{
	char folder[sizeof path];
	DIR *entries;
	int count = -2; /* . and .. */

	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	entries = opendir(folder);
	assert_non_null(entries);
	while (readdir(entries))
		count++;
	closedir(entries);
	return count;
}

static void test_failed_write_leaves_the_old(void **state)
{
	struct dls_error err;

	(void)state;
	in_folder("folder");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, "x", 1, &err), DLS_EIO);
	assert_int_equal(files_in_folder(), 1); /* no temporary file stays */
	assert_int_equal(dlsi_file_write(unit_alloc(), "/nowhere/file", 0600, "x", 1, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "/nowhere/file"));
}

/* A limit on the size of files stands for a full disk: the write fails in the middle. */
static void test_write_that_fails_in_the_middle(void **state)
{
	struct rlimit before, small;
	static char big[100000];
	struct dls_error err;
	int rc;

	(void)state;
	in_folder("file");
	write_whole("old", 3);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 5000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	rc = dlsi_file_write(unit_alloc(), path, 0600, big, sizeof big, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(rc, DLS_EIO);
	assert_int_equal(err.os_error, EFBIG);
	assert_content("old", 3);
	assert_int_equal(files_in_folder(), 1);
}

static void test_folders(void **state)
{
	struct dls_error err;
	struct stat status;

	(void)state;
	in_folder("a//b/c");
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), path, &err), 0);
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), path, &err), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	strcat(path, "/file");
	write_whole("x", 1);
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), path, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "is there and is not a folder"));
	strcat(path, "/below");
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), path, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "is there and is not a folder"));
	assert_int_equal(symlink("link", in_folder("link")), 0);
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), path, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "is a link to no folder"));
	assert_int_equal(dlsi_file_make_folder(unit_alloc(), "/", &err), 0);
}

static void assert_no_folder(const char *what, const char *part)
{
	struct dls_error err;

	assert_int_equal(dlsi_file_check_folder(unit_alloc(), what, &err), DLS_EIO);
	assert_non_null(strstr(err.text, part));
}

static void test_checked_folders(void **state)
{
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_file_check_folder(unit_alloc(), in_folder("a//b/c/"), &err), 0);
	assert_int_equal(dlsi_file_check_folder(unit_alloc(), unit_folder(), &err), 0);
	in_folder("file");
	assert_int_equal(files_in_folder(), 0);
	write_whole("x", 1);
	assert_no_folder(path, "is there and is not a folder");
	strcat(path, "/below/it");
	assert_no_folder(path, "file is there and is not a folder");
	assert_int_equal(symlink("link", in_folder("link")), 0);
	assert_no_folder(path, "is a link to no folder");
	assert_no_folder("/proc/none", "cannot create the folder /proc/none in /proc");
	assert_no_folder("/proc", "cannot write in the folder /proc");
	assert_int_equal(dlsi_file_check_folder(unit_alloc(), "no such folder/models", &err), 0);
	for (unsigned n = 1; n <= 2; n++)
		assert_int_equal(dlsi_file_check_folder(unit_alloc_failing_at(n), "/", &err), DLS_ENOMEM);
}

static void test_memory_runs_out(void **state)
{
	struct dls_error err;
	uint8_t *data = NULL;
	size_t length = 7;

	(void)state;
	in_folder("file");
	write_whole("old", 3);
	assert_int_equal(dlsi_file_read(unit_alloc_failing_at(1), path, 9, &data, &length, &err), DLS_ENOMEM);
	assert_null(data);
	assert_int_equal(length, 7);
	assert_int_equal(dlsi_file_write(unit_alloc_failing_at(1), path, 0600, "new", 3, &err), DLS_ENOMEM);
	assert_int_equal(dlsi_file_make_folder(unit_alloc_failing_at(1), path, &err), DLS_ENOMEM);
	assert_null(dlsi_file_join(unit_alloc_failing_at(1), "a", "b"));
	assert_content("old", 3);
}

static void test_hashed(void **state)
{
	static char data[100000];
	struct dlsi_hash hash, expected;
	struct dls_error err;
	uint64_t length;

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7 + i / 256);
	in_folder("file");
	write_whole(data, sizeof data);
	expected = dlsi_hash_of(data, sizeof data);
	assert_int_equal(dlsi_file_hash(path, sizeof data, &hash, &length, &err), 0);
	assert_int_equal(length, sizeof data);
	assert_true(dlsi_hash_equal(&hash, &expected));
	assert_int_equal(dlsi_file_hash(path, sizeof data - 1, &hash, &length, &err), DLS_ELIMIT);
	assert_int_equal(dlsi_file_hash("/no/such/file", 1, &hash, &length, &err), DLS_ENOTFOUND);
	assert_int_equal(dlsi_file_hash("/", 1, &hash, &length, &err), DLS_EINVAL);
	assert_int_equal(dlsi_file_hash_open(-1, path, &hash, &length, &err), DLS_EIO);
	assert_non_null(strstr(err.text, path));
}

static void test_joined(void **state)
{
	char *joined = dlsi_file_join(unit_alloc(), "/folder", "name");

	(void)state;
	assert_string_equal(joined, "/folder/name");
	dlsi_free(unit_alloc(), joined);
}

UNIT_MAIN(test_written_and_read, test_what_is_no_readable_file, test_limit, test_head,
	test_file_with_less_in_it_than_it_says, test_failed_write_leaves_the_old, test_write_that_fails_in_the_middle,
	test_folders, test_checked_folders, test_memory_runs_out, test_hashed, test_joined)
