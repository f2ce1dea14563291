/* How near a cluster comes to what is physically possible: the production core in the simulated world of test/sim, with
 * 10 to 10,000 workers, links that carry 10 Gbit/s in each direction, and service times that were measured. One JSON
 * line per figure; `make bench-sim` runs it.
 *
 * A worker is 4, 2 or 1 times as fast as the machine that was measured, by the seed. Each item is a JPEG of 110 KB that
 * the worker reads from where it lies: (a) at the client, (b) in four stores, (c) spread over the workers, in files of
 * many. A loop works 10 us for each message that it gets or sends, so that a master has no more than a processor. The
 * models are at the workers already, and decoding is not counted.
 *
 * `sim.MODEL.nN.PLACE` is the speed-up over the largest that is possible: the bound is the smaller of what all devices
 * compute with the best batch and what the links of those who hold inputs carry. The job is as long as the bound needs
 * a minute for. `sim.spread.n100` is a job of one item a worker whose model of 100 MB only the client has: how much
 * longer the links must at least take for one copy than it takes until all is done. Arguments choose among the figures
 * by the beginning of their names. */
#include "test/sim/sim.h"
#include "policy/registry.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SEED = 1,
	STORES = 4,
	STORE_FILE = 1024,
	WORKER_FILE = 256,
	LARGEST_BATCH = 5 /* 32 */,
	MIXED = 30,
	SPREAD = 100,
	SPREAD_BYTES = 100000000,
	PAGE_BYTES = 131072,
	GROWING_PAGES = 2048
};

#define JOB_NS           (60 * SIM_S)
#define MIXED_JOB_NS     (10 * SIM_S)
#define VARIATION        0.05 /* of the time of a task, at most */
#define ITEM_BYTES       110000
#define RESULT_BYTES     66 /* the five best classes, as a row of a page */
#define ROW_BYTES        63 /* in the list of inputs: blob, offset and length; 8 more say where it lies */
#define WINDOW_BYTES     (UINT64_C(1) << 30)
#define LINK_BYTES_PER_S UINT64_C(1250000000)

/* Nanoseconds of an item in batches of 1, 8 and 32: `make bench-infer`, two threads on two AVX2 cores of an AMD EPYC
 * (Zen 3), nothing else running: infer.MODEL.bN.t2.ours, docs/PERFORMANCE.md. */
struct model {
	const char *name;
	double item_ns[3];
};

static const struct model models[] = {
	{"alexnet", {15307000, 9066000, 6414000}},
	{"googlenet", {14418000, 12870000, 13730000}},
	{"resnet50", {45914000, 41322000, 38760000}},
};

static const char *const policies[] = {"roundrobin", "leastloaded", "priority", "drf", "feedback", "ddrf"};

struct world {
	const struct model *model;
	char place;
	double *speeds; /* of the workers */
	double speed;   /* of all together */
};

/* Between the batches that were measured the time of an item follows the logarithm. */
static double item_ns(const struct model *model, unsigned log2_batch)
{
	return log2_batch <= 3 ? model->item_ns[0] + (model->item_ns[1] - model->item_ns[0]) * log2_batch / 3
			       : model->item_ns[1] + (model->item_ns[2] - model->item_ns[1]) * (log2_batch - 3) / 2;
}

/* The logarithm of the best batch, which is what the model's folder says as its max_batch. */
static unsigned best_batch(const struct model *model)
{
	unsigned best = 0;

	for (unsigned log2_batch = 1; log2_batch <= LARGEST_BATCH; log2_batch++)
		if (item_ns(model, log2_batch) < item_ns(model, best))
			best = log2_batch;
	return best;
}

/* As worker/inference.c runs a task: full batches, then powers of two; and never twice in the same time. */
static int64_t run_ns(struct sim *sim, unsigned worker, uint64_t items)
{
	const struct world *world = sim->plan->arg;
	double ns = 0;

	for (unsigned log2_batch = best_batch(world->model); items; log2_batch--) {
		uint64_t batch = UINT64_C(1) << log2_batch, runs = items / batch;

		ns += (double)(runs * batch) * item_ns(world->model, log2_batch);
		items -= runs * batch;
	}
	ns *= 1 + ((double)sim_below(sim, 2001) - 1000) / 1000 * VARIATION;
	return (int64_t)(ns / world->speeds[worker]) + 1;
}

