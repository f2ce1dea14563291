/* What running late tasks a second time is good for: a job on ten workers of which one becomes twenty times slower in
 * the middle, when it has begun an item like any other. */
#include "test/sim/sim.h"

#include "policy/roundrobin.h"
#include <stdio.h>

enum { WORKERS = 10, ITEMS = 400, SLOW = 3, TIMES_SLOWER = 20 };

#define ITEM_NS (500 * SIM_MS)
#define SLOW_NS (SIM_PLAN_BEGINS_NS + 10 * SIM_S) /* from then on: half of the job is done */

static int64_t run_ns(struct sim *sim, unsigned worker, uint64_t items)
{
	bool is_slow = worker == SLOW && sim->now_ns >= SLOW_NS;

	return (int64_t)items * ITEM_NS * (is_slow ? TIMES_SLOWER : 1);
}

static struct sim_node *holder(struct sim *sim, uint64_t item, uint64_t *end_out)
{
	(void)item;
	*end_out = UINT64_MAX;
	return &sim->clients[0];
}

/* Seconds of the job. */
static double run(const char *speculation)
{
	const struct sim_plan plan = {
		.workers = WORKERS,
		.items = ITEMS,
		.window_bytes = 1 << 30,
		.item_bytes = 1000,
		.result_bytes = 100,
		.link_bytes_per_s = 1250000000,
		.latency_ns = SIM_MS / 10,
		.message_ns = SIM_MS / 100,
		.policy = &dlsi_policy_roundrobin,
		.speculation = speculation,
		.run_ns = run_ns,
		.holder = holder,
	};
	struct sim sim;
	double seconds;

	sim_init(&sim, 1, &plan, false);
	while (!sim.clients[0].jobs[0].ended)
		if (!sim_run_next(&sim))
			sim_fail(&sim, "nothing is left to happen");
	seconds = (double)(sim.now_ns - SIM_PLAN_BEGINS_NS) / SIM_S;
	if (sim.delivered != ITEMS)
		sim_fail(&sim, "not every item has one result");
	sim_fini(&sim);
	return seconds;
}

void sim_check_stragglers(void)
{
	double with = run(NULL), without = run("{\"percent\": 0}");
	struct sim sim = {.seed = 1};

	printf("one of %d workers becomes %d times slower: %.1f s, and %.1f s without second runs\n", WORKERS,
		TIMES_SLOWER, with, without);
	if (with > 0.75 * without)
		sim_fail(&sim, "second runs do not help");
}
