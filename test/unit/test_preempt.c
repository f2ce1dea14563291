/* A job of higher priority takes the place of running tasks, where the policy says so and not otherwise. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, ONE, TWO, LOW = 1, HIGH = 2 };

#define PREEMPT "{\"command\":\"policy\",\"name\":\"priority\",\"params\":{\"preempt\":true}}"

/* The only worker holds two tasks of the low job, and the other job comes. */
static void begin(struct unit_machine *master, const char *policy, const char *spec, int32_t priority)
{
	struct dlsi_record high = unit_submit(HIGH, 1, 1);

	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	cJSON_Delete(unit_ask(master, "%s", policy));
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, spec));
	unit_machine_say(master, CLIENT, unit_spec(1, "{\"handler\":\"work\"}"));
	unit_register_worker(master, ONE, 11, "one", 2, "work");
	unit_machine_say(master, CLIENT, unit_submit(LOW, 0, 32));
	high.submit.priority = priority;
	unit_machine_say(master, CLIENT, high);
}

/* How many attempts the worker is asked for in 300 ms; those of the first time go to `attempts`. */
static unsigned recalls(struct unit_machine *master, uint64_t attempts[2])
{
	struct dlsi_record record;
	unsigned count = 0;

	for (int i = 0; i < 30; i++) {
		master->now_ns += 10 * UNIT_MS;
		unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		if (!unit_machine_says(master, ONE, DLSI_RECALL, 0, &record))
			continue;
		assert_int_equal(record.recall.running, 1);
		for (uint32_t n = 0; n < record.recall.attempts.count && count < 2; n++)
			attempts[count++] = dlsi_numbers_at(&record.recall.attempts, n);
	}
	return count;
}

static void test_a_higher_job_takes_the_place_of_a_lower_one(void **state)
{
	struct unit_machine master;
	struct dlsi_assign front = {.job = unit_id(LOW), .first = 0, .end = 3}, next;
	uint64_t attempts[2];
	cJSON *json;

	(void)state;
	begin(&master, PREEMPT, "{\"handler\":\"work\",\"task_items\":8}", 5);
	assert_int_equal(recalls(&master, attempts), 2); /* and not again, while the answer is on its way */
	unit_machine_say(&master, ONE, unit_handback(0, &attempts[1]));
	next = unit_assigned(&master, ONE, 0);
	assert_true(next.job.bytes[0] == HIGH);
	front.attempt = attempts[0];
	unit_machine_say(&master, ONE, unit_result(&front, 100, false)); /* of three items */
	next = unit_assigned(&master, ONE, 0);
	assert_true(next.job.bytes[0] == LOW);
	assert_int_equal(next.first, 3);
	json = unit_ask(&master, "{\"command\":\"status\"}");
	assert_int_equal((int)unit_number(json, "preemptions"), 1);
	cJSON_Delete(json);
	unit_machine_fini(&master);
}

/* Off; of the same priority; a lower one that has waited for so long that it is the next. */
static void test_where_nobody_takes_a_place(void **state)
{
	static const struct {
		const char *policy;
		int32_t priority;
	} cases[] = {{"{\"command\":\"policy\",\"name\":\"priority\"}", 5},
		{"{\"command\":\"policy\",\"name\":\"roundrobin\"}", 5}, {PREEMPT, 0}, {PREEMPT, -1}};
	uint64_t attempts[2];

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct unit_machine master;

		begin(&master, cases[i].policy, "{\"handler\":\"work\",\"task_items\":8}", cases[i].priority);
		assert_int_equal(recalls(&master, attempts), 0);
		unit_machine_fini(&master);
	}
}

static void test_a_job_that_has_aged_keeps_its_place(void **state)
{
	struct dlsi_record high = unit_submit(HIGH, 1, 1);
	struct unit_machine master;
	uint64_t attempts[2];

	(void)state;
	begin(&master, "{\"command\":\"policy\",\"name\":\"priority\",\"params\":{\"preempt\":true,\"ageing_ms\":10}}",
		"{\"handler\":\"work\",\"task_items\":8}", -1);
	unit_machine_wait(&master, 200 * UNIT_MS);
	high.submit.job = high.submit.token = unit_id(3);
	high.submit.priority = 1; /* ten milliseconds' worth */
	unit_machine_say(&master, CLIENT, high);
	assert_int_equal(recalls(&master, attempts), 0);
	unit_machine_fini(&master);
}

/* What runs has one item: only what waits behind it is asked for. */
static void test_an_item_is_not_cut(void **state)
{
	struct unit_machine master;
	uint64_t attempts[2];

	(void)state;
	begin(&master, PREEMPT, "{\"handler\":\"work\",\"task_items\":1}", 5);
	assert_int_equal(recalls(&master, attempts), 1);
	unit_machine_say(&master, ONE, unit_handback(0, &attempts[0]));
	assert_true(unit_assigned(&master, ONE, 0).job.bytes[0] == HIGH);
	unit_machine_fini(&master);
}

/* Of two devices the one with the lowest job is asked, and one is enough. */
static void test_the_lowest_job_gives_way(void **state)
{
	struct dlsi_record jobs[2] = {unit_submit(LOW, 0, 16), unit_submit(3, 0, 16)}, high = unit_submit(HIGH, 1, 1);
	struct unit_machine master;
	uint64_t attempts[2];

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_asker(&master);
	cJSON_Delete(unit_ask(&master, PREEMPT));
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":8}"));
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"handler\":\"work\"}"));
	unit_register_worker(&master, ONE, 11, "one", 2, "work");
	unit_machine_say(&master, CLIENT, jobs[0]);
	unit_register_worker(&master, TWO, 12, "two", 2, "work");
	jobs[1].submit.priority = 1;
	unit_machine_say(&master, CLIENT, jobs[1]);
	assert_int_equal(unit_machine_count(&master, TWO, DLSI_ASSIGN), 2);
	high.submit.priority = 5;
	unit_machine_say(&master, CLIENT, high);
	assert_int_equal(recalls(&master, attempts), 2);
	unit_machine_say(&master, ONE, unit_handback(0, &attempts[1]));
	assert_true(unit_assigned(&master, ONE, 0).job.bytes[0] == HIGH);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_a_higher_job_takes_the_place_of_a_lower_one, test_where_nobody_takes_a_place,
	test_a_job_that_has_aged_keeps_its_place, test_an_item_is_not_cut, test_the_lowest_job_gives_way)
