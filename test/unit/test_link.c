/* Registering, heartbeats, silence and clusters, as a worker that does nothing else lives them. */
#include "test/unit/machine.h"
#include "test/unit/unit.h"

static void begin(struct unit_machine *agent)
{
	unit_agent_init(agent, unit_alloc());
	unit_machine_connect(agent);
	unit_machine_welcome(agent);
}

static void heartbeat(struct unit_machine *agent, uint64_t sent)
{
	struct dlsi_record record = {.kind = DLSI_HEARTBEAT};

	record.heartbeat.sent = sent;
	unit_machine_say(agent, 0, record);
}

static void refuse(struct unit_machine *agent, int code, uint32_t retry_after_ms)
{
	struct dlsi_record record = {.kind = DLSI_REFUSED};

	record.refused.code = code;
	record.refused.retry_after_ms = retry_after_ms;
	unit_machine_say(agent, 0, record);
}

static bool reconnects(const struct unit_machine *agent)
{
	return unit_machine_does(agent, DLSI_EFFECT_RECONNECT, 0) != NULL;
}

/* REGISTER is repeated; after three without an answer a new socket is opened. */
static void test_no_answer(void **state)
{
	struct unit_machine agent;
	int64_t began_ns;

	(void)state;
	unit_agent_init(&agent, unit_alloc());
	began_ns = agent.now_ns;
	unit_machine_connect(&agent);
	for (int time = 0; time < 2; time++) {
		agent.now_ns = agent.effects.deadline_ns;
		unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		assert_int_equal(unit_machine_count(&agent, 0, DLSI_REGISTER), 1);
		assert_false(reconnects(&agent));
	}
	agent.now_ns = agent.effects.deadline_ns;
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
	assert_true(reconnects(&agent));
	assert_int_equal(agent.now_ns - began_ns, INT64_C(3000000000));
	assert_int_equal(agent.effects.deadline_ns, INT64_MAX);
	unit_machine_fini(&agent);
}

static void test_answers_begin_the_count_again(void **state)
{
	struct unit_machine agent;

	(void)state;
	unit_agent_init(&agent, unit_alloc());
	unit_machine_connect(&agent);
	for (int time = 0; time < 5; time++) {
		agent.now_ns += INT64_C(1000000000);
		unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		assert_false(reconnects(&agent));
		unit_machine_welcome(&agent);
		refuse(&agent, DLS_ESTATE, 0);
		assert_int_equal(unit_machine_count(&agent, 0, DLSI_REGISTER), 1);
	}
	unit_machine_fini(&agent);
}

static void test_heartbeats(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record;

	(void)state;
	begin(&agent);
	for (uint64_t sent = 2; sent < 20; sent++) {
		unit_machine_wait(&agent, 100 * UNIT_MS);
		assert_true(unit_machine_says(&agent, 0, DLSI_HEARTBEAT, 0, &record));
		assert_int_equal(record.heartbeat.sent, sent); /* after REGISTER */
		assert_int_equal(record.heartbeat.received, sent - 1);
		heartbeat(&agent, sent);
		assert_false(reconnects(&agent));
	}
	heartbeat(&agent, 21);
	assert_true(reconnects(&agent));
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_LOST));
	unit_machine_fini(&agent);
}

static void test_silence(void **state)
{
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	for (int time = 0; time < 5; time++) {
		unit_machine_wait(&agent, 100 * UNIT_MS);
		assert_false(reconnects(&agent));
	}
	unit_machine_wait(&agent, 100 * UNIT_MS);
	assert_true(reconnects(&agent));
	unit_machine_fini(&agent);
}

/* While the loop itself is away nobody can be heard. */
static void test_silence_while_away(void **state)
{
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	agent.now_ns += INT64_C(60000000000);
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
	assert_false(reconnects(&agent));
	unit_machine_fini(&agent);
}

/* The count of messages begins with the REGISTER that is answered. */
static void test_count_after_a_repetition(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record;

	(void)state;
	unit_agent_init(&agent, unit_alloc());
	unit_machine_connect(&agent);
	unit_machine_wait(&agent, UNIT_S);
	unit_machine_welcome(&agent);
	unit_machine_wait(&agent, 100 * UNIT_MS);
	assert_true(unit_machine_says(&agent, 0, DLSI_HEARTBEAT, 0, &record));
	assert_int_equal(record.heartbeat.sent, 2);
	unit_machine_fini(&agent);
}

