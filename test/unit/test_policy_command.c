/* Policies that are exchanged while jobs run, and tenants that are given weights. */
#include "base/limits.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { WORKER = 1, OTHER, TASKS = 60 };

/* A master with one worker of `credits`, and a client whose specification 0 makes tasks of single items. */
static void begin(struct unit_machine *master, uint16_t credits)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_machine_say(master, UNIT_ASKER, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 1, "one", credits, "work");
}

static void ask(struct unit_machine *master, const char *question, const char *member, const char *expected)
{
	cJSON *answer = unit_ask(master, "%s", question);

	assert_string_equal(unit_text(answer, member), expected);
	cJSON_Delete(answer);
}

static void test_policy_is_shown_and_exchanged(void **state)
{
	struct unit_machine master;
	char longest[1100];

	(void)state;
	begin(&master, 8);
	ask(&master, "{\"command\":\"policy\"}", "policy", "roundrobin");
	ask(&master, "{\"command\":\"policy\",\"name\":\"priority\",\"params\":{\"ageing_ms\":5}}", "policy",
		"priority");
	ask(&master, "{\"command\":\"status\"}", "policy", "priority");
	unit_ask_in_vain(&master, "{\"command\":\"policy\",\"name\":\"fastest\"}", DLS_EINVAL, "leastloaded");
	snprintf(longest, sizeof longest, "{\"command\":\"policy\",\"name\":\"%01000d\"}", 0);
	unit_ask_in_vain(&master, longest, DLS_EINVAL, "leastloaded"); /* what there is, however long the name */
	unit_ask_in_vain(
		&master, "{\"command\":\"policy\",\"name\":\"drf\",\"params\":{\"x\":1}}", DLS_EINVAL, "\"x\"");
	unit_ask_in_vain(&master, "{\"command\":\"policy\",\"params\":{\"x\":1}}", DLS_EINVAL, "name");
	unit_ask_in_vain(&master, "{\"command\":\"policy\",\"name\":\"drf\",\"params\":7}", DLS_EINVAL, "params");
	ask(&master, "{\"command\":\"policy\"}", "policy", "priority");
	unit_machine_fini(&master);
}

/* The worker's answer to the n-th task that it was now given; of which job that was. */
static uint8_t answer(struct unit_machine *master, struct dlsi_assign *queued, unsigned *count)
{
	struct dlsi_assign task = queued[0];
	struct dlsi_record result = unit_result(&task, 100, false);

	memmove(queued, queued + 1, --*count * sizeof *queued);
	unit_machine_say(master, WORKER, result);
	for (unsigned i = 0; i < unit_machine_count(master, WORKER, DLSI_ASSIGN); i++)
		queued[(*count)++] = unit_assigned(master, WORKER, i);
	return task.job.bytes[0];
}

/* Every few results another policy decides: each item is run exactly once, and all are. */
static void test_nothing_is_lost_or_doubled_by_an_exchange(void **state)
{
	static const char *const policies[] = {
		"leastloaded", "priority", "feedback", "deadline", "drf", "ddrf", "roundrobin"};
	struct unit_machine master;
	struct dlsi_assign queued[TASKS];
	bool given[3][TASKS] = {{false}};
	unsigned count = 0, done = 0;

	(void)state;
	begin(&master, 4);
	for (uint8_t job = 1; job <= 2; job++) {
		unit_machine_say(&master, UNIT_ASKER, unit_submit(job, 0, TASKS / 2));
		for (unsigned i = 0; i < unit_machine_count(&master, WORKER, DLSI_ASSIGN); i++)
			queued[count++] = unit_assigned(&master, WORKER, i);
	}
	while (count) {
		uint64_t item = queued[0].first;
		uint8_t job = answer(&master, queued, &count);

		assert_false(given[job][item]);
		given[job][item] = true;
		if (++done % 5 == 0)
			cJSON_Delete(
				unit_ask(&master, "{\"command\":\"policy\",\"name\":\"%s\"}", policies[done / 5 % 7]));
		for (unsigned i = 0; i < unit_machine_count(&master, WORKER, DLSI_ASSIGN) && done % 5 == 0; i++)
			queued[count++] = unit_assigned(&master, WORKER, i);
	}
	assert_int_equal(done, TASKS);
	unit_machine_fini(&master);
}

static void test_weights_of_tenants(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	ask(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":2.5}", "tenant", "a");
	ask(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":0.5}", "tenant", "a");
	ask(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":1}", "tenant", "a");
	ask(&master, "{\"command\":\"tenant\",\"name\":\"b\",\"weight\":1000000}", "tenant", "b");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":0}", DLS_EINVAL, "weight");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":-1}", DLS_EINVAL, "weight");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"weight\":1e7}", DLS_EINVAL, "weight");
	ask(&master, "{\"command\":\"tenant\",\"name\":\"a\"}", "tenant", "a");
	unit_ask_in_vain(
		&master, "{\"command\":\"tenant\",\"name\":\"a\",\"quota\":{\"cores\":0}}", DLS_EINVAL, "cores");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"a\",\"quota\":[]}", DLS_EINVAL, "quota");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"weight\":1}", DLS_EINVAL, "name");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"\",\"weight\":2}", DLS_EINVAL, "1 to 255");
	unit_machine_fini(&master);
}

