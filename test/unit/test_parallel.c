/* Work on several threads: every index once, no thread number beyond those asked for, also from many threads at once
 * and of threads that stand by; and what is allowed of the processor. */
#include "kernel/isa.h"
#include "kernel/parallel.h"
#include "test/unit/unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INDICES = 1000, CALLERS = 8 };

struct tally {
	int threads;
	_Atomic int seen[INDICES];
	_Atomic int strangers; /* thread numbers out of range */
};

static void count_part(void *arg, int64_t index, int thread)
{
	struct tally *tally = arg;

	tally->seen[index]++;
	tally->strangers += thread < 0 || thread >= tally->threads;
}

static bool whole(int threads, int64_t count)
{
	struct tally tally = {.threads = threads};

	dlsi_parallel(threads, count, count_part, &tally);
	for (int64_t i = 0; i < INDICES; i++)
		if (tally.seen[i] != (i < count))
			return false;
	return tally.strangers == 0;
}

static void test_does_each_part_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads++)
		for (int64_t count = 0; count <= INDICES; count = 3 * count + 1)
			assert_true(whole(threads, count));
}

static void *call(void *good)
{
	*(bool *)good = whole(3, INDICES);
	return NULL;
}

static void test_many_callers_do_not_meet(void **state)
{
	pthread_t callers[CALLERS];
	bool good[CALLERS] = {false};

	(void)state;
	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&callers[i], NULL, call, &good[i]), 0);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	for (int i = 0; i < CALLERS; i++)
		assert_true(good[i]);
}

/* ---- threads that stand by */

enum { WORKS = 300, HOLDERS = 64, HOLDER_WORKS = 20 };

struct series {
	int threads, works;
	int64_t most; /* parts of a work */
	bool pauses;  /* long enough between some works for those who wait to sleep */
	bool good;
};

static void do_works(void *arg)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct series *series = arg;

	series->good = true;
	for (int i = 0; i < series->works; i++) {
		series->good &= whole(series->threads, i % (series->most + 1));
		if (series->pauses && i % 10 == 0)
			nanosleep(&pause, NULL);
	}
}

static void test_threads_that_stand_by_do_each_part_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads++) {
		struct series series = {.threads = threads, .works = WORKS, .most = 37, .pauses = threads == 3};

		dlsi_parallel_hold(threads, do_works, &series);
		assert_true(series.good);
	}
}

/* A work for fewer threads than stand by, whose numbers it has no room for, is none for them. */
static void do_narrow_work(void *good)
{
	*(bool *)good = whole(2, INDICES);
}

static void test_a_work_for_fewer_threads(void **state)
{
	bool good = false;

	(void)state;
	dlsi_parallel_hold(4, do_narrow_work, &good);
	assert_true(good);
	assert_true(whole(3, INDICES)); /* nobody stands by any more */
}

/* Who waits for a part that is not finished sleeps in the end, and is woken. */
static void dawdle(void *arg, int64_t index, int thread)
{
	const struct timespec pause = {.tv_nsec = 3000000};

	count_part(arg, index, thread);
	if (thread)
		nanosleep(&pause, NULL);
}

static void do_slow_work(void *arg)
{
	dlsi_parallel(2, 40, dawdle, arg);
}

static void test_parts_that_take_long_are_waited_for(void **state)
{
	struct tally tally = {.threads = 2};

	(void)state;
	dlsi_parallel_hold(2, do_slow_work, &tally);
	for (int i = 0; i < 40; i++)
		assert_int_equal(tally.seen[i], 1);
}

static void *hold(void *arg)
{
	struct series *series = arg;

	dlsi_parallel_hold(series->threads, do_works, series);
	return NULL;
}

static void test_many_holders_do_not_meet(void **state)
{
	static struct series series[HOLDERS];
	pthread_t holders[HOLDERS];

	(void)state;
	for (int i = 0; i < HOLDERS; i++) {
		series[i] = (struct series){.threads = 2, .works = HOLDER_WORKS, .most = 11};
		assert_int_equal(pthread_create(&holders[i], NULL, hold, &series[i]), 0);
	}
	for (int i = 0; i < HOLDERS; i++) {
		pthread_join(holders[i], NULL);
		assert_true(series[i].good);
	}
}

static void test_the_environment_says_how_many(void **state)
{
	int team = dlsi_parallel_threads();

	(void)state;
	unsetenv("OMP_NUM_THREADS");
	assert_int_equal(dlsi_parallel_usual(team + 2), team + 2);
	setenv("OMP_NUM_THREADS", "it was read before", 1);
	assert_int_equal(dlsi_parallel_usual(team + 2), team);
	dlsi_parallel_set_threads(team + 1);
	assert_int_equal(dlsi_parallel_threads(), team + 1);
	dlsi_parallel_set_threads(team);
}

static void test_instruction_sets_have_names(void **state)
{
	(void)state;
	assert_true(dlsi_isa_of_processor() <= DLSI_ISA_AVX512);
	for (int isa = 0; isa <= DLSI_ISA_AVX512; isa++) {
		enum dlsi_isa same = DLSI_ISA_GENERIC;

		assert_int_equal(dlsi_isa_block((enum dlsi_isa)isa), isa == DLSI_ISA_AVX512 ? 16 : 8);
		assert_true(dlsi_isa_from_name(dlsi_isa_name((enum dlsi_isa)isa), &same));
		assert_int_equal(same, isa);
	}
}

static void test_unknown_names_are_refused(void **state)
{
	enum dlsi_isa isa = DLSI_ISA_AVX2;

	(void)state;
	assert_false(dlsi_isa_from_name("", &isa));
	assert_false(dlsi_isa_from_name("avx", &isa));
	assert_int_equal(isa, DLSI_ISA_AVX2);
}

UNIT_MAIN(test_does_each_part_once, test_many_callers_do_not_meet, test_threads_that_stand_by_do_each_part_once,
	test_a_work_for_fewer_threads, test_parts_that_take_long_are_waited_for, test_many_holders_do_not_meet,
	test_the_environment_says_how_many, test_instruction_sets_have_names, test_unknown_names_are_refused)
