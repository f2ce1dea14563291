#include "test/unit/machine.h"

#include "policy/registry.h"
#include "policy/roundrobin.h"
#include "proto/bytes.h"
#include "test/unit/unit.h"
#include <string.h>

#define SECOND_NS INT64_C(1000000000)

static void init(struct unit_machine *machine, const struct dlsi_alloc *alloc)
{
	*machine = (struct unit_machine){
		.now_ns = 1000 * SECOND_NS, .cluster = unit_id(0xc1), .term = 1, .frame_bytes = 100};
	dlsi_effects_init(&machine->effects, alloc);
	machine->effects.log_level = DLS_LOG_DEBUG;
	dlsi_buffer_init(&machine->block, unit_alloc());
	dlsi_buffer_init(&machine->held, unit_alloc());
	*dlsi_buffer_extend(&machine->held, 1) = 0; /* handle 0 is none */
	for (unsigned slot = 0; slot < UNIT_SLOTS; slot++)
		machine->generations[slot] = 1;
}

static void step_master(void *core, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_master_step(core, now_ns, event, effects);
}

static void step_agent(void *core, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_agent_step(core, now_ns, event, effects);
}

static void step_session(void *core, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_session_step(core, now_ns, event, effects);
}

static void destroy_master(void *core, struct dlsi_effects *effects)
{
	dlsi_master_destroy(core, effects);
}

static void destroy_agent(void *core, struct dlsi_effects *effects)
{
	dlsi_agent_destroy(core, effects);
}

static void destroy_session(void *core, struct dlsi_effects *effects)
{
	dlsi_session_destroy(core, effects);
}

static void init_master(struct unit_machine *machine, const struct dlsi_alloc *alloc, bool durable, int64_t patience_ns,
	uint64_t job_bytes)
{
	struct dlsi_master_config config = {
		.term = 1,
		.seed = 1,
		.heartbeat_ns = 100 * UNIT_MS,
		.worker_timeout_ns = 500 * UNIT_MS,
		.lost_grace_ns = 50 * UNIT_MS,
		.client_timeout_ns = UNIT_S,
		.patience_ns = patience_ns,
		.job_bytes = job_bytes,
		.durable = durable,
		.policy = &dlsi_policy_roundrobin,
		.policies = dlsi_policies,
	};
	struct dlsi_master *master = NULL;

	init(machine, alloc);
	machine->step = step_master;
	machine->destroy = destroy_master;
	config.cluster = machine->cluster;
	dlsi_master_create(alloc, &config, &master, NULL);
	machine->core = master;
}

void unit_master_init(struct unit_machine *machine, const struct dlsi_alloc *alloc, bool durable)
{
	init_master(machine, alloc, durable, 0, 0);
}

void unit_small_master_init(struct unit_machine *machine, uint64_t job_bytes)
{
	init_master(machine, unit_alloc(), false, 0, job_bytes);
}

void unit_patient_master_init(struct unit_machine *machine, int64_t patience_ns)
{
	init_master(machine, unit_alloc(), false, patience_ns, 0);
}

void unit_agent_init(struct unit_machine *machine, const struct dlsi_alloc *alloc)
{
	static const struct dlsi_agent_device devices[] = {{"cpu 0", 8, 1, 1}, {"cpu 1", 8, 1, 1}};
	static const char *const handlers[] = {"work", NULL};
	const struct dlsi_agent_config config = {.name = "worker",
		.host = "host",
		.data_endpoint = "tcp://worker:1",
		.incarnation = 1,
		.devices = devices,
		.device_count = 2,
		.handlers = handlers};
	struct dlsi_agent *agent = NULL;

	init(machine, alloc);
	machine->step = step_agent;
	machine->destroy = destroy_agent;
	dlsi_agent_create(alloc, &config, &agent, NULL);
	machine->core = agent;
}

