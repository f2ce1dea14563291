/* The three state machines against peers that follow the wire format and nothing else: records of every kind with
 * fields from a small domain, so that ids, numbers and ranges meet; lost connections, timers and turns between them.
 * Nothing may crash, and every payload that was handed over must be given back exactly once. */
#include "base/limits.h"
#include "core/agent.h"
#include "core/master.h"
#include "core/session.h"
#include "policy/registry.h"
#include "policy/roundrobin.h"
#include "proto/bytes.h"
#include "test/unit/unit.h"

enum { SEEDS = 150, STEPS = 400, PEERS = 4, HANDLES = 1 << 16 };

static uint8_t held[HANDLES]; /* by handle: 1 while the core has it */
static uint64_t next_handle;
static struct dlsi_assign assigned[8]; /* what the master last gave out, so that some results are to the point */
static unsigned assigned_count;

static struct dlsi_payload give(struct dlsi_rng *rng)
{
	held[next_handle] = 1;
	return (struct dlsi_payload){next_handle++, dlsi_rng_below(rng, 6)};
}

static void take_back(const struct dlsi_effects *effects)
{
	for (size_t i = 0; i < effects->count; i++) {
		uint64_t handle = effects->at[i].payload.handle;

		if (effects->at[i].kind != DLSI_EFFECT_RELEASE)
			continue;
		assert_int_equal(held[handle], 1);
		held[handle] = 0;
	}
	for (size_t i = 0; i < effects->frame_count; i++)
		assert_true(effects->frames[i] < next_handle);
}

static void notice_assignments(const struct dlsi_effects *effects)
{
	for (size_t i = 0; i < effects->count; i++) {
		const struct dlsi_effect *effect = &effects->at[i];
		struct dlsi_message message;
		struct dlsi_record record;

		if (effect->kind != DLSI_EFFECT_SEND)
			continue;
		assert_int_equal(dlsi_message_open(effects->arena.data + effect->block, effect->block_length,
					 effect->frame_count, &message, NULL),
			0);
		while (dlsi_message_next(&message, &record))
			if (record.kind == DLSI_ASSIGN)
				assigned[assigned_count++ % 8] = record.assign;
	}
}

static void begin(void)
{
	assigned_count = 0;
	next_handle = 1;
	for (size_t i = 0; i < HANDLES; i++)
		held[i] = 0;
}

static void assert_nothing_held(void)
{
	for (uint64_t i = 1; i < next_handle; i++)
		assert_int_equal(held[i], 0);
}

/* Mostly few values, sometimes extreme ones. */
static uint64_t number(struct dlsi_rng *rng)
{
	return dlsi_rng_below(rng, 20) ? dlsi_rng_below(rng, 6) : dlsi_rng_next(rng);
}

static const uint8_t *numbers_data(struct dlsi_rng *rng, uint8_t data[64])
{
	for (int i = 0; i < 64; i++)
		data[i] = i % 8 ? 0 : (uint8_t)dlsi_rng_below(rng, 6);
	return data;
}

static void fill_field(struct dlsi_rng *rng, const struct dlsi_record_field *field, uint8_t *record, uint8_t data[64])
{
	static const char *const texts[] = {"", "w", "{\"handler\":\"w\"}", "{\"command\":\"status\"}", "{", "x"};
	void *out = record + field->offset;
	const char *text = texts[dlsi_rng_below(rng, 6)];

	switch (field->type) {
	case DLSI_FIELD_U8:
		*(uint8_t *)out = (uint8_t)number(rng);
		break;
	case DLSI_FIELD_FRAMES:
		*(uint16_t *)out = (uint16_t)dlsi_rng_below(rng, 2);
		break;
	case DLSI_FIELD_U16:
		*(uint16_t *)out = (uint16_t)number(rng);
		break;
	case DLSI_FIELD_U32:
		*(uint32_t *)out = (uint32_t)number(rng);
		break;
	case DLSI_FIELD_U64:
		*(uint64_t *)out = number(rng);
		break;
	case DLSI_FIELD_ID:
		((struct dlsi_id *)out)->bytes[0] = (uint8_t)dlsi_rng_below(rng, 4);
		break;
	case DLSI_FIELD_HASH:
		((struct dlsi_hash *)out)->bytes[0] = (uint8_t)dlsi_rng_below(rng, 4);
		break;
	case DLSI_FIELD_BLOB:
		((struct dlsi_blob *)out)->length = number(rng);
		break;
	case DLSI_FIELD_TEXT:
		*(struct dlsi_text *)out = dlsi_text_of(text);
		break;
	case DLSI_FIELD_BYTES:
		*(struct dlsi_bytes *)out = (struct dlsi_bytes){(const uint8_t *)text, dlsi_text_of(text).length};
		break;
	case DLSI_FIELD_NUMBERS:
		*(struct dlsi_numbers *)out =
			(struct dlsi_numbers){numbers_data(rng, data), (uint32_t)dlsi_rng_below(rng, 8)};
		break;
	}
}

