/* The loop: errands of several threads run once each and in order, and members are called when a descriptor is ready,
 * when they were touched, and when their deadline came. */
#include "base/clock.h"
#include "base/condition.h"
#include "base/thread.h"
#include "node/loop.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <unistd.h>

enum { THREADS = 4, POSTS = 500 };

static struct dlsi_loop *make_loop(void)
{
	struct dlsi_loop *loop;

	assert_int_equal(dlsi_loop_create(unit_alloc(), &loop, NULL), 0);
	return loop;
}

struct sender {
	struct post {
		struct dlsi_errand errand;
		struct sender *sender;
		unsigned number;
	} posts[POSTS];
	struct dlsi_loop *loop;
	unsigned ran;
	bool in_order;
};

static void check_order(struct dlsi_errand *errand, int64_t now_ns)
{
	struct post *post = (struct post *)errand;

	(void)now_ns;
	if (post->number != post->sender->ran++)
		post->sender->in_order = false;
}

static void *send_all(void *arg)
{
	struct sender *sender = arg;

	for (unsigned i = 0; i < POSTS; i++) {
		sender->posts[i] = (struct post){{.run = check_order}, sender, i};
		dlsi_loop_post(sender->loop, &sender->posts[i].errand);
	}
	return NULL;
}

static int do_nothing(void *arg, int64_t now_ns)
{
	(void)now_ns;
	return *(int *)arg;
}

static void test_errands_run_once_and_in_order(void **state)
{
	static struct sender senders[THREADS];
	struct dlsi_loop *loop = make_loop();
	pthread_t threads[THREADS];
	int answer = 42;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		senders[i] = (struct sender){.loop = loop, .in_order = true};
		assert_int_equal(dlsi_thread_start(&threads[i], "sender", send_all, &senders[i], NULL), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(dlsi_loop_call(loop, do_nothing, &answer), 42);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(senders[i].ran, POSTS);
		assert_true(senders[i].in_order);
	}
	dlsi_loop_destroy(loop);
}

/* An errand that is posted again while it runs, and twice while it waits. */
struct repeated {
	struct dlsi_errand errand;
	struct dlsi_loop *loop;
	unsigned ran;
};

static void run_repeated(struct dlsi_errand *errand, int64_t now_ns)
{
	struct repeated *repeated = (struct repeated *)errand;

	(void)now_ns;
	if (repeated->ran++ == 0) {
		dlsi_loop_post(repeated->loop, errand);
		dlsi_loop_post(repeated->loop, errand);
	}
}

static void test_posting_twice_runs_once(void **state)
{
	struct repeated repeated = {.errand.run = run_repeated, .loop = make_loop()};
	int answer = 0;

	(void)state;
	dlsi_loop_post(repeated.loop, &repeated.errand);
	dlsi_loop_call(repeated.loop, do_nothing, &answer);
	dlsi_loop_call(repeated.loop, do_nothing, &answer);
	dlsi_loop_destroy(repeated.loop);
	assert_int_equal(repeated.ran, 2);
}

/* A member that reads bytes from a pipe and counts its turns. */
struct reader {
	struct dlsi_loop_member member;
	struct dlsi_loop *loop;
	int fd;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned bytes, turns;
	int64_t deadline_met_ns;
};

static unsigned reader_descriptors(struct dlsi_loop_member *member, int *fds_out)
{
	fds_out[0] = ((struct reader *)member)->fd;
	return 1;
}

static void reader_ready(struct dlsi_loop_member *member, int64_t now_ns)
{
	struct reader *reader = (struct reader *)member;
	char byte;

	(void)now_ns;
	pthread_mutex_lock(&reader->mutex);
	reader->bytes += read(reader->fd, &byte, 1) == 1;
	pthread_mutex_unlock(&reader->mutex);
}

static void reader_turn(struct dlsi_loop_member *member, int64_t now_ns)
{
	struct reader *reader = (struct reader *)member;

	pthread_mutex_lock(&reader->mutex);
	reader->turns++;
	if (member->deadline_ns <= now_ns) {
		reader->deadline_met_ns = now_ns;
		member->deadline_ns = INT64_MAX;
	}
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->mutex);
}

static const struct dlsi_loop_ops reader_ops = {reader_descriptors, reader_ready, reader_turn};

static int add(void *arg, int64_t now_ns)
{
	struct reader *reader = arg;

	(void)now_ns;
	return dlsi_loop_add(reader->loop, &reader->member);
}

static int drop(void *arg, int64_t now_ns)
{
	struct reader *reader = arg;

	(void)now_ns;
	dlsi_loop_remove(reader->loop, &reader->member);
	return 0;
}

static int set_deadline(void *arg, int64_t now_ns)
{
	((struct reader *)arg)->member.deadline_ns = now_ns + 2 * DLSI_MILLISECOND_NS;
	return 0;
}

static int touch(void *arg, int64_t now_ns)
{
	(void)now_ns;
	dlsi_loop_touch(&((struct reader *)arg)->member);
	return 0;
}

static void start_reader(struct reader *reader, int fd)
{
	*reader = (struct reader){.member = {.ops = &reader_ops, .deadline_ns = INT64_MAX}, .fd = fd};
	reader->loop = make_loop();
	pthread_mutex_init(&reader->mutex, NULL);
	dlsi_condition_init(&reader->changed);
	assert_int_equal(dlsi_loop_call(reader->loop, add, reader), 0);
}

