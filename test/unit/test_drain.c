/* Draining, at both ends: a master gives a worker nothing more and gets back what has not begun, and a worker that is
 * to leave begins nothing and says when nothing is left. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, ONE, TWO };

/* Two workers and a job whose tasks have one item; the first has two of them. */
static void begin(struct unit_machine *master, uint64_t items)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, ONE, 10, "one", 2, "work");
	unit_machine_say(master, CLIENT, unit_submit(1, 0, items));
}

static void drain(struct unit_machine *master, const char *command, bool draining, int held)
{
	cJSON *answer = unit_ask(master, "{\"command\":\"%s\",\"worker\":\"one\"}", command);

	assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(answer, "draining")), draining);
	assert_int_equal((int)unit_number(answer, "held"), held);
	cJSON_Delete(answer);
}

static void test_recalled_tasks_go_to_others(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first, second;
	struct dlsi_record record;

	(void)state;
	begin(&master, 2);
	unit_machine_wait(&master, UNIT_MS);
	unit_register_worker(&master, TWO, 11, "two", 2, "work");
	drain(&master, "drain", true, 2);
	assert_true(unit_machine_says(&master, ONE, DLSI_RECALL, 0, &record));
	assert_int_equal(record.recall.attempts.count, 2);
	first.attempt = dlsi_numbers_at(&record.recall.attempts, 0);
	second.attempt = dlsi_numbers_at(&record.recall.attempts, 1);
	unit_machine_say(&master, ONE, unit_handback(0, &second.attempt)); /* it runs the first */
	assert_int_equal(unit_machine_count(&master, TWO, DLSI_ASSIGN), 1);
	assert_int_equal(unit_assigned(&master, TWO, 0).first, 1);
	unit_machine_say(&master, ONE, unit_handback(0, &second.attempt)); /* again: nothing is left of it */
	assert_int_equal(unit_machine_count(&master, TWO, DLSI_ASSIGN), 0);
	first = (struct dlsi_assign){.job = unit_id(1), .attempt = first.attempt, .first = 0, .end = 1};
	unit_machine_say(&master, ONE, unit_result(&first, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	drain(&master, "drain", true, 0);
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_RECALL), 0);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

/* A policy that waits for the first result of a device does not wait for one that will never come. */
static void test_who_gave_its_only_task_back_is_tried_again(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_asker(&master);
	cJSON_Delete(unit_ask(&master, "{\"command\":\"policy\",\"name\":\"feedback\"}"));
	unit_register_worker(&master, ONE, 10, "one", 2, "work");
	unit_machine_say(&master, UNIT_ASKER, unit_submit(1, 0, 1));
	task = unit_assigned(&master, ONE, 0);
	drain(&master, "drain", true, 1);
	unit_machine_say(&master, ONE, unit_handback(0, &task.attempt));
	drain(&master, "undrain", false, 0);
	assert_int_equal(unit_assigned(&master, ONE, 0).first, 0);
	unit_machine_fini(&master);
}

/* A worker cannot give back what others have, nor what it has answered. */
static void test_handing_back_what_is_not_its_own(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, 1);
	task = unit_assigned(&master, ONE, 0);
	unit_register_worker(&master, TWO, 11, "two", 2, "work");
	unit_machine_say(&master, TWO, unit_handback(0, &task.attempt));
	assert_int_equal(dlsi_master_counts(master.core).tasks, 1);
	unit_machine_say(&master, ONE, unit_result(&task, 100, false));
	unit_machine_say(&master, ONE, unit_handback(0, &task.attempt));
	assert_int_equal(dlsi_master_counts(master.core).tasks, 1);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

static void test_a_drained_worker_gets_nothing(void **state)
{
	struct unit_machine master;
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {ONE, 1}};
	cJSON *answer;

	(void)state;
	begin(&master, 1);
	drain(&master, "drain", true, 1);
	unit_machine_say(&master, CLIENT, unit_submit(2, 0, 5));
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 0);
	answer = unit_ask(&master, "{\"command\":\"explain\",\"job\":\"02000000\"}");
	assert_string_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "reasons"), 0), "reason"), "draining");
	cJSON_Delete(answer);
	answer = unit_ask(&master, "{\"command\":\"status\"}");
	assert_true(
		cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetArrayItem(unit_array(answer, "workers"), 0), "draining")));
	cJSON_Delete(answer);
	unit_machine_step(&master, lost); /* it comes back: still it is drained */
	master.generations[ONE]++;
	unit_register_worker(&master, ONE, 10, "one", 2, "work");
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 0);
	drain(&master, "undrain", false, 0);
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 2);
	unit_machine_fini(&master);
}

static void test_worker_that_leaves(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, 5);
	task = unit_assigned(&master, ONE, 1);
	unit_machine_say(&master, ONE, unit_handback(1, &task.attempt));
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 0);
	unit_ask_in_vain(&master, "{\"command\":\"undrain\",\"worker\":\"one\"}", DLS_ESTATE, "leave by itself");
	unit_ask_in_vain(&master, "{\"command\":\"drain\",\"worker\":\"two\"}", DLS_ENOTFOUND, "no worker \"two\"");
	unit_ask_in_vain(&master, "{\"command\":\"drain\"}", DLS_EINVAL, "\"worker\" is missing");
	unit_machine_fini(&master);
}

/* ---- the worker's end */

