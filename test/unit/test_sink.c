/* Where fetched bytes go: whole and proven, or nothing is left of them. */
#include "base/limits.h"
#include "net/sink.h"
#include "test/unit/unit.h"
#include <string.h>

/* Opens a sink whose memory is from a pool that nobody else uses. */
static int open_sink(struct dlsi_sink *sink, const struct dlsi_alloc *alloc, const struct dlsi_blob *blob,
	uint64_t offset, uint64_t length)
{
	struct dlsi_pool *pool = dlsi_pool_create(alloc);
	int rc = dlsi_sink_open(sink, pool, blob, offset, length, NULL);

	dlsi_pool_unref(pool);
	return rc;
}

static struct dlsi_blob blob_of(const char *text)
{
	return (struct dlsi_blob){dlsi_hash_of(text, strlen(text)), strlen(text), DLSI_PROOF_HASH};
}

static void test_memory_in_pieces(void **state)
{
	struct dlsi_blob blob = blob_of("hello world");
	struct dlsi_frame *frame = NULL;
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(open_sink(&sink, unit_alloc(), &blob, 0, 11), 0);
	dlsi_sink_write(&sink, (const uint8_t *)"hello", 5);
	dlsi_sink_write(&sink, (const uint8_t *)" world", 6);
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
	assert_int_equal(open_sink(&sink, unit_alloc(), &blob, 0, 5), 0);
	dlsi_sink_write(&sink, (const uint8_t *)"hallo", 5);
	assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), DLS_EFORMAT);
	assert_null(frame);
}

/* A part cannot be hashed, nor a blob whose name is no hash. */
static void test_what_has_no_hash(void **state)
{
	struct dlsi_blob blob = blob_of("hello");
	struct dlsi_frame *frame;
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(open_sink(&sink, unit_alloc(), &blob, 1, 4), 0);
	assert_false(sink.is_hashed);
	dlsi_sink_abort(&sink);
	blob.proof = DLSI_PROOF_CHECKSUM;
	assert_int_equal(open_sink(&sink, unit_alloc(), &blob, 0, 5), 0);
	dlsi_sink_write(&sink, (const uint8_t *)"other", 5);
	assert_int_equal(dlsi_sink_finish(&sink, &frame, NULL), 0);
	dlsi_frame_unref(frame);
}

static void test_memory_runs_out(void **state)
{
	struct dlsi_blob blob = {.length = DLSI_BLOB_BYTES, .proof = DLSI_PROOF_HASH};
	struct dlsi_sink sink;

	(void)state;
	assert_int_equal(open_sink(&sink, unit_alloc_failing_at(2), &blob, 0, 5), DLS_ENOMEM);
	blob.length = UINT64_MAX;
	assert_int_equal(open_sink(&sink, unit_alloc(), &blob, 0, UINT64_MAX), DLS_ENOMEM);
}

UNIT_MAIN(test_memory_in_pieces, test_wrong_hash_leaves_nothing, test_what_has_no_hash, test_memory_runs_out)
