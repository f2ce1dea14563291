/* The master against scripted connections and workers: each test is one promise that the simulator's ordinary peers do
 * not put to the test. What clients submit is in test_jobs.c. */
#include "base/limits.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

static struct dlsi_master_counts counts(const struct unit_machine *master)
{
	return dlsi_master_counts(master->core);
}

/* A master with a worker and a client, whose specification 0 asks for single items. */
static void begin(struct unit_machine *master, uint16_t credits)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 10, "one", credits, "work");
}

static void lose(struct unit_machine *master, uint32_t slot)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_LOST, .peer = {slot, master->generations[slot]}};

	unit_machine_step(master, event);
}

static void heartbeat(struct unit_machine *master, uint32_t slot, uint64_t sent)
{
	struct dlsi_record record = {.kind = DLSI_HEARTBEAT};

	record.heartbeat.sent = sent;
	unit_machine_say(master, slot, record);
}

/* A worker whose result is not of what it was given cannot be worked with; its items go to another. */
static void test_result_that_does_not_fit(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 6; kind++) {
		struct unit_machine master;
		struct dlsi_assign task;
		struct dlsi_record result;

		begin(&master, 8);
		unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
		task = unit_assigned(&master, WORKER, 0);
		unit_register_worker(&master, OTHER, 20, "two", 8, "work");
		result = unit_result(&task,
			kind == 0   ? 0
			: kind == 5 ? DLSI_RESULT_PAGE_BYTES + 1
				    : 100,
			kind == 0 || kind == 5);
		if (kind == 1)
			result.result.end++;
		else if (kind == 2)
			result.result.first = UINT64_MAX;
		else if (kind == 3)
			result.result.bytes = 99;
		else if (kind == 4)
			result.result.job = unit_id(3);
		unit_machine_say(&master, WORKER, result);
		assert_int_equal(unit_refusal(&master, WORKER), DLS_EPROTOCOL);
		assert_int_equal(unit_assigned(&master, OTHER, 0).first, 0);
		assert_int_equal(counts(&master).workers, 1);
		unit_machine_fini(&master);
	}
}

/* A result of what the worker was not given, or gave already, is let go; the payload with it. */
static void test_result_that_nobody_waits_for(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	struct dlsi_record record;

	(void)state;
	begin(&master, 8);
	unit_register_worker(&master, OTHER, 20, "two", 8, "work");
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, OTHER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_TAKEN), 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	for (int time = 0; time < 2; time++) {
		unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_TAKEN), 1);
		assert_true(unit_machine_says(&master, WORKER, DLSI_TAKEN, 0, &record));
		assert_int_equal(record.taken.attempts.count, 1);
		assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), time == 0);
	}
	assert_int_equal(counts(&master).held_bytes, 100 + DLSI_HELD_RESULT_BYTES);
	assert_int_equal(unit_machine_held(&master), 2); /* the manifest and one result */
	unit_machine_fini(&master);
}

/* An offered result stays the worker's until the client has it. */
static void test_offer_is_confirmed_when_it_was_fetched(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	struct dlsi_record record;

	(void)state;
	begin(&master, 8);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 2));
	task = unit_assigned(&master, WORKER, 0);
	for (int time = 0; time < 2; time++) { /* the second is what a worker says after a reconnect */
		unit_machine_say(&master, WORKER, unit_result(&task, 100000, true));
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_TAKEN), 0);
	}
	unit_ack(&master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	assert_true(unit_machine_says(&master, WORKER, DLSI_TAKEN, 0, &record));
	assert_int_equal(dlsi_numbers_at(&record.taken.attempts, 0), task.attempt);
	unit_machine_fini(&master);
}

static void test_device_holds_no_more_than_it_offers(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 3);
	unit_try_worker(&master, CLIENT, WORKER);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 100));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 3);
	for (int round = 0; round < 50; round++) {
		struct dlsi_assign task = unit_assigned(&master, WORKER, 0);

		unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	}
	unit_machine_fini(&master);
}