static void init_session(struct unit_machine *machine, const struct dlsi_alloc *alloc, int64_t patience_ns)
{
	const struct dlsi_session_config config = {.tenant = "tenant",
		.host = "host",
		.data_endpoint = "tcp://client:1",
		.incarnation = 1,
		.patience_ns = patience_ns};
	struct dlsi_session *session = NULL;

	init(machine, alloc);
	machine->step = step_session;
	machine->destroy = destroy_session;
	dlsi_session_create(alloc, &config, &session, NULL);
	machine->core = session;
}

void unit_session_init(struct unit_machine *machine, const struct dlsi_alloc *alloc)
{
	init_session(machine, alloc, 0);
}

void unit_patient_session_init(struct unit_machine *machine, int64_t patience_ns)
{
	init_session(machine, unit_alloc(), patience_ns);
}

/* What it releases it must have had. */
static void take_back(struct unit_machine *machine, size_t from)
{
	for (size_t i = from; i < machine->effects.count; i++) {
		const struct dlsi_effect *effect = &machine->effects.at[i];

		if (effect->kind != DLSI_EFFECT_RELEASE)
			continue;
		assert_true(effect->payload.handle < machine->held.length);
		assert_int_equal(machine->held.data[effect->payload.handle], 1);
		machine->held.data[effect->payload.handle] = 0;
	}
	for (size_t i = 0; i < machine->effects.frame_count; i++)
		assert_true(machine->effects.frames[i] && machine->effects.frames[i] < machine->held.length);
}

uint64_t unit_machine_held(const struct unit_machine *machine)
{
	uint64_t held = 0;

	for (size_t i = 0; i < machine->held.length; i++)
		held += machine->held.data[i];
	return held;
}

void unit_machine_fini(struct unit_machine *machine)
{
	bool failed = machine->effects.failed;

	dlsi_effects_clear(&machine->effects);
	machine->destroy(machine->core, &machine->effects);
	if (!failed && !machine->effects.failed) { /* else the driver drops what is left */
		take_back(machine, 0);
		assert_int_equal(unit_machine_held(machine), 0);
	}
	dlsi_effects_fini(&machine->effects);
	dlsi_buffer_fini(&machine->block);
	dlsi_buffer_fini(&machine->held);
}

static void step_once(struct unit_machine *machine, const struct dlsi_event *event)
{
	size_t from = machine->effects.count;

	machine->step(machine->core, machine->now_ns, event, &machine->effects);
	take_back(machine, from);
}

void unit_machine_step(struct unit_machine *machine, struct dlsi_event event)
{
	const struct dlsi_event turn = {.kind = DLSI_EVENT_TURN};

	if (machine->effects.failed)
		return;
	dlsi_effects_clear(&machine->effects);
	step_once(machine, &event);
	if (!machine->effects.failed)
		step_once(machine, &turn);
}

struct dlsi_payload unit_machine_give(struct unit_machine *machine, uint64_t bytes)
{
	uint64_t handle = machine->held.length;

	*dlsi_buffer_extend(&machine->held, 1) = 1;
	return (struct dlsi_payload){handle, bytes};
}

static struct dlsi_peer peer_at(const struct unit_machine *machine, uint32_t slot)
{
	return (struct dlsi_peer){slot, machine->generations[slot]};
}

void unit_machine_tell(struct unit_machine *machine, uint32_t slot, const struct dlsi_record *records, size_t count)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE, .peer = peer_at(machine, slot)};
	struct dlsi_message_writer writer;
	struct dlsi_payload frames[64];
	size_t frame_count = 0;

	dlsi_buffer_clear(&machine->block);
	writer = dlsi_message_begin(&machine->block, &machine->cluster, machine->term);
	for (size_t i = 0; i < count; i++) {
		dlsi_message_add(&writer, &records[i]);
		if (dlsi_record_frames(&records[i]) && frame_count < 64)
			frames[frame_count++] = unit_machine_give(machine, machine->frame_bytes);
	}
	event.message.block = machine->block.data;
	event.message.length = machine->block.length;
	event.message.frames = frames;
	event.message.frame_count = frame_count;
	unit_machine_step(machine, event);
}

