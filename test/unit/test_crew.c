/* A crew does each part of a work once, in whatever thread, and is done when it says so. */
#include "test/unit/unit.h"
#include "worker/crew.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { PARTS = 100, RUNS = 200 };

struct work {
	unsigned done[PARTS];
	pthread_t first; /* thread of part 0 */
	atomic_uint begun;
};

static void count(void *arg, uint32_t i)
{
	struct work *work = arg;

	work->done[i]++;
	if (i == 0)
		work->first = pthread_self();
}

static void check_runs(unsigned helpers)
{
	struct dlsi_rng rng = unit_rng(helpers + 1);
	struct dlsi_crew *crew;

	assert_int_equal(dlsi_crew_create(unit_alloc(), helpers, &crew, NULL), 0);
	for (int run = 0; run < RUNS; run++) {
		struct work work = {0};
		uint32_t parts = (uint32_t)dlsi_rng_below(&rng, PARTS + 1);

		dlsi_crew_run(crew, count, &work, parts);
		for (uint32_t i = 0; i < PARTS; i++)
			assert_int_equal(work.done[i], i < parts);
		if (!helpers && parts)
			assert_true(pthread_equal(work.first, pthread_self()));
	}
	dlsi_crew_destroy(crew);
}

static void test_each_part_once(void **state)
{
	(void)state;
	check_runs(0);
	check_runs(1);
	check_runs(5);
}

/* Waits until the other part has begun too: would hang with one thread. */
static void meet(void *arg, uint32_t i)
{
	struct work *work = arg;

	(void)i;
	atomic_fetch_add(&work->begun, 1);
	while (atomic_load(&work->begun) < 2)
		sched_yield();
}

static void test_parts_run_at_once(void **state)
{
	struct work work = {0};
	struct dlsi_crew *crew;

	(void)state;
	assert_int_equal(dlsi_crew_create(unit_alloc(), 1, &crew, NULL), 0);
	dlsi_crew_run(crew, meet, &work, 2);
	assert_int_equal(work.begun, 2);
	dlsi_crew_destroy(crew);
}

static void test_says_when_memory_runs_out(void **state)
{
	struct dlsi_crew *crew = NULL;

	(void)state;
	assert_int_equal(dlsi_crew_create(unit_alloc_failing_at(1), 1, &crew, NULL), DLS_ENOMEM);
	assert_null(crew);
}

UNIT_MAIN(test_each_part_once, test_parts_run_at_once, test_says_when_memory_runs_out)
