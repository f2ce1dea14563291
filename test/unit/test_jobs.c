/* What clients submit to a master, confirm, present again and cancel: each test is one promise. How workers fare
 * with it is in test_master.c. */
#include "base/limits.h"
#include "proto/bytes.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

static const char single[] = "{\"handler\":\"work\",\"task_items\":1}";

static struct dlsi_master_counts counts(const struct unit_machine *master)
{
	return dlsi_master_counts(master->core);
}

/* A master with a worker, and a client whose specification 0 asks for single items. */
static void begin_with(struct unit_machine *master, bool durable, uint16_t credits)
{
	unit_master_init(master, unit_alloc(), durable);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, single));
	unit_register_worker(master, WORKER, 10, "one", credits, "work");
}

static void begin(struct unit_machine *master, bool durable)
{
	begin_with(master, durable, 64);
}

static struct dlsi_numbers numbers(uint8_t *data, const uint64_t *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		dlsi_put_u64(data + 8 * i, values[i]);
	return (struct dlsi_numbers){data, count};
}

/* The client's connection is gone, and it is back on a new one with its specification. */
static void reconnect(struct unit_machine *master)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {CLIENT, master->generations[CLIENT]}};

	unit_machine_step(master, lost);
	master->generations[CLIENT]++;
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, single));
}

static void test_one_item_from_submission_to_end(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	struct dlsi_record record;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_JOB), 1);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_RESULT, 0, &record));
	assert_memory_equal(record.result.worker.data, "one", 3);
	assert_int_equal(counts(&master).held_bytes, 100 + DLSI_HELD_RESULT_BYTES);
	unit_ack(&master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	assert_int_equal(counts(&master).jobs + counts(&master).tasks + counts(&master).acquaintances, 0);
	assert_int_equal(counts(&master).held_bytes + counts(&master).job_bytes, 0);
	assert_int_equal(counts(&master).done_items, 1);
	assert_int_equal(counts(&master).refused_transitions, 0);
	unit_machine_fini(&master);
}

static void test_items_beyond_the_window_wait(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 100), ack = {.kind = DLSI_ACK};
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	unit_try_worker(&master, CLIENT, WORKER);
	submit.submit.window_end = 5;
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 5);
	ack.ack.job = unit_id(1);
	ack.ack.window_bytes = UINT64_MAX;
	ack.ack.window_end = 7;
	unit_machine_say(&master, CLIENT, ack);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 2);
	ack.ack.window_end = 0; /* an older one, come late: what was allowed stays so */
	unit_machine_say(&master, CLIENT, ack);
	ack.ack.window_end = 8;
	unit_machine_say(&master, CLIENT, ack);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_fini(&master);
}

/* The device of one credit makes a result; returns its attempt and the next task. */
static uint64_t make_result(struct unit_machine *master, struct dlsi_assign *task, bool offered)
{
	uint64_t attempt = task->attempt;

	unit_machine_say(master, WORKER, unit_result(task, offered ? 100000 : 100, offered));
	*task = unit_assigned(master, WORKER, 0);
	return attempt;
}

static void lose_worker(struct unit_machine *master)
{
	const struct dlsi_event gone = {.kind = DLSI_EVENT_LOST, .peer = {WORKER, master->generations[WORKER]}};

	unit_machine_step(master, gone);
	unit_machine_wait(master, 60 * UNIT_MS);
	assert_int_equal(counts(master).workers, 0);
}

/* The client has this attempt's result (0: none) and room for so many bytes more. */
static void ack_with_room(struct unit_machine *master, uint64_t attempt, uint64_t window_bytes)
{
	struct dlsi_record record = {.kind = DLSI_ACK};
	uint8_t data[8];

	record.ack.job = unit_id(1);
	record.ack.window_end = UINT64_MAX;
	record.ack.window_bytes = window_bytes;
	record.ack.taken = numbers(data, &attempt, attempt != 0);
	unit_machine_say(master, CLIENT, record);
}