/* Ends the worker's task, whose items took so long each, takes the next one and returns how many items that has. */
static uint64_t work(struct unit_machine *master, uint32_t slot, struct dlsi_assign *task, uint64_t item_ns)
{
	struct dlsi_record result = unit_result(task, 100, false);

	result.result.elapsed_ns = (task->end - task->first) * item_ns;
	master->now_ns += (int64_t)result.result.elapsed_ns;
	unit_machine_say(master, slot, result);
	*task = unit_assigned(master, slot, 0);
	return task->end - task->first;
}

static void test_slow_device_gets_smaller_tasks(void **state)
{
	struct unit_machine master;
	struct dlsi_assign one, two;
	uint64_t fast = 0, slow = 0;

	(void)state;
	begin(&master, 1);
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"handler\":\"work\"}"));
	unit_register_worker(&master, OTHER, 20, "two", 1, "work");
	unit_machine_say(&master, CLIENT, unit_submit(1, 1, 10000000));
	one = unit_assigned(&master, WORKER, 0);
	two = unit_assigned(&master, OTHER, 0);
	for (int round = 0; round < 50; round++) {
		fast = work(&master, WORKER, &one, 100000);
		slow = work(&master, OTHER, &two, 10000000);
	}
	assert_in_range(fast, 500, 1000); /* for 100 ms, or a little less */
	assert_in_range(slow, 5, 10);
	unit_machine_fini(&master);
}

static void test_jobs_take_turns(void **state)
{
	struct unit_machine master;
	unsigned turns[3] = {0};

	(void)state;
	begin(&master, 1);
	for (uint8_t job = 0; job < 3; job++)
		unit_machine_say(&master, CLIENT, unit_submit((uint8_t)(job + 1), 0, 1000));
	unit_register_worker(&master, OTHER, 20, "two", 1, "work");
	for (int round = 0; round < 300; round++) {
		struct dlsi_assign task = unit_assigned(&master, OTHER, 0);

		turns[task.job.bytes[0] - 1]++;
		unit_machine_say(&master, OTHER, unit_result(&task, 100, false));
	}
	for (int job = 0; job < 3; job++)
		assert_int_equal(turns[job], 100);
	unit_machine_fini(&master);
}

/* A job goes to a worker that has its handler, however busy that is and however idle others are. */
static void test_work_goes_to_who_can_do_it(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	unit_register_worker(&master, OTHER, 20, "two", 8, "play");
	unit_try_worker(&master, CLIENT, WORKER);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 20));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 8);
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_ASSIGN), 0);
	lose(&master, WORKER);
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_int_equal(counts(&master).tasks, 0);
	unit_machine_fini(&master);
}

/* However often a worker names a handler, and whoever named it before: those who can run it are counted. */
static void test_handlers_are_counted_once(void **state)
{
	struct dlsi_record records[] = {
		{.kind = DLSI_REGISTER}, {.kind = DLSI_DEVICE}, {.kind = DLSI_HANDLER}, {.kind = DLSI_HANDLER}};
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin(&master, 8);
	records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER, .version_low = 1, .version_high = 1};
	records[0].reg.name = records[1].device.name = dlsi_text_of("two");
	records[2].handler.name = records[3].handler.name = dlsi_text_of("work");
	unit_machine_tell(&master, OTHER, records, 4);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_PROGRESS, 0, &record));
	assert_int_equal(record.progress.workers, 2);
	lose(&master, OTHER);
	heartbeat(&master, CLIENT, 4);
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_PROGRESS, 0, &record));
	assert_int_equal(record.progress.workers, 1);
	unit_machine_fini(&master);
}

/* Names of handlers come and go with those who use them. */
static void test_handlers_are_forgotten(void **state)
{
	struct unit_machine master;
	char json[64];

	(void)state;
	begin(&master, 8);
	for (int i = 0; i < 1000; i++) {
		snprintf(json, sizeof json, "{\"handler\":\"h%d\"}", i);
		unit_machine_say(&master, CLIENT, unit_spec(0, json));
	}
	assert_int_equal(counts(&master).handlers, 2);
	assert_int_equal(counts(&master).specs, 1);
	lose(&master, CLIENT);
	lose(&master, WORKER);
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_int_equal(counts(&master).handlers + counts(&master).specs, 0);
	unit_machine_fini(&master);
}