static struct sim_node *holder(struct sim *sim, uint64_t item, uint64_t *end_out)
{
	const struct world *world = sim->plan->arg;
	uint64_t file = world->place == 'b' ? STORE_FILE : WORKER_FILE;

	*end_out = world->place == 'a' ? UINT64_MAX : (item / file + 1) * file;
	if (world->place == 'a')
		return &sim->clients[0];
	return world->place == 'b' ? &sim->stores[item / file % STORES]
				   : &sim->workers[item / file % sim->worker_count];
}

/* Items a second. */
static double compute_bound(const struct world *world)
{
	return world->speed * 1e9 / item_ns(world->model, best_batch(world->model));
}

static double link_bound(const struct world *world, unsigned workers)
{
	unsigned holders = world->place == 'a' ? 1 : world->place == 'b' ? STORES : workers;

	return holders * (double)LINK_BYTES_PER_S / ITEM_BYTES;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* 13 bytes a page of the list of inputs, which grow by 128 KB with each 2,048 (proto/manifest.c). */
static uint64_t head_bytes(uint64_t items)
{
	uint64_t pages = 0;

	for (uint64_t left = items, rows; left; left -= rows < left ? rows : left, pages++)
		rows = PAGE_BYTES * (1 + pages / GROWING_PAGES) / (ROW_BYTES + 8);
	return 13 * pages;
}

static void draw_speeds(struct world *world, unsigned workers)
{
	struct dlsi_rng rng;

	dlsi_rng_init(&rng, SEED);
	world->speeds = sim_calloc(workers * sizeof *world->speeds);
	world->speed = 0;
	for (unsigned i = 0; i < workers; i++)
		world->speed += world->speeds[i] = 1 << dlsi_rng_below(&rng, 3);
}

/* Seconds until the client has all results and the master's word that the job is over. */
static double run(const struct sim_plan *plan)
{
	struct sim sim;
	double seconds;

	sim_init(&sim, SEED, plan, false);
	while (!sim.clients[0].jobs[0].ended)
		if (!sim_run_next(&sim))
			sim_fail(&sim, "nothing is left to happen");
	seconds = (double)(sim.now_ns - SIM_PLAN_BEGINS_NS) / 1e9;
	sim_fini(&sim);
	return seconds;
}

static void tell(const char *figure, double value, const char *unit, const char *better, double goal, const char *more)
{
	printf("{\"figure\": \"%s\", \"value\": %.4g, \"min\": %.4g, \"max\": %.4g, \"unit\": \"%s\", \"better\": "
	       "\"%s\", "
	       "\"goal\": %g, \"peer\": \"bound\"%s}\n",
		figure, value, value, value, unit, better, goal, more);
	fflush(stdout);
}

static struct sim_plan plan_of(const struct world *world, unsigned workers, const struct dlsi_policy_ops *policy)
{
	return (struct sim_plan){
		.workers = workers,
		.stores = world->place == 'b' ? STORES : 0,
		.window_bytes = WINDOW_BYTES,
		.item_bytes = ITEM_BYTES,
		.result_bytes = RESULT_BYTES,
		.row_bytes = ROW_BYTES,
		.link_bytes_per_s = LINK_BYTES_PER_S,
		.latency_ns = SIM_MS / 10,
		.message_ns = SIM_MS / 100,
		.policy = policy,
		.run_ns = run_ns,
		.holder = holder,
		.arg = world,
	};
}

/* Runs a job for which the bound needs so long, and returns how long it took and how long it would at best. */
static double run_job(const struct world *world, unsigned workers, const struct dlsi_policy_ops *policy, int64_t job_ns,
	double *best_out, char more_out[500])
{
	struct sim_plan plan = plan_of(world, workers, policy);
	double compute = compute_bound(world), links = link_bound(world, workers), one = compute / workers, seconds;
	clock_t begin = clock();

	plan.items = (uint64_t)(least(compute, links) * (double)job_ns / 1e9);
	plan.head_bytes = head_bytes(plan.items);
	seconds = run(&plan);
	*best_out = (double)plan.items / least(compute, links);
	snprintf(more_out, 500,
		", \"policy\": \"%s\", \"speedup\": %.4g, \"bound\": %.4g, \"bound_by\": \"%s\", \"items\": %" PRIu64
		", \"seconds\": %.4g, \"processor_seconds\": %.3g",
		policy->name, (double)plan.items / seconds / one, least(compute, links) / one,
		compute < links ? "compute" : "links", plan.items, seconds, (double)(clock() - begin) / CLOCKS_PER_SEC);
	return seconds;
}

static void measure(const char *figure, const struct model *model, unsigned workers, char place,
	const struct dlsi_policy_ops *policy)
{
	struct world world = {.model = model, .place = place};
	char more[500], other[120];
	double best, seconds;

	draw_speeds(&world, workers);
	seconds = run_job(&world, workers, policy, JOB_NS, &best, more);
	tell(figure, best / seconds, "ratio", "higher", 0.95, more);
	snprintf(other, sizeof other, "%s.speedup", figure);
	if (strcmp(figure, "sim.alexnet.n100.b") == 0)
		tell(other, best / seconds * workers, "times", "higher", 95, more);
	snprintf(other, sizeof other, "%s.efficiency", figure);
	if (strcmp(figure, "sim.resnet50.n10000.c") == 0)
		tell(other, best / seconds, "ratio", "higher", 0.9, more);
	free(world.speeds);
}

/* A third of the workers each is 4, 2 and 1 times as fast; the job is short, so that its end counts. */
static void measure_mix(const struct dlsi_policy_ops *policy)
{
	struct world world = {.model = &models[2], .place = 'c', .speeds = sim_calloc(MIXED * sizeof *world.speeds)};
	char more[500];
	double best, seconds;

	for (unsigned i = 0; i < MIXED; i++)
		world.speed += world.speeds[i] = 1 << i % 3;
	seconds = run_job(&world, MIXED, policy, MIXED_JOB_NS, &best, more);
	tell("sched.feedback.makespan", seconds / best, "ratio", "lower", 1.05, more);
	free(world.speeds);
}

/* One item a worker, of a model that only the client has. */
static void measure_spread(const struct dlsi_policy_ops *policy)
{
	struct world world = {.model = &models[0], .place = 'c'};
	struct sim_plan plan = plan_of(&world, SPREAD, policy);
	char more[500];
	double seconds, best = (double)SPREAD_BYTES / LINK_BYTES_PER_S;

	draw_speeds(&world, SPREAD);
	plan.items = SPREAD;
	plan.head_bytes = head_bytes(plan.items);
	plan.model_bytes = SPREAD_BYTES;
	seconds = run(&plan);
	snprintf(more, sizeof more, ", \"policy\": \"%s\", \"seconds\": %.4g, \"bound_seconds\": %.4g", policy->name,
		seconds, best);
	tell("sim.spread.n100", best / seconds, "ratio", "higher", 0.1, more);
	free(world.speeds);
}

static bool is_wanted(int argc, char **argv, const char *figure)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], figure, strlen(argv[i])) == 0)
			return true;
	return argc < 2;
}