/* Once the size of a result is known, no more are out than the client has room for; with no room at all, none. */
static void test_bytes_beyond_the_window_wait(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 1000);
	struct unit_machine master;
	struct dlsi_assign first[8];

	(void)state;
	begin(&master, false);
	unit_try_worker(&master, CLIENT, WORKER);
	submit.submit.window_bytes = 1000;
	unit_machine_say(&master, CLIENT, submit);
	for (unsigned i = 0; i < 8; i++) /* what a device gets before anything is measured */
		first[i] = unit_assigned(&master, WORKER, i);
	for (unsigned i = 0; i < 8; i++) {
		unit_machine_say(&master, WORKER, unit_result(&first[i], 100, false));
		assert_in_range(counts(&master).tasks, 8, 10);
	}
	assert_int_equal(counts(&master).tasks, 10);
	for (unsigned i = 0; i < 8; i++)
		ack_with_room(&master, first[i].attempt, 0);
	assert_int_equal(counts(&master).tasks, 2);
	ack_with_room(&master, 0, 500);
	assert_int_equal(counts(&master).tasks, 5);
	unit_machine_fini(&master);
}

/* With no room at all nothing is let through, with any at all one task, however large its results are. */
static void test_no_room(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	uint64_t attempt;

	(void)state;
	begin_with(&master, false, 1);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1000));
	task = unit_assigned(&master, WORKER, 0);
	attempt = make_result(&master, &task, false);
	ack_with_room(&master, attempt, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	ack_with_room(&master, task.attempt, 0);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	ack_with_room(&master, 0, 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_fini(&master);
}

/* Over a new connection the client is sent what it has not confirmed; over the same one nothing was lost. */
static void test_job_that_is_presented_again(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 10);
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	submit.submit.window_end = 2;
	unit_machine_say(&master, CLIENT, submit);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	reconnect(&master);
	submit.submit.window_end = 4;
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 2);
	assert_int_equal(unit_machine_held(&master), 2); /* manifest and result */
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	unit_machine_fini(&master);
}

/* What the client says it has is not done again, and what waits for it of that is let go. */
static void test_items_that_the_client_has(void **state)
{
	static const uint64_t all[] = {0, 2, 2, 3}, some[] = {0, 1, 2, 3};
	struct dlsi_record submit = unit_submit(1, 0, 3);
	struct unit_machine master;
	struct dlsi_assign task;
	uint8_t data[64];

	(void)state;
	begin(&master, false);
	submit.submit.received = numbers(data, some, 4);
	unit_machine_say(&master, CLIENT, submit);
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.first, 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	reconnect(&master);
	submit.submit.received = numbers(data, all, 4);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	assert_int_equal(counts(&master).presented_items, 3); /* which is what it says, and not what was done here */
	assert_int_equal(counts(&master).done_items, 0);
	assert_int_equal(counts(&master).tasks + counts(&master).jobs, 0);
	assert_int_equal(counts(&master).refused_transitions, 0);
	unit_machine_fini(&master);
}

/* Nor is it done again when the worker that has it is lost. */
static void test_items_that_the_client_has_meanwhile(void **state)
{
	static const uint64_t some[] = {0, 1};
	struct dlsi_record submit = unit_submit(1, 0, 2);
	struct unit_machine master;
	uint8_t data[16];

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, submit);
	reconnect(&master);
	submit.submit.received = numbers(data, some, 2);
	unit_machine_say(&master, CLIENT, submit);
	lose_worker(&master);
	unit_register_worker(&master, OTHER, 20, "two", 64, "work");
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_ASSIGN), 1);
	assert_int_equal(unit_assigned(&master, OTHER, 0).first, 1);
	unit_machine_fini(&master);
}

/* A task takes no item that is done, nor what lies behind it. */
static void test_tasks_around_what_is_done(void **state)
{
	static const uint64_t done[] = {2, 3, 6, 8};
	static const uint64_t tasks[][2] = {{0, 2}, {3, 6}, {8, 10}};
	struct dlsi_record submit = unit_submit(1, 1, 10);
	struct unit_machine master;
	uint8_t data[64];

	(void)state;
	begin(&master, false);
	unit_try_worker(&master, CLIENT, WORKER);
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"handler\":\"work\",\"task_items\":10}"));
	submit.submit.received = numbers(data, done, 4);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_JOB), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(unit_assigned(&master, WORKER, i).first, tasks[i][0]);
		assert_int_equal(unit_assigned(&master, WORKER, i).end, tasks[i][1]);
	}
	unit_machine_fini(&master);
}

