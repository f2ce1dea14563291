/* A running task that stops between two items: at the worker what is done becomes the result of just these items, at
 * the master only the rest goes to another. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include "worker/task.h"
#include <string.h>

enum { CLIENT, ONE, TWO };

/* ---- the master's end: the task of a whole job of 8 items is at the first worker, which is drained */

static struct dlsi_assign begin(struct unit_machine *master)
{
	struct dlsi_record record;
	struct dlsi_assign task;
	cJSON *answer;

	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":8}"));
	unit_register_worker(master, ONE, 10, "one", 2, "work");
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 8));
	task = unit_assigned(master, ONE, 0);
	unit_register_worker(master, TWO, 11, "two", 2, "work");
	answer = unit_ask(master, "{\"command\":\"drain\",\"worker\":\"one\"}");
	cJSON_Delete(answer);
	assert_true(unit_machine_says(master, ONE, DLSI_RECALL, 0, &record));
	assert_int_equal(record.recall.running, 1);
	assert_int_equal(dlsi_numbers_at(&record.recall.attempts, 0), task.attempt);
	return task;
}

static void test_only_the_rest_moves(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;
	struct dlsi_assign task, rest;
	cJSON *answer;

	(void)state;
	for (int offered = 0; offered < 2; offered++) {
		task = begin(&master);
		task.end = 3;
		unit_machine_say(&master, ONE, unit_result(&task, offered ? 100000 : 100, offered));
		assert_true(unit_machine_says(&master, CLIENT, DLSI_RESULT, 0, &record));
		assert_int_equal(record.result.end, 3);
		rest = unit_assigned(&master, TWO, 0);
		assert_int_equal(rest.first, 3);
		assert_int_equal(rest.end, 8);
		answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"01000000000000000000000000000000\"}");
		assert_int_equal((int)unit_number(answer, "running"), 5);
		assert_int_equal((int)unit_number(answer, "returned"), 3);
		assert_int_equal((int)unit_number(answer, "waiting"), 0);
		cJSON_Delete(answer);
		unit_machine_say(&master, TWO, unit_result(&rest, 100, false));
		unit_ack(&master, CLIENT, 1, (uint64_t[]){task.attempt, rest.attempt}, 2, NULL, 0);
		assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
		unit_machine_fini(&master);
	}
}

/* A result may begin where its task begins and end within it, and nowhere else. */
static void test_a_result_of_other_items_is_refused(void **state)
{
	static const uint64_t ranges[][2] = {{0, 9}, {0, 0}, {1, 8}, {1, 3}};

	(void)state;
	for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		struct unit_machine master;
		struct dlsi_assign task = begin(&master);

		task.first = ranges[i][0];
		task.end = ranges[i][1];
		unit_machine_say(&master, ONE, unit_result(&task, 100, false));
		assert_int_equal(unit_refusal(&master, ONE), DLS_EPROTOCOL);
		assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
		assert_int_equal(unit_assigned(&master, TWO, 0).end, 8);
		unit_machine_fini(&master);
	}
}

/* ---- the worker's end */

static void begin_agent(struct unit_machine *agent)
{
	struct dlsi_record records[] = {{.kind = DLSI_JOB}, {.kind = DLSI_ASSIGN}};

	unit_agent_init(agent, unit_alloc());
	unit_machine_connect(agent);
	unit_machine_welcome(agent);
	records[0].job.job = unit_id(1);
	records[0].job.frames = 1;
	records[0].job.count = 10;
	records[1].assign = (struct dlsi_assign){.job = unit_id(1), .attempt = 1, .first = 2, .end = 10};
	unit_machine_tell(agent, 0, records, 2);
}

static const struct dlsi_effect *recall(struct unit_machine *agent, uint8_t running)
{
	static const uint8_t one[] = {1, 0, 0, 0, 0, 0, 0, 0};
	struct dlsi_record record = {.kind = DLSI_RECALL};

	record.recall.attempts = (struct dlsi_numbers){one, 1};
	record.recall.running = running;
	unit_machine_say(agent, 0, record);
	return unit_machine_does(agent, DLSI_EFFECT_RECALL, 0);
}

static void test_the_agent_says_how_far_it_came(void **state)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .job = unit_id(1), .attempt = 1};
	struct dlsi_record record;
	struct unit_machine agent;

	(void)state;
	begin_agent(&agent);
	assert_false(recall(&agent, 0)->recall.running);
	assert_true(recall(&agent, 1)->recall.running); /* asked for what had not begun, it had */
	assert_null(recall(&agent, 1));
	assert_null(recall(&agent, 0));
	event.executed.payload = unit_machine_give(&agent, 100);
	event.executed.left = 5;
	unit_machine_step(&agent, event);
	assert_true(unit_machine_says(&agent, 0, DLSI_RESULT, 0, &record));
	assert_int_equal(record.result.first, 2);
	assert_int_equal(record.result.end, 5);
	unit_machine_connect(&agent);
	assert_true(unit_machine_says(&agent, 0, DLSI_HELD, 0, &record));
	unit_machine_welcome(&agent);
	assert_true(unit_machine_says(&agent, 0, DLSI_RESULT, 0, &record)); /* and says the same again */
	assert_int_equal(record.result.end, 5);
	unit_machine_fini(&agent);
}

/* ---- the task itself */

static void give(struct dls_task *task, uint32_t item)
{
	float value = (float)item;
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_FLOAT32;
	tensor.data = &value;
	tensor.bytes = sizeof value;
	assert_int_equal(dls_task_result(task, item, &tensor, 1, NULL), 0);
}

/* What was given beyond the first gap goes too: one range is the result. */
static void test_a_task_ends_before_its_first_gap(void **state)
{
	struct dls_error missing = {0};
	struct dlsi_id job = unit_id(1);
	struct dlsi_buffer page;
	struct dls_task task;
	uint32_t failed;

	(void)state;
	assert_int_equal(dlsi_task_init(&task, unit_alloc(), &job, 1, 0, 6, "{}"), 0);
	assert_int_equal(dls_task_stopped(&task), 0);
	atomic_store(&task.recalled, true);
	assert_int_equal(dls_task_stopped(&task), 1);
	assert_int_equal(dls_task_cancelled(&task), 0); /* what it has done is wanted */
	give(&task, 0);
	dls_task_fail(&task, 1, DLS_EINVAL, "bad");
	give(&task, 4);
	assert_int_equal(dlsi_task_give_up(&task), 4);
	assert_true(dlsi_task_is_complete(&task));
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &missing, &page, &failed), 0);
	assert_int_equal(failed, 1);
	dlsi_buffer_fini(&page);
	assert_int_equal(dlsi_task_give_up(&task), 0);
	dlsi_task_fini(&task);
}

UNIT_MAIN(test_only_the_rest_moves, test_a_result_of_other_items_is_refused, test_the_agent_says_how_far_it_came,
	test_a_task_ends_before_its_first_gap)
