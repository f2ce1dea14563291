/* What a master keeps of durable jobs: results for whoever attaches, within its window, and nothing that was forgotten.
 */
#include "base/limits.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, WORKER, READER }; /* slots of peers */

static struct dlsi_master_counts counts(const struct unit_machine *master)
{
	return dlsi_master_counts(master->core);
}

static void persist(struct unit_machine *master, uint64_t index)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	event.persisted.index = index;
	unit_machine_step(master, event);
}

static struct dlsi_record submit(uint64_t count)
{
	struct dlsi_record record = unit_submit(1, 0, count);

	record.submit.flags = DLSI_SUBMIT_DURABLE;
	return record;
}

/* A durable job of so many items that was accepted; record 1 of the log. */
static void begin(struct unit_machine *master, uint64_t count, const char *spec)
{
	unit_master_init(master, unit_alloc(), true);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, spec));
	unit_register_worker(master, WORKER, 10, "one", 1, "work");
	unit_machine_say(master, CLIENT, submit(count));
	persist(master, 1);
}

/* Does the task in 100 bytes, which gives the worker the next one, and has the log write it down as record `index`. */
static void do_task(struct unit_machine *master, struct dlsi_assign *task, uint64_t index)
{
	unit_machine_wait(master, UNIT_MS);
	unit_machine_say(master, WORKER, unit_result(task, 100, false));
	if (unit_machine_count(master, WORKER, DLSI_ASSIGN))
		*task = unit_assigned(master, WORKER, 0);
	persist(master, index);
}

static struct dlsi_record attach(uint64_t window_end, uint64_t window_bytes)
{
	struct dlsi_record record = {.kind = DLSI_ATTACH};

	record.attach.job = unit_id(1);
	record.attach.token = unit_id(9);
	record.attach.window_end = window_end;
	record.attach.window_bytes = window_bytes;
	return record;
}

static struct dlsi_record ack(uint64_t window_end, uint64_t window_bytes)
{
	struct dlsi_record record = {.kind = DLSI_ACK};

	record.ack.job = unit_id(1);
	record.ack.window_end = window_end;
	record.ack.window_bytes = window_bytes;
	return record;
}

static void test_reader_within_its_window(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;
	struct dlsi_assign task;

	(void)state;
	begin(&master, 3, "{\"handler\":\"work\",\"task_items\":1}");
	task = unit_assigned(&master, WORKER, 0);
	do_task(&master, &task, 2);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_RESULT, 0, &record));
	assert_int_equal(record.result.end, 1);
	assert_int_equal(record.result.elapsed_ns, 1000);
	assert_memory_equal(record.result.worker.data, "one", 3);
	do_task(&master, &task, 3);
	do_task(&master, &task, 4);
	persist(&master, 5);
	assert_int_equal(counts(&master).kept_results, 3);
	unit_register_client(&master, READER, 2);
	unit_machine_say(&master, READER, attach(1, 1000));
	assert_true(unit_machine_says(&master, READER, DLSI_ACCEPTED, 0, &record));
	assert_int_equal(record.accepted.count, 3);
	assert_true(dlsi_id_equal(&record.accepted.token, &(struct dlsi_id){{9}}));
	assert_int_equal(unit_machine_count(&master, READER, DLSI_RESULT), 1);
	assert_int_equal(unit_end_state(&master, READER), 0);
	unit_machine_say(&master, READER, ack(3, 50)); /* room for 50 bytes, of which 100 are on their way */
	assert_int_equal(unit_machine_count(&master, READER, DLSI_RESULT), 0);
	unit_machine_say(&master, READER, ack(3, 1000));
	assert_int_equal(unit_machine_count(&master, READER, DLSI_RESULT), 2);
	assert_int_equal(unit_end_state(&master, READER), DLSI_JOB_DONE);
	assert_int_equal(counts(&master).refused_transitions, 0);
	unit_machine_fini(&master);
}

static void test_reader_of_nothing(void **state)
{
	struct dlsi_record attached = attach(1, 1);
	struct unit_machine master;

	(void)state;
	begin(&master, 1, "{\"handler\":\"work\",\"task_items\":1}");
	attached.attach.job = unit_id(2);
	unit_machine_say(&master, CLIENT, attached);
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_ENOTFOUND);
	unit_machine_fini(&master);
}

