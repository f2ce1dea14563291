/* Commands that change jobs of others: cancel, pause, resume, priority. */
#include "base/limits.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER };

#define JOB "01000000000000000000000000000000"

/* A job of ten items, of which the worker can have two tasks of one item. */
static void begin(struct unit_machine *master, bool durable)
{
	unit_master_init(master, unit_alloc(), durable);
	unit_register_asker(master);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 10, "one", 2, "work");
}

static void submit(struct unit_machine *master)
{
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 10));
}

/* Gives the command about one job, and returns what has become of it: its state, or the code of why nothing has. */
static void command(struct unit_machine *master, const char *name, const char *more, const char *expected)
{
	cJSON *answer = unit_ask(master, "{\"command\":\"%s\",\"jobs\":[\"01000000\"]%s}", name, more);
	const cJSON *row = cJSON_GetArrayItem(unit_array(answer, "jobs"), 0);

	assert_string_equal(unit_text(row, cJSON_HasObjectItem(row, "error") ? "error" : "state"), expected);
	if (cJSON_HasObjectItem(row, "state"))
		assert_string_equal(unit_text(row, "job"), JOB);
	cJSON_Delete(answer);
}

static void test_cancel(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;
	cJSON *answer;

	(void)state;
	begin(&master, false);
	submit(&master);
	command(&master, "cancel", "", "cancelled");
	assert_true(unit_machine_says(&master, CLIENT, DLSI_END, 0, &record));
	assert_int_equal(record.end.state, DLSI_JOB_CANCELLED);
	assert_int_equal(record.end.code, DLS_ECANCELLED);
	assert_non_null(memmem(record.end.sentence.data, record.end.sentence.length, "by a command of tenant", 22));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	answer = unit_ask(&master, "{\"command\":\"cancel\",\"jobs\":[\"" JOB "\",\"77777777\"]}");
	assert_string_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 0), "error"), "DLS_ESTATE");
	assert_non_null(strstr(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 0), "text"),
		"has ended already: cancelled 0.0 s ago with 0 of its 10 items done"));
	assert_string_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 1), "error"), "DLS_ENOTFOUND");
	cJSON_Delete(answer);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 0);
	unit_machine_fini(&master);
}

static void test_bad_commands(void **state)
{
	static char many[16384];
	size_t length = (size_t)sprintf(many, "{\"command\":\"cancel\",\"jobs\":[");
	struct unit_machine master;

	(void)state;
	begin(&master, false);
	for (int i = 0; i <= DLSI_COMMANDED_JOBS; i++)
		length += (size_t)sprintf(many + length, "%s\"%s\"", i ? "," : "", JOB);
	strcpy(many + length, "]}");
	unit_ask_in_vain(&master, many, DLS_EINVAL, "from 1 to 128 jobs");
	unit_ask_in_vain(&master, "{\"command\":\"cancel\",\"jobs\":[]}", DLS_EINVAL, "from 1 to 128 jobs");
	unit_ask_in_vain(&master, "{\"command\":\"cancel\"}", DLS_EINVAL, "from 1 to 128 jobs");
	unit_ask_in_vain(&master, "{\"command\":\"cancel\",\"jobs\":[7]}", DLS_EINVAL, "as texts");
	unit_ask_in_vain(&master, "{\"command\":\"cancel\",\"jobs\":\"all\"}", DLS_EINVAL, "\"jobs\"");
	unit_ask_in_vain(&master, "{\"command\":\"cancel\",\"job\":\"" JOB "\"}", DLS_EINVAL, "\"jobs\"");
	unit_ask_in_vain(&master, "{\"command\":\"priority\",\"jobs\":[\"" JOB "\"]}", DLS_EINVAL, "\"priority\"");
	unit_ask_in_vain(&master, "{\"command\":\"priority\",\"jobs\":[\"" JOB "\"],\"priority\":1000001}", DLS_EINVAL,
		"from -1000000 to 1000000");
	unit_machine_fini(&master);
}

