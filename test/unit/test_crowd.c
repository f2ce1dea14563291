/* A master with a hundred thousand jobs of one client: what a waiting one takes, and that whatever concerns all of them
 * is done a part at a time, while the master hears and answers everybody. */
#include "base/limits.h"
#include "proto/bytes.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT, WORKER, OPERATOR }; /* slots */
enum { JOBS = 100000, TOGETHER = 50, JOB_BYTES_MOST = 290, SOME_JOBS = 20000, URGENT = JOBS / 2 };

static size_t taken; /* with what the allocator takes for itself */

static size_t weigh(void *memory)
{
	return memory ? malloc_usable_size(memory) + sizeof(size_t) : 0;
}

static void *resize_weighed(void *arg, void *old, size_t size)
{
	size_t before = weigh(old);
	void *memory = size ? realloc(old, size) : NULL;

	(void)arg;
	if (!size)
		free(old);
	taken += weigh(memory) - before;
	return memory;
}

static const struct dlsi_alloc weighed = {.resize = resize_weighed};

static struct dlsi_record job(uint32_t n)
{
	struct dlsi_record record = unit_submit(0, 0, 1);

	dlsi_put_u32(record.submit.job.bytes, n + 1);
	record.submit.priority = n == URGENT;
	return record;
}

static void submit(struct unit_machine *master, uint32_t count)
{
	struct dlsi_record records[TOGETHER];

	for (uint32_t n = 0; n < count;) {
		for (unsigned i = 0; i < TOGETHER; i++)
			records[i] = job(n++);
		unit_machine_tell(master, CLIENT, records, TOGETHER);
	}
}

static void begin(struct unit_machine *master, uint32_t count)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 10);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\"}"));
	submit(master, count);
	assert_int_equal(dlsi_master_counts(master->core).jobs, count);
}

static void turn(struct unit_machine *master)
{
	unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TURN});
}

static struct dlsi_record command_of(const char *what, const struct dlsi_id *job)
{
	static char json[100];
	struct dlsi_record record = {.kind = DLSI_COMMAND};
	char id[DLSI_ID_TEXT_BYTES];

	dlsi_hex(job->bytes, DLSI_ID_BYTES, id);
	snprintf(json, sizeof json, "{\"command\":\"%s\",\"jobs\":[\"%s\"]}", what, id);
	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	return record;
}

static int command(struct unit_machine *master, const char *json)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND}, reply;

	record.command.number = 1;
	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	unit_machine_say(master, OPERATOR, record);
	assert_true(unit_machine_says(master, OPERATOR, DLSI_REPLY, 0, &reply));
	return reply.reply.code;
}

static void test_a_waiting_job_is_small(void **state)
{
	struct unit_machine master;
	size_t before;

	(void)state;
	unit_master_init(&master, &weighed, false);
	unit_register_client(&master, CLIENT, 10);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\"}"));
	before = taken;
	submit(&master, JOBS);
	dlsi_effects_fini(&master.effects); /* what was said last is not the jobs' */
	assert_in_range((taken - before) / JOBS, 1, JOB_BYTES_MOST);
	dlsi_effects_init(&master.effects, &weighed);
	unit_machine_fini(&master);
	assert_int_equal(taken, 0);
}

static void test_a_policy_decides_when_all_have_come_to_it(void **state)
{
	struct unit_machine master;
	unsigned turns = 0;
	struct dlsi_assign task;
	struct dlsi_record urgent;

	(void)state;
	begin(&master, JOBS);
	unit_register_client(&master, OPERATOR, 11);
	assert_int_equal(command(&master, "{\"command\":\"policy\",\"name\":\"priority\"}"), 0);
	assert_int_equal(command(&master, "{\"command\":\"policy\",\"name\":\"drf\"}"), DLS_EBUSY);
	unit_register_worker(&master, WORKER, 12, "worker", 1, "work");
	for (; !unit_machine_count(&master, WORKER, DLSI_ASSIGN) && turns < JOBS; turns++)
		turn(&master);
	assert_in_range(turns, JOBS / DLSI_JOBS_PER_TURN / 2, 2 * JOBS / DLSI_JOBS_PER_TURN + 2);
	task = unit_assigned(&master, WORKER, 0);
	urgent = job(URGENT);
	assert_memory_equal(&task.job, &urgent.submit.job, sizeof task.job);
	assert_int_equal(command(&master, "{\"command\":\"policy\",\"name\":\"drf\"}"), 0);
	unit_machine_fini(&master); /* in the middle of it */
}

