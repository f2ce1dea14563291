/* Jobs with a deadline, with a time limit, and jobs that wait for others. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { WORKER = 1, SLOW = 1 }; /* SLOW: the specification with a time limit */

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_machine_say(master, UNIT_ASKER, unit_spec(SLOW, "{\"handler\":\"work\",\"time_limit_ms\":200}"));
	unit_register_worker(master, WORKER, 10, "one", 8, "work");
}

static void submit(struct unit_machine *master, uint8_t job, uint32_t spec, uint64_t deadline_ns, const char *about)
{
	struct dlsi_record record = unit_submit(job, spec, 1);

	record.submit.deadline_ns = deadline_ns;
	record.submit.about = (struct dlsi_bytes){(const uint8_t *)about, (uint32_t)strlen(about)};
	unit_machine_say(master, UNIT_ASKER, record);
}

static void assert_ended(struct unit_machine *master, uint8_t state, int code, const char *part)
{
	struct dlsi_record record;

	assert_true(unit_machine_says(master, UNIT_ASKER, DLSI_END, 0, &record));
	assert_int_equal(record.end.state, state);
	assert_int_equal(record.end.code, code);
	if (!memmem(record.end.sentence.data, record.end.sentence.length, part, strlen(part)))
		fail_msg("\"%.*s\" does not say \"%s\"", (int)record.end.sentence.length, record.end.sentence.data,
			part);
}

static void test_a_job_fails_at_its_deadline(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	submit(&master, 1, 0, 100 * (uint64_t)UNIT_MS, "");
	unit_machine_wait(&master, 99 * UNIT_MS);
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_END), 0);
	unit_machine_wait(&master, UNIT_MS);
	assert_ended(
		&master, DLSI_JOB_FAILED, DLS_EEXPIRED, "the job's deadline has passed with 0 of its 1 items done");
	submit(&master, 2, 0, DLSI_DEADLINE_PASSED, "");
	assert_int_equal(unit_refusal(&master, UNIT_ASKER), DLS_EEXPIRED);
	submit(&master, 3, 0, UINT64_MAX, "");
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_ACCEPTED), 1);
	unit_machine_fini(&master);
}

static void test_a_job_fails_at_its_time_limit(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	submit(&master, 1, SLOW, 0, "");
	unit_machine_wait(&master, 200 * UNIT_MS);
	assert_ended(&master, DLSI_JOB_FAILED, DLS_EEXPIRED, "the job's time limit of 0.2 s has passed");
	unit_machine_fini(&master);
}

/* The worker does what the job is given, and the client has it; `failed` items of it. */
static void finish(struct unit_machine *master, struct dlsi_assign assign, uint32_t failed)
{
	struct dlsi_record result = unit_result(&assign, 100, false);

	result.result.failed = failed;
	unit_machine_say(master, WORKER, result);
	unit_ack(master, UNIT_ASKER, assign.job.bytes[0], &assign.attempt, 1, NULL, 0);
}

#define FIRST  "01000000000000000000000000000000"
#define SECOND "02000000000000000000000000000000"

static void test_a_job_waits_until_all_have_ended(void **state)
{
	struct dlsi_record cancel = {.kind = DLSI_CANCEL, .cancel.job = unit_id(2)};
	struct unit_machine master;
	struct dlsi_assign first;
	cJSON *answer;

	(void)state;
	begin(&master);
	submit(&master, 1, 0, 0, "");
	first = unit_assigned(&master, WORKER, 0);
	submit(&master, 2, 0, 0, "");
	submit(&master, 3, SLOW, 0, "{\"after\":[\"" FIRST "\",\"" SECOND "\"]}");
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	answer = unit_ask(&master, "{\"command\":\"jobs\",\"state\":\"waiting\"}");
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "jobs")), 1);
	cJSON_Delete(answer);
	unit_machine_wait(&master, 300 * UNIT_MS); /* its time limit does not run yet */
	finish(&master, first, 1);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	unit_machine_say(&master, UNIT_ASKER, cancel);
	assert_int_equal(unit_assigned(&master, WORKER, 0).job.bytes[0], 3);
	unit_machine_fini(&master);
}

static void test_any_is_enough(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first;

	(void)state;
	begin(&master);
	submit(&master, 1, 0, 0, "");
	first = unit_assigned(&master, WORKER, 0);
	submit(&master, 2, 0, 0, "");
	submit(&master, 3, 0, 0, "{\"after\":[\"" FIRST "\",\"" SECOND "\"],\"after_when\":\"any\"}");
	finish(&master, first, 0);
	assert_int_equal(unit_assigned(&master, WORKER, 0).job.bytes[0], 3);
	submit(&master, 4, 0, 0, "{\"after\":[\"" FIRST "\"]}"); /* which has ended lately */
	assert_int_equal(unit_assigned(&master, WORKER, 0).job.bytes[0], 4);
	unit_machine_fini(&master);
}

/* A chain of jobs, each after the success of the one before: an item of the first fails, and all are cancelled. */
static void test_a_job_whose_condition_cannot_come_true_is_cancelled(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first;
	char about[100];

	(void)state;
	begin(&master);
	submit(&master, 1, 0, 0, "");
	first = unit_assigned(&master, WORKER, 0);
	for (unsigned i = 2; i < 200; i++) {
		snprintf(about, sizeof about,
			"{\"after\":[\"%02x000000000000000000000000000000\"],\"after_when\":\"succeeded\"}", i - 1);
		submit(&master, (uint8_t)i, 0, 0, about);
		assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_ACCEPTED), 1);
	}
	unit_register_worker(&master, WORKER + 1, 11, "two", 8, "work");
	assert_int_equal(unit_machine_count(&master, WORKER + 1, DLSI_ASSIGN), 0);
	unit_machine_say(&master, UNIT_ASKER, (struct dlsi_record){.kind = DLSI_CANCEL, .cancel.job = first.job});
	assert_int_equal(unit_machine_count(&master, UNIT_ASKER, DLSI_END), 199);
	unit_machine_fini(&master);
}

static void assert_refused(const char *about, int code, const char *part)
{
	struct unit_machine master;
	struct dlsi_record record;

	begin(&master);
	submit(&master, 7, 0, 0, about);
	assert_int_equal(unit_refusal(&master, UNIT_ASKER), code);
	assert_true(unit_machine_says(&master, UNIT_ASKER, DLSI_REFUSED, 0, &record));
	if (!memmem(record.refused.sentence.data, record.refused.sentence.length, part, strlen(part)))
		fail_msg("\"%.*s\" does not say \"%s\"", (int)record.refused.sentence.length,
			record.refused.sentence.data, part);
	unit_machine_fini(&master);
}

static void test_refuses_to_wait_for_what_is_not_there(void **state)
{
	(void)state;
	assert_refused("{\"after\":[\"" FIRST "\"]}", DLS_ENOTFOUND, "the master knows no job " FIRST);
	assert_refused("{\"after\":[\"x\"]}", DLS_EINVAL, "\"x\" names no job");
	assert_refused("{\"after\":[1]}", DLS_EINVAL, "a job to wait for is named by the text of its id");
	assert_refused("{\"after\":[\"07000000000000000000000000000000\"]}", DLS_EINVAL, "cannot wait for itself");
	assert_refused("{\"after_when\":\"some\"}", DLS_EINVAL, "after_when");
}

UNIT_MAIN(test_a_job_fails_at_its_deadline, test_a_job_fails_at_its_time_limit, test_a_job_waits_until_all_have_ended,
	test_any_is_enough, test_a_job_whose_condition_cannot_come_true_is_cancelled,
	test_refuses_to_wait_for_what_is_not_there)
