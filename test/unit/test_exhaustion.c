/* Memory that runs out at every request in turn, while each of the state machines lives a short life with a little of
 * everything: the step in which it happens says so, or it was not needed; the machine can be destroyed, and leaves
 * nothing. */
#include "core/again.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

/* The nth assignment to the worker that is said now; an empty one if there is none. */
static struct dlsi_assign assigned(const struct unit_machine *master, unsigned n)
{
	struct dlsi_record record = {0};

	return unit_machine_says(master, WORKER, DLSI_ASSIGN, n, &record) ? record.assign : (struct dlsi_assign){0};
}

static void finish_tasks(struct unit_machine *master)
{
	struct dlsi_assign tasks[3] = {assigned(master, 0), assigned(master, 1), assigned(master, 2)};
	const uint64_t attempts[2] = {tasks[0].attempt, tasks[1].attempt};
	struct dlsi_record failed = unit_result(&tasks[2], 100, false);
	struct dlsi_buffer again;

	dlsi_buffer_init(&again, unit_alloc());
	dlsi_again_add(&again, &(struct dlsi_again){tasks[2].first, tasks[2].end, DLSI_FAILURE_ERROR});
	failed.result.again = dlsi_again_list(&again);
	unit_machine_say(master, WORKER, failed);
	dlsi_buffer_fini(&again);
	unit_machine_say(master, WORKER, unit_result(&tasks[0], 100, false));
	unit_machine_say(master, WORKER, unit_result(&tasks[1], 100000, true));
	unit_ack(master, CLIENT, 1, attempts, 1, attempts + 1, 1);
}

static void live_as_master(struct unit_machine *master, unsigned moment)
{
	struct dlsi_record record = {0};
	struct dlsi_event event = {.peer = {WORKER, 1}};

	switch (moment) {
	case 0:
		unit_register_client(master, CLIENT, 1);
		break;
	case 1:
		unit_machine_say(master, CLIENT,
			unit_spec(0, "{\"handler\":\"work\",\"task_items\":1,\"retry\":{\"error\":{\"times\":1,\"wait_"
				     "ms\":20}}}"));
		break;
	case 2:
		unit_register_worker(master, WORKER, 10, "one", 3, "work");
		break;
	case 3:
		unit_machine_say(master, CLIENT, unit_submit(1, 0, 20));
		finish_tasks(master);
		break;
	case 4:
		record.kind = DLSI_COMMAND;
		record.command.json = (struct dlsi_bytes){(const uint8_t *)"{\"command\":\"status\"}", 20};
		unit_machine_say(master, CLIENT, record);
		break;
	case 5:
		unit_machine_wait(master, 200 * UNIT_MS);
		break;
	case 6:
		event.kind = DLSI_EVENT_LOST;
		unit_machine_step(master, event);
		unit_register_worker(master, OTHER, 20, "two", 2, "work");
		break;
	case 7:
		record = unit_submit(2, 0, 1);
		record.submit.flags = DLSI_SUBMIT_DURABLE;
		unit_machine_say(master, CLIENT, record);
		event.kind = DLSI_EVENT_PERSISTED;
		event.persisted.index = 1;
		unit_machine_step(master, event);
		break;
	case 8:
		record.kind = DLSI_CANCEL;
		record.cancel.job = unit_id(1);
		unit_machine_say(master, CLIENT, record);
		break;
	}
}

static void live_as_worker(struct unit_machine *agent, unsigned moment)
{
	struct dlsi_record records[3] = {{.kind = DLSI_JOB}, {.kind = DLSI_ASSIGN}, {.kind = DLSI_ASSIGN}};
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .attempt = 5};

	records[0].job.job = unit_id(1);
	records[0].job.frames = 1;
	records[1].assign = (struct dlsi_assign){unit_id(1), 5, 0, 1, 0};
	records[2].assign = (struct dlsi_assign){unit_id(1), 6, 1, 2, 1};
	switch (moment) {
	case 0:
		unit_machine_connect(agent);
		break;
	case 1:
		unit_machine_welcome(agent);
		break;
	case 2:
		unit_machine_tell(agent, 0, records, 3);
		break;
	case 3:
		event.executed.payload = unit_machine_give(agent, 100);
		unit_machine_step(agent, event);
		break;
	case 4:
		unit_machine_connect(agent);
		break;
	case 5:
		unit_machine_welcome(agent);
		break;
	}
}

static void live_as_client(struct unit_machine *session, unsigned moment)
{
	struct dlsi_event submit = {.kind = DLSI_EVENT_SUBMIT, .job = unit_id(1)};
	struct dlsi_event fetched = {.kind = DLSI_EVENT_FETCHED, .attempt = 7};
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};
	struct dlsi_assign task = {unit_id(1), 6, 0, 1, 0}, other = {unit_id(1), 7, 3, 5, 0};

	switch (moment) {
	case 0:
		unit_machine_connect(session);
		break;
	case 1:
		submit.submit.spec = (struct dlsi_bytes){(const uint8_t *)"{}", 2};
		submit.submit.count = 10;
		submit.submit.window_items = submit.submit.window_bytes = 1000000;
		submit.submit.manifest = unit_machine_give(session, 100);
		unit_machine_step(session, submit);
		break;
	case 2:
		unit_machine_welcome(session);
		break;
	case 3:
		record.accepted.job = unit_id(1);
		unit_machine_say(session, 0, record);
		break;
	case 4:
		unit_machine_say(session, 0, unit_result(&task, 100, false));
		unit_machine_say(session, 0, unit_result(&other, 100000, true));
		break;
	case 5:
		unit_machine_step(session, (struct dlsi_event){.kind = DLSI_EVENT_COMMAND});
		break;
	case 6:
		fetched.fetched.payload = unit_machine_give(session, 100000);
		unit_machine_step(session, fetched);
		break;
	case 7:
		unit_machine_connect(session);
		break;
	case 8:
		unit_machine_welcome(session);
		break;
	}
}

static void init_durable_master(struct unit_machine *machine, const struct dlsi_alloc *alloc)
{
	unit_master_init(machine, alloc, true);
}

/* Lives as far as the memory lasts; false when it lasted to the end. */
static bool runs_out(void (*init)(struct unit_machine *, const struct dlsi_alloc *),
	void (*live)(struct unit_machine *, unsigned), unsigned requests)
{
	struct unit_machine machine;
	bool created, failed;

	init(&machine, unit_alloc_failing_at(requests));
	created = machine.core != NULL;
	for (unsigned moment = 0; created && !machine.effects.failed && moment < 9; moment++)
		live(&machine, moment);
	failed = machine.effects.failed;
	unit_machine_fini(&machine);
	return !created || failed;
}

static void sweep(void (*init)(struct unit_machine *, const struct dlsi_alloc *),
	void (*live)(struct unit_machine *, unsigned), unsigned least)
{
	unsigned requests = 1;

	while (requests < 1000 && runs_out(init, live, requests))
		requests++;
	assert_in_range(requests, least, 999);
}

static void test_master(void **state)
{
	(void)state;
	sweep(init_durable_master, live_as_master, 60);
}

static void test_agent(void **state)
{
	(void)state;
	sweep(unit_agent_init, live_as_worker, 20);
}

static void test_session(void **state)
{
	(void)state;
	sweep(unit_session_init, live_as_client, 20);
}

UNIT_MAIN(test_master, test_agent, test_session)
