/* Tasks that the state machines push through in a second of processor time, on one thread: a master, workers that do
 * nothing and a client, with messages handed over in memory. One JSON line each. What sockets, loops and threads cost
 * is bench/dispatch.py's.
 *
 * core.turn_million: what the longest turn of a master takes, in ms of processor time, while a million jobs of one item
 * come, are asked about, go to another policy, and lose their client. core.workers_N: one job of single items over N
 * workers. core.jobs_10000: as many jobs wait, 1,000 workers are all busy. */
#include "base/clock.h"
#include "base/limits.h"
#include "core/agent.h"
#include "core/master.h"
#include "core/session.h"
#include "policy/registry.h"
#include "policy/roundrobin.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, WORKERS = 1000, JOBS = 10000, RESULT_BYTES = 100, CREDITS = 64, DRAINED = 64 };

#define ROUND_NS  INT64_C(400000000)
#define JOB_ITEMS UINT64_C(1000000000)

/* A message on its way; the block lies in the same memory. */
struct message {
	struct message *next;
	struct dlsi_peer from;
	size_t length;
	size_t frame_count;
	struct dlsi_payload frames[DLSI_MESSAGE_FRAMES / 16];
	uint8_t block[];
};

struct node {
	struct message *first, **last; /* that have arrived */
	struct dlsi_effects effects;
	struct dlsi_master *master;
	struct dlsi_agent *agent;
	struct dlsi_session *session;
	struct dlsi_buffer finished; /* u64 each: attempts of tasks that are over already */
};

/* Slot 0 of the master's peers is the client, the others are workers; each peer's node has the number of its slot. */
struct world {
	struct node master, peers[1 + WORKERS];
	unsigned peer_count;
	uint64_t next_handle, delivered;
	int64_t now_ns;
};

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "core: %s\n", what);
		exit(1);
	}
}

static struct dlsi_payload make_payload(struct world *world, uint64_t bytes)
{
	return (struct dlsi_payload){++world->next_handle, bytes};
}

static void send(struct world *world, struct node *from, const struct dlsi_effect *effect)
{
	struct node *to = from == &world->master ? &world->peers[effect->peer.slot] : &world->master;
	struct message *message = malloc(sizeof *message + effect->block_length);

	check(message != NULL, "no memory");
	message->next = NULL;
	message->from = (struct dlsi_peer){to == &world->master ? (uint32_t)(from - world->peers) : 0, 1};
	message->length = effect->block_length;
	memcpy(message->block, from->effects.arena.data + effect->block, effect->block_length);
	message->frame_count = effect->frame_count;
	for (size_t i = 0; i < effect->frame_count; i++)
		message->frames[i] = make_payload(world, RESULT_BYTES);
	*to->last = message;
	to->last = &message->next;
}

static void step(struct world *world, struct node *node, const struct dlsi_event *event);

/* A client that takes at once what comes. */
static void consume(struct world *world, struct node *node, const struct dlsi_effect *effect)
{
	const struct dlsi_event event = {.kind = DLSI_EVENT_CONSUMED, .job = effect->job, .consumed.next = effect->end};

	world->delivered += effect->end - effect->first;
	dlsi_session_step(node->session, world->now_ns, &event, &node->effects);
}

static void carry_out(struct world *world, struct node *node)
{
	for (size_t i = 0; i < node->effects.count; i++) {
		const struct dlsi_effect effect = node->effects.at[i];

		if (effect.kind == DLSI_EFFECT_SEND)
			send(world, node, &effect);
		else if (effect.kind == DLSI_EFFECT_EXECUTE)
			dlsi_buffer_append(&node->finished, &effect.attempt, sizeof effect.attempt);
		else if (effect.kind == DLSI_EFFECT_DELIVER)
			consume(world, node, &effect);
	}
	dlsi_effects_clear(&node->effects);
}

