/* Transition tables: what they allow is the life they describe, and the rest is refused and counted. */
#include "core/lifecycle.h"
#include "proto/record.h"
#include "test/unit/unit.h"

static void test_task_lives_forward_only(void **state)
{
	uint64_t refused = 0;
	uint8_t task = DLSI_TASK_NEW;

	(void)state;
	assert_false(dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task, DLSI_TASK_TAKEN, &refused));
	assert_true(dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task, DLSI_TASK_ASSIGNED, &refused));
	assert_true(dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task, DLSI_TASK_RETURNED, &refused));
	assert_false(dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task, DLSI_TASK_ASSIGNED, &refused));
	assert_int_equal(task, DLSI_TASK_RETURNED);
	assert_true(dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task, DLSI_TASK_TAKEN, &refused));
	assert_int_equal(refused, 2);
}

static void test_job_ends_once(void **state)
{
	static const uint8_t ends[] = {DLSI_JOB_DONE, DLSI_JOB_CANCELLED, DLSI_JOB_FAILED};

	(void)state;
	for (size_t i = 0; i < sizeof ends; i++) {
		uint8_t job = DLSI_JOB_ACTIVE;
		uint64_t refused = 0;

		assert_true(dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job, ends[i], &refused));
		for (unsigned next = 0; next < 32; next++)
			assert_false(dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job, (uint8_t)next, &refused));
		assert_int_equal(job, ends[i]);
	}
}

static void test_link_that_was_rejected_stays_so(void **state)
{
	uint8_t link = DLSI_LINK_REJECTED;
	uint64_t refused = 0;

	(void)state;
	for (uint8_t next = 0; next < 8; next++)
		assert_false(dlsi_lifecycle_set(DLSI_LIFECYCLE_LINK, &link, next, &refused));
	assert_int_equal(refused, 8);
}

UNIT_MAIN(test_task_lives_forward_only, test_job_ends_once, test_link_that_was_rejected_stays_so)
