#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_NS   (6 * SIM_S)
#define LIVENESS_NS (900 * SIM_S)
#define REST_NS     (10 * SIM_S)

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

/* A stopped process takes in nothing; what comes waits until it goes on. */
static bool postpone(struct sim *sim, struct sim_happening *happening)
{
	const struct sim_node *node = happening->connection
					      ? sim_network_receiver(sim, happening->connection, happening->to_master)
					      : happening->at;

	if (!node || !node->up || node->stopped_until_ns <= sim->now_ns)
		return false;
	happening->node.order = sim->order++;
	return dlsi_heap_set(&sim->happenings, &happening->node, node->stopped_until_ns) == 0;
}

static bool run_next(struct sim *sim)
{
	struct dlsi_heap_node *first = dlsi_heap_first(&sim->happenings);
	struct sim_happening *happening;

	if (!first)
		return false;
	dlsi_heap_remove(&sim->happenings, first);
	happening = dlsi_list_entry(first, struct sim_happening, node);
	sim->now_ns = first->due;
	if (postpone(sim, happening))
		return true;
	if (!happening->at || (happening->at->up && happening->at->life == happening->life))
		happening->run(sim, happening);
	free_happening(happening);
	return true;
}

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

static void init(struct sim *sim, uint64_t seed, bool trace)
{
	*sim = (struct sim){.seed = seed, .trace = trace, .faults = true, .digest = 0xcbf29ce484222325};
	dlsi_rng_init(&sim->rng, seed);
	dlsi_heap_init(&sim->happenings, &dlsi_alloc_libc);
	dlsi_list_init(&sim->connections);
	sim->keeps_log = seed % 2;
	sim->worker_count = 1 + (unsigned)sim_below(sim, SIM_WORKERS);
	sim->client_count = 1 + (unsigned)sim_below(sim, SIM_CLIENTS);
	sim->master.kind = SIM_MASTER;
	sim_node_start(sim, &sim->master);
	for (unsigned i = 0; i < sim->worker_count; i++) {
		sim->workers[i].kind = SIM_WORKER;
		sim->workers[i].index = i;
		sim_node_start(sim, &sim->workers[i]);
	}
	for (unsigned i = 0; i < sim->client_count; i++) {
		sim->clients[i].kind = SIM_CLIENT;
		sim->clients[i].index = i;
		sim_node_start(sim, &sim->clients[i]);
	}
	if (!sim_chance(sim, 10)) /* else nothing goes wrong */
		sim_schedule(sim, 0, NULL, fault);
}

static void fini(struct sim *sim)
{
	struct dlsi_heap_node *first;

	for (unsigned i = 0; i < sim->client_count; i++)
		sim_node_stop(sim, &sim->clients[i]);
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_node_stop(sim, &sim->workers[i]);
	sim_node_stop(sim, &sim->master);
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_client_clear(&sim->clients[i]);
	while ((first = dlsi_heap_first(&sim->happenings))) {
		dlsi_heap_remove(&sim->happenings, first);
		free_happening(dlsi_list_entry(first, struct sim_happening, node));
	}
	for (uint64_t i = 0; i < sim->log_count; i++)
		free(sim->log[i].bytes);
	free(sim->log);
	free(sim->payloads);
	sim_network_fini(sim);
	dlsi_heap_fini(&sim->happenings);
}

static void run_until(struct sim *sim, int64_t until_ns, bool until_over)
{
	while (sim->now_ns < until_ns && !(until_over && sim_all_over(sim)))
		if (!run_next(sim))
			sim_fail(sim, "nothing is left to happen");
}

static void end_faults(struct sim *sim)
{
	sim->faults = false;
	sim_memory_starve(&sim->master.memory, 0, false);
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_memory_starve(&sim->workers[i].memory, 0, false);
	for (unsigned i = 0; i < sim->client_count; i++)
		sim_memory_starve(&sim->clients[i].memory, 0, false);
}

/* Runs one seed and returns the digest of all that happened. */
static uint64_t run_seed(uint64_t seed, bool trace, bool tell)
{
	struct sim sim;

	init(&sim, seed, trace);
	run_until(&sim, FAULTS_NS, false);
	end_faults(&sim);
	run_until(&sim, FAULTS_NS + LIVENESS_NS, true);
	sim_check_over(&sim);
	run_until(&sim, sim.now_ns + REST_NS, false);
	sim_check_end(&sim);
	fini(&sim);
	if (tell)
		printf("seed %" PRIu64 ": %" PRIu64 " items, %" PRIu64 " executions, %" PRIu64 " messages, %" PRIu64
		       " kills, %" PRIu64 " breaks, %" PRIu64 " times no memory\n",
			seed, sim.delivered, sim.executions, sim.messages, sim.kills, sim.breaks, sim.starved);
	return sim.digest;
}

static int usage(void)
{
	fputs("usage: sim [--seeds N] [--first SEED] [--seed SEED] [--trace]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	uint64_t first = 1, seeds = 200;
	bool trace = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--trace") == 0)
			trace = true;
		else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0)
			seeds = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--first") == 0)
			first = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
			first = strtoull(argv[++i], NULL, 10), seeds = 1;
		else
			return usage();
	}
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		uint64_t digest = run_seed(seed, trace, seeds == 1);

		/* A tenth of the seeds is run again: one seed is one run. */
		if (seed % 10 == 0 && !trace && run_seed(seed, false, false) != digest) {
			fprintf(stderr, "seed %" PRIu64 " does not replay\n", seed);
			return 1;
		}
	}
	printf("%" PRIu64 " seeds hold\n", seeds);
	return 0;
}
