/* Items that fail are tried again as often and as late as their job says, and then only their error is their result. */
#include "core/again.h"
#include "core/change.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <string.h>

enum { WORKER = 1, JOB = 1, ITEMS = 4 };

static const char twice[] = "{\"handler\":\"work\",\"task_items\":4,\"retry\":{\"error\":{\"times\":2,\"wait_ms\":80,"
			    "\"wait_most_ms\":80},\"input\":{\"times\":1}}}";

static void begin(struct unit_machine *master, bool durable)
{
	unit_master_init(master, unit_alloc(), durable);
	unit_register_asker(master);
	unit_machine_say(master, UNIT_ASKER, unit_spec(0, twice));
	unit_register_worker(master, WORKER, 10, "one", 8, "work");
}

/* The worker's result, of which items [first, end) have failed in this way. */
static void let_fail(struct unit_machine *master, const struct dlsi_assign *task, uint64_t first, uint64_t end,
	enum dlsi_failure failure, bool offered)
{
	struct dlsi_record result = unit_result(task, offered ? 100000 : 100, offered);
	struct dlsi_buffer list;

	dlsi_buffer_init(&list, unit_alloc());
	dlsi_again_add(&list, &(struct dlsi_again){first, end, failure});
	result.result.failed = (uint32_t)(end - first);
	result.result.again = dlsi_again_list(&list);
	unit_machine_say(master, WORKER, result);
	dlsi_buffer_fini(&list);
}

static double job_number(struct unit_machine *master, const char *name)
{
	cJSON *answer = unit_ask(master, "{\"command\":\"job\",\"job\":\"01000000000000000000000000000000\"}");
	double value = unit_number(answer, name);

	cJSON_Delete(answer);
	return value;
}

/* What the client is told of the attempt: the final items are its, and the others are named. */
static void assert_told(const struct unit_machine *master, uint64_t first, uint64_t end)
{
	struct dlsi_record record;

	assert_true(unit_machine_says(master, UNIT_ASKER, DLSI_RESULT, 0, &record));
	assert_int_equal(dlsi_again_count(&record.result.again), first < end);
	if (first < end) {
		assert_int_equal(dlsi_again_at(&record.result.again, 0).first, first);
		assert_int_equal(dlsi_again_at(&record.result.again, 0).end, end);
	}
}

static void test_is_tried_again_until_it_has_failed_too_often(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, ITEMS));
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.end, ITEMS);
	let_fail(&master, &task, 1, 3, DLSI_FAILURE_ERROR, false);
	assert_told(&master, 1, 3);
	unit_ack(&master, UNIT_ASKER, JOB, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_END), 0);
	assert_int_equal(job_number(&master, "done"), 2);
	assert_int_equal(job_number(&master, "failed"), 0);
	assert_int_equal(job_number(&master, "retried"), 2);
	assert_int_equal(job_number(&master, "retry_waiting"), 2);
	for (unsigned time = 0; time < 2; time++) {
		unit_machine_wait(&master, 79 * UNIT_MS);
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
		for (unsigned ms = 0; ms < 12 && !unit_machine_count(&master, WORKER, DLSI_ASSIGN); ms++)
			unit_machine_wait(&master, UNIT_MS);
		task = unit_assigned(&master, WORKER, 0);
		assert_int_equal(task.first, 1);
		assert_int_equal(task.end, 3);
		let_fail(&master, &task, 1, 3, DLSI_FAILURE_ERROR, false);
		if (time == 0) /* nothing of it is anybody's */
			assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_RESULT), 0);
	}
	assert_told(&master, 0, 0);
	unit_ack(&master, UNIT_ASKER, JOB, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_end_state(&master, UNIT_ASKER), DLSI_JOB_DONE);
	assert_int_equal(job_number(&master, "failed"), 2);
	assert_int_equal(job_number(&master, "retried"), 4);
	assert_int_equal(dlsi_master_counts(master.core).held_bytes, 0);
	unit_machine_fini(&master);
}

/* Ways that the job does not name are final, and each way is counted by itself. */
static void test_counts_each_way(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, 1));
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 1, DLSI_FAILURE_INPUT, false);
	unit_machine_wait(&master, UNIT_MS);
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 1, DLSI_FAILURE_ERROR, false);
	unit_machine_wait(&master, 95 * UNIT_MS);
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 1, DLSI_FAILURE_TIME_LIMIT, false);
	assert_told(&master, 0, 0);
	unit_machine_fini(&master);
}

/* A worker that is lost gives its items back at once, and they have not failed more often than before. */
static void test_a_lost_worker_does_not_count(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {WORKER, 1}};
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, 1));
	for (unsigned time = 0; time < 2; time++) {
		task = unit_assigned(&master, WORKER, 0);
		let_fail(&master, &task, 0, 1, DLSI_FAILURE_ERROR, false);
		while (!unit_machine_count(&master, WORKER, DLSI_ASSIGN))
			unit_machine_wait(&master, UNIT_MS);
	}
	unit_machine_step(&master, lost);
	unit_machine_wait(&master, 60 * UNIT_MS);
	master.generations[WORKER]++;
	unit_register_worker(&master, WORKER, 11, "two", 8, "work");
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 1, DLSI_FAILURE_ERROR, false);
	assert_told(&master, 0, 0);
	unit_machine_fini(&master);
}