void unit_machine_wait(struct unit_machine *machine, int64_t duration_ns)
{
	const struct dlsi_event timer = {.kind = DLSI_EVENT_TIMER};
	int64_t until_ns = machine->now_ns + duration_ns;

	while (machine->effects.deadline_ns <= until_ns && !machine->effects.failed) {
		if (machine->effects.deadline_ns > machine->now_ns)
			machine->now_ns = machine->effects.deadline_ns;
		unit_machine_step(machine, timer);
	}
	machine->now_ns = until_ns;
}

bool unit_machine_says(
	const struct unit_machine *machine, uint32_t slot, uint16_t kind, unsigned n, struct dlsi_record *record_out)
{
	const struct dlsi_effects *effects = &machine->effects;

	for (size_t i = 0; i < effects->count && !effects->failed; i++) {
		const struct dlsi_effect *effect = &effects->at[i];
		struct dlsi_message message;

		if (effect->kind != DLSI_EFFECT_SEND || !dlsi_peer_equal(effect->peer, peer_at(machine, slot)))
			continue;
		assert_int_equal(dlsi_message_open(effects->arena.data + effect->block, effect->block_length,
					 effect->frame_count, &message, NULL),
			0);
		while (dlsi_message_next(&message, record_out))
			if (record_out->kind == kind && n-- == 0)
				return true;
	}
	return false;
}

unsigned unit_machine_count(const struct unit_machine *machine, uint32_t slot, uint16_t kind)
{
	struct dlsi_record record;
	unsigned count = 0;

	while (unit_machine_says(machine, slot, kind, count, &record))
		count++;
	return count;
}

const struct dlsi_effect *unit_machine_does(const struct unit_machine *machine, enum dlsi_effect_kind kind, unsigned n)
{
	for (size_t i = 0; i < machine->effects.count; i++)
		if (machine->effects.at[i].kind == kind && n-- == 0)
			return &machine->effects.at[i];
	return NULL;
}

void unit_machine_say(struct unit_machine *machine, uint32_t slot, struct dlsi_record record)
{
	unit_machine_tell(machine, slot, &record, 1);
}

void unit_machine_connect(struct unit_machine *machine)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_CONNECTED};

	event.peer.generation = ++machine->generations[0];
	unit_machine_step(machine, event);
}

static void welcome(struct unit_machine *machine, uint8_t again)
{
	struct dlsi_record record = {.kind = DLSI_WELCOME};

	record.welcome = (struct dlsi_welcome){1, 100 * UNIT_MS, 500 * UNIT_MS, again};
	unit_machine_say(machine, 0, record);
}

void unit_machine_welcome(struct unit_machine *machine)
{
	welcome(machine, 0);
}

void unit_machine_welcome_again(struct unit_machine *machine)
{
	welcome(machine, 1);
}

const struct dlsi_effect *unit_machine_notice(const struct unit_machine *machine, enum dlsi_notice notice)
{
	for (size_t i = 0; i < machine->effects.count; i++)
		if (machine->effects.at[i].kind == DLSI_EFFECT_NOTIFY && machine->effects.at[i].notify.notice == notice)
			return &machine->effects.at[i];
	return NULL;
}

struct dlsi_assign unit_assigned(const struct unit_machine *master, uint32_t slot, unsigned n)
{
	struct dlsi_record record;

	assert_true(unit_machine_says(master, slot, DLSI_ASSIGN, n, &record));
	return record.assign;
}

int unit_refusal(const struct unit_machine *master, uint32_t slot)
{
	struct dlsi_record record;

	return unit_machine_says(master, slot, DLSI_REFUSED, 0, &record) ? record.refused.code : 0;
}

uint8_t unit_end_state(const struct unit_machine *master, uint32_t slot)
{
	struct dlsi_record record;

	return unit_machine_says(master, slot, DLSI_END, 0, &record) ? record.end.state : 0;
}

struct dlsi_id unit_id(uint8_t first)
{
	return (struct dlsi_id){{first}};
}

