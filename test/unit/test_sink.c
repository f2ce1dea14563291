/* Where fetched bytes go: whole and proven, or nothing is left of them. */
#include "base/limits.h"
#include "net/sink.h"
#include "test/unit/unit.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[200];

static struct dlsi_blob blob_of(const char *text)
{
	return (struct dlsi_blob){dlsi_hash_of(text, strlen(text)), strlen(text), DLSI_PROOF_HASH};
}

static void make_path(void)
{
	snprintf(path, sizeof path, "%s/file", unit_folder());
}

static void test_memory_in_pieces(void **state)
{
	struct dlsi_blob blob = blob_of("hello world");
	struct dlsi_frame *frame = NULL;
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), NULL, &blob, 0, 11, NULL), 0);
	assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)"hello", 5, NULL), 0);
	assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)" world", 6, NULL), 0);
	assert_int_equal(sink.received, 11);
	assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), 0);
	assert_memory_equal(dlsi_frame_data(frame), "hello world", 11);
	dlsi_frame_unref(frame);
}

static void test_wrong_hash_leaves_nothing(void **state)
{
	struct dlsi_blob blob = blob_of("hello");
	struct dlsi_frame *frame = NULL;
	struct dlsi_sink sink;

	(void)state;
	make_path();
	for (int in_file = 0; in_file < 2; in_file++) {
		assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), in_file ? path : NULL, &blob, 0, 5, NULL), 0);
		assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)"hallo", 5, NULL), 0);
		assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), DLS_EFORMAT);
		assert_null(frame);
		assert_int_equal(access(path, F_OK), -1);
	}
}

/* A part cannot be hashed, nor a blob whose name is no hash. */
static void test_what_has_no_hash(void **state)
{
	struct dlsi_blob blob = blob_of("hello");
	struct dlsi_frame *frame;
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), NULL, &blob, 1, 4, NULL), 0);
	assert_false(sink.is_hashed);
	dlsi_sink_abort(&sink);
	blob.proof = DLSI_PROOF_CHECKSUM;
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), NULL, &blob, 0, 5, NULL), 0);
	assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)"other", 5, NULL), 0);
	assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), 0);
	dlsi_frame_unref(frame);
}

static void test_files(void **state)
{
	struct dlsi_blob blob = blob_of("hello");
	struct dlsi_frame *frame = NULL;
	struct dlsi_sink sink;
	struct dls_error err;

	(void)state;
	make_path();
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), path, &blob, 0, 5, NULL), 0);
	assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)"hello", 5, NULL), 0);
	assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), 0);
	assert_null(frame);
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), path, &blob, 0, 5, &err), DLS_EIO);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), "/no/such/folder/file", &blob, 0, 5, &err), DLS_EIO);
}

static void test_full_disk(void **state)
{
	struct dlsi_blob blob = blob_of("hello");
	struct rlimit before;
	struct dlsi_sink sink;
	struct dls_error err;

	(void)state;
	make_path();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), path, &blob, 0, 5, NULL), 0);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){3, before.rlim_max});
	assert_int_equal(dlsi_sink_write(&sink, (const uint8_t *)"hello", 5, &err), DLS_EIO);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(err.text, path));
	dlsi_sink_abort(&sink);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_memory_runs_out(void **state)
{
	struct dlsi_blob blob = {.length = DLSI_BLOB_BYTES, .proof = DLSI_PROOF_HASH};
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc_failing_at(1), NULL, &blob, 0, 5, NULL), DLS_ENOMEM);
	blob.length = UINT64_MAX;
	assert_int_equal(dlsi_sink_open(&sink, unit_alloc(), NULL, &blob, 0, UINT64_MAX, NULL), DLS_ENOMEM);
}

UNIT_MAIN(test_memory_in_pieces, test_wrong_hash_leaves_nothing, test_what_has_no_hash, test_files, test_full_disk,
	test_memory_runs_out)