/* The first policy everywhere, the others on a hundred workers. */
static void measure_all(int argc, char **argv, const struct model *model, unsigned workers, char place)
{
	char figure[100];

	for (size_t i = 0; i < sizeof policies / sizeof *policies && (i == 0 || workers == 100); i++) {
		const struct dlsi_policy_ops *policy;

		snprintf(figure, sizeof figure, "sim.%s.n%u.%c%s%s", model->name, workers, place, i ? "." : "",
			i ? policies[i] : "");
		if (is_wanted(argc, argv, figure) && dlsi_policy_find(dlsi_policies, policies[i], &policy, NULL) == 0)
			measure(figure, model, workers, place, policy);
	}
}

int main(int argc, char **argv)
{
	const struct dlsi_policy_ops *policy;

	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		for (unsigned workers = 10; workers <= 10000; workers *= 10)
			for (char place = 'a'; place <= 'c'; place++)
				measure_all(argc, argv, &models[i], workers, place);
	if (is_wanted(argc, argv, "sim.spread.n100") &&
		dlsi_policy_find(dlsi_policies, policies[0], &policy, NULL) == 0)
		measure_spread(policy);
	if (is_wanted(argc, argv, "sched.feedback.makespan") &&
		dlsi_policy_find(dlsi_policies, "feedback", &policy, NULL) &&
		dlsi_policy_find(dlsi_policies, policies[0], &policy, NULL))
		return 1;
	if (is_wanted(argc, argv, "sched.feedback.makespan"))
		measure_mix(policy);
	return 0;
}
