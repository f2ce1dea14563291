/* The worker's side against a scripted master: what it is given, what it keeps, and what it presents when it comes
 * back.
 */
#include "base/limits.h"
#include "proto/bytes.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"

static struct dlsi_agent_counts counts(const struct unit_machine *agent)
{
	return dlsi_agent_counts(agent->core);
}

static void begin(struct unit_machine *agent)
{
	unit_agent_init(agent, unit_alloc());
	unit_machine_connect(agent);
	unit_machine_welcome(agent);
}

static struct dlsi_record job(uint8_t id)
{
	struct dlsi_record record = {.kind = DLSI_JOB};

	record.job.job = record.job.token = unit_id(id);
	record.job.frames = 1;
	record.job.count = 100;
	record.job.spec = (struct dlsi_bytes){(const uint8_t *)"{}", 2};
	return record;
}

static struct dlsi_record assign(uint8_t id, uint64_t attempt, uint16_t device)
{
	struct dlsi_record record = {.kind = DLSI_ASSIGN};

	record.assign = (struct dlsi_assign){unit_id(id), attempt, attempt, attempt + 1, device};
	return record;
}

static struct dlsi_record cancel(uint8_t id, uint64_t attempt)
{
	struct dlsi_record record = {.kind = DLSI_CANCEL};

	record.cancel = (struct dlsi_cancel){unit_id(id), attempt};
	return record;
}

static struct dlsi_record forget(uint8_t id)
{
	struct dlsi_record record = {.kind = DLSI_FORGET};

	record.forget.job = unit_id(id);
	return record;
}

static void taken(struct unit_machine *agent, uint64_t attempt)
{
	struct dlsi_record record = {.kind = DLSI_TAKEN};
	uint8_t data[8];

	dlsi_put_u64(data, attempt);
	record.taken.attempts = (struct dlsi_numbers){data, 1};
	unit_machine_say(agent, 0, record);
}

static void executed(struct unit_machine *agent, uint64_t attempt, uint64_t offered)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .attempt = attempt};

	event.executed.payload = unit_machine_give(agent, offered ? offered : 100);
	event.executed.offer.length = offered;
	event.executed.elapsed_ns = 7;
	event.executed.failed = 1;
	unit_machine_step(agent, event);
}

/* With the result goes how long the model took to load, and which others went for it. */
static void test_tells_what_it_has_loaded(void **state)
{
	static const struct dlsi_hash gone[] = {{{1}}, {{2}}};
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .attempt = 1};
	struct unit_machine agent;
	struct dlsi_record record;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	unit_machine_say(&agent, 0, assign(1, 1, 0));
	event.executed.payload = unit_machine_give(&agent, 100);
	event.executed.load_ns = 9;
	event.executed.unloaded = gone;
	event.executed.unloaded_count = 2;
	event.executed.device = 1;
	unit_machine_step(&agent, event);
	assert_true(unit_machine_says(&agent, 0, DLSI_UNLOADED, 1, &record));
	assert_int_equal(record.unloaded.device, 1);
	assert_int_equal(record.unloaded.model.bytes[0], 2);
	assert_true(unit_machine_says(&agent, 0, DLSI_RESULT, 0, &record));
	assert_int_equal(record.result.load_ns, 9);
	unit_machine_fini(&agent);
}

static void test_leaves_a_master_that_gives_too_much(void **state)
{
	struct unit_machine agent;
	uint64_t attempt;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	for (attempt = 1; attempt <= DLSI_WORKER_TASKS; attempt++) {
		unit_machine_say(&agent, 0, assign(1, attempt, 0));
		assert_null(unit_machine_does(&agent, DLSI_EFFECT_RECONNECT, 0));
	}
	unit_machine_say(&agent, 0, assign(1, attempt, 0));
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_RECONNECT, 0));
	assert_int_equal(counts(&agent).tasks, DLSI_WORKER_TASKS);
	unit_machine_fini(&agent);
}

static void test_registers_with_what_it_offers(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record;

	(void)state;
	unit_agent_init(&agent, unit_alloc());
	unit_machine_connect(&agent);
	assert_true(unit_machine_says(&agent, 0, DLSI_REGISTER, 0, &record));
	assert_int_equal(record.reg.role, DLSI_ROLE_WORKER);
	assert_true(unit_machine_says(&agent, 0, DLSI_DEVICE, 1, &record));
	assert_int_equal(record.device.index, 1);
	assert_int_equal(record.device.credits, 8);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_HANDLER), 1);
	unit_machine_welcome(&agent);
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_WELCOME));
	unit_machine_fini(&agent);
}