static void test_jobs_of_who_has_gone_end_in_parts(void **state)
{
	const struct dlsi_record leave = {.kind = DLSI_LEAVE};
	struct unit_machine master;
	uint64_t left, before = JOBS;

	(void)state;
	begin(&master, JOBS);
	unit_machine_say(&master, CLIENT, leave);
	unit_register_worker(&master, WORKER, 12, "worker", 8, "work");
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	while ((left = dlsi_master_counts(master.core).jobs)) {
		assert_in_range(before - left, 0, 4 * DLSI_JOBS_PER_TURN);
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
		before = left;
		turn(&master);
		assert_true(dlsi_master_counts(master.core).jobs < left);
	}
	assert_int_equal(dlsi_master_counts(master.core).job_bytes, 0);
	unit_machine_fini(&master);
}

static void test_progress_is_told_in_parts(void **state)
{
	struct unit_machine master;
	unsigned told = 0;

	(void)state;
	begin(&master, SOME_JOBS);
	unit_register_worker(&master, WORKER, 12, "worker", 1, "work"); /* now each job has one that can run it */
	for (unsigned beats = 0; beats < SOME_JOBS / DLSI_LOOKED_AT + 1; beats++) {
		unsigned now;

		do
			unit_machine_wait(&master, UNIT_MS);
		while (!unit_machine_count(&master, CLIENT, DLSI_HEARTBEAT));
		now = unit_machine_count(&master, CLIENT, DLSI_PROGRESS);
		assert_in_range(now, 1, DLSI_LOOKED_AT);
		told += now;
		unit_machine_say(&master, CLIENT, (struct dlsi_record){.kind = DLSI_ACK}); /* both are alive */
		unit_machine_say(&master, WORKER, (struct dlsi_record){.kind = DLSI_HANDBACK});
	}
	assert_int_equal(told, SOME_JOBS);
	unit_machine_fini(&master);
}

static void test_names_are_not_searched_for_ever(void **state)
{
	char json[200] = "{\"command\":\"pause\",\"jobs\":[\"01000000\",\"02000000\",\"03000000\"]}";
	struct dlsi_record reply;
	struct unit_machine master;

	(void)state;
	begin(&master, JOBS);
	unit_register_client(&master, OPERATOR, 11);
	assert_int_equal(command(&master, json), 0);
	assert_true(unit_machine_says(&master, OPERATOR, DLSI_REPLY, 0, &reply));
	assert_non_null(memmem(reply.reply.json.data, reply.reply.json.length, "\"paused\"", 8));
	assert_non_null(memmem(reply.reply.json.data, reply.reply.json.length, "give all 32 digits", 18));
	assert_int_equal(command(&master, "{\"command\":\"job\",\"job\":\"01000000\"}"), 0); /* another turn */
	unit_machine_fini(&master);
}

/* A worker knows only so many jobs at once: it forgets one of which it has nothing before it is told of another. */
static void test_a_worker_forgets_jobs_of_which_it_has_nothing(void **state)
{
	struct unit_machine master;
	struct dlsi_record record = unit_submit(0, 0, 2), forget;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_client(&master, CLIENT, 10);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(&master, WORKER, 12, "worker", 1, "work");
	for (uint32_t n = 0; n <= DLSI_WORKER_JOBS; n++) {
		struct dlsi_record ack = {.kind = DLSI_ACK};
		struct dlsi_assign task;
		uint8_t attempt[8];

		dlsi_put_u32(record.submit.job.bytes, n + 1);
		unit_machine_say(&master, CLIENT, record);
		if (n == DLSI_WORKER_JOBS)
			break;
		task = unit_assigned(&master, WORKER, 0);
		assert_memory_equal(&task.job, &record.submit.job, sizeof task.job);
		unit_machine_say(&master, CLIENT, command_of("pause", &task.job));
		unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
		dlsi_put_u64(attempt, task.attempt);
		ack.ack.job = task.job;
		ack.ack.window_end = ack.ack.window_bytes = UINT64_MAX;
		ack.ack.taken = (struct dlsi_numbers){attempt, 1};
		unit_machine_say(&master, CLIENT, ack);
	}
	assert_true(unit_machine_says(&master, WORKER, DLSI_FORGET, 0, &forget));
	assert_memory_equal(forget.forget.job.bytes, "\1\0\0\0", 4);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_JOB), 1);
	assert_int_equal(dlsi_master_counts(master.core).acquaintances, DLSI_WORKER_JOBS);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_a_waiting_job_is_small, test_a_policy_decides_when_all_have_come_to_it,
	test_jobs_of_who_has_gone_end_in_parts, test_progress_is_told_in_parts, test_names_are_not_searched_for_ever,
	test_a_worker_forgets_jobs_of_which_it_has_nothing)
