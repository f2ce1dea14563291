/* A task that runs for longer than almost all of its kind is run a second time where nothing else is to do; one of the
 * two results counts, whatever becomes of the other. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, ONE, TWO, THREE, JOB = 9 };

#define TASK_ITEMS(n) "{\"handler\":\"work\",\"task_items\":" #n "}"

static void answer(struct unit_machine *master, uint32_t worker, const struct dlsi_assign *task)
{
	struct dlsi_record result = unit_result(task, 100, false);

	result.result.elapsed_ns = 10 * UNIT_MS * (task->end - task->first);
	unit_machine_say(master, worker, result);
}

/* Each of `workers` is known to do such a task in 10 ms, and waits. */
static void begin(struct unit_machine *master, unsigned workers, const char *spec, uint64_t task_items)
{
	static const char *const names[] = {"", "one", "two", "three", "four"};
	struct dlsi_assign tasks[5];

	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, spec));
	for (unsigned i = 1; i <= workers; i++)
		unit_register_worker(master, i, 10 + i, names[i], 1, "work");
	unit_machine_say(master, CLIENT, unit_submit(1, 0, workers * task_items));
	for (unsigned i = 1; i <= workers; i++)
		tasks[i] = unit_assigned(master, i, 0);
	master->now_ns += 10 * UNIT_MS * (int64_t)task_items;
	for (unsigned i = 1; i <= workers; i++)
		answer(master, i, &tasks[i]);
}

/* A job of one task, at ONE if both are idle: it was served longest ago. */
static struct dlsi_assign give_one(struct unit_machine *master, uint64_t items)
{
	unit_machine_say(master, CLIENT, unit_submit(JOB, 0, items));
	return unit_assigned(master, ONE, 0);
}

/* Lets 300 ms pass, or less until the worker is given a task. */
static bool is_given(struct unit_machine *master, uint32_t worker, struct dlsi_assign *task_out)
{
	struct dlsi_record record;

	for (int i = 0; i < 30; i++) {
		master->now_ns += 10 * UNIT_MS;
		unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		if (unit_machine_says(master, worker, DLSI_ASSIGN, 0, &record)) {
			*task_out = record.assign;
			return true;
		}
	}
	return false;
}

static void assert_job(struct unit_machine *master, const char *name, int number)
{
	cJSON *json = unit_ask(master, "{\"command\":\"job\",\"job\":\"09000000000000000000000000000000\"}");

	assert_int_equal((int)unit_number(json, name), number);
	cJSON_Delete(json);
}

static void assert_status(struct unit_machine *master, const char *name, int number)
{
	cJSON *json = unit_ask(master, "{\"command\":\"status\"}");

	assert_int_equal((int)unit_number(json, name), number);
	cJSON_Delete(json);
}

static bool is_cancelled(const struct unit_machine *master, uint32_t worker, uint64_t attempt)
{
	struct dlsi_record record;

	return unit_machine_says(master, worker, DLSI_CANCEL, 0, &record) && record.cancel.attempt == attempt;
}

/* ONE has a task that it does not end, and TWO has the same. */
static void begin_pair(struct unit_machine *master, struct dlsi_assign *first, struct dlsi_assign *second)
{
	begin(master, 2, TASK_ITEMS(1), 1);
	*first = give_one(master, 1);
	assert_true(is_given(master, TWO, second));
	assert_int_equal(second->first, first->first);
	assert_int_equal(second->end, first->end);
	assert_true(second->attempt != first->attempt);
}