static void begin_agent(struct unit_machine *agent)
{
	struct dlsi_record records[] = {{.kind = DLSI_JOB}, {.kind = DLSI_ASSIGN}, {.kind = DLSI_ASSIGN}};

	unit_agent_init(agent, unit_alloc());
	unit_machine_connect(agent);
	unit_machine_welcome(agent);
	records[0].job.job = unit_id(1);
	records[0].job.frames = 1;
	records[0].job.count = 10;
	for (int i = 1; i < 3; i++)
		records[i].assign = (struct dlsi_assign){
			.job = unit_id(1), .attempt = (uint64_t)i, .first = (uint64_t)i, .end = (uint64_t)i + 1};
	unit_machine_tell(agent, 0, records, 3);
}

static void executed(struct unit_machine *agent, uint64_t attempt, bool dropped)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .job = unit_id(1), .attempt = attempt};

	event.executed.dropped = dropped;
	if (!dropped)
		event.executed.payload = unit_machine_give(agent, 100);
	unit_machine_step(agent, event);
}

static void take(struct unit_machine *agent, uint64_t attempt)
{
	struct dlsi_record record = {.kind = DLSI_TAKEN};
	uint8_t bytes[8] = {(uint8_t)attempt};

	record.taken.attempts = (struct dlsi_numbers){bytes, 1};
	unit_machine_say(agent, 0, record);
}

static void test_recall_at_the_worker(void **state)
{
	static const uint8_t bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
	struct dlsi_record record = {.kind = DLSI_RECALL};
	struct unit_machine agent;

	(void)state;
	begin_agent(&agent);
	record.recall.attempts = (struct dlsi_numbers){bytes, 3};
	unit_machine_say(&agent, 0, record);
	assert_int_equal(unit_machine_does(&agent, DLSI_EFFECT_RECALL, 0)->attempt, 1);
	assert_int_equal(unit_machine_does(&agent, DLSI_EFFECT_RECALL, 1)->attempt, 2);
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_RECALL, 2));
	unit_machine_say(&agent, 0, record); /* once is enough */
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_RECALL, 0));
	executed(&agent, 2, true);
	assert_true(unit_machine_says(&agent, 0, DLSI_HANDBACK, 0, &record));
	assert_int_equal(record.handback.leaving, 0);
	assert_int_equal(record.handback.attempts.count, 1);
	assert_int_equal(dlsi_numbers_at(&record.handback.attempts, 0), 2);
	executed(&agent, 1, false); /* it had begun */
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), 1);
	take(&agent, 1);
	assert_int_equal(dlsi_agent_counts(agent.core).tasks, 0);
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_DRAINED)); /* nobody has asked it to leave */
	unit_machine_fini(&agent);
}

static void test_worker_drains(void **state)
{
	struct dlsi_record record = {.kind = DLSI_ASSIGN};
	struct unit_machine agent;

	(void)state;
	begin_agent(&agent);
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_DRAIN});
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_RECALL, 1));
	assert_true(unit_machine_says(&agent, 0, DLSI_HANDBACK, 0, &record));
	assert_int_equal(record.handback.leaving, 1);
	record = (struct dlsi_record){.kind = DLSI_ASSIGN};
	record.assign = (struct dlsi_assign){.job = unit_id(1), .attempt = 3, .first = 5, .end = 6};
	unit_machine_say(&agent, 0, record); /* on its way when the master was told */
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_EXECUTE, 0));
	assert_true(unit_machine_says(&agent, 0, DLSI_HANDBACK, 0, &record));
	assert_int_equal(dlsi_numbers_at(&record.handback.attempts, 0), 3);
	executed(&agent, 2, true);
	executed(&agent, 1, false);
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_DRAINED)); /* nobody has its result yet */
	unit_machine_connect(&agent);
	unit_machine_welcome(&agent); /* a connection later it says so again */
	assert_true(unit_machine_says(&agent, 0, DLSI_HANDBACK, 0, &record));
	assert_int_equal(record.handback.leaving, 1);
	take(&agent, 1);
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_DRAINED));
	unit_machine_wait(&agent, UNIT_MS);
	unit_machine_fini(&agent);
}

/* What has been presented to the master and is dropped before that answers is handed back then. */
static void test_recall_while_registering(void **state)
{
	static const uint8_t bytes[] = {2, 0, 0, 0, 0, 0, 0, 0};
	struct dlsi_record record = {.kind = DLSI_RECALL};
	struct unit_machine agent;

	(void)state;
	begin_agent(&agent);
	record.recall.attempts = (struct dlsi_numbers){bytes, 1};
	unit_machine_say(&agent, 0, record);
	unit_machine_connect(&agent);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_HELD), 2);
	executed(&agent, 2, true);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_HANDBACK), 0);
	unit_machine_welcome(&agent);
	assert_true(unit_machine_says(&agent, 0, DLSI_HANDBACK, 0, &record));
	assert_int_equal(record.handback.attempts.count, 1);
	assert_int_equal(dlsi_numbers_at(&record.handback.attempts, 0), 2);
	executed(&agent, 1, false);
	unit_machine_fini(&agent);
}

/* Without a master only what runs is waited for. */
static void test_worker_drains_without_a_master(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST};
	struct unit_machine agent;

	(void)state;
	begin_agent(&agent);
	executed(&agent, 2, false);
	lost.peer.generation = agent.generations[0];
	unit_machine_step(&agent, lost);
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_DRAIN});
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_DRAINED));
	executed(&agent, 1, false);
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_DRAINED));
	unit_machine_fini(&agent);
}

UNIT_MAIN(test_recalled_tasks_go_to_others, test_who_gave_its_only_task_back_is_tried_again,
	test_handing_back_what_is_not_its_own, test_a_drained_worker_gets_nothing, test_worker_that_leaves,
	test_recall_at_the_worker, test_recall_while_registering, test_worker_drains,
	test_worker_drains_without_a_master)