static void stop_reader(struct reader *reader)
{
	dlsi_loop_call(reader->loop, drop, reader);
	dlsi_loop_destroy(reader->loop);
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->mutex);
}

/* Waits until a field of the reader has reached this value. */
static void wait_for(struct reader *reader, const unsigned *field, unsigned value)
{
	int64_t give_up_ns = dlsi_clock_monotonic_ns() + UNIT_WAIT_MS * DLSI_MILLISECOND_NS;
	bool in_time = true;

	pthread_mutex_lock(&reader->mutex);
	while (*field < value && in_time)
		in_time = dlsi_condition_wait(&reader->changed, &reader->mutex, give_up_ns);
	pthread_mutex_unlock(&reader->mutex);
	if (!in_time)
		fail_msg("%u of %u turns or bytes have come in time", *field, value);
}

static void test_member_sees_all_that_is_ready(void **state)
{
	struct reader reader;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	start_reader(&reader, ends[0]);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	wait_for(&reader, &reader.bytes, 10);
	stop_reader(&reader);
	assert_true(reader.turns >= 10);
	close(ends[0]);
	close(ends[1]);
}

static void test_member_has_its_turn_when_touched_and_when_due(void **state)
{
	struct reader reader;
	int64_t asked_ns;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	start_reader(&reader, ends[0]);
	wait_for(&reader, &reader.turns, 1); /* a new member has one */
	dlsi_loop_call(reader.loop, touch, &reader);
	wait_for(&reader, &reader.turns, 2);
	asked_ns = dlsi_clock_monotonic_ns();
	dlsi_loop_call(reader.loop, set_deadline, &reader);
	wait_for(&reader, &reader.turns, 3);
	stop_reader(&reader);
	assert_true(reader.deadline_met_ns >= asked_ns + 2 * DLSI_MILLISECOND_NS);
	close(ends[0]);
	close(ends[1]);
}

static int take_a_while(void *arg, int64_t now_ns)
{
	int64_t until_ns = now_ns + *(int64_t *)arg;

	while (dlsi_clock_monotonic_ns() < until_ns)
		;
	return 0;
}

struct longest {
	struct dlsi_loop *loop;
	int64_t ns, recent_ns;
};

static int look(void *arg, int64_t now_ns)
{
	struct longest *longest = arg;

	longest->ns = dlsi_loop_longest_ns(longest->loop);
	longest->recent_ns = dlsi_loop_recent_ns(longest->loop, now_ns);
	return 0;
}

static int64_t longest_after(struct dlsi_loop *loop, int64_t turn_ns)
{
	struct longest longest = {.loop = loop};

	dlsi_loop_call(loop, take_a_while, &turn_ns);
	for (unsigned i = 0; i <= DLSI_LOOP_ERRANDS; i++) /* until the turn in which that ran is over at the latest */
		dlsi_loop_call(loop, look, &longest);
	if (longest.ns < turn_ns || longest.recent_ns < turn_ns)
		fail_msg("a turn of %" PRId64 " ns was noted as %" PRId64 " and %" PRId64, turn_ns, longest.ns,
			longest.recent_ns);
	return longest.ns;
}

static void test_longest_turn_is_kept(void **state)
{
	struct dlsi_loop *loop = make_loop();
	int64_t longest_ns;

	(void)state;
	longest_ns = longest_after(loop, 20 * DLSI_MILLISECOND_NS);
	assert_true(longest_after(loop, DLSI_MICROSECOND_NS) >= longest_ns);
	dlsi_loop_destroy(loop);
}

static void test_many_members(void **state)
{
	enum { MEMBERS = 50 };
	static struct reader readers[MEMBERS];
	struct dlsi_loop *loop = make_loop();
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < MEMBERS; i++) {
		readers[i] = (struct reader){.member = {.ops = &reader_ops, .deadline_ns = INT64_MAX}, .loop = loop};
		readers[i].fd = ends[0];
		pthread_mutex_init(&readers[i].mutex, NULL);
		dlsi_condition_init(&readers[i].changed);
		assert_int_equal(dlsi_loop_call(loop, add, &readers[i]), 0);
	}
	for (int i = 0; i < MEMBERS; i++) {
		wait_for(&readers[i], &readers[i].turns, 1);
		dlsi_loop_call(loop, drop, &readers[i]);
	}
	dlsi_loop_destroy(loop);
	close(ends[0]);
	close(ends[1]);
}

static void test_creation_without_memory(void **state)
{
	struct dlsi_loop *loop;
	unsigned n = 1;
	int rc;

	(void)state;
	while ((rc = dlsi_loop_create(unit_alloc_failing_at(n), &loop, NULL)) == DLS_ENOMEM)
		n++;
	assert_int_equal(rc, 0);
	assert_true(n > 2);
	dlsi_loop_destroy(loop);
}

UNIT_MAIN(test_errands_run_once_and_in_order, test_posting_twice_runs_once, test_member_sees_all_that_is_ready,
	test_member_has_its_turn_when_touched_and_when_due, test_longest_turn_is_kept, test_many_members,
	test_creation_without_memory)
