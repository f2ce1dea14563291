/* Work on several threads: every index once, no thread number beyond those asked for, also from many threads at once;
 * and what is allowed of the processor. */
#include "kernel/isa.h"
#include "kernel/parallel.h"
#include "test/unit/unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

UNIT_MAIN(test_does_each_part_once, test_many_callers_do_not_meet, test_the_environment_says_how_many,
	test_instruction_sets_have_names, test_unknown_names_are_refused)