static void test_the_second_attempt_wins(void **state)
{
	struct dlsi_assign first, second;
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin_pair(&master, &first, &second);
	assert_job(&master, "running", 1);
	assert_job(&master, "task_count", 2);
	assert_job(&master, "second_runs", 1);
	answer(&master, TWO, &second);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	assert_true(is_cancelled(&master, ONE, first.attempt));
	assert_job(&master, "running", 0);
	assert_job(&master, "returned", 1);
	answer(&master, ONE, &first); /* after all */
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	assert_true(unit_machine_says(&master, ONE, DLSI_TAKEN, 0, &record));
	assert_status(&master, "unwanted_results", 1);
	assert_status(&master, "second_wins", 1);
	unit_ack(&master, CLIENT, JOB, &second.attempt, 1, NULL, 0);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	assert_job(&master, "second_runs", 1);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

static void test_the_first_attempt_wins(void **state)
{
	struct dlsi_assign first, second;
	struct unit_machine master;

	(void)state;
	begin_pair(&master, &first, &second);
	answer(&master, ONE, &first);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	assert_true(is_cancelled(&master, TWO, second.attempt));
	assert_status(&master, "second_wins", 0);
	assert_status(&master, "second_runs", 1);
	unit_machine_fini(&master);
}

/* The device that was outrun is taken for as slow as it was seen to be. */
static void test_a_device_that_was_outrun_is_known_to_be_slow(void **state)
{
	struct dlsi_assign first, second;
	struct unit_machine master;
	cJSON *json;

	(void)state;
	begin_pair(&master, &first, &second);
	answer(&master, TWO, &second);
	json = unit_ask(&master, "{\"command\":\"workers\"}");
	for (int i = 0; i < 2; i++) {
		const cJSON *worker = cJSON_GetArrayItem(unit_array(json, "workers"), i);
		double task_ms = unit_number(cJSON_GetArrayItem(unit_array(worker, "devices"), 0), "task_ms");

		assert_true(i == 0 ? task_ms > 20 : task_ms < 11);
	}
	cJSON_Delete(json);
	unit_machine_fini(&master);
}

/* Whichever worker is lost: the other has all of it, and nobody is given it again. */
static void test_one_of_the_two_is_lost(void **state)
{
	(void)state;
	for (uint32_t lost = ONE; lost <= TWO; lost++) {
		struct dlsi_assign both[3];
		struct dlsi_event event = {.kind = DLSI_EVENT_LOST};
		struct unit_machine master;

		begin_pair(&master, &both[ONE], &both[TWO]);
		event.peer = (struct dlsi_peer){lost, 1};
		unit_machine_step(&master, event);
		unit_machine_wait(&master, 60 * UNIT_MS);
		assert_status(&master, "lost_workers", 1);
		assert_job(&master, "running", 1);
		assert_job(&master, "task_count", 1);
		answer(&master, lost == ONE ? TWO : ONE, &both[lost == ONE ? TWO : ONE]);
		assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
		unit_machine_fini(&master);
	}
}

static void test_both_are_lost(void **state)
{
	struct dlsi_assign both[3], again;
	struct unit_machine master;

	(void)state;
	begin_pair(&master, &both[ONE], &both[TWO]);
	for (uint32_t lost = ONE; lost <= TWO; lost++)
		unit_machine_step(
			&master, (struct dlsi_event){.kind = DLSI_EVENT_LOST, .peer = (struct dlsi_peer){lost, 1}});
	unit_machine_wait(&master, 60 * UNIT_MS);
	assert_job(&master, "waiting", 1);
	unit_register_worker(&master, THREE, 13, "three", 1, "work");
	again = unit_assigned(&master, THREE, 0);
	assert_int_equal(again.first, both[ONE].first);
	unit_machine_fini(&master);
}

/* A worker comes back and presents its attempt, or does not. */
static void test_a_twin_comes_back(void **state)
{
	(void)state;
	for (int presents = 0; presents < 2; presents++) {
		struct dlsi_assign first, second;
		struct unit_machine master;
		struct dlsi_record records[] = {
			{.kind = DLSI_REGISTER}, {.kind = DLSI_DEVICE}, {.kind = DLSI_HANDLER}, {.kind = DLSI_HELD}};

		begin_pair(&master, &first, &second);
		records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
			.version_low = 1,
			.version_high = 1,
			.incarnation = 11,
			.name = dlsi_text_of("one")};
		records[1].device = (struct dlsi_device_offer){.credits = 1};
		records[2].handler.name = dlsi_text_of("work");
		records[3].held = (struct dlsi_held){unit_id(JOB), first.attempt, first.first, first.end, 0};
		master.generations[ONE]++;
		unit_machine_tell(&master, ONE, records, presents ? 4 : 3);
		assert_job(&master, "running", 1);
		assert_job(&master, "task_count", presents ? 2 : 1);
		answer(&master, TWO, &second);
		assert_int_equal(is_cancelled(&master, ONE, first.attempt), presents);
		unit_machine_fini(&master);
	}
}

