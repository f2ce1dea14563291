/* Why a job is not running: every reason that there is, and that of what runs there is none. */
#include "base/limits.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER };

/* A client whose jobs have tasks of one item. */
static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
}

static void submit(struct unit_machine *master, uint8_t job, uint64_t items, int32_t priority)
{
	struct dlsi_record record = unit_submit(job, 0, items);

	record.submit.priority = priority;
	unit_machine_say(master, CLIENT, record);
}

static cJSON *explain(struct unit_machine *master, uint8_t job)
{
	return unit_ask(master, "{\"command\":\"explain\",\"job\":\"%02x000000\"}", job);
}

/* The reason of this name, NULL if it is not one of the explanation's. */
static const cJSON *find(const cJSON *answer, const char *name)
{
	const cJSON *reason;

	cJSON_ArrayForEach (reason, unit_array(answer, "reasons"))
		if (strcmp(unit_text(reason, "reason"), name) == 0)
			return reason;
	return NULL;
}

/* The job is kept back by this reason, whose sentence has these words. */
static void expect(struct unit_machine *master, uint8_t job, const char *name, const char *words)
{
	cJSON *answer = explain(master, job);
	const cJSON *reason = find(answer, name);

	if (!reason || !strstr(unit_text(reason, "text"), words))
		print_error("%s is not there: %s\n", name, cJSON_Print(answer));
	assert_non_null(reason);
	assert_non_null(strstr(unit_text(reason, "text"), words));
	cJSON_Delete(answer);
}

static void expect_not(struct unit_machine *master, uint8_t job, const char *name)
{
	cJSON *answer = explain(master, job);

	assert_null(find(answer, name));
	cJSON_Delete(answer);
}

static void command(struct unit_machine *master, const char *name, uint8_t job)
{
	cJSON_Delete(unit_ask(master, "{\"command\":\"%s\",\"jobs\":[\"%02x000000\"]}", name, job));
}

static void test_no_worker(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	submit(&master, 1, 5, 0);
	expect(&master, 1, "no_worker", "no worker is registered with the master");
	unit_register_worker(&master, WORKER, 10, "one", 8, "other");
	expect(&master, 1, "no_worker", "has the handler \"work\"; they have other");
	unit_machine_say(&master, CLIENT,
		unit_spec(1, "{\"model\":{\"bundle\":"
			     "\"0000000000000000000000000000000000000000000000000000000000000001\""
			     ",\"bytes\":100}}"));
	unit_machine_say(&master, CLIENT, unit_submit(2, 1, 5));
	expect(&master, 2, "no_worker", "no worker of the master runs models");
	unit_machine_fini(&master);
}

static void test_pause(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_register_worker(&master, WORKER, 10, "one", 2, "work");
	submit(&master, 1, 5, 0);
	expect(&master, 1, "running", "2 of its items are at workers, in 2 tasks");
	expect_not(&master, 1, "paused");
	command(&master, "pause", 1);
	expect(&master, 1, "paused", "paused");
	expect_not(&master, 1, "devices_full"); /* that is not what it waits for */
	command(&master, "cancel", 1);
	expect(&master, 1, "ended", "ended");
	unit_machine_fini(&master);
}

/* One long task before short ones on the only device. */
static void test_full_devices_and_others(void **state)
{
	struct unit_machine master;
	const cJSON *reason;
	cJSON *answer;

	(void)state;
	begin(&master);
	unit_register_worker(&master, WORKER, 10, "one", 2, "work");
	submit(&master, 1, 1, 0);
	submit(&master, 2, 5, 0);
	submit(&master, 3, 5, 7);
	submit(&master, 4, 5, 0);
	unit_machine_wait(&master, 2 * UNIT_MS);
	expect(&master, 3, "devices_full", "all 1 devices that can run it");
	expect(&master, 3, "order", "2 other jobs wait for the same devices, 0 of them with a higher priority");
	expect(&master, 4, "order", "2 other jobs wait for the same devices, 1 of them with a higher priority");
	expect(&master, 1, "given_out", "all its items are given out; 1 of them are at workers");
	expect(&master, 2, "queued", "1 of its tasks are at devices that are busy with tasks of other jobs");
	answer = explain(&master, 4);
	reason = cJSON_GetArrayItem(unit_array(find(answer, "devices_full"), "tasks"), 0);
	assert_string_equal(unit_text(reason, "worker"), "one");
	assert_string_equal(unit_text(reason, "job"), "01000000000000000000000000000000");
	assert_int_equal((int)unit_number(reason, "since_ms"), 2);
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

static void test_window_of_the_client(void **state)
{
	struct unit_machine master;
	struct dlsi_record record = unit_submit(1, 0, 5);
	struct dlsi_assign task;

	(void)state;
	begin(&master);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	record.submit.window_end = 2;
	unit_machine_say(&master, CLIENT, record);
	task = unit_assigned(&master, WORKER, 0);
	expect(&master, 1, "window", "room for results up to item 2");
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	expect(&master, 1, "returned", "1 results are on their way to its client");
	record = unit_submit(2, 0, 5);
	record.submit.window_bytes = 0;
	unit_machine_say(&master, CLIENT, record);
	expect(&master, 2, "window", "room for 0 bytes of results");
	unit_machine_fini(&master);
}

static void test_nothing(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_ask_in_vain(&master, "{\"command\":\"explain\",\"job\":\"77777777\"}", DLS_ENOTFOUND, "knows no job");
	unit_ask_in_vain(&master, "{\"command\":\"explain\"}", DLS_EINVAL, "names no job");
	unit_machine_fini(&master);
}

UNIT_MAIN(test_no_worker, test_pause, test_full_devices_and_others, test_window_of_the_client, test_nothing)
