/* The world that nodes live in: who there is, what happens when, and chance. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_WORKERS = 12, SIM_CLIENTS = 6 }; /* at most, where chance decides */

void *sim_calloc(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

void sim_fail(struct sim *sim, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "seed %" PRIu64 " at %.6f s: ", sim->seed, (double)sim->now_ns / 1e9);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (sim->plan)
		fprintf(stderr, "\n");
	else
		fprintf(stderr, "\nsee it happen: sim --seed %" PRIu64 " --trace\n", sim->seed);
	exit(1);
}

void sim_note(struct sim *sim, uint64_t number)
{
	sim->digest = (sim->digest ^ number ^ (uint64_t)sim->now_ns << 20) * 0x100000001b3; /* as FNV-1a does */
}

void sim_trace(struct sim *sim, const char *format, ...)
{
	char line[512];
	va_list arguments;

	if (sim->plan && !sim->trace)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	for (const char *at = line; *at; at++)
		sim_note(sim, (unsigned char)*at);
	if (sim->trace)
		printf("%12.6f %s\n", (double)sim->now_ns / 1e9, line);
}

uint64_t sim_below(struct sim *sim, uint64_t bound)
{
	return dlsi_rng_below(&sim->rng, bound);
}

bool sim_chance(struct sim *sim, unsigned percent)
{
	return sim_below(sim, 100) < percent;
}

struct sim_happening *sim_schedule(struct sim *sim, int64_t delay_ns, struct sim_node *at,
	void (*run)(struct sim *sim, struct sim_happening *happening))
{
	struct sim_happening *happening = sim_calloc(sizeof *happening);

	happening->node.order = sim->order++;
	happening->run = run;
	happening->at = at;
	happening->life = at ? at->life : 0;
	if (dlsi_heap_set(&sim->happenings, &happening->node, sim->now_ns + delay_ns))
		abort();
	return happening;
}

static void free_happening(struct sim_happening *happening)
{
	free(happening->block);
	free(happening->contents);
	free(happening);
}

void sim_postpone(struct sim *sim, struct sim_happening *happening, int64_t until_ns)
{
	happening->node.order = sim->order++;
	if (dlsi_heap_set(&sim->happenings, &happening->node, until_ns))
		abort();
}

/* A stopped process takes in nothing; what comes waits until it goes on. */
static bool wait_for_stopped(struct sim *sim, struct sim_happening *happening)
{
	const struct sim_node *node = happening->connection
					      ? sim_network_receiver(sim, happening->connection, happening->to_master)
					      : happening->at;

	if (!node || !node->up || node->stopped_until_ns <= sim->now_ns)
		return false;
	sim_postpone(sim, happening, node->stopped_until_ns);
	return true;
}

bool sim_run_next(struct sim *sim)
{
	struct dlsi_heap_node *first = dlsi_heap_first(&sim->happenings);
	struct sim_happening *happening;

	if (!first)
		return false;
	sim->now_ns = dlsi_heap_due(&sim->happenings, first);
	dlsi_heap_remove(&sim->happenings, first);
	happening = dlsi_list_entry(first, struct sim_happening, node);
	if (wait_for_stopped(sim, happening))
		return true;
	if (!happening->at || (happening->at->up && happening->at->life == happening->life))
		happening->run(sim, happening);
	free_happening(happening);
	return true;
}

/* Links between 10 MB/s and 1.28 GB/s, where chance decides. */
static void make_node(struct sim *sim, struct sim_node *node, enum sim_kind kind, unsigned index)
{
	uint64_t bytes_per_s = sim->plan ? sim->plan->link_bytes_per_s : UINT64_C(10000000) << sim_below(sim, 8);

	node->kind = kind;
	node->index = index;
	sim_link_init(&node->uplink, bytes_per_s);
	sim_link_init(&node->downlink, bytes_per_s);
}

static struct sim_node *make_nodes(struct sim *sim, enum sim_kind kind, unsigned count)
{
	struct sim_node *nodes = sim_calloc((count + 1) * sizeof *nodes);

	for (unsigned i = 0; i < count; i++)
		make_node(sim, &nodes[i], kind, i);
	return nodes;
}

void sim_init(struct sim *sim, uint64_t seed, const struct sim_plan *plan, bool trace)
{
	*sim = (struct sim){.seed = seed, .plan = plan, .trace = trace, .digest = 0xcbf29ce484222325};
	dlsi_rng_init(&sim->rng, seed);
	dlsi_heap_init(&sim->happenings, &dlsi_alloc_libc);
	dlsi_list_init(&sim->connections);
	sim->keeps_log = !plan && seed % 2;
	sim->worker_count = plan ? plan->workers : 1 + (unsigned)sim_below(sim, SIM_WORKERS);
	sim->client_count = plan ? 1 : 1 + (unsigned)sim_below(sim, SIM_CLIENTS);
	sim->store_count = plan ? plan->stores : 0;
	sim->workers = make_nodes(sim, SIM_WORKER, sim->worker_count);
	sim->clients = make_nodes(sim, SIM_CLIENT, sim->client_count);
	sim->stores = make_nodes(sim, SIM_STORE, sim->store_count);
	make_node(sim, &sim->master, SIM_MASTER, 0);
	sim_node_start(sim, &sim->master);
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_node_start(sim, &sim->workers[i]);
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_node_start(sim, &sim->clients[i]);
}

static void free_nodes(struct sim_node *nodes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		sim_link_clear(&nodes[i].uplink);
		sim_link_clear(&nodes[i].downlink);
	}
	free(nodes);
}

static void free_happenings(struct sim *sim)
{
	struct dlsi_heap_node *first;

	while ((first = dlsi_heap_first(&sim->happenings))) {
		struct sim_happening *happening = dlsi_list_entry(first, struct sim_happening, node);

		dlsi_heap_remove(&sim->happenings, first);
		free(happening->transfer);
		free_happening(happening);
	}
	dlsi_heap_fini(&sim->happenings);
}

void sim_fini(struct sim *sim)
{
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_node_stop(sim, &sim->clients[i]);
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_node_stop(sim, &sim->workers[i]);
	sim_node_stop(sim, &sim->master);
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_client_clear(&sim->clients[i]);
	free_happenings(sim);
	for (uint64_t i = 0; i < sim->log_count; i++)
		free(sim->log[i].bytes);
	free(sim->log);
	free(sim->payloads);
	sim_network_fini(sim);
	free_nodes(sim->workers, sim->worker_count);
	free_nodes(sim->clients, sim->client_count);
	free_nodes(sim->stores, sim->store_count);
}