static void test_one_of_the_two_is_handed_back(void **state)
{
	struct dlsi_assign first, second;
	struct unit_machine master;

	(void)state;
	begin_pair(&master, &first, &second);
	unit_machine_say(&master, ONE, unit_handback(1, &first.attempt));
	assert_job(&master, "running", 1);
	assert_job(&master, "waiting", 0);
	answer(&master, TWO, &second);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 1);
	unit_machine_fini(&master);
}

static void test_a_cancelled_job_has_neither(void **state)
{
	struct dlsi_assign first, second;
	struct unit_machine master;
	cJSON *json;

	(void)state;
	begin_pair(&master, &first, &second);
	json = unit_ask(&master, "{\"command\":\"cancel\",\"jobs\":[\"09000000000000000000000000000000\"]}");
	cJSON_Delete(json);
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_FORGET), 1);
	assert_int_equal(unit_machine_count(&master, TWO, DLSI_FORGET), 1);
	assert_int_equal(dlsi_master_counts(master.core).tasks, 2); /* of the first job, whose results wait */
	answer(&master, ONE, &first);
	answer(&master, TWO, &second);
	assert_status(&master, "unwanted_results", 2);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

/* Nothing runs twice where the job, the master or a pause says so, nor where nothing is gained. */
static void test_what_is_not_run_twice(void **state)
{
	static const char *const commands[] = {
		"{\"command\":\"speculation\",\"params\":{\"percent\":0}}",
		"{\"command\":\"speculation\",\"params\":{\"least_ms\":1000}}",
		"{\"command\":\"speculation\",\"params\":{\"factor\":100}}",
		"{\"command\":\"pause\",\"jobs\":[\"09000000000000000000000000000000\"]}",
		"{\"command\":\"drain\",\"worker\":\"two\"}",
	};
	struct dlsi_assign task;
	struct unit_machine master;

	(void)state;
	begin(&master, 2, "{\"handler\":\"work\",\"task_items\":1,\"speculate\":false}", 1);
	give_one(&master, 1);
	assert_false(is_given(&master, TWO, &task));
	unit_machine_fini(&master);
	for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
		begin(&master, 2, TASK_ITEMS(1), 1);
		give_one(&master, 1);
		cJSON_Delete(unit_ask(&master, "%s", commands[i]));
		assert_false(is_given(&master, TWO, &task));
		unit_machine_fini(&master);
	}
}

/* Of a kind of which none has ended nobody knows how long it takes. */
static void test_nothing_is_known_of_the_first_task(void **state)
{
	struct dlsi_assign task;
	struct unit_machine master;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, TASK_ITEMS(1)));
	unit_register_worker(&master, ONE, 11, "one", 1, "work");
	unit_machine_say(&master, CLIENT, unit_submit(JOB, 0, 1));
	unit_register_worker(&master, TWO, 12, "two", 1, "work");
	assert_false(is_given(&master, TWO, &task));
	unit_machine_fini(&master);
}

/* Tasks that the workers from THREE on are given in so many milliseconds; the last one goes to *task_out. */
static unsigned count_given(struct unit_machine *master, int duration_ms, struct dlsi_assign *task_out)
{
	unsigned given = 0;

	for (int ms = 0; ms < duration_ms; ms += 10) {
		master->now_ns += 10 * UNIT_MS;
		unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		for (uint32_t worker = THREE; worker <= 4; worker++) {
			if (!unit_machine_count(master, worker, DLSI_ASSIGN))
				continue;
			*task_out = unit_assigned(master, worker, 0);
			given++;
		}
	}
	return given;
}

/* Of four devices a tenth is less than one, so one pair at a time; the next when that is over. */
static void test_pairs_are_bounded(void **state)
{
	struct dlsi_assign first[2], second, next;
	struct unit_machine master;

	(void)state;
	begin(&master, 4, TASK_ITEMS(1), 1);
	unit_machine_say(&master, CLIENT, unit_submit(JOB, 0, 2));
	first[0] = unit_assigned(&master, ONE, 0);
	first[1] = unit_assigned(&master, TWO, 0);
	assert_int_equal(count_given(&master, 250, &second), 1);
	answer(&master, second.first ? TWO : ONE, &first[second.first]);
	assert_int_equal(count_given(&master, 100, &next), 1);
	assert_true(next.first != second.first);
	unit_machine_fini(&master);
}

