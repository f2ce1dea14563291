/* One key is one job, whoever submits under it: the same once more is the same job, another is refused. */
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, OTHER, WORKER }; /* slots of peers */

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	for (uint32_t slot = CLIENT; slot <= OTHER; slot++) {
		unit_register_client(master, slot, 1 + slot);
		unit_machine_say(master, slot, unit_spec(0, "{\"handler\":\"work\"}"));
		unit_machine_say(master, slot, unit_spec(1, "{\"handler\":\"work\",\"params\":{\"x\":1}}"));
	}
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 10));
}

static struct dlsi_record submit(uint32_t spec, uint64_t count)
{
	struct dlsi_record record = unit_submit(1, spec, count);

	record.submit.token = unit_id(77);
	return record;
}

static void assert_refused(const struct unit_machine *master, int code, bool for_now, const char *part)
{
	struct dlsi_record record;

	assert_true(unit_machine_says(master, OTHER, DLSI_REFUSED, 0, &record));
	assert_int_equal(record.refused.code, code);
	assert_int_equal(record.refused.retry_after_ms != 0, for_now);
	if (!memmem(record.refused.sentence.data, record.refused.sentence.length, part, strlen(part)))
		fail_msg("\"%.*s\" does not say \"%s\"", (int)record.refused.sentence.length,
			record.refused.sentence.data, part);
	assert_int_equal(unit_machine_count(master, CLIENT, DLSI_END), 0);
	assert_int_equal(dlsi_master_counts(master->core).jobs, 1);
	assert_int_equal(unit_machine_held(master), 1);
}

static void test_the_same_in_another_process_begins_anew(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_machine_say(&master, OTHER, submit(0, 10));
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_ACCEPTED), 1);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 1);
	unit_machine_fini(&master);
}

static void test_another_job_is_refused(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_machine_say(&master, OTHER, submit(1, 10));
	assert_refused(&master, DLS_EEXISTS, false, "already, which asks for something else; cancel it first");
	unit_machine_say(&master, OTHER, submit(0, 11));
	assert_refused(&master, DLS_EEXISTS, false, "already, which has another number of items");
	unit_machine_fini(&master);
}

/* Who has the key may be gone for good: the answer comes when that is known. */
static void test_waits_for_a_client_that_is_away(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {CLIENT, 1}};
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_machine_step(&master, lost);
	unit_machine_say(&master, OTHER, submit(1, 10));
	assert_refused(&master, DLS_EBUSY, true, "its client is away");
	for (int i = 0; i < 11; i++) { /* the other one must be heard of meanwhile */
		unit_machine_wait(&master, 100 * UNIT_MS);
		unit_machine_say(&master, OTHER, unit_spec(2, "{\"handler\":\"work\"}"));
	}
	unit_machine_say(&master, OTHER, submit(1, 10));
	assert_int_equal(unit_machine_count(&master, OTHER, DLSI_ACCEPTED), 1);
	unit_machine_fini(&master);
}

/* A session has one job of a key: it is done with the one before, which it could not tell. */
static void test_a_client_is_done_with_its_own(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {CLIENT, 1}};
	struct unit_machine master;

	(void)state;
	begin(&master);
	unit_machine_step(&master, lost);
	master.generations[CLIENT]++;
	unit_register_client(&master, CLIENT, 1 + CLIENT);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"params\":{\"x\":1}}"));
	unit_machine_say(&master, CLIENT, submit(0, 3));
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 1);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_the_same_in_another_process_begins_anew, test_another_job_is_refused,
	test_waits_for_a_client_that_is_away, test_a_client_is_done_with_its_own)
