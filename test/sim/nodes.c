/* Driving a core: an event in, its effects carried out, a turn and a timer when they are due. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>

enum { DRAINED = 64 }; /* messages before a turn, as of node/driver.c */

void sim_node_name(const struct sim_node *node, char name[32])
{
	static const char *const kinds[] = {"master", "worker", "client", "store"};

	snprintf(name, 32, "%s%u", kinds[node->kind], node->index);
}

static void step_core(struct sim *sim, struct sim_node *node, const struct dlsi_event *event)
{
	switch (node->kind) {
	case SIM_MASTER:
		dlsi_master_step(node->master, sim->now_ns, event, &node->effects);
		break;
	case SIM_WORKER:
		dlsi_agent_step(node->agent, sim->now_ns, event, &node->effects);
		break;
	case SIM_CLIENT:
		dlsi_session_step(node->session, sim->now_ns, event, &node->effects);
		break;
	case SIM_STORE:
		break;
	}
	if (node->effects.failed && !node->memory.has_failed)
		sim_fail(sim, "a core says that memory ran out although it did not");
}

/* What a driver does with a core that ran out of memory: nothing it asked for, and an end. */
static void starve(struct sim *sim, struct sim_node *node)
{
	sim->starved++;
	sim_node_kill(sim, node);
	sim_node_restart_later(sim, node);
}

static void carry_out(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct dlsi_text text;

	switch (effect->kind) {
	case DLSI_EFFECT_SEND:
		sim_network_send(sim, node, effect);
		break;
	case DLSI_EFFECT_RELEASE:
		sim_payload_release(sim, node, effect->payload.handle);
		break;
	case DLSI_EFFECT_DISCONNECT:
		sim_network_forget(sim, effect->peer);
		break;
	case DLSI_EFFECT_RECONNECT:
		sim_network_break(sim, node);
		break;
	case DLSI_EFFECT_LOG:
		text = dlsi_effects_text(&node->effects, effect->log.text, effect->log.text_length);
		sim_trace(sim, "  log: %.*s", (int)text.length, text.data);
		break;
	default:
		if (node->kind == SIM_MASTER)
			sim_master_effect(sim, node, effect);
		else if (node->kind == SIM_WORKER)
			sim_worker_effect(sim, node, effect);
		else
			sim_client_effect(sim, node, effect);
		break;
	}
}

static void turn(struct sim *sim, struct sim_happening *happening)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_TURN};

	happening->at->turn_due = false;
	sim_node_step(sim, happening->at, &event);
}

static void timer(struct sim *sim, struct sim_happening *happening)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_TIMER};

	if (happening->number != happening->at->timer_number)
		return; /* an earlier one came instead */
	happening->at->timer_ns = INT64_MAX;
	sim_node_step(sim, happening->at, &event);
}

int64_t sim_node_work(const struct sim *sim, struct sim_node *node, int64_t from_ns)
{
	node->busy_until_ns = (node->busy_until_ns > from_ns ? node->busy_until_ns : from_ns) + sim->plan->message_ns;
	return node->busy_until_ns;
}

/* A loop takes what has arrived, a few messages at most, before its turn. */
static int64_t turn_delay(struct sim *sim, const struct sim_node *node)
{
	int64_t longest_ns;

	if (!sim->plan)
		return sim_chance(sim, 50) ? 0 : (int64_t)sim_below(sim, SIM_MS);
	longest_ns = DRAINED * sim->plan->message_ns;
	if (node->busy_until_ns <= sim->now_ns)
		return 0;
	return node->busy_until_ns - sim->now_ns < longest_ns ? node->busy_until_ns - sim->now_ns : longest_ns;
}

void sim_node_step(struct sim *sim, struct sim_node *node, const struct dlsi_event *event)
{
	if (!node->up)
		return;
	sim_note(sim, node->kind << 16 | node->index << 8 | event->kind);
	if (sim->trace) {
		char name[32];

		sim_node_name(node, name);
		sim_trace(sim, "%s event %d", name, (int)event->kind);
	}
	step_core(sim, node, event);
	if (node->effects.failed) {
		starve(sim, node);
		return;
	}
	if (node->kind == SIM_MASTER && !sim->plan)
		sim_audit(sim);
	for (size_t i = 0; i < node->effects.count; i++)
		carry_out(sim, node, &node->effects.at[i]);
	dlsi_effects_clear(&node->effects);
	if (event->kind != DLSI_EVENT_TURN && !node->turn_due) {
		node->turn_due = true;
		sim_schedule(sim, turn_delay(sim, node), node, turn);
	}
	if (node->effects.deadline_ns < node->timer_ns) {
		int64_t delay = node->effects.deadline_ns - sim->now_ns;

		node->timer_ns = node->effects.deadline_ns;
		sim_schedule(sim, delay > 0 ? delay : 0, node, timer)->number = ++node->timer_number;
	}
}

void sim_node_start(struct sim *sim, struct sim_node *node)
{
	node->life++;
	node->up = true;
	node->timer_ns = INT64_MAX;
	node->turn_due = false;
	node->stopped_until_ns = 0;
	node->incarnation = dlsi_rng_next(&sim->rng);
	sim_memory_init(&node->memory);
	dlsi_effects_init(&node->effects, &node->memory.alloc);
	node->effects.log_level = sim->plan ? 0 : DLS_LOG_DEBUG;
	switch (node->kind) {
	case SIM_MASTER:
		sim_master_start(sim, node);
		return;
	case SIM_WORKER:
		sim_worker_start(sim, node);
		break;
	case SIM_CLIENT:
		sim_client_start(sim, node);
		break;
	case SIM_STORE:
		return;
	}
	sim_network_dial(sim, node, 0);
}

static void destroy_core(struct sim_node *node, struct dlsi_effects *effects)
{
	switch (node->kind) {
	case SIM_MASTER:
		dlsi_master_destroy(node->master, effects);
		break;
	case SIM_WORKER:
		dlsi_agent_destroy(node->agent, effects);
		sim_worker_clear(node);
		break;
	case SIM_CLIENT:
		dlsi_session_destroy(node->session, effects);
		break;
	case SIM_STORE:
		break;
	}
}

static void take_down(struct sim *sim, struct sim_node *node)
{
	char name[32];

	node->up = false;
	dlsi_effects_fini(&node->effects);
	sim_node_name(node, name);
	if (node->memory.blocks)
		sim_fail(sim, "%s leaves %" PRIu64 " blocks of memory", name, node->memory.blocks);
	if (node->kind == SIM_MASTER)
		sim_network_master_gone(sim);
	else
		sim_network_break(sim, node);
}

void sim_node_kill(struct sim *sim, struct sim_node *node)
{
	char name[32];

	if (!node->up)
		return;
	sim_node_name(node, name);
	sim_trace(sim, "%s is killed", name);
	sim_check_node(sim, node);
	destroy_core(node, NULL);
	sim_payload_drop_all(sim, node);
	take_down(sim, node);
	sim->kills++;
}

void sim_node_stop(struct sim *sim, struct sim_node *node)
{
	struct dlsi_event stop = {.kind = DLSI_EVENT_STOP};

	if (!node->up)
		return;
	node->stopped_until_ns = 0;
	sim_node_step(sim, node, &stop);
	if (!node->up)
		return;
	sim_check_node(sim, node);
	destroy_core(node, &node->effects);
	for (size_t i = 0; i < node->effects.count; i++)
		carry_out(sim, node, &node->effects.at[i]);
	take_down(sim, node);
	if (node->held)
		sim_fail(sim, "a core that was destroyed in good order left %" PRIu64 " payloads", node->held);
}
