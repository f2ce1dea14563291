/* Threads are named, run what they were given, and leave the program's signals to the program. */
#include "base/thread.h"
#include "test/unit/unit.h"
#include <signal.h>
#include <string.h>

struct seen {
	sigset_t blocked;
};

static void *look(void *arg)
{
	struct seen *seen = arg;

	pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
	return NULL;
}

static void *wait_for(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void test_signals_are_blocked_but_faults(void **state)
{
	struct seen seen;
	sigset_t before, after;
	pthread_t thread;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(dlsi_thread_start(&thread, "dls-test", look, &seen, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(sigismember(&seen.blocked, SIGINT));
	assert_true(sigismember(&seen.blocked, SIGCHLD));
	assert_false(sigismember(&seen.blocked, SIGSEGV));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

static void test_a_long_name_is_cut(void **state)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	char name[16];

	(void)state;
	pthread_mutex_lock(&gate);
	assert_int_equal(dlsi_thread_start(&thread, "dls-a-name-that-is-long", wait_for, &gate, NULL), 0);
	assert_int_equal(pthread_getname_np(thread, name, sizeof name), 0);
	assert_string_equal(name, "dls-a-name-that");
	pthread_mutex_unlock(&gate);
	pthread_join(thread, NULL);
}

UNIT_MAIN(test_signals_are_blocked_but_faults, test_a_long_name_is_cut)