/* Kinds of the conversation come often enough that registrations and jobs succeed. */
static uint16_t any_kind(struct dlsi_rng *rng, const uint16_t *often, size_t count)
{
	uint16_t kind = (uint16_t)(1 + dlsi_rng_below(rng, 40));

	if (dlsi_rng_below(rng, 8))
		kind = often[dlsi_rng_below(rng, count)];
	return dlsi_record_shape(kind) ? kind : DLSI_HEARTBEAT;
}

/* What a master accepts: peers 0 and 1 are workers, the others clients. */
static void make_sense(struct dlsi_rng *rng, struct dlsi_record *record, struct dlsi_peer peer)
{
	static const char spec[] = "{\"handler\":\"w\"}";

	if (record->kind == DLSI_REGISTER) {
		record->reg.version_low = record->reg.version_high = 1;
		record->reg.role = peer.slot < 2 ? DLSI_ROLE_WORKER : DLSI_ROLE_CLIENT;
		record->reg.incarnation = peer.slot;
		record->reg.name = dlsi_text_of(peer.slot ? "w" : "x");
	} else if (record->kind == DLSI_HANDLER) {
		record->handler.name = dlsi_text_of("w");
	} else if (record->kind == DLSI_SPEC) {
		record->spec.number = 0;
		record->spec.json = (struct dlsi_bytes){(const uint8_t *)spec, sizeof spec - 1};
	} else if (record->kind == DLSI_SUBMIT) {
		record->submit.spec = 0;
		record->submit.frames = 1;
		record->submit.count = 1 + dlsi_rng_below(rng, 50);
		record->submit.window_end = dlsi_rng_below(rng, 60);
		record->submit.received.count = 0;
	}
}

/* A result, acknowledgement or claim that is about a task the master knows. */
static void speak_to_the_point(struct dlsi_rng *rng, struct dlsi_record *record, uint8_t data[64])
{
	unsigned known = assigned_count < 8 ? assigned_count : 8;
	const struct dlsi_assign *task = &assigned[dlsi_rng_below(rng, known)];

	if (record->kind == DLSI_RESULT) {
		record->result.job = task->job;
		record->result.attempt = task->attempt;
		record->result.first = task->first;
		record->result.end = task->end;
	} else if (record->kind == DLSI_HELD) {
		record->held.job = task->job;
		record->held.attempt = task->attempt;
	} else if (record->kind == DLSI_ACK) {
		record->ack.job = task->job;
		dlsi_put_u64(data, task->attempt);
		record->ack.taken = (struct dlsi_numbers){data, 1};
		record->ack.lost = (struct dlsi_numbers){data, (uint32_t)dlsi_rng_below(rng, 2)};
	}
}

static void add_record(struct dlsi_rng *rng, struct dlsi_message_writer *writer, uint16_t kind, struct dlsi_peer peer)
{
	struct dlsi_record record = {.kind = kind};
	const struct dlsi_record_shape *shape = dlsi_record_shape(kind);
	uint8_t data[64];

	for (unsigned i = 0; i < shape->fields; i++)
		fill_field(rng, &shape->field[i], (uint8_t *)&record.reg, data);
	if (dlsi_rng_below(rng, 8))
		make_sense(rng, &record, peer);
	if (assigned_count && dlsi_rng_below(rng, 4))
		speak_to_the_point(rng, &record, data);
	dlsi_message_add(writer, &record);
}

struct hostile {
	struct dlsi_rng rng;
	const uint16_t *often[2]; /* kinds that a client says, that a worker says */
	size_t often_count;
	struct dlsi_id cluster;
	struct dlsi_buffer block;
	struct dlsi_payload frames[8];
	int64_t now_ns;
};

