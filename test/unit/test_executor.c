/* An executor runs each work once, in order, on one thread that is not the caller's and has the team that was asked
 * for, also those queued at its end. */
#include "kernel/parallel.h"
#include "node/executor.h"
#include "test/unit/unit.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { WORKS = 1000, CALLERS = 4, TEAM = 7 };

struct journal {
	int order[WORKS];
	pthread_t thread[WORKS];
	int team[WORKS];
	int count;
	atomic_int released; /* the first work waits for it */
};

struct entry {
	struct dlsi_work work;
	struct journal *journal;
	int number;
};

static void write_down(struct dlsi_work *work)
{
	struct entry *entry = (struct entry *)((char *)work - offsetof(struct entry, work));
	struct journal *journal = entry->journal;

	while (!atomic_load(&journal->released))
		sched_yield();
	journal->order[journal->count] = entry->number;
	journal->team[journal->count] = dlsi_parallel_threads();
	journal->thread[journal->count++] = pthread_self();
	memset(entry, 0, sizeof *entry); /* the executor must not look at it any more */
}

static void test_runs_all_in_order_on_one_thread(void **state)
{
	static struct journal journal;
	static struct entry entries[WORKS];
	struct dlsi_executor *executor;
	int team = dlsi_parallel_threads();

	(void)state;
	assert_int_equal(dlsi_executor_create(unit_alloc(), "dls-test", TEAM, &executor, NULL), 0);
	for (int i = 0; i < WORKS; i++) {
		entries[i] = (struct entry){.work.run = write_down, .journal = &journal, .number = i};
		dlsi_executor_submit(executor, &entries[i].work);
	}
	atomic_store(&journal.released, 1);
	dlsi_executor_destroy(executor);
	assert_int_equal(journal.count, WORKS);
	for (int i = 0; i < WORKS; i++) {
		assert_int_equal(journal.order[i], i);
		assert_true(pthread_equal(journal.thread[i], journal.thread[0]));
		assert_false(pthread_equal(journal.thread[i], pthread_self()));
		assert_int_equal(journal.team[i], TEAM);
	}
	assert_int_equal(dlsi_parallel_threads(), team);
}

struct caller {
	struct dlsi_executor *executor;
	struct entry *entries;
};

static void *submit_many(void *arg)
{
	struct caller *caller = arg;

	for (int i = 0; i < WORKS / CALLERS; i++)
		dlsi_executor_submit(caller->executor, &caller->entries[i].work);
	return NULL;
}

static void test_takes_works_from_many_threads(void **state)
{
	static struct journal journal = {.released = 1};
	static struct entry entries[WORKS];
	struct caller callers[CALLERS];
	pthread_t threads[CALLERS];
	struct dlsi_executor *executor;
	bool ran[WORKS] = {false};

	(void)state;
	assert_int_equal(dlsi_executor_create(unit_alloc(), "dls-test", 1, &executor, NULL), 0);
	for (int i = 0; i < WORKS; i++)
		entries[i] = (struct entry){.work.run = write_down, .journal = &journal, .number = i};
	for (int i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){executor, entries + i * WORKS / CALLERS};
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &callers[i]), 0);
	}
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	dlsi_executor_destroy(executor);
	assert_int_equal(journal.count, WORKS);
	for (int i = 0; i < WORKS; i++) {
		assert_false(ran[journal.order[i]]);
		ran[journal.order[i]] = true;
	}
}

static void test_says_when_memory_runs_out(void **state)
{
	struct dlsi_executor *executor = NULL;

	(void)state;
	assert_int_equal(dlsi_executor_create(unit_alloc_failing_at(1), "dls-test", 1, &executor, NULL), DLS_ENOMEM);
	assert_null(executor);
}

UNIT_MAIN(test_runs_all_in_order_on_one_thread, test_takes_works_from_many_threads, test_says_when_memory_runs_out)