/* Of many items the rest is asked for first; who does not answer in the time of an item is outrun. */
static void test_a_task_of_many_items_is_asked_to_stop_first(void **state)
{
	struct dlsi_assign first, task;
	struct unit_machine master;
	struct dlsi_record record;
	unsigned stops = 0;

	(void)state;
	begin(&master, 2, TASK_ITEMS(2), 2);
	first = give_one(&master, 2);
	while (!unit_machine_count(&master, TWO, DLSI_ASSIGN)) {
		master.now_ns += 10 * UNIT_MS;
		unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		if (!unit_machine_says(&master, ONE, DLSI_RECALL, 0, &record))
			continue;
		assert_int_equal(record.recall.running, 1);
		assert_int_equal(dlsi_numbers_at(&record.recall.attempts, 0), first.attempt);
		assert_int_equal(unit_machine_count(&master, TWO, DLSI_ASSIGN), 0);
		stops++;
	}
	assert_int_equal(stops, 1);
	task = unit_assigned(&master, TWO, 0);
	assert_int_equal(task.end - task.first, 2);
	first.end--; /* it stops after all: of no use, since the other does the whole */
	answer(&master, ONE, &first);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_RESULT), 0);
	assert_job(&master, "running", 2);
	answer(&master, TWO, &task);
	assert_job(&master, "returned", 2);
	unit_machine_fini(&master);
}

/* Whatever a worker says of the time that it took: no more counts than has passed. */
static void test_a_worker_that_exaggerates_is_not_believed(void **state)
{
	struct dlsi_assign task;
	struct dlsi_record result;
	struct unit_machine master;
	cJSON *json;

	(void)state;
	begin(&master, 1, TASK_ITEMS(1), 1);
	task = give_one(&master, 1);
	master.now_ns += 10 * UNIT_MS;
	result = unit_result(&task, 100, false);
	result.result.elapsed_ns = UINT64_MAX;
	unit_machine_say(&master, ONE, result);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_RESULT, 0, &result));
	assert_int_equal(result.result.elapsed_ns, 10 * UNIT_MS);
	json = unit_ask(&master, "{\"command\":\"job\",\"job\":\"09000000000000000000000000000000\"}");
	assert_true(unit_number(json, "item_ms") < 10.1);
	cJSON_Delete(json);
	unit_machine_fini(&master);
}

static void test_parameters_that_cannot_be(void **state)
{
	struct unit_machine master;
	cJSON *json;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_asker(&master);
	unit_ask_in_vain(&master, "{\"command\":\"speculation\",\"params\":{\"percent\":101}}", DLS_EINVAL, "percent");
	unit_ask_in_vain(&master, "{\"command\":\"speculation\",\"params\":{\"quantile\":1.5}}", DLS_EINVAL,
		"quantile is from 0.5 to 1");
	unit_ask_in_vain(&master, "{\"command\":\"speculation\",\"params\":{\"factor\":0}}", DLS_EINVAL, "factor");
	unit_ask_in_vain(&master, "{\"command\":\"speculation\",\"params\":{\"quantil\":1}}", DLS_EINVAL, "quantile");
	json = unit_ask(&master, "{\"command\":\"speculation\",\"params\":{\"percent\":50}}");
	assert_int_equal((int)unit_number(json, "percent"), 50);
	assert_int_equal((int)unit_number(json, "least_ms"), 100);
	cJSON_Delete(json);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_the_second_attempt_wins, test_the_first_attempt_wins, test_a_device_that_was_outrun_is_known_to_be_slow,
	test_one_of_the_two_is_lost, test_both_are_lost, test_a_twin_comes_back, test_one_of_the_two_is_handed_back,
	test_a_cancelled_job_has_neither, test_what_is_not_run_twice, test_nothing_is_known_of_the_first_task,
	test_pairs_are_bounded, test_a_task_of_many_items_is_asked_to_stop_first,
	test_a_worker_that_exaggerates_is_not_believed, test_parameters_that_cannot_be)