/* An offered page that the client cannot fetch: only what is final of it is run again at once. */
static void test_a_lost_offer_gives_back_what_is_final(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, ITEMS));
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 2, DLSI_FAILURE_ERROR, true);
	unit_ack(&master, UNIT_ASKER, JOB, NULL, 0, &task.attempt, 1);
	task = unit_assigned(&master, WORKER, 0);
	assert_int_equal(task.first, 2);
	assert_int_equal(task.end, ITEMS);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	assert_int_equal(job_number(&master, "retry_waiting"), 2);
	unit_machine_fini(&master);
}

/* The client comes back with what it has: what waits goes on waiting, and is not sent as a result. */
static void test_a_job_that_is_presented_again(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {UNIT_ASKER, 1}};
	struct dlsi_record again = unit_submit(JOB, 0, ITEMS);
	struct unit_machine master;
	struct dlsi_assign task;
	uint8_t data[16] = {2, [8] = ITEMS};

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, ITEMS));
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 2, DLSI_FAILURE_ERROR, false);
	unit_machine_step(&master, lost);
	master.generations[UNIT_ASKER]++;
	unit_register_asker(&master);
	unit_machine_say(&master, UNIT_ASKER, unit_spec(0, twice));
	again.submit.received = (struct dlsi_numbers){data, 2};
	unit_machine_say(&master, UNIT_ASKER, again);
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_RESULT), 0);
	assert_int_equal(dlsi_master_counts(master.core).tasks, 0);
	assert_int_equal(job_number(&master, "done"), 2);
	while (!unit_machine_count(&master, WORKER, DLSI_ASSIGN))
		unit_machine_wait(&master, UNIT_MS);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	unit_ack(&master, UNIT_ASKER, JOB, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_end_state(&master, UNIT_ASKER), DLSI_JOB_DONE);
	unit_machine_fini(&master);
}

static void persist(struct unit_machine *master, uint64_t index)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	event.persisted.index = index;
	unit_machine_step(master, event);
}

/* The log gets the result whole, and in the same record which of its items are tried again. */
static void test_a_durable_job(void **state)
{
	struct dlsi_record submit = unit_submit(JOB, 0, ITEMS);
	const struct dlsi_effect *append;
	struct dlsi_change change;
	struct dlsi_again again;
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, true);
	submit.submit.flags = DLSI_SUBMIT_DURABLE;
	unit_machine_say(&master, UNIT_ASKER, submit);
	persist(&master, 1);
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 1, 2, DLSI_FAILURE_ERROR, false);
	append = unit_machine_does(&master, DLSI_EFFECT_APPEND, 0);
	assert_non_null(append);
	assert_int_not_equal(append->payload.handle, 0);
	assert_true(dlsi_change_read(master.effects.arena.data + append->block, append->block_length, &change));
	assert_int_equal(change.items.first, 0);
	assert_int_equal(change.items.end, ITEMS);
	assert_int_equal(dlsi_again_count(&change.items.again), 1);
	again = dlsi_again_at(&change.items.again, 0);
	assert_int_equal(again.first, 1);
	assert_int_equal(again.end, 2);
	persist(&master, 2);
	assert_int_equal(job_number(&master, "done"), 3);
	assert_int_equal(dlsi_master_counts(master.core).tasks, 0);
	while (!unit_machine_count(&master, WORKER, DLSI_ASSIGN))
		unit_machine_wait(&master, UNIT_MS);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	persist(&master, 3);
	persist(&master, 4);
	assert_int_equal(unit_end_state(&master, UNIT_ASKER), DLSI_JOB_DONE);
	unit_machine_fini(&master);
}

static void test_says_why_it_waits(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	cJSON *answer;
	const cJSON *reason;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, 1));
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 0, 1, DLSI_FAILURE_ERROR, false);
	answer = unit_ask(&master, "{\"command\":\"explain\",\"job\":\"01000000000000000000000000000000\"}");
	reason = cJSON_GetArrayItem(unit_array(answer, "reasons"), 0);
	assert_string_equal(unit_text(reason, "reason"), "retry");
	assert_non_null(strstr(unit_text(reason, "text"), "1 of its items have failed and wait to be tried again"));
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

/* Lists that are none, and a specification whose rules are none. */
static void test_refuses_nonsense(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	struct dlsi_record submit = unit_submit(2, 1, 1);

	(void)state;
	begin(&master, false);
	unit_machine_say(
		&master, UNIT_ASKER, unit_spec(1, "{\"handler\":\"work\",\"retry\":{\"error\":{\"times\":-1}}}"));
	unit_machine_say(&master, UNIT_ASKER, submit);
	assert_int_equal(unit_refusal(&master, UNIT_ASKER), DLS_EINVAL);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(JOB, 0, ITEMS));
	task = unit_assigned(&master, WORKER, 0);
	let_fail(&master, &task, 3, 5, DLSI_FAILURE_ERROR, false);
	assert_int_equal(unit_refusal(&master, WORKER), DLS_EPROTOCOL);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_is_tried_again_until_it_has_failed_too_often, test_counts_each_way, test_a_lost_worker_does_not_count,
	test_a_lost_offer_gives_back_what_is_final, test_a_job_that_is_presented_again, test_a_durable_job,
	test_says_why_it_waits, test_refuses_nonsense)
