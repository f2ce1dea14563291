/* What nobody waits for shares a message with what somebody does, or leaves when patience ends. */
#include "test/unit/machine.h"
#include "test/unit/unit.h"

enum { CLIENT, WORKER, OTHER }; /* slots of peers */
enum { PATIENCE_NS = 10 * UNIT_MS };

static void begin_master(struct unit_machine *master)
{
	unit_patient_master_init(master, PATIENCE_NS);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 10, "one", 64, "work");
}

static struct dlsi_assign submit(struct unit_machine *master, uint8_t job)
{
	unit_machine_say(master, CLIENT, unit_submit(job, 0, 1));
	return unit_assigned(master, WORKER, 0);
}

static void test_acceptance_comes_with_the_result(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin_master(&master);
	task = submit(&master, 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_TAKEN), 0);
	unit_machine_fini(&master);
}

static void test_end_comes_with_the_next_job(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin_master(&master);
	task = submit(&master, 1);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	unit_ack(&master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_END), 0);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 0);
	task = submit(&master, 2);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_TAKEN), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_END), 1);
	unit_machine_fini(&master);
}

static void test_master_waits_no_longer_than_it_may(void **state)
{
	struct unit_machine master;

	(void)state;
	begin_master(&master);
	submit(&master, 1);
	unit_machine_wait(&master, PATIENCE_NS - 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 0);
	unit_machine_wait(&master, 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	unit_machine_fini(&master);
}

/* A job that is submitted by another client under the same key ends the first one's. */
static void test_bad_ends_come_at_once(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin_master(&master);
	submit(&master, 1);
	unit_register_client(&master, OTHER, 2);
	unit_machine_say(&master, OTHER, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_machine_say(&master, OTHER, unit_submit(1, 0, 1));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_END, 0, &record));
	assert_int_equal(record.end.code, DLS_ECANCELLED);
	unit_machine_fini(&master);
}

/* ---- the client */

/* A session with a job of `count` items that a master has accepted. */
static void begin_session(struct unit_machine *session, uint64_t count)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_SUBMIT, .job = unit_id(1)};
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};

	unit_patient_session_init(session, PATIENCE_NS);
	unit_machine_connect(session);
	unit_machine_welcome(session);
	event.submit.spec = (struct dlsi_bytes){(const uint8_t *)"{}", 2};
	event.submit.count = count;
	event.submit.manifest = unit_machine_give(session, 50);
	event.submit.window_items = 1000;
	event.submit.window_bytes = 100000;
	unit_machine_step(session, event);
	record.accepted.job = unit_id(1);
	unit_machine_say(session, 0, record);
}

/* The result of one item; the attempt has its number. */
static void give_result(struct unit_machine *session, uint64_t item)
{
	const struct dlsi_assign assign = {unit_id(1), item + 1, item, item + 1, 0};

	unit_machine_say(session, 0, unit_result(&assign, session->frame_bytes, false));
}

static uint32_t confirmed(const struct unit_machine *session)
{
	struct dlsi_record record;

	return unit_machine_says(session, 0, DLSI_ACK, 0, &record) ? record.ack.taken.count : 0;
}

static void test_confirmations_leave_together(void **state)
{
	struct unit_machine session;

	(void)state;
	begin_session(&session, 3);
	for (uint64_t item = 0; item < 3; item++) {
		give_result(&session, item);
		assert_int_equal(confirmed(&session), 0);
	}
	unit_machine_wait(&session, PATIENCE_NS);
	assert_int_equal(confirmed(&session), 3);
	unit_machine_fini(&session);
}

static void test_many_confirmations_do_not_wait(void **state)
{
	struct unit_machine session;
	uint64_t item = 0;

	(void)state;
	begin_session(&session, 1000);
	do
		give_result(&session, item++);
	while (!confirmed(&session) && item < 1000);
	assert_int_equal(item, 64);
	assert_int_equal(confirmed(&session), 64);
	unit_machine_fini(&session);
}

/* A result that fills half of the window keeps it shut at the master until it is confirmed. */
static void test_large_results_do_not_wait(void **state)
{
	struct unit_machine session;

	(void)state;
	begin_session(&session, 3);
	session.frame_bytes = 50000;
	give_result(&session, 0);
	assert_int_equal(confirmed(&session), 1);
	unit_machine_fini(&session);
}

static void test_confirmations_leave_before_a_goodbye(void **state)
{
	struct unit_machine session;

	(void)state;
	begin_session(&session, 1);
	give_result(&session, 0);
	assert_int_equal(confirmed(&session), 0);
	unit_machine_step(&session, (struct dlsi_event){.kind = DLSI_EVENT_STOP});
	assert_int_equal(confirmed(&session), 1);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_LEAVE), 1);
	unit_machine_fini(&session);
}

UNIT_MAIN(test_acceptance_comes_with_the_result, test_end_comes_with_the_next_job,
	test_master_waits_no_longer_than_it_may, test_bad_ends_come_at_once, test_confirmations_leave_together,
	test_many_confirmations_do_not_wait, test_large_results_do_not_wait, test_confirmations_leave_before_a_goodbye)