/* A lost connection leaves the worker a while to come back with what it has; only a worker that does not is lost. */
static void test_worker_comes_back_in_time(void **state)
{
	struct unit_machine master;
	struct dlsi_record held = {.kind = DLSI_HELD};
	struct dlsi_record records[4] = {{.kind = DLSI_REGISTER}, {.kind = DLSI_DEVICE}, {.kind = DLSI_HANDLER}};
	struct dlsi_assign task;

	(void)state;
	begin(&master, 1);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	task = unit_assigned(&master, WORKER, 0);
	lose(&master, WORKER);
	unit_machine_wait(&master, 40 * UNIT_MS);
	held.held = (struct dlsi_held){task.job, task.attempt, task.first, task.end, 0};
	records[0].reg = (struct dlsi_register){
		.role = DLSI_ROLE_WORKER, .version_low = 1, .version_high = 1, .incarnation = 10};
	records[0].reg.name = records[1].device.name = dlsi_text_of("one");
	records[2].handler.name = dlsi_text_of("work");
	records[3] = held;
	master.generations[WORKER] = 2;
	unit_machine_tell(&master, WORKER, records, 4);
	assert_true(unit_machine_says(&master, WORKER, DLSI_WELCOME, 0, &records[0]));
	assert_int_equal(records[0].welcome.again, 0);
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	assert_int_equal(counts(&master).lost_workers, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	unit_machine_fini(&master);
}

static void test_worker_does_not_come_back(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	unit_register_worker(&master, OTHER, 20, "two", 1, "work");
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 2));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	lose(&master, OTHER);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	unit_machine_wait(&master, 40 * UNIT_MS);
	assert_int_equal(counts(&master).workers, 2);
	unit_machine_wait(&master, 20 * UNIT_MS);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	assert_int_equal(counts(&master).lost_workers, 1);
	assert_int_equal(counts(&master).workers, 1);
	assert_int_equal(counts(&master).tasks, 2);
	unit_machine_fini(&master);
}

/* While the loop was away nobody could be heard and nobody could come back. */
static void test_nobody_is_silent_while_the_master_is_away(void **state)
{
	const struct dlsi_event timer = {.kind = DLSI_EVENT_TIMER};
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	unit_register_worker(&master, OTHER, 20, "two", 8, "work");
	lose(&master, OTHER);
	master.now_ns += INT64_C(10000000000);
	unit_machine_step(&master, timer);
	assert_int_equal(counts(&master).workers, 2);
	assert_int_equal(counts(&master).clients, 1);
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_int_equal(counts(&master).workers, 1);
	unit_machine_wait(&master, UNIT_S);
	assert_int_equal(counts(&master).workers + counts(&master).clients, 0);
	unit_machine_fini(&master);
}

/* The transport gives a slot to a new connection before it says that the old one is gone. */
static void test_slot_that_is_used_again(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	master.generations[WORKER] = 2;
	unit_register_worker(&master, WORKER, 20, "two", 8, "work");
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_int_equal(counts(&master).workers, 1);
	unit_try_worker(&master, CLIENT, WORKER);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 4));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 4);
	unit_machine_fini(&master);
}

static void test_new_process_under_an_old_name(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 1);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	unit_register_worker(&master, OTHER, 20, "one", 1, "work");
	assert_int_equal(unit_refusal(&master, WORKER), DLS_EEXISTS);
	assert_int_equal(unit_assigned(&master, OTHER, 0).first, 0);
	assert_int_equal(counts(&master).workers, 1);
	unit_machine_fini(&master);
}