static struct dlsi_event message(struct hostile *hostile, struct dlsi_peer peer)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE, .peer = peer};
	struct dlsi_message_writer writer;
	bool worker = peer.slot < 2;
	uint16_t first = any_kind(&hostile->rng, hostile->often[worker], hostile->often_count);
	unsigned records = 1 + (unsigned)dlsi_rng_below(&hostile->rng, 4);
	uint16_t frames;

	dlsi_buffer_clear(&hostile->block);
	writer = dlsi_message_begin(&hostile->block, &hostile->cluster, 1);
	add_record(&hostile->rng, &writer, first, peer);
	if (first == DLSI_REGISTER) {
		add_record(&hostile->rng, &writer, DLSI_DEVICE, peer);
		add_record(&hostile->rng, &writer, DLSI_HANDLER, peer);
	}
	for (unsigned i = 1; i < records; i++)
		add_record(&hostile->rng, &writer,
			any_kind(&hostile->rng, hostile->often[worker], hostile->often_count), peer);
	frames = (uint16_t)(hostile->block.data[8] | hostile->block.data[9] << 8);
	for (unsigned i = 0; i < frames; i++)
		hostile->frames[i] = give(&hostile->rng);
	event.message.block = hostile->block.data;
	event.message.length = hostile->block.length;
	event.message.frames = hostile->frames;
	event.message.frame_count = frames;
	return event;
}

static struct dlsi_event any_event(struct hostile *hostile)
{
	struct dlsi_peer peer = {(uint32_t)dlsi_rng_below(&hostile->rng, PEERS), 1};
	struct dlsi_event event = {.peer = peer};
	uint64_t dice = dlsi_rng_below(&hostile->rng, 100);

	hostile->now_ns += (int64_t)dlsi_rng_below(&hostile->rng, 100000000);
	if (dice < 60)
		return message(hostile, peer);
	event.kind = dice < 85 ? DLSI_EVENT_TURN : dice < 95 ? DLSI_EVENT_TIMER : DLSI_EVENT_LOST;
	return event;
}

static void hostile_init(
	struct hostile *hostile, uint64_t seed, const uint16_t *client, const uint16_t *worker, size_t count)
{
	begin();
	*hostile =
		(struct hostile){.rng = unit_rng(seed), .often = {client, worker}, .often_count = count, .now_ns = 1};
	dlsi_buffer_init(&hostile->block, unit_alloc());
}

static void test_master(void **state)
{
	static const uint16_t client[] = {
		DLSI_SPEC, DLSI_SPEC, DLSI_SUBMIT, DLSI_ACK, DLSI_COMMAND, DLSI_CANCEL, DLSI_REGISTER};
	static const uint16_t worker[] = {
		DLSI_RESULT, DLSI_RESULT, DLSI_RESULT, DLSI_RESULT, DLSI_RESULT, DLSI_RESULT, DLSI_REGISTER};
	struct dlsi_master_config config = {.seed = 1,
		.heartbeat_ns = 100000000,
		.worker_timeout_ns = 500000000,
		.lost_grace_ns = 50000000,
		.client_timeout_ns = 1000000000,
		.policy = &dlsi_policy_roundrobin,
		.policies = dlsi_policies};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct hostile hostile;
		struct dlsi_master *master;
		struct dlsi_effects effects;

		hostile_init(&hostile, seed, client, worker, sizeof client / sizeof *client);
		dlsi_effects_init(&effects, unit_alloc());
		config.durable = seed % 2;
		assert_int_equal(dlsi_master_create(unit_alloc(), &config, &master, NULL), 0);
		for (int step = 0; step < STEPS; step++) {
			struct dlsi_event event = any_event(&hostile);

			dlsi_master_step(master, hostile.now_ns, &event, &effects);
			notice_assignments(&effects);
			take_back(&effects);
			dlsi_effects_clear(&effects);
		}
		dlsi_master_destroy(master, &effects);
		take_back(&effects);
		assert_nothing_held();
		dlsi_effects_fini(&effects);
		dlsi_buffer_fini(&hostile.block);
	}
}