/* A paused job gives out nothing new; what runs comes to its end. */
static void test_pause_and_resume(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;
	cJSON *answer;

	(void)state;
	begin(&master, false);
	submit(&master);
	task = unit_assigned(&master, WORKER, 0);
	command(&master, "pause", "", "paused");
	command(&master, "pause", "", "paused"); /* as it is already */
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	answer = unit_ask(&master, "{\"command\":\"jobs\",\"state\":\"paused\"}");
	assert_string_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 0), "state"), "paused");
	cJSON_Delete(answer);
	answer = unit_ask(&master, "{\"command\":\"jobs\",\"state\":\"active\"}");
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "jobs")), 0);
	cJSON_Delete(answer);
	command(&master, "resume", "", "resumed");
	unit_machine_wait(&master, UNIT_MS);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"" JOB "\"}");
	assert_int_equal((int)unit_number(answer, "running"), 2);
	assert_string_equal(unit_text(answer, "state"), "active");
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

/* The last items of a paused job may come back, and it ends. */
static void test_end_of_a_paused_job(void **state)
{
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master, false);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	task = unit_assigned(&master, WORKER, 0);
	command(&master, "pause", "", "paused");
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	unit_ack(&master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	command(&master, "resume", "", "DLS_ESTATE");
	unit_machine_fini(&master);
}

static void test_priority(void **state)
{
	struct unit_machine master;
	cJSON *answer;

	(void)state;
	begin(&master, false);
	submit(&master);
	command(&master, "priority", ",\"priority\":-7", "changed");
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"" JOB "\"}");
	assert_int_equal((int)unit_number(answer, "priority"), -7);
	cJSON_Delete(answer);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

/* A client that has not heard of the end presents its job again: it does not begin anew. */
static void test_client_that_missed_the_end(void **state)
{
	struct unit_machine master;
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {CLIENT, 1}};
	struct dlsi_record record = unit_submit(1, 0, 10);

	(void)state;
	begin(&master, false);
	submit(&master);
	unit_machine_step(&master, lost);
	command(&master, "cancel", "", "cancelled");
	master.generations[CLIENT]++;
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	submit(&master);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 0);
	record.submit.token = unit_id(9); /* another job under the key */
	unit_machine_say(&master, CLIENT, record);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 1);
	unit_machine_fini(&master);
}

static void persist(struct unit_machine *master, uint64_t index)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	event.persisted.index = index;
	unit_machine_step(master, event);
}

/* The log has the changes of a durable job before they hold, and a master that comes after makes them again. */
static void test_durable_job(void **state)
{
	struct dlsi_record record = unit_submit(1, 0, 10);
	struct unit_machine master, after;
	const struct dlsi_effect *append;
	cJSON *answer;

	(void)state;
	begin(&master, true);
	unit_master_init(&after, unit_alloc(), true);
	record.submit.flags = DLSI_SUBMIT_DURABLE;
	unit_machine_say(&master, CLIENT, record);
	for (uint64_t index = 1; index <= 3; index++) {
		append = unit_machine_does(&master, DLSI_EFFECT_APPEND, 0);
		assert_int_equal(append->append.index, index);
		assert_int_equal(dlsi_master_replay(after.core, index, master.effects.arena.data + append->block,
					 append->block_length,
					 index == 1 ? unit_machine_give(&after, 100) : (struct dlsi_payload){0},
					 &after.effects, NULL),
			0);
		if (index == 1)
			command(&master, "pause", "", "paused");
		else if (index == 2)
			command(&master, "priority", ",\"priority\":9", "changed");
	}
	persist(&master, 1); /* it is accepted and runs: that it is paused is not persisted yet */
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 2);
	persist(&master, 3);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"" JOB "\"}");
	assert_string_equal(unit_text(answer, "state"), "paused");
	assert_int_equal((int)unit_number(answer, "priority"), 9);
	cJSON_Delete(answer);
	unit_register_asker(&after);
	answer = unit_ask(&after, "{\"command\":\"job\",\"job\":\"" JOB "\"}");
	assert_string_equal(unit_text(answer, "state"), "paused");
	assert_int_equal((int)unit_number(answer, "priority"), 9);
	cJSON_Delete(answer);
	command(&master, "cancel", "", "cancelled");
	command(&master, "pause", "", "DLS_ESTATE"); /* its end is on its way */
	persist(&master, 4);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED);
	command(&master, "pause", "", "DLS_ESTATE");
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
	unit_machine_fini(&after);
}

UNIT_MAIN(test_cancel, test_bad_commands, test_pause_and_resume, test_end_of_a_paused_job, test_priority,
	test_client_that_missed_the_end, test_durable_job)