static void step(struct world *world, struct node *node, const struct dlsi_event *event)
{
	if (node->master)
		dlsi_master_step(node->master, world->now_ns, event, &node->effects);
	else if (node->agent)
		dlsi_agent_step(node->agent, world->now_ns, event, &node->effects);
	else
		dlsi_session_step(node->session, world->now_ns, event, &node->effects);
	check(!node->effects.failed, "no memory");
	carry_out(world, node);
}

static void take_message(struct world *world, struct node *node)
{
	struct message *message = node->first;
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE, .peer = message->from};

	node->first = message->next;
	if (!node->first)
		node->last = &node->first;
	event.message.block = message->block;
	event.message.length = message->length;
	event.message.frames = message->frames;
	event.message.frame_count = message->frame_count;
	step(world, node, &event);
	free(message);
}

static void end_tasks(struct world *world, struct node *node)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED};

	for (size_t at = 0; at < node->finished.length; at += sizeof event.attempt) {
		memcpy(&event.attempt, node->finished.data + at, sizeof event.attempt);
		event.executed.payload = make_payload(world, RESULT_BYTES);
		event.executed.elapsed_ns = 1000;
		step(world, node, &event);
	}
	dlsi_buffer_clear(&node->finished);
}

/* What a loop does: some messages, then a turn. False if there was nothing to do. */
static bool turn(struct world *world, struct node *node)
{
	const struct dlsi_event turn = {.kind = DLSI_EVENT_TURN}, timer = {.kind = DLSI_EVENT_TIMER};
	bool due = node->effects.deadline_ns <= world->now_ns;

	if (!node->first && !due)
		return false;
	for (int i = 0; node->first && i < DRAINED; i++)
		take_message(world, node);
	end_tasks(world, node);
	if (due)
		step(world, node, &timer);
	step(world, node, &turn);
	return true;
}

static void init_node(struct node *node)
{
	node->last = &node->first;
	dlsi_effects_init(&node->effects, &dlsi_alloc_libc);
	dlsi_buffer_init(&node->finished, &dlsi_alloc_libc);
}

static struct dlsi_master_config configuration(void)
{
	return (struct dlsi_master_config){
		.cluster = {{1}},
		.term = 1,
		.seed = 1,
		.heartbeat_ns = DLSI_SECOND_NS,
		.worker_timeout_ns = 60 * DLSI_SECOND_NS,
		.lost_grace_ns = DLSI_SECOND_NS,
		.client_timeout_ns = 60 * DLSI_SECOND_NS,
		.policy = &dlsi_policy_roundrobin,
		.policies = dlsi_policies,
	};
}

static void init_master(struct world *world)
{
	struct dlsi_master_config config = configuration();

	init_node(&world->master);
	check(dlsi_master_create(&dlsi_alloc_libc, &config, &world->master.master, NULL) == 0, "no memory");
}

static void init_peer(struct world *world, unsigned slot)
{
	static const struct dlsi_agent_device device = {"cpu", CREDITS, 1, 1};
	static const char *const handlers[] = {"nothing", NULL};
	const struct dlsi_event connected = {.kind = DLSI_EVENT_CONNECTED, .peer = {0, 1}};
	char name[32];
	struct dlsi_session_config client = {
		.tenant = "tenant", .host = "host", .data_endpoint = "tcp://127.0.0.1:1", .incarnation = 1};
	struct dlsi_agent_config worker = {.name = name,
		.host = "host",
		.data_endpoint = "tcp://127.0.0.1:1",
		.incarnation = slot + 1,
		.devices = &device,
		.device_count = 1,
		.handlers = handlers};
	struct node *node = &world->peers[slot];

	init_node(node);
	snprintf(name, sizeof name, "worker%u", slot);
	check((slot ? dlsi_agent_create(&dlsi_alloc_libc, &worker, &node->agent, NULL)
		    : dlsi_session_create(&dlsi_alloc_libc, &client, &node->session, NULL)) == 0,
		"no memory");
	step(world, node, &connected);
}

