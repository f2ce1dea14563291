/* What goes wrong in a test: connections break, processes are killed, stopped for a while or run out of memory, from
 * the seed, until it is enough. */
#include "test/sim/sim.h"

#define SETTLE_NS (5 * SIM_S) /* after the end of faults: all that was commanded before has arrived or is lost */

static void restart(struct sim *sim, struct sim_happening *happening)
{
	/* scheduled for the world itself: the node has no life now */
	struct sim_node *node = happening->number == 0 ? &sim->master : &sim->workers[happening->number - 1];

	if (!node->up)
		sim_node_start(sim, node);
}

void sim_node_restart_later(struct sim *sim, struct sim_node *node)
{
	if (node->kind != SIM_CLIENT)
		sim_schedule(sim, (int64_t)sim_below(sim, SIM_S), NULL, restart)->number =
			node->kind == SIM_MASTER ? 0 : node->index + 1;
}

/* Kills a process and starts it again a little later. */
static void kill_for_a_while(struct sim *sim, struct sim_node *node)
{
	sim_node_kill(sim, node);
	sim_node_restart_later(sim, node);
}

/* What waits for it comes when it goes on, in order; so a second stop never ends the first one early. */
static void stop_for_a_while(struct sim *sim, struct sim_node *node, int64_t longest_ns)
{
	int64_t until_ns = sim->now_ns + (int64_t)sim_below(sim, (uint64_t)longest_ns);

	if (node->stopped_until_ns < until_ns)
		node->stopped_until_ns = until_ns;
}

/* One of all nodes, each with the same chance. */
static struct sim_node *any_node(struct sim *sim)
{
	uint64_t n = sim_below(sim, 1 + sim->worker_count + sim->client_count);

	if (n < sim->worker_count)
		return &sim->workers[n];
	n -= sim->worker_count;
	return n < sim->client_count ? &sim->clients[n] : &sim->master;
}

static void starve(struct sim *sim, struct sim_node *node)
{
	uint64_t plenty = 1 + sim_below(sim, sim_chance(sim, 50) ? 20 : 400);

	if (node->up)
		sim_memory_starve(&node->memory, plenty, sim_chance(sim, 50));
}

/* It leaves, and comes back, once it has nothing left. */
static void drain(struct sim *sim, struct sim_node *node)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_DRAIN};

	sim_node_step(sim, node, &event);
}

static void leave(struct sim *sim, struct sim_happening *happening)
{
	sim_node_stop(sim, happening->at);
	sim_node_restart_later(sim, happening->at);
}

void sim_faults_drained(struct sim *sim, struct sim_node *node)
{
	sim_schedule(sim, (int64_t)sim_below(sim, SIM_MS), node, leave);
}

static void fault(struct sim *sim, struct sim_happening *happening)
{
	unsigned worker = (unsigned)sim_below(sim, sim->worker_count);
	unsigned client = (unsigned)sim_below(sim, sim->client_count);
	uint64_t dice = sim_below(sim, 100);

	(void)happening;
	if (!sim->faults)
		return;
	if (dice < 30) {
		sim_network_break(sim, &sim->workers[worker]);
		sim->breaks++;
	} else if (dice < 50) {
		sim_network_break(sim, &sim->clients[client]);
		sim->breaks++;
	} else if (dice < 70) {
		kill_for_a_while(sim, &sim->workers[worker]);
	} else if (dice < 75) {
		kill_for_a_while(sim, &sim->master);
	} else if (dice < 78) {
		sim_node_kill(sim, &sim->clients[client]);
	} else if (dice < 79) {
		drain(sim, &sim->workers[worker]);
	} else if (dice < 80) {
		sim_node_stop(sim, &sim->workers[worker]);
		sim_node_restart_later(sim, &sim->workers[worker]);
	} else if (dice < 87) {
		stop_for_a_while(sim, &sim->workers[worker], 2 * SIM_S);
	} else if (dice < 90) {
		stop_for_a_while(sim, &sim->clients[client], 2 * SIM_S);
	} else if (dice < 93) {
		stop_for_a_while(sim, &sim->master, SIM_S);
	} else {
		starve(sim, any_node(sim));
	}
	sim_schedule(sim, (int64_t)sim_below(sim, 400 * SIM_MS), NULL, fault);
}

void sim_faults_begin(struct sim *sim)
{
	sim->faults = true;
	sim_schedule(sim, 0, NULL, fault);
}

void sim_faults_end(struct sim *sim)
{
	sim->faults = false;
	sim_schedule(sim, SETTLE_NS, NULL, sim_command_settle);
	sim_memory_starve(&sim->master.memory, 0, false);
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_memory_starve(&sim->workers[i].memory, 0, false);
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_memory_starve(&sim->clients[i].memory, 0, false);
}
