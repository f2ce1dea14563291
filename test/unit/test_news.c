/* What a master logs of workers and jobs: each event once, nothing that is not asked for, and no more lines than the
 * allowance however fast strangers are. */
#include "base/limits.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

static void begin(struct unit_machine *master, enum dls_log_level level)
{
	unit_master_init(master, unit_alloc(), false);
	master->effects.log_level = level;
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\"}"));
}

/* The n-th line that it now logs has this part. */
static bool logs(const struct unit_machine *master, unsigned n, const char *part)
{
	const struct dlsi_effect *effect = unit_machine_does(master, DLSI_EFFECT_LOG, n);
	struct dlsi_text line = {0};

	if (effect)
		line = dlsi_effects_text(&master->effects, effect->log.text, effect->log.text_length);
	return line.length && memmem(line.data, line.length, part, strlen(part));
}

static unsigned lines(const struct unit_machine *master)
{
	unsigned count = 0;

	while (unit_machine_does(master, DLSI_EFFECT_LOG, count))
		count++;
	return count;
}

static void leave(struct unit_machine *master, uint32_t slot)
{
	unit_machine_say(master, slot, (struct dlsi_record){.kind = DLSI_LEAVE});
}

static void test_workers_come_and_go(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, DLS_LOG_INFO);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	assert_true(logs(&master, 0, "worker one has joined"));
	assert_true(logs(&master, 0, "devices: 1, runs: work"));
	unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_LOST, .peer = {WORKER, 1}});
	unit_register_worker(&master, OTHER, 10, "one", 8, "work");
	assert_true(logs(&master, 0, "worker one is back"));
	unit_register_worker(&master, WORKER, 11, "one", 8, "work");
	assert_int_equal(lines(&master), 2);
	assert_true(logs(&master, 0, "worker one is replaced"));
	assert_true(logs(&master, 1, "worker one has joined"));
	leave(&master, WORKER);
	assert_true(logs(&master, 0, "worker one has left"));
	unit_register_worker(&master, WORKER, 12, "two", 8, "work");
	unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_LOST, .peer = {WORKER, 1}});
	assert_int_equal(lines(&master), 0); /* it may come back */
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_true(logs(&master, 0, "worker two is lost"));
	unit_machine_fini(&master);
}

static void test_jobs_begin_and_end(void **state)
{
	struct unit_machine master;
	struct dlsi_assign assign;
	struct dlsi_record result;

	(void)state;
	begin(&master, DLS_LOG_INFO);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 3));
	assert_int_equal(lines(&master), 1);
	assert_true(logs(&master, 0, "is accepted: 3 items for work"));
	assign = unit_assigned(&master, WORKER, 0);
	result = unit_result(&assign, 100, false);
	result.result.failed = UINT32_MAX; /* a worker says what it likes */
	unit_machine_say(&master, WORKER, result);
	unit_ack(&master, CLIENT, 1, &assign.attempt, 1, NULL, 0);
	unit_machine_say(&master, CLIENT, (struct dlsi_record){.kind = DLSI_CANCEL, .cancel.job = unit_id(1)});
	assert_int_equal(lines(&master), 1);
	assert_true(logs(&master, 0, "is cancelled after 0.000 s: items 3, done 1, of them failed 1"));
	unit_machine_fini(&master);
}

static void test_nothing_below_info(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, DLS_LOG_WARNING);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	assert_int_equal(lines(&master), 0);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 3));
	assert_int_equal(lines(&master), 0);
	unit_machine_fini(&master);
}

/* Lines about this many workers that come and go. */
static unsigned flood(struct unit_machine *master, unsigned workers)
{
	unsigned told = 0;

	for (unsigned i = 0; i < workers; i++) {
		unit_register_worker(master, WORKER, 100 + i, "one", 8, "work");
		told += lines(master);
		leave(master, WORKER);
		told += lines(master);
	}
	return told;
}

static void test_strangers_do_not_fill_the_log(void **state)
{
	enum { WORKERS = 2000, PAUSE_MS = 400 }; /* none is silent for long enough to be lost */
	struct unit_machine master;

	(void)state;
	begin(&master, DLS_LOG_INFO);
	assert_int_equal(flood(&master, WORKERS), DLSI_NEWS_AT_ONCE);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 3)); /* other news have an allowance of their own */
	assert_true(logs(&master, 0, "is accepted"));
	unit_machine_wait(&master, (int64_t)PAUSE_MS * UNIT_MS);
	unit_register_worker(&master, WORKER, 1, "late", 8, "work");
	assert_true(logs(&master, 0, "lines left out) worker late has joined"));
	assert_in_range(flood(&master, WORKERS), 1, PAUSE_MS * DLSI_NEWS_PER_SECOND / 1000);
	master.effects.log_level = DLS_LOG_DEBUG;
	assert_int_equal(flood(&master, WORKERS), 2 * WORKERS);
	unit_machine_fini(&master);
}

UNIT_MAIN(
	test_workers_come_and_go, test_jobs_begin_and_end, test_nothing_below_info, test_strangers_do_not_fill_the_log)
