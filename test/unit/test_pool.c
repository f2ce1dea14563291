/* The pool of large frames' memory: what was let go comes again for the same size, bounded, and outlives its owner as
 * long as a frame does. */
#include "base/limits.h"
#include "net/pool.h"
#include "test/unit/unit.h"

#include <string.h>

static const uint8_t *take_and_drop(struct dlsi_pool *pool, size_t length)
{
	uint8_t *bytes;
	struct dlsi_frame *frame = dlsi_pool_frame(pool, length, &bytes);

	assert_non_null(frame);
	assert_int_equal(dlsi_frame_size(frame), length);
	assert_ptr_equal(dlsi_frame_data(frame), bytes);
	memset(bytes, 7, length);
	dlsi_frame_unref(frame);
	return bytes;
}

static void test_comes_again_for_its_size(void **state)
{
	struct dlsi_pool *pool = dlsi_pool_create(unit_alloc());
	const uint8_t *first = take_and_drop(pool, 100000), *other = take_and_drop(pool, 100001);
	uint8_t *bytes[2];
	struct dlsi_frame *frames[2];

	(void)state;
	assert_ptr_not_equal(first, other);
	for (int i = 0; i < 2; i++)
		frames[i] = dlsi_pool_frame(pool, 100000, &bytes[i]);
	assert_ptr_equal(bytes[0], first);
	assert_ptr_not_equal(bytes[1], first);
	assert_ptr_equal(take_and_drop(pool, 100001), other);
	for (int i = 0; i < 2; i++)
		dlsi_frame_unref(frames[i]);
	dlsi_pool_unref(pool);
}

static void test_frames_outlive_their_owner(void **state)
{
	struct dlsi_pool *pool = dlsi_pool_create(unit_alloc());
	uint8_t *bytes;
	struct dlsi_frame *frame = dlsi_pool_frame(pool, 10, &bytes);

	(void)state;
	dlsi_pool_unref(pool);
	memcpy(bytes, "still here", 10);
	assert_memory_equal(dlsi_frame_data(frame), "still here", 10);
	dlsi_frame_unref(frame);
}

static size_t in_use;

/* Counts what is in use, in the eight bytes before each block. */
static void *count_bytes(void *arg, void *old, size_t size)
{
	size_t *block = old ? (size_t *)old - 2 : NULL;

	in_use += size - (block ? *block : 0);
	block = ((const struct dlsi_alloc *)arg)
			->resize(((const struct dlsi_alloc *)arg)->arg, block, size ? size + 16 : 0);
	if (!block)
		return NULL;
	*block = size;
	return block + 2;
}

static void test_keeps_no_more_than_its_limits(void **state)
{
	const struct dlsi_alloc alloc = {count_bytes, (void *)(uintptr_t)unit_alloc()};
	struct dlsi_pool *pool = dlsi_pool_create(&alloc);
	size_t before = in_use;

	(void)state;
	for (size_t i = 1; i <= 2 * DLSI_POOL_BUFFERS; i++)
		take_and_drop(pool, i);
	assert_in_range(in_use - before, 1, DLSI_POOL_BUFFERS * (2 * DLSI_POOL_BUFFERS + 100));
	for (size_t i = 0; i < 10; i++)
		take_and_drop(pool, DLSI_POOL_BYTES / 4 + i);
	assert_in_range(in_use - before, DLSI_POOL_BYTES / 2, DLSI_POOL_BYTES + 100 * DLSI_POOL_BUFFERS);
	take_and_drop(pool, DLSI_POOL_BYTES + 1); /* is not kept */
	assert_in_range(in_use - before, 0, DLSI_POOL_BYTES + 100 * DLSI_POOL_BUFFERS);
	dlsi_pool_unref(pool);
	assert_int_equal(in_use, 0);
}

static void test_memory_runs_out(void **state)
{
	uint8_t *bytes = NULL;

	(void)state;
	assert_null(dlsi_pool_create(unit_alloc_failing_at(1)));
	for (unsigned n = 2; n <= 3; n++) {
		struct dlsi_pool *pool = dlsi_pool_create(unit_alloc_failing_at(n));

		assert_null(dlsi_pool_frame(pool, 1000, &bytes));
		assert_null(bytes);
		dlsi_pool_unref(pool);
	}
}

UNIT_MAIN(test_comes_again_for_its_size, test_frames_outlive_their_owner, test_keeps_no_more_than_its_limits,
	test_memory_runs_out)