static void set_weight(struct unit_machine *master, unsigned tenant, double weight)
{
	cJSON_Delete(unit_ask(master, "{\"command\":\"tenant\",\"name\":\"t%u\",\"weight\":%g}", tenant, weight));
}

/* However many tenants are given weights, others can still come. */
static void test_weights_leave_room_for_tenants(void **state)
{
	const char *another = "{\"command\":\"tenant\",\"name\":\"another\",\"weight\":2}";
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	for (unsigned i = 0; i < DLSI_TENANTS_KEPT; i++)
		set_weight(&master, i, 2);
	unit_ask_in_vain(&master, another, DLS_ELIMIT, "2048 tenants");
	set_weight(&master, 0, 3);
	set_weight(&master, 1, 1);
	ask(&master, another, "tenant", "another");
	unit_ask_in_vain(&master, "{\"command\":\"tenant\",\"name\":\"t1\",\"weight\":2}", DLS_ELIMIT, "weight 1");
	unit_machine_fini(&master);
}

/* A task of one item, whose result the worker at the slot says took so long. */
static void measure(struct unit_machine *master, uint8_t job, uint32_t slot, uint64_t elapsed_ns)
{
	struct dlsi_assign task;
	struct dlsi_record result;

	unit_machine_say(master, UNIT_ASKER, unit_submit(job, 0, 1));
	task = unit_assigned(master, slot, 0);
	result = unit_result(&task, 100, false);
	result.result.elapsed_ns = elapsed_ns;
	master->now_ns += (int64_t)elapsed_ns;
	unit_machine_say(master, slot, result);
	unit_ack(master, UNIT_ASKER, job, &task.attempt, 1, NULL, 0);
}

/* The fastest device has become slower than another: a job that the other can do in time is not refused. */
static void test_deadlines_are_held_against_who_is_fastest_now(void **state)
{
	struct unit_machine master;
	struct dlsi_record job = unit_submit(4, 0, 1);

	(void)state;
	begin(&master, 1);
	unit_register_worker(&master, OTHER, 2, "two", 1, "work");
	measure(&master, 1, WORKER, UNIT_MS);
	measure(&master, 2, OTHER, 10 * UNIT_MS);
	measure(&master, 3, WORKER, 1000 * UNIT_MS); /* about 126 ms are expected of it now */
	ask(&master, "{\"command\":\"policy\",\"name\":\"deadline\"}", "policy", "deadline");
	job.submit.deadline_ns = 20 * UNIT_MS;
	unit_machine_say(&master, UNIT_ASKER, job);
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_ACCEPTED), 1);
	unit_machine_fini(&master);
}

/* With a quota of one device a tenant has one task at a time, whatever is free, until the quota goes. */
static void test_quota_of_a_tenant(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first;

	(void)state;
	begin(&master, 8);
	ask(&master, "{\"command\":\"tenant\",\"name\":\"tenant\",\"quota\":{\"devices\":1}}", "tenant", "tenant");
	unit_machine_say(&master, UNIT_ASKER, unit_submit(1, 0, 20));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	first = unit_assigned(&master, WORKER, 0);
	cJSON_Delete(unit_ask(&master, "{\"command\":\"explain\",\"job\":\"%s\"}", "01000000000000000000000000000000"));
	unit_machine_say(&master, WORKER, unit_result(&first, 100, false));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	cJSON_Delete(unit_ask(&master, "{\"command\":\"tenant\",\"name\":\"tenant\"}"));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 7); /* as many as it takes of short ones */
	unit_machine_fini(&master);
}

/* Longer than nanoseconds can count: 2^40 items of 100 s. */
static void test_far_ends_are_expected(void **state)
{
	struct unit_machine master;
	cJSON *answer;

	(void)state;
	begin(&master, 1);
	measure(&master, 1, WORKER, 100 * (uint64_t)UNIT_S);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(2, 0, DLSI_JOB_ITEMS));
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"02000000\"}");
	assert_true(unit_number(answer, "expected_ms") > 1e16);
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_quota_of_a_tenant, test_policy_is_shown_and_exchanged, test_nothing_is_lost_or_doubled_by_an_exchange,
	test_weights_of_tenants, test_weights_leave_room_for_tenants,
	test_deadlines_are_held_against_who_is_fastest_now, test_far_ends_are_expected)