static void test_task_from_assignment_until_it_is_taken(void **state)
{
	const struct dlsi_effect *effect;
	struct unit_machine agent;
	struct dlsi_record record, both[] = {job(1), assign(1, 5, 1)};

	(void)state;
	begin(&agent);
	unit_machine_tell(&agent, 0, both, 2);
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_JOB_OPEN, 0));
	effect = unit_machine_does(&agent, DLSI_EFFECT_EXECUTE, 0);
	assert_int_equal(effect->attempt, 5);
	assert_int_equal(effect->first, 5);
	assert_int_equal(effect->execute.device, 1);
	taken(&agent, 5); /* too early: it still runs */
	assert_int_equal(counts(&agent).tasks, 1);
	executed(&agent, 5, 0);
	assert_true(unit_machine_says(&agent, 0, DLSI_RESULT, 0, &record));
	assert_int_equal(record.result.attempt, 5);
	assert_int_equal(record.result.bytes, 100);
	assert_int_equal(record.result.elapsed_ns, 7);
	assert_int_equal(record.result.failed, 1);
	assert_int_equal(record.result.frames, 1);
	assert_int_equal(unit_machine_held(&agent), 2);
	taken(&agent, 5);
	assert_int_equal(counts(&agent).tasks, 0);
	assert_int_equal(unit_machine_held(&agent), 1);
	unit_machine_say(&agent, 0, forget(1));
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_JOB_CLOSE, 0));
	assert_int_equal(counts(&agent).jobs + unit_machine_held(&agent), 0);
	assert_int_equal(counts(&agent).refused, 0);
	unit_machine_fini(&agent);
}

static void test_offered_result_stays_here(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record, both[] = {job(1), assign(1, 5, 0)};

	(void)state;
	begin(&agent);
	unit_machine_tell(&agent, 0, both, 2);
	executed(&agent, 5, 100000);
	assert_true(unit_machine_says(&agent, 0, DLSI_RESULT, 0, &record));
	assert_int_equal(record.result.frames, 0);
	assert_int_equal(record.result.offer.length, 100000);
	assert_int_equal(unit_machine_held(&agent), 2);
	unit_machine_fini(&agent);
}

static void test_assignments_that_make_no_sense(void **state)
{
	struct unit_machine agent;
	struct dlsi_record bad[6];

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	unit_machine_say(&agent, 0, assign(1, 5, 0));
	for (unsigned i = 0; i < 6; i++)
		bad[i] = assign(1, 6, 0);
	bad[0].assign.job = unit_id(2);
	bad[1].assign.end = bad[1].assign.first;
	bad[2].assign.end = UINT64_MAX;
	bad[3].assign.device = 2;
	bad[4].assign.attempt = 5;
	bad[5].assign.first = 7;
	for (unsigned i = 0; i < 6; i++) {
		unit_machine_say(&agent, 0, bad[i]);
		assert_null(unit_machine_does(&agent, DLSI_EFFECT_EXECUTE, 0));
		assert_int_equal(counts(&agent).refused, i + 1);
	}
	executed(&agent, 6, 0);
	assert_int_equal(counts(&agent).refused, 7);
	assert_int_equal(unit_machine_held(&agent), 1);
	unit_machine_fini(&agent);
}

static void test_job_that_is_told_twice(void **state)
{
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	unit_machine_say(&agent, 0, job(1));
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_JOB_OPEN, 0));
	assert_int_equal(unit_machine_held(&agent), 1);
	unit_machine_fini(&agent);
}

/* What runs is stopped, once; its end is waited for, and its result is not sent. What has ended is let go. */
static void test_tasks_that_nobody_wants(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct unit_machine agent;
		struct dlsi_record given[] = {job(1), assign(1, 5, 0), assign(1, 6, 0)};
		struct dlsi_record drop = whole ? forget(1) : cancel(1, 5);

		begin(&agent);
		unit_machine_tell(&agent, 0, given, 3);
		executed(&agent, 6, 0);
		unit_machine_say(&agent, 0, drop);
		assert_int_equal(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 0)->attempt, 5);
		unit_machine_say(&agent, 0, cancel(1, 6));
		assert_int_equal(counts(&agent).tasks, 1);
		unit_machine_say(&agent, 0, drop);
		assert_null(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 0));
		executed(&agent, 5, 0);
		assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), 0);
		assert_int_equal(counts(&agent).tasks, 0);
		assert_int_equal(unit_machine_held(&agent), !whole);
		unit_machine_fini(&agent);
	}
}