static void submit(struct world *world, unsigned job)
{
	static const char spec[] = "{\"handler\":\"nothing\",\"task_items\":1}";
	struct dlsi_event event = {.kind = DLSI_EVENT_SUBMIT};

	memcpy(event.job.bytes, &job, sizeof job);
	event.submit.token = event.job;
	event.submit.spec = (struct dlsi_bytes){(const uint8_t *)spec, sizeof spec - 1};
	event.submit.count = JOB_ITEMS;
	event.submit.manifest = make_payload(world, RESULT_BYTES);
	event.submit.window_items = JOB_ITEMS;
	event.submit.window_bytes = UINT64_MAX;
	step(world, &world->peers[0], &event);
}

static void init(struct world *world, unsigned workers, unsigned jobs)
{
	*world = (struct world){.peer_count = 1 + workers, .now_ns = dlsi_clock_monotonic_ns()};
	init_master(world);
	for (unsigned slot = 0; slot < world->peer_count; slot++)
		init_peer(world, slot);
	for (unsigned job = 1; job <= jobs; job++)
		submit(world, job);
}

static void fini_node(struct node *node)
{
	while (node->first) {
		struct message *next = node->first->next;

		free(node->first);
		node->first = next;
	}
	dlsi_master_destroy(node->master, NULL);
	dlsi_agent_destroy(node->agent, NULL);
	dlsi_session_destroy(node->session, NULL);
	dlsi_effects_fini(&node->effects);
	dlsi_buffer_fini(&node->finished);
}

static void run(struct world *world, int64_t duration_ns)
{
	int64_t end_ns = world->now_ns + duration_ns;

	while (world->now_ns < end_ns) {
		world->now_ns = dlsi_clock_monotonic_ns();
		turn(world, &world->master);
		for (unsigned slot = 0; slot < world->peer_count; slot++)
			turn(world, &world->peers[slot]);
	}
}

static int by_value(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void measure(const char *figure, unsigned workers, unsigned jobs)
{
	static struct world world;
	double rates[ROUNDS];

	init(&world, workers, jobs);
	run(&world, ROUND_NS); /* until all are registered and busy */
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t before = world.delivered;
		clock_t begin = clock();

		run(&world, ROUND_NS);
		rates[round] = (double)(world.delivered - before) * CLOCKS_PER_SEC / (double)(clock() - begin);
	}
	check(world.delivered > 0, "nothing was done");
	qsort(rates, ROUNDS, sizeof *rates, by_value);
	printf("{\"figure\": \"core.%s\", \"value\": %.0f, \"min\": %.0f, \"max\": %.0f, \"unit\": \"tasks/s\", "
	       "\"better\": \"higher\", \"goal\": null, \"peer\": null}\n",
		figure, rates[ROUNDS / 2], rates[0], rates[ROUNDS - 1]);
	fflush(stdout);
	fini_node(&world.master);
	for (unsigned slot = 0; slot < world.peer_count; slot++)
		fini_node(&world.peers[slot]);
}

/* ---- a million jobs */

enum { MILLION = 1000000, MESSAGE_JOBS = 200, OPERATOR = 1 };

struct crowd {
	struct dlsi_master *master;
	struct dlsi_effects effects;
	struct dlsi_buffer block;
	struct dlsi_id cluster;
	uint64_t next_handle;
	double longest_ms;
};

static double processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* As a loop does that took one message, or none. */
static void turn_of(struct crowd *crowd, const struct dlsi_event *event)
{
	const struct dlsi_event turn = {.kind = DLSI_EVENT_TURN};
	double begin_ms = processor_ms(), took_ms;

	if (event)
		dlsi_master_step(crowd->master, dlsi_clock_monotonic_ns(), event, &crowd->effects);
	dlsi_master_step(crowd->master, dlsi_clock_monotonic_ns(), &turn, &crowd->effects);
	took_ms = processor_ms() - begin_ms;
	if (took_ms > crowd->longest_ms)
		crowd->longest_ms = took_ms;
	check(!crowd->effects.failed, "no memory");
	dlsi_effects_clear(&crowd->effects);
}

