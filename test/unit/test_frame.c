/* Frames: what they show, when their memory is given back, and how they go through sockets. */
#include "base/limits.h"
#include "base/thread.h"
#include "net/frame.h"
#include "test/unit/unit.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static void count_release(void *arg, const void *data)
{
	(void)data;
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_copy_is_its_own(void **state)
{
	char text[] = "hello";
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), text, 5),
			  *empty = dlsi_frame_copy(unit_alloc(), NULL, 0);

	(void)state;
	text[0] = 'j';
	assert_int_equal(dlsi_frame_size(frame), 5);
	assert_memory_equal(dlsi_frame_data(frame), "hello", 5);
	assert_int_equal(dlsi_frame_size(empty), 0);
	dlsi_frame_unref(frame);
	dlsi_frame_unref(empty);
	dlsi_frame_unref(NULL);
}

static void test_last_reference_releases_once(void **state)
{
	atomic_int released = 0;
	struct dlsi_frame *frame = dlsi_frame_wrap(unit_alloc(), "abcdef", 6, count_release, &released), *part;

	(void)state;
	part = dlsi_frame_part(frame, 2, 3);
	assert_memory_equal(dlsi_frame_data(part), "cde", 3);
	assert_int_equal(dlsi_frame_size(part), 3);
	assert_ptr_equal(dlsi_frame_ref(frame), frame);
	dlsi_frame_unref(frame);
	dlsi_frame_unref(frame);
	assert_int_equal(released, 0);
	dlsi_frame_unref(part);
	assert_int_equal(released, 1);
}

/* Memory that becomes the frame's is freed once, whether there is a frame or not. */
static void test_takes_memory(void **state)
{
	uint8_t *data = dlsi_malloc(unit_alloc(), 3);
	struct dlsi_frame *frame;

	(void)state;
	memcpy(data, "abc", 3);
	frame = dlsi_frame_take(unit_alloc(), data, 3);
	assert_ptr_equal(dlsi_frame_data(frame), data);
	assert_int_equal(dlsi_frame_size(frame), 3);
	dlsi_frame_unref(frame);
	data = dlsi_malloc(unit_alloc(), 3);
	assert_null(dlsi_frame_take(unit_alloc_failing_at(1), data, 3));
}

static void test_memory_runs_out(void **state)
{
	atomic_int released = 0;
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc_failing_at(2), "abc", 3);
	zmq_msg_t message;

	(void)state;
	assert_non_null(frame);
	assert_null(dlsi_frame_part(frame, 0, 1));
	assert_null(dlsi_frame_copy(unit_alloc_failing_at(1), "abc", 3));
	assert_null(dlsi_frame_copy(unit_alloc(), "abc", SIZE_MAX - 8));
	assert_null(dlsi_frame_wrap(unit_alloc_failing_at(1), "abc", 3, count_release, &released));
	assert_int_equal(released, 0);
	zmq_msg_init_size(&message, 3);
	assert_null(dlsi_frame_receive(unit_alloc_failing_at(1), &message));
	assert_int_equal(zmq_msg_size(&message), 3);
	zmq_msg_close(&message);
	dlsi_frame_unref(frame);
}

static void free_bytes(void *data, void *hint)
{
	(void)data;
	*(bool *)hint = true;
}

/* A small frame lets go of libzmq's memory, which may be of many messages, when the message is closed. */
static void test_small_ones_keep_no_message(void **state)
{
	static const size_t sizes[] = {100, 4096, 100000};
	static uint8_t bytes[100000];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct dlsi_frame *frame;
		zmq_msg_t message;
		bool freed = false;

		assert_int_equal(zmq_msg_init_data(&message, bytes, sizes[i], free_bytes, &freed), 0);
		frame = dlsi_frame_receive(unit_alloc(), &message);
		zmq_msg_close(&message);
		assert_int_equal(freed, sizes[i] <= 4096);
		assert_memory_equal(dlsi_frame_data(frame), bytes, sizes[i]);
		dlsi_frame_unref(frame);
		assert_true(freed);
	}
}

struct pair {
	void *context, *left, *right;
};

static struct pair connect_pair(void)
{
	struct pair pair = {zmq_ctx_new(), NULL, NULL};

	pair.left = zmq_socket(pair.context, ZMQ_PAIR);
	pair.right = zmq_socket(pair.context, ZMQ_PAIR);
	assert_int_equal(zmq_bind(pair.left, "inproc://pair"), 0);
	assert_int_equal(zmq_connect(pair.right, "inproc://pair"), 0);
	return pair;
}

static void disconnect_pair(struct pair *pair)
{
	zmq_close(pair->left);
	zmq_close(pair->right);
	zmq_ctx_term(pair->context);
}

static struct dlsi_frame *through(struct pair *pair, struct dlsi_frame *frame)
{
	struct dlsi_frame *arrived;
	zmq_msg_t message;

	assert_int_equal(dlsi_frame_message(frame, &message), 0);
	assert_int_equal(zmq_msg_send(&message, pair->left, 0), dlsi_frame_size(frame));
	zmq_msg_init(&message);
	assert_int_equal(zmq_msg_recv(&message, pair->right, 0), dlsi_frame_size(frame));
	arrived = dlsi_frame_receive(unit_alloc(), &message);
	assert_non_null(arrived);
	zmq_msg_close(&message);
	return arrived;
}

/* Of every size there is a way of its own in libzmq and here: inside the message, copied, borrowed. */
static void test_sent_many_times(void **state)
{
	static const size_t sizes[] = {0, 1, 33, 34, 1000, DLSI_INLINE_BYTES - 1, DLSI_INLINE_BYTES, 1 << 20};
	struct pair pair = connect_pair();

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint8_t *bytes = test_malloc(sizes[i] + 1);
		struct dlsi_frame *frame, *arrived[3];
		atomic_int released = 0;

		memset(bytes, (int)i + 1, sizes[i]);
		frame = dlsi_frame_wrap(unit_alloc(), bytes, sizes[i], count_release, &released);
		for (int k = 0; k < 3; k++) {
			arrived[k] = through(&pair, k ? arrived[k - 1] : frame); /* what arrived is sent on */
			assert_memory_equal(dlsi_frame_data(arrived[k]), bytes, sizes[i]);
			if (sizes[i] >= DLSI_INLINE_BYTES) /* over inproc the very same memory */
				assert_ptr_equal(dlsi_frame_data(arrived[k]), bytes);
		}
		dlsi_frame_unref(frame);
		assert_int_equal(released, sizes[i] < DLSI_INLINE_BYTES);
		for (int k = 0; k < 3; k++)
			dlsi_frame_unref(arrived[k]);
		assert_int_equal(released, 1);
		test_free(bytes);
	}
	disconnect_pair(&pair);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *hold_and_drop(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		dlsi_frame_unref(dlsi_frame_ref(arg));
	dlsi_frame_unref(arg);
	return NULL;
}

static void test_many_threads(void **state)
{
	atomic_int released = 0;
	struct dlsi_frame *frame = dlsi_frame_wrap(unit_alloc(), "x", 1, count_release, &released);
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(dlsi_thread_start(&threads[i], "test", hold_and_drop, dlsi_frame_ref(frame), NULL), 0);
	dlsi_frame_unref(frame);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(released, 1);
}

UNIT_MAIN(test_small_ones_keep_no_message, test_copy_is_its_own, test_last_reference_releases_once, test_takes_memory,
	test_memory_runs_out, test_sent_many_times, test_many_threads)
