/* The simulated master's particulars: its log, which persists late, and coming back with it. */
#include "test/sim/sim.h"

#include "core/change.h"
#include "policy/registry.h"
#include "policy/roundrobin.h"
#include <stdlib.h>
#include <string.h>

static void replay(struct sim *sim, struct sim_node *node)
{
	struct dls_error error;

	for (uint64_t i = sim->log_persisted; i < sim->log_count; i++)
		free(sim->log[i].bytes);
	sim->log_count = sim->log_persisted;
	for (uint64_t i = 0; i < sim->log_count; i++) {
		const struct sim_log_record *record = &sim->log[i];
		struct dlsi_payload payload = {0};

		if (record->has_payload)
			payload = sim_payload_add(sim, node, record->content);
		if (dlsi_master_replay(
			    node->master, i + 1, record->bytes, record->length, payload, &node->effects, &error))
			sim_fail(sim, "the log does not replay: %s", error.text);
	}
}

static const struct dlsi_policy_ops *draw_policy(struct sim *sim)
{
	static const char *const names[] = {
		"roundrobin", "leastloaded", "priority", "feedback", "deadline", "drf", "ddrf"};
	const struct dlsi_policy_ops *policy = NULL;

	dlsi_policy_find(dlsi_policies, names[sim_below(sim, sizeof names / sizeof *names)], &policy, NULL);
	return policy;
}

static struct dlsi_master_config draw_config(struct sim *sim)
{
	return (struct dlsi_master_config){
		.seed = dlsi_rng_next(&sim->rng),
		.heartbeat_ns = 100 * SIM_MS,
		.worker_timeout_ns = 500 * SIM_MS,
		.lost_grace_ns = 50 * SIM_MS,
		.client_timeout_ns = 3 * SIM_S,
		.patience_ns = sim_chance(sim, 50) ? SIM_MS : 0,
		.durable = sim->keeps_log,
		.policy = draw_policy(sim),
		.last_policy = &dlsi_policy_roundrobin,
		.policies = dlsi_policies,
	};
}

/* Those of the program (api/master.c). */
static struct dlsi_master_config defaults(struct sim *sim)
{
	return (struct dlsi_master_config){
		.seed = dlsi_rng_next(&sim->rng),
		.heartbeat_ns = SIM_S,
		.worker_timeout_ns = 5 * SIM_S,
		.lost_grace_ns = 200 * SIM_MS,
		.client_timeout_ns = 10 * SIM_S,
		.patience_ns = SIM_MS,
		.policy = sim->plan->policy,
	};
}

void sim_master_start(struct sim *sim, struct sim_node *node)
{
	struct dlsi_master_config config = sim->plan ? defaults(sim) : draw_config(sim);
	struct dlsi_event turn = {.kind = DLSI_EVENT_TURN};
	cJSON *speculation = sim->plan && sim->plan->speculation ? cJSON_Parse(sim->plan->speculation) : NULL;
	struct dls_error error;

	if (!sim->keeps_log || sim->term == 0)
		for (int i = 0; i < DLSI_ID_BYTES; i++)
			sim->cluster.bytes[i] = (uint8_t)dlsi_rng_next(&sim->rng);
	config.cluster = sim->cluster;
	config.speculation = speculation;
	config.term = ++sim->term;
	if (dlsi_master_create(&node->memory.alloc, &config, &node->master, &error))
		sim_fail(sim, "%s", error.text);
	cJSON_Delete(speculation);
	replay(sim, node);
	sim_node_step(sim, node, &turn);
}

static void persisted(struct sim *sim, struct sim_happening *happening)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	if (happening->number > sim->log_persisted)
		sim->log_persisted = happening->number;
	event.persisted.index = sim->log_persisted;
	sim_node_step(sim, happening->at, &event);
}

static void append(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct sim_log_record *record;

	if (effect->append.index != sim->log_count + 1)
		sim_fail(sim, "a log record has the wrong index");
	if (sim->log_count == sim->log_capacity) {
		sim->log_capacity = sim->log_capacity ? 2 * sim->log_capacity : 256;
		sim->log = realloc(sim->log, sim->log_capacity * sizeof *sim->log);
	}
	record = &sim->log[sim->log_count++];
	*record = (struct sim_log_record){.bytes = sim_calloc(effect->block_length), .length = effect->block_length};
	memcpy(record->bytes, node->effects.arena.data + effect->block, effect->block_length);
	if (effect->payload.handle) {
		record->has_payload = true;
		record->content = *sim_payload_get(sim, node, effect->payload.handle);
	}
	sim_schedule(sim, (int64_t)sim_below(sim, 40 * SIM_MS), node, persisted)->number = sim->log_count;
}

void sim_master_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	if (effect->kind != DLSI_EFFECT_APPEND)
		sim_fail(sim, "the master asks for effect %d", (int)effect->kind);
	append(sim, node, effect);
}