/* It presents what it has, sends results again, and forgets jobs of which it has nothing. */
static void test_comes_back(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record, given[] = {job(1), job(2), assign(1, 5, 0), assign(1, 6, 0)};

	(void)state;
	begin(&agent);
	unit_machine_tell(&agent, 0, given, 4);
	executed(&agent, 6, 0);
	unit_machine_connect(&agent);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_HELD), 2);
	assert_true(unit_machine_says(&agent, 0, DLSI_HELD, 0, &record));
	assert_int_equal(record.held.attempt, 5);
	assert_int_equal(record.held.finished, 0);
	executed(&agent, 5, 0); /* before the answer */
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), 0);
	unit_machine_welcome(&agent);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), 2);
	assert_memory_equal(unit_machine_does(&agent, DLSI_EFFECT_JOB_CLOSE, 0)->job.bytes, unit_id(2).bytes, 16);
	unit_machine_fini(&agent);
}

/* REGISTER was repeated because the answer was late. Either the master had the first one and nothing has changed, or it
 * had lost the connection, and what it gave before is void. */
static void test_second_answer(void **state)
{
	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct dlsi_record given[] = {job(2), assign(2, 7, 0), assign(1, 8, 0)};
		struct unit_machine agent;

		begin(&agent);
		unit_machine_say(&agent, 0, job(1));
		unit_machine_say(&agent, 0, assign(1, 5, 0));
		unit_machine_say(&agent, 0, assign(1, 6, 0));
		executed(&agent, 6, 0);
		unit_machine_connect(&agent);
		unit_machine_wait(&agent, UNIT_S);
		unit_machine_welcome(&agent);
		unit_machine_tell(&agent, 0, given, 3);
		if (lost)
			unit_machine_welcome(&agent);
		else
			unit_machine_welcome_again(&agent);
		assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), lost);
		assert_int_equal(counts(&agent).jobs, lost ? 1 : 2);
		assert_int_equal(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 0) != NULL, lost);
		assert_int_equal(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 1) != NULL, lost);
		unit_machine_fini(&agent);
	}
}

/* REGISTER is one message: tasks beyond what fits are given up. */
static void test_comes_back_with_too_much(void **state)
{
	struct unit_machine agent;
	unsigned held = 0, messages = 0;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	for (uint64_t attempt = 1; attempt <= 3000; attempt++)
		unit_machine_say(&agent, 0, assign(1, attempt, 0));
	unit_machine_connect(&agent);
	held = unit_machine_count(&agent, 0, DLSI_HELD);
	while (unit_machine_does(&agent, DLSI_EFFECT_SEND, messages))
		messages++;
	assert_int_equal(messages, 1);
	assert_in_range(held, 1000, 2999);
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 3000 - held - 1));
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 3000 - held));
	unit_machine_fini(&agent);
}

static void test_another_cluster_knows_nothing(void **state)
{
	struct unit_machine agent;
	struct dlsi_record given[] = {job(1), assign(1, 5, 0), assign(1, 6, 0)};

	(void)state;
	begin(&agent);
	unit_machine_tell(&agent, 0, given, 3);
	executed(&agent, 6, 0);
	unit_machine_connect(&agent);
	agent.cluster = unit_id(0xc2);
	unit_machine_welcome(&agent);
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_CANCEL, 0));
	assert_non_null(unit_machine_does(&agent, DLSI_EFFECT_JOB_CLOSE, 0));
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_RESULT), 0);
	assert_int_equal(counts(&agent).jobs, 0);
	executed(&agent, 5, 0);
	assert_int_equal(counts(&agent).tasks + unit_machine_held(&agent), 0);
	unit_machine_fini(&agent);
}

static void test_rejected(void **state)
{
	struct dlsi_record refused = {.kind = DLSI_REFUSED}, both[2];
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, job(1));
	refused.refused.code = DLS_EEXISTS;
	both[0] = refused;
	both[1] = job(2);
	unit_machine_tell(&agent, 0, both, 2);
	assert_int_equal(unit_machine_notice(&agent, DLSI_NOTICE_REJECTED)->notify.code, DLS_EEXISTS);
	assert_int_equal(counts(&agent).jobs + unit_machine_held(&agent), 0);
	unit_machine_connect(&agent);
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_SEND, 0));
	assert_int_equal(agent.effects.deadline_ns, INT64_MAX);
	assert_int_equal(counts(&agent).refused_transitions, 0);
	unit_machine_fini(&agent);
}

UNIT_MAIN(test_tells_what_it_has_loaded, test_registers_with_what_it_offers,
	test_task_from_assignment_until_it_is_taken, test_offered_result_stays_here,
	test_assignments_that_make_no_sense, test_job_that_is_told_twice, test_tasks_that_nobody_wants, test_comes_back,
	test_second_answer, test_comes_back_with_too_much, test_another_cluster_knows_nothing, test_rejected,
	test_leaves_a_master_that_gives_too_much)