/* Under the same key with other inputs, which the token names, the job begins anew. */
static void test_other_inputs_under_the_same_key(void **state)
{
	static const uint64_t all[] = {0, 3};
	struct dlsi_record submit = unit_submit(1, 0, 3);
	struct unit_machine master;
	struct dlsi_assign task;
	uint8_t data[8 * 2];

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, submit);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	reconnect(&master);
	submit.submit.token = unit_id(9);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 3);
	assert_int_equal(counts(&master).jobs, 1);
	submit.submit.token = unit_id(8);
	submit.submit.received = numbers(data, all, 2);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED); /* of the one before */
	assert_int_equal(counts(&master).jobs, 0);
	unit_machine_fini(&master);
}

static void test_ranges_that_are_none(void **state)
{
	static const uint64_t bad[][4] = {
		{2, 3, 0, 1}, {0, 2, 1, 3}, {1, 1, 1, 2}, {2, 1, 3, 4}, {0, 1, 9, 11}, {0, UINT64_MAX, UINT64_MAX, 1}};
	struct unit_machine master;
	uint8_t data[64];

	(void)state;
	begin(&master, false);
	for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
		struct dlsi_record submit = unit_submit(1, 0, 10);

		submit.submit.received = i < 6 ? numbers(data, bad[i], 4) : numbers(data, bad[1], 3);
		unit_machine_say(&master, CLIENT, submit);
		assert_int_equal(unit_refusal(&master, CLIENT), DLS_EPROTOCOL);
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
		assert_int_equal(counts(&master).jobs, 0);
	}
	unit_machine_fini(&master);
}

static void test_objections(void **state)
{
	struct dlsi_record submits[6];
	static const int codes[6] = {DLS_EINVAL, DLS_EINVAL, DLS_EINVAL, DLS_ELIMIT, DLS_ELIMIT, DLS_EUNSUPPORTED};
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	for (unsigned i = 0; i < 6; i++)
		submits[i] = unit_submit(1, 0, 10);
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"handler\":\"\"}"));
	submits[0].submit.spec = 1;
	submits[1].submit.spec = 2;
	submits[2].submit.count = 0;
	submits[3].submit.count = UINT64_MAX;
	submits[4].submit.frames = 0;
	submits[5].submit.flags = DLSI_SUBMIT_DURABLE;
	for (unsigned i = 0; i < 6; i++) {
		unit_machine_say(&master, CLIENT, submits[i]);
		assert_int_equal(unit_refusal(&master, CLIENT), codes[i]);
	}
	assert_int_equal(counts(&master).jobs + unit_machine_held(&master), 0);
	unit_machine_fini(&master);
}

/* Each refused job is told what is wrong with its own specification. */
static void test_specifications_are_refused_each_for_its_own_reason(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"colour\":1}"));
	unit_machine_say(&master, CLIENT, unit_spec(2, "{"));
	unit_machine_say(&master, CLIENT, unit_submit(1, 1, 1));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REFUSED, 0, &record));
	assert_non_null(memmem(record.refused.sentence.data, record.refused.sentence.length, "colour", 6));
	unit_machine_say(&master, CLIENT, unit_spec(DLSI_CLIENT_SPECS, single));
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EPROTOCOL);
	unit_machine_fini(&master);
}

/* Over a new connection a client names the specifications of jobs that go on, whatever their numbers; those between
 * have never been sent. */
static void test_specifications_with_gaps(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, unit_spec(40, single));
	unit_machine_say(&master, CLIENT, unit_submit(1, 40, 1));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	unit_machine_say(&master, CLIENT, unit_submit(2, 39, 1));
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EINVAL);
	unit_machine_fini(&master);
}

