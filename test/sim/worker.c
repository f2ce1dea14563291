/* The simulated worker's particulars: tasks take a while and leave a result page, small or offered. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFERED_BYTES (64 * 1024)

void sim_worker_start(struct sim *sim, struct sim_node *node)
{
	static const char *const handlers[] = {"work", NULL};
	struct dlsi_agent_device devices[SIM_DEVICES];
	struct dlsi_agent_config config = {.host = "host", .devices = devices, .handlers = handlers};
	char name[32];
	struct dls_error error;

	sim_node_name(node, name);
	config.name = name;
	config.data_endpoint = name;
	config.incarnation = node->incarnation;
	config.seed = dlsi_rng_next(&sim->rng);
	config.device_count = (uint16_t)(1 + sim_below(sim, SIM_DEVICES));
	for (uint16_t i = 0; i < config.device_count; i++) {
		node->credits[i] = 1 + sim_below(sim, 8);
		node->loads[i] = 0;
		devices[i] = (struct dlsi_agent_device){"cpu", (uint16_t)node->credits[i], 1, 1};
	}
	dlsi_map_init(&node->open_jobs, &dlsi_alloc_libc, 1);
	dlsi_map_init(&node->cancelled, &dlsi_alloc_libc, 1);
	dlsi_map_init(&node->running, &dlsi_alloc_libc, 1);
	node->open_count = 0;
	if (dlsi_agent_create(&node->memory.alloc, &config, &node->agent, &error))
		sim_fail(sim, "%s", error.text);
}

void sim_worker_clear(struct sim_node *node)
{
	dlsi_map_fini(&node->open_jobs);
	dlsi_map_fini(&node->cancelled);
	dlsi_map_fini(&node->running);
}

static void begin_load(struct sim *sim, struct sim_node *node, uint64_t attempt, uint16_t device)
{
	struct dlsi_id key = dlsi_map_key(0, attempt);

	if (dlsi_map_get(&node->running, &key))
		sim_fail(sim, "a worker is to execute an attempt twice");
	if (++node->loads[device] > node->credits[device])
		sim_fail(sim, "a device has more than the %" PRIu64 " tasks that it takes", node->credits[device]);
	if (dlsi_map_put(&node->running, &key, &node->loads[device]))
		abort();
}

/* The attempt is over, or nobody wants it any more. */
static void end_load(struct sim_node *node, uint64_t attempt)
{
	struct dlsi_id key = dlsi_map_key(0, attempt);
	uint64_t *load = dlsi_map_remove(&node->running, &key);

	if (load)
		--*load;
}

static void executed(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = happening->at;
	struct dlsi_id key = dlsi_map_key(0, happening->event.attempt);
	struct dlsi_event *event = &happening->event;
	struct sim_content content = happening->contents[0];

	end_load(node, event->attempt);
	event->kind = DLSI_EVENT_EXECUTED;
	event->executed.elapsed_ns = 1 + sim_below(sim, 50 * SIM_MS);
	if (dlsi_map_remove(&node->cancelled, &key) && sim_chance(sim, 50)) {
		event->executed.dropped = true;
	} else {
		event->executed.payload = sim_payload_add(sim, node, content);
		if (content.bytes > OFFERED_BYTES) {
			event->executed.offer.length = content.bytes;
			event->executed.offer.proof = DLSI_PROOF_CHECKSUM;
		}
	}
	sim_node_step(sim, node, event);
}

static void execute(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	int64_t takes = (int64_t)sim_below(sim, sim_chance(sim, 5) ? 2 * SIM_S : 40 * SIM_MS);
	struct sim_happening *end;

	if (!dlsi_map_get(&node->open_jobs, &effect->job))
		sim_fail(sim, "a worker is to execute a task of a job that it was not told of");
	sim->executions++;
	begin_load(sim, node, effect->attempt, effect->execute.device);
	end = sim_schedule(sim, takes, node, executed);
	end->event.attempt = effect->attempt;
	end->contents = sim_calloc(sizeof *end->contents);
	*end->contents = (struct sim_content){
		.job = effect->job,
		.attempt = effect->attempt,
		.first = effect->first,
		.end = effect->end,
		.bytes = 1 + sim_below(sim, sim_chance(sim, 80) ? OFFERED_BYTES : 4 * OFFERED_BYTES),
	};
}

void sim_worker_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct dlsi_id key;

	switch (effect->kind) {
	case DLSI_EFFECT_JOB_OPEN:
		if (dlsi_map_get(&node->open_jobs, &effect->job))
			sim_fail(sim, "a worker is told of a job twice");
		if (!effect->payload.handle ||
			!dlsi_id_equal(&sim_payload_get(sim, node, effect->payload.handle)->job, &effect->job))
			sim_fail(sim, "a worker gets a job with the manifest of another");
		dlsi_map_put(&node->open_jobs, &effect->job, node);
		node->open_count++;
		break;
	case DLSI_EFFECT_JOB_CLOSE:
		if (!dlsi_map_remove(&node->open_jobs, &effect->job))
			sim_fail(sim, "a worker is to close a job that it was not told of");
		node->open_count--;
		break;
	case DLSI_EFFECT_EXECUTE:
		execute(sim, node, effect);
		break;
	case DLSI_EFFECT_CANCEL:
		end_load(node, effect->attempt);
		key = dlsi_map_key(0, effect->attempt);
		dlsi_map_put(&node->cancelled, &key, node);
		break;
	case DLSI_EFFECT_NOTIFY:
		if (effect->notify.notice == DLSI_NOTICE_REJECTED)
			sim_fail(sim, "worker %u was refused for good with code %d", node->index, effect->notify.code);
		break;
	default:
		sim_fail(sim, "a worker asks for effect %d", (int)effect->kind);
	}
}