void unit_register_worker(struct unit_machine *master, uint32_t slot, uint64_t incarnation, const char *name,
	uint16_t credits, const char *handler)
{
	struct dlsi_record records[] = {{.kind = DLSI_REGISTER}, {.kind = DLSI_DEVICE}, {.kind = DLSI_HANDLER}};

	records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
		.version_low = 1,
		.version_high = 1,
		.incarnation = incarnation,
		.name = dlsi_text_of(name),
		.host = dlsi_text_of("host"),
		.data_endpoint = dlsi_text_of("tcp://worker:1")};
	records[1].device = (struct dlsi_device_offer){.credits = credits, .name = dlsi_text_of("cpu")};
	records[2].handler.name = dlsi_text_of(handler);
	unit_machine_tell(master, slot, records, 3);
}

void unit_register_client(struct unit_machine *master, uint32_t slot, uint64_t incarnation)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){.role = DLSI_ROLE_CLIENT,
		.version_low = 1,
		.version_high = 1,
		.incarnation = incarnation,
		.name = dlsi_text_of("tenant"),
		.host = dlsi_text_of("host"),
		.data_endpoint = dlsi_text_of("tcp://client:1")};
	unit_machine_tell(master, slot, &record, 1);
}

struct dlsi_record unit_spec(uint32_t number, const char *json)
{
	struct dlsi_record record = {.kind = DLSI_SPEC};

	record.spec.number = number;
	record.spec.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	return record;
}

struct dlsi_record unit_submit(uint8_t job, uint32_t spec, uint64_t count)
{
	struct dlsi_record record = {.kind = DLSI_SUBMIT};

	record.submit.job = unit_id(job);
	record.submit.token = unit_id(job);
	record.submit.spec = spec;
	record.submit.frames = 1;
	record.submit.count = count;
	record.submit.window_end = UINT64_MAX;
	record.submit.window_bytes = UINT64_MAX;
	return record;
}

struct dlsi_record unit_result(const struct dlsi_assign *assign, uint64_t bytes, bool offered)
{
	struct dlsi_record record = {.kind = DLSI_RESULT};

	record.result.job = assign->job;
	record.result.attempt = assign->attempt;
	record.result.first = assign->first;
	record.result.end = assign->end;
	record.result.bytes = bytes;
	record.result.elapsed_ns = 1000;
	record.result.frames = !offered;
	if (offered)
		record.result.offer = (struct dlsi_blob){.length = bytes, .proof = DLSI_PROOF_CHECKSUM};
	return record;
}

struct dlsi_record unit_handback(uint8_t leaving, const uint64_t *attempt)
{
	static uint8_t bytes[8];
	struct dlsi_record record = {.kind = DLSI_HANDBACK};

	record.handback.leaving = leaving;
	if (!attempt)
		return record;
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(*attempt >> 8 * i);
	record.handback.attempts = (struct dlsi_numbers){bytes, 1};
	return record;
}

static struct dlsi_numbers numbers(struct dlsi_buffer *buffer, const uint64_t *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		dlsi_write_u64(buffer, values[i]);
	return (struct dlsi_numbers){buffer->data, count};
}

void unit_ack(struct unit_machine *master, uint32_t slot, uint8_t job, const uint64_t *taken, unsigned taken_count,
	const uint64_t *lost, unsigned lost_count)
{
	struct dlsi_record record = {.kind = DLSI_ACK};
	struct dlsi_buffer first, second;

	dlsi_buffer_init(&first, unit_alloc());
	dlsi_buffer_init(&second, unit_alloc());
	record.ack.job = unit_id(job);
	record.ack.window_end = record.ack.window_bytes = UINT64_MAX;
	record.ack.taken = numbers(&first, taken, taken_count);
	record.ack.lost = numbers(&second, lost, lost_count);
	unit_machine_say(master, slot, record);
	dlsi_buffer_fini(&first);
	dlsi_buffer_fini(&second);
}

void unit_try_worker(struct unit_machine *master, uint32_t client, uint32_t worker)
{
	enum { JOB = 99 };
	struct dlsi_assign task;

	unit_machine_say(master, client, unit_submit(JOB, 0, 1));
	task = unit_assigned(master, worker, 0);
	unit_machine_say(master, worker, unit_result(&task, 100, false));
	unit_ack(master, client, JOB, &task.attempt, 1, NULL, 0);
}
