/* Results that workers offer and clients fetch, as the master sees it: which losses say that workers cannot be reached.
 */
#include "test/unit/machine.h"
#include "test/unit/unit.h"

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

static struct dlsi_master_counts counts(const struct unit_machine *master)
{
	return dlsi_master_counts(master->core);
}

/* A master with a worker of one credit, and a client whose specification 0 asks for single items. */
static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 10, "one", 1, "work");
}

/* The device of one credit makes a result; returns its attempt and the next task. */
static uint64_t make_result(struct unit_machine *master, struct dlsi_assign *task, bool offered)
{
	uint64_t attempt = task->attempt;

	unit_machine_say(master, WORKER, unit_result(task, offered ? 100000 : 100, offered));
	*task = unit_assigned(master, WORKER, 0);
	return attempt;
}

/* Offers that are lost one after another say that the client cannot reach the workers, whatever comes inside messages
 * meanwhile. */
static void test_offers_that_cannot_be_fetched(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	unsigned lost = 0;

	(void)state;
	begin(&master);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1000));
	task = unit_assigned(&master, WORKER, 0);
	while (lost < 100 && unit_end_state(&master, CLIENT) == 0) {
		uint64_t inside = make_result(&master, &task, false), offered = make_result(&master, &task, true);

		unit_ack(&master, CLIENT, 1, &inside, 1, &offered, 1);
		lost++;
	}
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_FAILED);
	assert_in_range(lost, 8, 16);
	unit_machine_fini(&master);
}

/* One that is fetched says that they can be reached. */
static void test_offers_that_can_sometimes_be_fetched(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1000));
	task = unit_assigned(&master, WORKER, 0);
	for (int i = 0; i < 100; i++) {
		uint64_t attempt = make_result(&master, &task, true);

		unit_ack(&master, CLIENT, 1, &attempt, i % 6 == 5, &attempt, i % 6 != 5);
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_TAKEN), 1);
		assert_int_equal(unit_end_state(&master, CLIENT), 0);
	}
	unit_machine_fini(&master);
}

static void lose_worker(struct unit_machine *master)
{
	const struct dlsi_event gone = {.kind = DLSI_EVENT_LOST, .peer = {WORKER, master->generations[WORKER]}};

	unit_machine_step(master, gone);
	unit_machine_wait(master, 60 * UNIT_MS);
	assert_int_equal(counts(master).workers, 0);
}

/* All that a worker offers is lost with it: once, or, when its death is known, not at all. */
static void test_offers_that_die_with_their_worker(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct unit_machine master;
		uint64_t attempts[50];
		struct dlsi_assign task;

		begin(&master);
		unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1000));
		task = unit_assigned(&master, WORKER, 0);
		for (int i = 0; i < 50; i++)
			attempts[i] = make_result(&master, &task, true);
		if (known)
			lose_worker(&master);
		unit_ack(&master, CLIENT, 1, NULL, 0, attempts, 50);
		assert_int_equal(unit_end_state(&master, CLIENT), 0);
		if (!known)
			lose_worker(&master);
		unit_register_worker(&master, OTHER, 20, "two", 1, "work");
		assert_int_equal(unit_assigned(&master, OTHER, 0).first, 0);
		assert_int_equal(unit_machine_held(&master), 1);
		unit_machine_fini(&master);
	}
}

/* Workers that die one after another are no reason to give up the job. */
static void test_workers_that_die_one_after_another(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1000));
	for (uint64_t i = 0; i < 30; i++) {
		struct dlsi_assign task = unit_assigned(&master, WORKER, 0);
		uint64_t attempt = make_result(&master, &task, true);

		lose_worker(&master);
		unit_ack(&master, CLIENT, 1, NULL, 0, &attempt, 1);
		assert_int_equal(unit_end_state(&master, CLIENT), 0);
		master.generations[WORKER]++;
		unit_register_worker(&master, WORKER, 11 + i, "one", 1, "work");
	}
	unit_machine_fini(&master);
}

UNIT_MAIN(test_offers_that_cannot_be_fetched, test_offers_that_can_sometimes_be_fetched,
	test_offers_that_die_with_their_worker, test_workers_that_die_one_after_another)