/* Clients that say the same share it, and it lives as long as the last of them. */
static void test_specifications_are_shared(void **state)
{
	struct dlsi_record leave = {.kind = DLSI_LEAVE};
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	unit_register_client(&master, OTHER, 2);
	unit_machine_say(&master, OTHER, unit_spec(0, single));
	assert_int_equal(counts(&master).specs, 1);
	unit_machine_say(&master, CLIENT, leave);
	assert_int_equal(counts(&master).specs, 1);
	unit_machine_say(&master, OTHER, unit_submit(1, 0, 1));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_say(&master, OTHER, leave);
	assert_int_equal(counts(&master).specs, 0);
	unit_machine_fini(&master);
}

/* A client that is refused when it comes back drops the job, and so does the master. */
static void test_refused_on_return(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	reconnect(&master);
	unit_machine_say(&master, CLIENT, unit_submit(1, 7, 1));
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EINVAL);
	assert_int_equal(counts(&master).jobs, 0);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	unit_machine_fini(&master);
}

/* The client forgets a cancelled job when it is told END: always, and once. */
static void test_cancel_is_answered(void **state)
{
	struct dlsi_record cancel = {.kind = DLSI_CANCEL};
	struct unit_machine master;

	(void)state;
	begin_with(&master, false, 1);
	cancel.cancel.job = unit_id(1);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	for (int time = 0; time < 2; time++) {
		unit_machine_say(&master, CLIENT, cancel);
		assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED);
		assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_END), 1);
	}
	assert_int_equal(counts(&master).jobs, 0);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1); /* its one credit is free again */
	unit_register_client(&master, OTHER, 2);
	unit_machine_say(&master, OTHER, cancel); /* not its job */
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_END), 1);
	assert_int_equal(counts(&master).jobs, 1);
	unit_machine_fini(&master);
}

/* An attached job lives as long as its client may come back; a client without one has nothing to come back to. */
static void test_lost_clients(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {CLIENT, 1}};
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	unit_machine_step(&master, lost);
	assert_int_equal(counts(&master).clients, 0);
	master.generations[CLIENT] = 2;
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, single));
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	lost.peer.generation = 2;
	unit_machine_step(&master, lost);
	unit_machine_wait(&master, 400 * UNIT_MS);
	assert_int_equal(counts(&master).jobs, 1);
	unit_register_worker(&master, OTHER, 20, "two", 1, "work"); /* somebody is heard meanwhile */
	unit_machine_wait(&master, 400 * UNIT_MS);
	master.generations[CLIENT] = 3;
	unit_register_client(&master, CLIENT, 1);
	unit_machine_wait(&master, 400 * UNIT_MS);
	assert_int_equal(counts(&master).jobs, 1);
	lost.peer.generation = 3;
	unit_machine_step(&master, lost);
	unit_machine_wait(&master, 2 * (int64_t)UNIT_S);
	assert_int_equal(counts(&master).jobs + counts(&master).clients, 0);
	unit_machine_fini(&master);
}

static void test_progress(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 100), record;
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_try_worker(&master, CLIENT, WORKER);
	submit.submit.window_end = 5;
	unit_machine_say(&master, CLIENT, submit);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_PROGRESS, 0, &record)); /* is told who can run it at once */
	assert_int_equal(record.progress.workers, 1);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_PROGRESS, 0, &record));
	assert_int_equal(record.progress.done, 0);
	assert_int_equal(record.progress.running, 5);
	assert_int_equal(record.progress.workers, 1);
	unit_machine_wait(&master, 100 * UNIT_MS); /* nothing is new */
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_PROGRESS), 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	unit_ack(&master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_PROGRESS, 0, &record));
	assert_int_equal(record.progress.done, 1);
	reconnect(&master);
	unit_machine_say(&master, CLIENT, submit); /* is told again on a new connection */
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_PROGRESS), 1);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_one_item_from_submission_to_end, test_items_beyond_the_window_wait, test_bytes_beyond_the_window_wait,
	test_no_room,

	test_job_that_is_presented_again, test_items_that_the_client_has, test_items_that_the_client_has_meanwhile,
	test_tasks_around_what_is_done, test_other_inputs_under_the_same_key, test_ranges_that_are_none,
	test_objections, test_specifications_are_refused_each_for_its_own_reason, test_specifications_with_gaps,
	test_specifications_are_shared, test_refused_on_return, test_cancel_is_answered, test_lost_clients,
	test_progress)