/* A master that has no entry for the connection is told who this is; what waited to be said is not said to it. */
static void test_master_that_has_forgotten(void **state)
{
	struct unit_machine agent;
	struct dlsi_record record;

	(void)state;
	begin(&agent);
	agent.now_ns += 100 * UNIT_MS;
	dlsi_effects_clear(&agent.effects);
	agent.step(agent.core, agent.now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_TIMER}, &agent.effects);
	refuse(&agent, DLS_ESTATE, 0); /* before the turn in which the heartbeat would have left */
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_HEARTBEAT), 0);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_REGISTER), 1);
	unit_machine_welcome(&agent);
	unit_machine_wait(&agent, 100 * UNIT_MS);
	assert_true(unit_machine_says(&agent, 0, DLSI_HEARTBEAT, 0, &record));
	assert_int_equal(record.heartbeat.sent, 2);
	unit_machine_fini(&agent);
}

static void test_master_without_room(void **state)
{
	struct unit_machine agent;

	(void)state;
	unit_agent_init(&agent, unit_alloc());
	unit_machine_connect(&agent);
	refuse(&agent, DLS_EBUSY, 1000);
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_REJECTED));
	unit_machine_wait(&agent, UNIT_S);
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_REGISTER), 1);
	unit_machine_fini(&agent);
}

static void test_master_that_leaves(void **state)
{
	struct dlsi_record leave = {.kind = DLSI_LEAVE};
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	unit_machine_say(&agent, 0, leave);
	assert_true(reconnects(&agent));
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_STOP});
	assert_null(unit_machine_does(&agent, DLSI_EFFECT_SEND, 0));
	unit_machine_connect(&agent);
	unit_machine_welcome(&agent);
	unit_machine_step(&agent, (struct dlsi_event){.kind = DLSI_EVENT_STOP});
	assert_int_equal(unit_machine_count(&agent, 0, DLSI_LEAVE), 1);
	unit_machine_fini(&agent);
}

static void job(struct unit_machine *agent, uint8_t id)
{
	struct dlsi_record record = {.kind = DLSI_JOB};

	record.job.job = unit_id(id);
	unit_machine_say(agent, 0, record);
}

/* Only the master of this connection, of this cluster and of no earlier term is obeyed. */
static void test_who_is_obeyed(void **state)
{
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	agent.cluster = unit_id(0xc2);
	job(&agent, 1);
	agent.cluster = unit_id(0xc1);
	agent.term = 0;
	job(&agent, 2);
	agent.term = 1;
	agent.generations[0]++;
	job(&agent, 3);
	assert_int_equal(dlsi_agent_counts(agent.core).jobs, 0);
	agent.generations[0]--;
	agent.term = 2;
	job(&agent, 4);
	assert_int_equal(dlsi_agent_counts(agent.core).jobs, 1);
	unit_machine_connect(&agent);
	job(&agent, 5); /* before the answer to REGISTER */
	assert_int_equal(dlsi_agent_counts(agent.core).jobs, 1);
	agent.term = 0;
	unit_machine_welcome(&agent);
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_WELCOME));
	agent.term = 3;
	unit_machine_welcome(&agent);
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_WELCOME));
	agent.term = 2;
	job(&agent, 6);
	assert_int_equal(dlsi_agent_counts(agent.core).jobs, 0); /* job 4 had no tasks */
	unit_machine_fini(&agent);
}

static void test_old_connections_are_not_heard_of(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST, .peer = {0, 1}};
	struct unit_machine agent;

	(void)state;
	begin(&agent);
	unit_machine_step(&agent, lost);
	assert_null(unit_machine_notice(&agent, DLSI_NOTICE_LOST));
	lost.peer.generation = agent.generations[0];
	unit_machine_step(&agent, lost);
	assert_non_null(unit_machine_notice(&agent, DLSI_NOTICE_LOST));
	assert_int_equal(agent.effects.deadline_ns, INT64_MAX);
	unit_machine_fini(&agent);
}

/* What a master asks for in WELCOME is kept within reason. */
static void test_periods_without_reason(void **state)
{
	static const struct dlsi_welcome welcomes[] = {{1, 0, 0, 0}, {1, UINT64_MAX, UINT64_MAX, 0}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dlsi_record record = {.kind = DLSI_WELCOME};
		struct unit_machine agent;

		unit_agent_init(&agent, unit_alloc());
		unit_machine_connect(&agent);
		record.welcome = welcomes[i];
		unit_machine_say(&agent, 0, record);
		assert_true(agent.effects.deadline_ns >= agent.now_ns + UNIT_MS);
		assert_true(agent.effects.deadline_ns <= agent.now_ns + 3600 * (int64_t)UNIT_S);
		unit_machine_fini(&agent);
	}
}

UNIT_MAIN(test_no_answer, test_answers_begin_the_count_again, test_count_after_a_repetition, test_heartbeats,
	test_silence, test_silence_while_away, test_master_that_has_forgotten, test_master_without_room,
	test_master_that_leaves, test_who_is_obeyed, test_old_connections_are_not_heard_of, test_periods_without_reason)
