/* A master that begins with a log, or with what it cannot begin with. */
#include "core/change.h"
#include "policy/roundrobin.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, WORKER }; /* slots of peers */

static int replay(struct unit_machine *master, uint64_t index, const struct dlsi_change *change)
{
	struct dlsi_payload payload = {0};
	struct dlsi_buffer record;
	int rc;

	if (change->kind == DLSI_CHANGE_SUBMIT)
		payload = unit_machine_give(master, 100);
	dlsi_buffer_init(&record, unit_alloc());
	dlsi_change_write(&record, change);
	rc = dlsi_master_replay(master->core, index, record.data, record.length, payload, &master->effects, NULL);
	dlsi_buffer_fini(&record);
	return rc;
}

static struct dlsi_change submit(uint8_t job, uint64_t count, const char *spec)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_SUBMIT, .job = unit_id(job)};

	change.submit.count = count;
	change.submit.spec = (struct dlsi_bytes){(const uint8_t *)spec, (uint32_t)strlen(spec)};
	return change;
}

static struct dlsi_change items(uint8_t job, uint64_t first, uint64_t end)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = unit_id(job)};

	change.items.first = first;
	change.items.end = end;
	return change;
}

static struct dlsi_change end(uint8_t job, uint8_t state)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_END, .job = unit_id(job)};

	change.end.state = state;
	return change;
}

static const char work[] = "{\"handler\":\"work\",\"task_items\":1}";

/* What is done stays done, what is missing is run, and what is complete but has no end gets it, at the next index. */
static void test_goes_on(void **state)
{
	const struct dlsi_change log[] = {submit(1, 3, work), submit(2, 2, work), submit(3, 1, work), items(1, 1, 2),
		items(2, 0, 2), items(3, 0, 1), end(3, DLSI_JOB_DONE)};
	struct unit_machine master;
	const struct dlsi_effect *effect;

	(void)state;
	unit_master_init(&master, unit_alloc(), true);
	for (size_t i = 0; i < sizeof log / sizeof *log; i++)
		assert_int_equal(replay(&master, i + 1, &log[i]), 0);
	unit_register_worker(&master, WORKER, 10, "one", 8, "work");
	effect = unit_machine_does(&master, DLSI_EFFECT_APPEND, 0);
	assert_int_equal(effect->append.index, 8);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 2);
	assert_int_equal(unit_assigned(&master, WORKER, 0).first, 0);
	assert_int_equal(unit_assigned(&master, WORKER, 1).first, 2);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 3);
	assert_int_equal(dlsi_master_counts(master.core).refused_transitions, 0);
	unit_machine_fini(&master);
}

/* The log does not say how much of a deadline has passed: it begins anew, and then holds. */
static void test_a_deadline_outlives_the_master(void **state)
{
	struct dlsi_change with = submit(1, 3, work), without = submit(2, 3, work);
	struct dlsi_event persisted = {.kind = DLSI_EVENT_PERSISTED};
	const struct dlsi_effect *append;
	struct dlsi_change change;
	struct unit_machine master;

	(void)state;
	with.submit.deadline_ns = 100 * (uint64_t)UNIT_MS;
	unit_master_init(&master, unit_alloc(), true);
	assert_int_equal(replay(&master, 1, &with), 0);
	assert_int_equal(replay(&master, 2, &without), 0);
	persisted.persisted.index = 2;
	unit_machine_step(&master, persisted);
	unit_machine_wait(&master, 99 * UNIT_MS);
	assert_null(unit_machine_does(&master, DLSI_EFFECT_APPEND, 0));
	unit_machine_wait(&master, UNIT_MS);
	append = unit_machine_does(&master, DLSI_EFFECT_APPEND, 0);
	assert_non_null(append);
	assert_true(dlsi_change_read(master.effects.arena.data + append->block, append->block_length, &change));
	assert_int_equal(change.kind, DLSI_CHANGE_END);
	assert_int_equal(change.job.bytes[0], 1);
	assert_int_equal(change.end.code, DLS_EEXPIRED);
	unit_machine_fini(&master);
}

static void test_records_that_no_master_writes(void **state)
{
	const struct dlsi_change bad[] = {submit(1, 3, work), submit(2, 0, work), submit(2, UINT64_MAX, work),
		items(1, 2, 2), items(1, 0, 4), items(2, 0, 1), end(1, DLSI_JOB_ACTIVE), end(1, 9),
		end(2, DLSI_JOB_DONE)};
	struct dlsi_change good = submit(1, 3, work), foreign = submit(2, 3, "{\"song\":1}");
	struct unit_machine master;

	(void)state;
	unit_master_init(&master, unit_alloc(), true);
	assert_int_equal(replay(&master, 1, &good), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(replay(&master, 2, &bad[i]), DLS_EFORMAT);
	assert_int_equal(replay(&master, 2, &foreign), DLS_EINVAL);
	assert_int_equal(dlsi_master_replay(master.core, 2, (const uint8_t *)"x", 1, (struct dlsi_payload){0},
				 &master.effects, NULL),
		DLS_EFORMAT);
	unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_TURN});
	assert_int_equal(unit_machine_held(&master), 1);
	assert_int_equal(dlsi_master_counts(master.core).jobs, 1);
	unit_machine_fini(&master);
}

static void test_configurations_that_cannot_work(void **state)
{
	const struct dlsi_policy_ops old = {.abi = DLSI_POLICY_ABI + 1, .name = "old"};
	const struct dlsi_master_config good = {
		.heartbeat_ns = 1, .worker_timeout_ns = 2, .policy = &dlsi_policy_roundrobin};
	struct dlsi_master_config bad[4] = {good, good, good, good};
	struct dlsi_master *master = NULL;

	(void)state;
	bad[0].heartbeat_ns = 0;
	bad[1].worker_timeout_ns = 1;
	bad[2].client_timeout_ns = -1;
	bad[3].policy = &old;
	for (int i = 0; i < 4; i++)
		assert_int_equal(dlsi_master_create(unit_alloc(), &bad[i], &master, NULL), DLS_EINVAL);
	assert_null(master);
}

UNIT_MAIN(test_goes_on, test_a_deadline_outlives_the_master, test_records_that_no_master_writes,
	test_configurations_that_cannot_work)
