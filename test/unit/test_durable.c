/* Durable jobs: nothing is said before the log has it, and nothing is done for a job that is about to end. */
#include "test/unit/machine.h"
#include "test/unit/unit.h"

enum { CLIENT, WORKER }; /* slots of peers */

static struct dlsi_master_counts counts(const struct unit_machine *master)
{
	return dlsi_master_counts(master->core);
}

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), true);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, WORKER, 10, "one", 1, "work");
}

static void persist(struct unit_machine *master, uint64_t index)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	event.persisted.index = index;
	unit_machine_step(master, event);
}

static void test_one_item_from_submission_to_end(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 1), cancel = {.kind = DLSI_CANCEL};
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master);
	submit.submit.flags = DLSI_SUBMIT_DURABLE;
	cancel.cancel.job = unit_id(1);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0)->append.index, 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 0);
	persist(&master, 0);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 0);
	persist(&master, 1);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_not_equal(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0)->payload.handle, 0);
	persist(&master, 2);
	assert_int_equal(unit_end_state(&master, CLIENT), 0);
	persist(&master, 3);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	unit_machine_say(&master, CLIENT, cancel); /* too late */
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_DONE);
	submit.submit.count = 2;
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EEXISTS);
	submit = unit_submit(1, 0, 1);
	unit_machine_say(&master, CLIENT, submit);
	assert_int_equal(unit_refusal(&master, CLIENT), DLS_EEXISTS);
	assert_int_equal(counts(&master).refused_transitions, 0);
	assert_int_equal(counts(&master).jobs, 1);
	unit_machine_fini(&master);
}

/* While the end is on its way to the log no more items are given out, and no second end is written. */
static void test_cancelled(void **state)
{
	struct dlsi_record submit = unit_submit(1, 0, 10), cancel = {.kind = DLSI_CANCEL};
	struct unit_machine master;
	struct dlsi_assign task;

	(void)state;
	begin(&master);
	submit.submit.flags = DLSI_SUBMIT_DURABLE;
	cancel.cancel.job = unit_id(1);
	unit_machine_say(&master, CLIENT, submit);
	persist(&master, 1);
	task = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, CLIENT, cancel);
	assert_int_equal(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0)->append.index, 2);
	unit_machine_say(&master, CLIENT, cancel);
	assert_null(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0));
	unit_machine_say(&master, WORKER, unit_result(&task, 100, false));
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	persist(&master, 2);
	assert_int_equal(unit_end_state(&master, CLIENT), DLSI_JOB_CANCELLED);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_FORGET), 1);
	persist(&master, 3); /* the result's */
	assert_int_equal(counts(&master).tasks + counts(&master).acquaintances, 0);
	assert_int_equal(counts(&master).refused_transitions, 0);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_one_item_from_submission_to_end, test_cancelled)