/* A result that no log keeps makes smaller tasks, and of one item ends the job. */
static void test_results_that_are_too_large(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, 4, "{\"handler\":\"work\",\"task_items\":4}");
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.end, 4);
	unit_machine_say(&master, WORKER, unit_result(&task, 100000, true));
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.end, 2);
	do_task(&master, &task, 2);
	assert_int_equal(task.first, 2);
	unit_machine_say(&master, WORKER, unit_result(&task, 100000, true));
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.end, 3);
	unit_machine_say(&master, WORKER, unit_result(&task, 100000, true));
	assert_int_equal(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0)->append.index, 3);
	persist(&master, 3);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_FAILED);
	assert_int_equal(counts(&master).tasks, 0);
	unit_machine_fini(&master);
}

static void command(struct unit_machine *master, const char *json)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	record.command.number = 1;
	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	unit_machine_say(master, CLIENT, record);
}

/* A job is forgotten once it has ended, when the log has that, and by whoever comes with the log afterwards too. */
static void test_forgotten(void **state)
{
	static const char forget[] = "{\"command\":\"forget\",\"jobs\":[\"01000000000000000000000000000000\"]}";
	struct unit_machine master;
	const struct dlsi_effect *effect;
	struct dlsi_assign task;

	(void)state;
	begin(&master, 1, "{\"handler\":\"work\",\"task_items\":1}");
	command(&master, forget);
	assert_null(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0));
	unit_machine_fini(&master);

	begin(&master, 1, "{\"handler\":\"work\",\"task_items\":1}");
	task = unit_assigned(&master, WORKER, 0);
	do_task(&master, &task, 2);
	persist(&master, 3);
	command(&master, forget);
	effect = unit_machine_does(&master, DLSI_EFFECT_APPEND, 0);
	assert_non_null(effect);
	assert_int_equal(effect->append.index, 4);
	command(&master, forget);
	assert_null(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0));
	assert_int_equal(counts(&master).jobs, 1);
	persist(&master, 4);
	assert_int_equal(counts(&master).jobs, 0);
	assert_int_equal(counts(&master).kept_results, 0);
	assert_int_equal(unit_machine_held(&master), 0);
	unit_machine_fini(&master);
}

/* While the log is in trouble nothing new is promised. */
static void test_trouble_of_the_log(void **state)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_LOG_STATE};
	struct dlsi_record second = submit(1);
	struct unit_machine master;

	(void)state;
	begin(&master, 1, "{\"handler\":\"work\",\"task_items\":1}");
	dlsi_fail(&event.log_state, DLS_EIO, "the disk is full");
	unit_machine_step(&master, event);
	second.submit.job = unit_id(2);
	unit_machine_say(&master, CLIENT, second);
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EIO);
	unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_LOG_STATE});
	unit_machine_say(&master, CLIENT, second);
	assert_int_equal(unit_refusal(&master, CLIENT), 0);
	assert_non_null(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0));
	unit_machine_fini(&master);
}

/* Results that come faster than the log takes them stop the job until half of them are through. */
static void test_slow_log(void **state)
{
	struct unit_machine master;
	unsigned given = 0;

	(void)state;
	unit_master_init(&master, unit_alloc(), true);
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(&master, WORKER, 10, "one", 1, "work");
	unit_machine_say(&master, CLIENT, submit(2000));
	persist(&master, 1);
	master.frame_bytes = DLSI_INLINE_BYTES;
	while (unit_machine_count(&master, WORKER, DLSI_ASSIGN)) {
		struct dlsi_assign task = unit_assigned(&master, WORKER, 0);

		given++;
		assert_true(given < 1000);
		unit_machine_say(&master, WORKER, unit_result(&task, DLSI_INLINE_BYTES, false));
	}
	assert_in_range(given, 400, 600);
	persist(&master, 1 + given / 4);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	persist(&master, 1 + given);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_reader_within_its_window, test_reader_of_nothing, test_results_that_are_too_large, test_forgotten,
	test_trouble_of_the_log, test_slow_log)