static void say(struct crowd *crowd, uint32_t slot, const struct dlsi_record *records, size_t count)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE, .peer = {slot, 1}};
	struct dlsi_payload frames[MESSAGE_JOBS];
	struct dlsi_message_writer writer;

	dlsi_buffer_clear(&crowd->block);
	writer = dlsi_message_begin(&crowd->block, &crowd->cluster, 1);
	for (size_t i = 0; i < count; i++) {
		dlsi_message_add(&writer, &records[i]);
		if (dlsi_record_frames(&records[i]))
			frames[event.message.frame_count++] = (struct dlsi_payload){++crowd->next_handle, RESULT_BYTES};
	}
	event.message.block = crowd->block.data;
	event.message.length = crowd->block.length;
	event.message.frames = frames;
	turn_of(crowd, &event);
}

static void join(struct crowd *crowd, uint32_t slot)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){.role = DLSI_ROLE_CLIENT,
		.version_low = DLSI_PROTOCOL_VERSION,
		.version_high = DLSI_PROTOCOL_VERSION,
		.incarnation = slot + 1};
	say(crowd, slot, &record, 1);
}

static void submit_million(struct crowd *crowd)
{
	static const char spec[] = "{\"handler\":\"nothing\"}";
	struct dlsi_record records[MESSAGE_JOBS], record = {.kind = DLSI_SPEC};

	record.spec.json = (struct dlsi_bytes){(const uint8_t *)spec, sizeof spec - 1};
	say(crowd, 0, &record, 1);
	for (unsigned job = 0; job < MILLION;) {
		for (unsigned i = 0; i < MESSAGE_JOBS; i++) {
			records[i] = (struct dlsi_record){.kind = DLSI_SUBMIT};
			records[i].submit = (struct dlsi_submit){
				.frames = 1, .count = 1, .window_end = UINT64_MAX, .window_bytes = UINT64_MAX};
			job++;
			memcpy(records[i].submit.job.bytes, &job, sizeof job);
		}
		say(crowd, 0, records, MESSAGE_JOBS);
	}
	check(dlsi_master_counts(crowd->master).jobs == MILLION, "jobs are missing");
}

static void ask(struct crowd *crowd, const char *json)
{
	const struct dlsi_event timer = {.kind = DLSI_EVENT_TIMER};
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	say(crowd, OPERATOR, &record, 1);
	while (crowd->effects.deadline_ns <= dlsi_clock_monotonic_ns())
		turn_of(crowd, &timer);
}

static void measure_turn(void)
{
	const struct dlsi_record leave = {.kind = DLSI_LEAVE};
	struct dlsi_master_config config = configuration();
	struct crowd crowd = {.cluster = config.cluster};

	dlsi_effects_init(&crowd.effects, &dlsi_alloc_libc);
	dlsi_buffer_init(&crowd.block, &dlsi_alloc_libc);
	check(dlsi_master_create(&dlsi_alloc_libc, &config, &crowd.master, NULL) == 0, "no memory");
	join(&crowd, 0);
	join(&crowd, OPERATOR);
	submit_million(&crowd);
	ask(&crowd, "{\"command\":\"jobs\",\"limit\":256}");
	ask(&crowd, "{\"command\":\"changes\",\"after\":0}");
	ask(&crowd, "{\"command\":\"policy\",\"name\":\"priority\"}");
	say(&crowd, 0, &leave, 1);
	while (dlsi_master_counts(crowd.master).jobs)
		turn_of(&crowd, NULL);
	printf("{\"figure\": \"core.turn_million\", \"value\": %.1f, \"min\": %.1f, \"max\": %.1f, \"unit\": \"ms\", "
	       "\"better\": \"lower\", \"goal\": 50, \"peer\": null}\n",
		crowd.longest_ms, crowd.longest_ms, crowd.longest_ms);
	dlsi_master_destroy(crowd.master, NULL);
	dlsi_effects_fini(&crowd.effects);
	dlsi_buffer_fini(&crowd.block);
}

int main(void)
{
	measure_turn();
	measure("workers_1", 1, 1);
	measure("workers_1000", WORKERS, 1);
	measure("jobs_10000", WORKERS, JOBS);
	return 0;
}
