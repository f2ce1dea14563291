/* The tests: worlds of chance, one from each seed, that must hold in spite of all that goes wrong, and replay. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_NS   (6 * SIM_S)
#define LIVENESS_NS (900 * SIM_S)
#define REST_NS     (60 * SIM_S) /* for a durable job that nobody waits for, one item a task, to end */

static void run_until(struct sim *sim, int64_t until_ns, bool until_over)
{
	while (sim->now_ns < until_ns && !(until_over && sim_all_over(sim)))
		if (!sim_run_next(sim))
			sim_fail(sim, "nothing is left to happen");
}

/* Runs one seed and returns the digest of all that happened. */
static uint64_t run_seed(uint64_t seed, bool trace, bool tell)
{
	struct sim sim;

	sim_init(&sim, seed, NULL, trace);
	if (!sim_chance(&sim, 10)) /* else nothing goes wrong */
		sim_faults_begin(&sim);
	run_until(&sim, FAULTS_NS, false);
	sim_faults_end(&sim);
	run_until(&sim, FAULTS_NS + LIVENESS_NS, true);
	sim_check_over(&sim);
	run_until(&sim, sim.now_ns + REST_NS, false);
	sim_check_end(&sim);
	sim_fini(&sim);
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
	if (seeds > 1)
		sim_check_stragglers();
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