static void test_agent(void **state)
{
	static const uint16_t often[] = {DLSI_WELCOME, DLSI_JOB, DLSI_ASSIGN, DLSI_CANCEL, DLSI_FORGET, DLSI_TAKEN};
	static const struct dlsi_agent_device device = {"cpu", 8, 1, 1};
	static const char *const handlers[] = {"w", NULL};
	struct dlsi_agent_config config = {.name = "w",
		.host = "h",
		.data_endpoint = "",
		.devices = &device,
		.device_count = 1,
		.handlers = handlers};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct hostile hostile;
		struct dlsi_agent *agent;
		struct dlsi_effects effects;

		hostile_init(&hostile, seed, often, often, sizeof often / sizeof *often);
		dlsi_effects_init(&effects, unit_alloc());
		assert_int_equal(dlsi_agent_create(unit_alloc(), &config, &agent, NULL), 0);
		for (int step = 0; step < STEPS; step++) {
			struct dlsi_event event = any_event(&hostile);

			event.peer.slot = 0;
			if (dlsi_rng_below(&hostile.rng, 10) == 0)
				event.kind = event.kind == DLSI_EVENT_MESSAGE ? event.kind : DLSI_EVENT_CONNECTED;
			if (event.kind == DLSI_EVENT_TURN && dlsi_rng_below(&hostile.rng, 2)) {
				event.kind = DLSI_EVENT_EXECUTED;
				event.attempt = dlsi_rng_below(&hostile.rng, 6);
				event.executed.payload = give(&hostile.rng);
			}
			dlsi_agent_step(agent, hostile.now_ns, &event, &effects);
			take_back(&effects);
			dlsi_effects_clear(&effects);
		}
		dlsi_agent_destroy(agent, &effects);
		take_back(&effects);
		assert_nothing_held();
		dlsi_effects_fini(&effects);
		dlsi_buffer_fini(&hostile.block);
	}
}

static void submit(struct hostile *hostile, struct dlsi_event *event)
{
	static const char spec[] = "{\"handler\":\"w\"}";

	*event = (struct dlsi_event){.kind = DLSI_EVENT_SUBMIT, .peer = event->peer};
	event->job.bytes[0] = (uint8_t)dlsi_rng_below(&hostile->rng, 4);
	event->submit.spec = (struct dlsi_bytes){(const uint8_t *)spec, sizeof spec - 1};
	event->submit.count = 1 + dlsi_rng_below(&hostile->rng, 6);
	event->submit.manifest = give(&hostile->rng);
	event->submit.window_items = 4;
	event->submit.window_bytes = 1000;
}

static void test_session(void **state)
{
	static const uint16_t often[] = {
		DLSI_WELCOME, DLSI_ACCEPTED, DLSI_RESULT, DLSI_RESULT, DLSI_REFUSED, DLSI_END, DLSI_PROGRESS};
	struct dlsi_session_config config = {.tenant = "t", .host = "h", .data_endpoint = ""};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct hostile hostile;
		struct dlsi_session *session;
		struct dlsi_effects effects;

		hostile_init(&hostile, seed, often, often, sizeof often / sizeof *often);
		dlsi_effects_init(&effects, unit_alloc());
		assert_int_equal(dlsi_session_create(unit_alloc(), &config, &session, NULL), 0);
		for (int step = 0; step < STEPS; step++) {
			struct dlsi_event event = any_event(&hostile);

			event.peer.slot = 0;
			if (event.kind == DLSI_EVENT_TIMER && dlsi_rng_below(&hostile.rng, 2))
				event.kind = DLSI_EVENT_CONNECTED;
			if (event.kind == DLSI_EVENT_TURN && dlsi_rng_below(&hostile.rng, 2)) {
				submit(&hostile, &event);
			} else if (event.kind == DLSI_EVENT_TURN && dlsi_rng_below(&hostile.rng, 4) == 0) {
				event.kind = DLSI_EVENT_FETCHED;
				event.attempt = dlsi_rng_below(&hostile.rng, 6);
				event.fetched.payload = give(&hostile.rng);
				event.fetched.code = 0;
			}
			dlsi_session_step(session, hostile.now_ns, &event, &effects);
			take_back(&effects);
			dlsi_effects_clear(&effects);
		}
		dlsi_session_destroy(session, &effects);
		take_back(&effects);
		assert_nothing_held();
		dlsi_effects_fini(&effects);
		dlsi_buffer_fini(&hostile.block);
	}
}

UNIT_MAIN(test_master, test_agent, test_session)