/* Counts of messages tell of a loss; and that they are right after an answer that crossed its question. */
static void test_messages_are_counted(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin(&master, 8);
	heartbeat(&master, WORKER, 2);
	heartbeat(&master, WORKER, 3);
	assert_int_equal(unit_refusal(&master, WORKER), 0);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work"); /* again, because no answer came in time */
	assert_true(unit_machine_says(&master, WORKER, DLSI_WELCOME, 0, &record));
	assert_int_equal(record.welcome.again, 1);
	heartbeat(&master, WORKER, 2);
	assert_int_equal(unit_refusal(&master, WORKER), 0);
	heartbeat(&master, WORKER, 4);
	assert_non_null(unit_machine_does(&master, DLSI_EFFECT_DISCONNECT, 0));
	heartbeat(&master, WORKER, 5);
	assert_int_equal(unit_refusal(&master, WORKER), DLS_ESTATE);
	unit_machine_fini(&master);
}

/* Its own count, from WELCOME on. */
static void test_heartbeats_say_how_many_messages_were_sent(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;
	uint64_t sent = 1; /* WELCOME */

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	for (int round = 0; round < 3; round++) {
		unit_machine_wait(&master, 100 * UNIT_MS);
		assert_true(unit_machine_says(&master, WORKER, DLSI_HEARTBEAT, 0, &record));
		assert_int_equal(record.heartbeat.sent, ++sent);
	}
	unit_register_worker(&master, WORKER, 10, "one", 8, "work"); /* the count begins again */
	unit_machine_wait(&master, 100 * UNIT_MS);
	assert_true(unit_machine_says(&master, WORKER, DLSI_HEARTBEAT, 0, &record));
	assert_int_equal(record.heartbeat.sent, 2);
	assert_int_equal(record.heartbeat.received, 1);
	unit_machine_fini(&master);
}

/* Names are foreign, and the log is read on terminals. */
static void test_names_in_the_log_are_printable(void **state)
{
	struct unit_machine master;
	const struct dlsi_effect *effect;
	struct dlsi_text line;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_worker(&master, WORKER, 10, "\x1b[2Jone\nmaster: all is well", 8, "work");
	do
		unit_machine_wait(&master, 100 * UNIT_MS);
	while (counts(&master).workers);
	effect = unit_machine_does(&master, DLSI_EFFECT_LOG, 0);
	line = dlsi_effects_text(&master.effects, effect->log.text, effect->log.text_length);
	assert_non_null(memmem(line.data, line.length, "?[2Jone?master", 14));
	unit_machine_fini(&master);
}

static void test_strangers_are_told_to_register(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	unit_machine_say(&master, OTHER, unit_submit(1, 0, 1));
	assert_int_equal(unit_refusal(&master, OTHER), DLS_ESTATE);
	master.cluster = unit_id(0xc2);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_ESTATE);
	assert_int_equal(counts(&master).jobs, 0);
	assert_int_equal(counts(&master).refused_messages, 2);
	unit_machine_fini(&master);
}

static void test_goodbyes(void **state)
{
	struct dlsi_record leave = {.kind = DLSI_LEAVE};
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	unit_register_worker(&master, OTHER, 20, "two", 1, "work");
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_say(&master, WORKER, leave);
	assert_int_equal(counts(&master).workers, 1);
	assert_int_equal(unit_assigned(&master, OTHER, 0).first, 0);
	unit_machine_say(&master, CLIENT, leave);
	assert_int_equal(counts(&master).clients + counts(&master).jobs, 0);
	unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_STOP});
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_LEAVE), 1);
	assert_int_equal(counts(&master).lost_workers, 0);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_result_that_does_not_fit, test_result_that_nobody_waits_for, test_offer_is_confirmed_when_it_was_fetched,
	test_device_holds_no_more_than_it_offers, test_slow_device_gets_smaller_tasks, test_jobs_take_turns,
	test_work_goes_to_who_can_do_it, test_handlers_are_counted_once, test_handlers_are_forgotten,
	test_worker_comes_back_in_time, test_worker_does_not_come_back, test_nobody_is_silent_while_the_master_is_away,
	test_slot_that_is_used_again, test_new_process_under_an_old_name, test_messages_are_counted,
	test_heartbeats_say_how_many_messages_were_sent, test_names_in_the_log_are_printable,
	test_strangers_are_told_to_register, test_goodbyes)
