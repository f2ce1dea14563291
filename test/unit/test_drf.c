/* Dominant Resource Fairness over random instances: what the policy hands out task by task against the divisible
 * allocation that the paper defines (progressive filling, Ghodsi et al., NSDI 2011, section 4), and that allocation's
 * four properties (section 3). The solver below is the plainest there is, and only a test's. */
#include "policy/registry.h"
#include "test/unit/policy.h"
#include "test/unit/unit.h"

#include <math.h>
#include <string.h>

enum { TENANTS = 4, KINDS = 3, SEEDS = 300 };

#define EXACT 1e-9

struct instance {
	double total[KINDS];
	double demand[TENANTS][KINDS]; /* of a task */
	double weight[TENANTS];
};

struct allocation {
	double tasks[TENANTS];
};

static double dominant(const struct instance *instance, const double demand[KINDS])
{
	double most = 0;

	for (unsigned i = 0; i < KINDS; i++)
		most = fmax(most, demand[i] / instance->total[i]);
	return most;
}

/* Weighted shares grow together; who needs something that is used up stops. */
static struct allocation solve(const struct instance *instance)
{
	struct allocation given = {{0}};
	bool stopped[TENANTS] = {false};
	double left[KINDS];

	memcpy(left, instance->total, sizeof left);
	for (unsigned round = 0; round < KINDS; round++) {
		double step = INFINITY, used[KINDS] = {0};

		for (unsigned t = 0; t < TENANTS; t++)
			for (unsigned k = 0; k < KINDS && !stopped[t]; k++)
				used[k] += instance->weight[t] * instance->demand[t][k] /
					   dominant(instance, instance->demand[t]);
		for (unsigned k = 0; k < KINDS; k++)
			if (used[k] > 0)
				step = fmin(step, left[k] / used[k]);
		if (!isfinite(step))
			break;
		for (unsigned t = 0; t < TENANTS; t++)
			if (!stopped[t])
				given.tasks[t] += step * instance->weight[t] / dominant(instance, instance->demand[t]);
		for (unsigned k = 0; k < KINDS; k++)
			left[k] = fmax(0, left[k] - step * used[k]);
		for (unsigned t = 0; t < TENANTS; t++)
			for (unsigned k = 0; k < KINDS; k++)
				stopped[t] |= instance->demand[t][k] > 0 && left[k] <= EXACT * instance->total[k];
	}
	return given;
}

/* Each tenant needs something of at least one kind. */
static struct instance draw(struct dlsi_rng *rng, bool weighted)
{
	struct instance instance;

	for (unsigned k = 0; k < KINDS; k++)
		instance.total[k] = (double)(1000 + dlsi_rng_below(rng, 9000));
	for (unsigned t = 0; t < TENANTS; t++) {
		instance.weight[t] = weighted ? (double)(1 + dlsi_rng_below(rng, 4)) : 1;
		for (unsigned k = 0; k < KINDS; k++)
			instance.demand[t][k] = (double)dlsi_rng_below(rng, 30);
		instance.demand[t][dlsi_rng_below(rng, KINDS)] = (double)(1 + dlsi_rng_below(rng, 30));
	}
	return instance;
}

/* How many of its tasks a tenant could run with what another has, scaled by their weights. */
static double worth(const struct instance *instance, unsigned tenant, unsigned other, double tasks)
{
	double could = INFINITY;

	for (unsigned k = 0; k < KINDS; k++)
		if (instance->demand[tenant][k] > 0)
			could = fmin(could, tasks * instance->demand[other][k] / instance->demand[tenant][k]);
	return could * instance->weight[tenant] / instance->weight[other];
}

static void check_properties(const struct instance *instance, const struct allocation *given)
{
	double weights = 0, used[KINDS] = {0};

	for (unsigned t = 0; t < TENANTS; t++) {
		weights += instance->weight[t];
		for (unsigned k = 0; k < KINDS; k++)
			used[k] += given->tasks[t] * instance->demand[t][k];
	}
	for (unsigned k = 0; k < KINDS; k++)
		assert_true(used[k] <= instance->total[k] * (1 + EXACT));
	for (unsigned t = 0; t < TENANTS; t++) {
		bool needs_what_is_used_up = false;

		/* sharing incentive: no less than with a share of everything by weight */
		assert_true(given->tasks[t] * dominant(instance, instance->demand[t]) >=
			    instance->weight[t] / weights - EXACT);
		for (unsigned other = 0; other < TENANTS; other++) /* no envy */
			assert_true(worth(instance, t, other, given->tasks[other]) <= given->tasks[t] * (1 + EXACT));
		for (unsigned k = 0; k < KINDS; k++)
			needs_what_is_used_up |=
				instance->demand[t][k] > 0 && used[k] >= instance->total[k] * (1 - EXACT);
		assert_true(needs_what_is_used_up); /* Pareto: more for one is less for another */
	}
}

/* A tenant that asks for other amounts than it needs gets no more of its real tasks done. */
static void check_no_lie_pays(const struct instance *instance, const struct allocation *given, struct dlsi_rng *rng)
{
	for (unsigned t = 0; t < TENANTS; t++) {
		struct instance lie = *instance;
		struct allocation lied;
		double real = INFINITY;

		for (unsigned k = 0; k < KINDS; k++)
			lie.demand[t][k] *= 0.5 + (double)dlsi_rng_below(rng, 1000) / 1000;
		lied = solve(&lie);
		for (unsigned k = 0; k < KINDS; k++)
			if (instance->demand[t][k] > 0)
				real = fmin(real, lied.tasks[t] * lie.demand[t][k] / instance->demand[t][k]);
		assert_true(real <= given->tasks[t] * (1 + EXACT) + EXACT);
	}
}

static void test_divisible_allocation_has_the_four_properties(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct instance instance = draw(&rng, seed % 2);
		struct allocation given = solve(&instance);

		check_properties(&instance, &given);
		check_no_lie_pays(&instance, &given, &rng);
	}
}

struct pool {
	struct dlsi_resources total, used;
	struct dlsi_policy_device device;
};

static struct dlsi_policy_device *least_loaded(void *arg, const struct dlsi_policy_queue *queue)
{
	struct pool *pool = arg;
	struct dlsi_resources used = pool->used;

	dlsi_resources_add(&used, &queue->class->demand);
	return dlsi_resources_cover(&pool->total, &used) ? &pool->device : NULL;
}

/* Hands out tasks as the policy says until nobody's fits; how many each tenant got. */
static void hand_out(const struct instance *instance, double tasks[TENANTS])
{
	struct dlsi_policy_tenant tenants[TENANTS];
	struct dlsi_policy_class classes[TENANTS] = {{0}};
	struct dlsi_policy_queue queues[TENANTS];
	struct dlsi_policy_job jobs[TENANTS];
	struct pool pool = {.used = {{0}}};
	struct dlsi_policy_view view = {.total = &pool.total, .least_loaded = least_loaded, .view_arg = &pool};
	const struct dlsi_policy_ops *ops;
	struct dlsi_policy_choice choice;
	cJSON *params = cJSON_CreateObject();
	void *policy;

	assert_int_equal(dlsi_policy_find(dlsi_policies, "drf", &ops, NULL), 0);
	assert_int_equal(ops->create(ops, unit_alloc(), params, &policy, NULL), 0);
	cJSON_Delete(params);
	for (unsigned k = 0; k < KINDS; k++)
		pool.total.amount[k] = (uint64_t)instance->total[k];
	for (unsigned t = 0; t < TENANTS; t++) {
		tenants[t] = (struct dlsi_policy_tenant){.number = t, .weight = instance->weight[t]};
		queues[t] = (struct dlsi_policy_queue){.tenant = &tenants[t], .class = &classes[t]};
		jobs[t] = (struct dlsi_policy_job){.place.order = t, .queue = &queues[t]};
		for (unsigned k = 0; k < KINDS; k++)
			classes[t].demand.amount[k] = (uint64_t)instance->demand[t][k];
		unit_policy_queue_init(&queues[t], 1, 1);
		tasks[t] = 0;
		ops->ready(policy, &jobs[t]);
	}
	while (ops->choose(policy, &view, &choice)) {
		tasks[choice.job->place.order]++;
		dlsi_resources_add(&pool.used, &choice.job->queue->class->demand);
		dlsi_resources_add(&choice.job->queue->tenant->used, &choice.job->queue->class->demand);
	}
	for (unsigned t = 0; t < TENANTS; t++)
		unit_policy_queue_fini(&queues[t]);
	ops->destroy(policy);
}

/* The largest part of the cluster that one task takes. */
static double largest_task(const struct instance *instance)
{
	double most = 0;

	for (unsigned t = 0; t < TENANTS; t++)
		most = fmax(most, dominant(instance, instance->demand[t]));
	return most;
}

/* While all can go on, no two weighted shares are farther apart than the largest task: so each is within one task of
 * the divisible allocation up to where the first resource is used up, and nobody has less than a tenant that stopped
 * there. */
static void test_tasks_follow_the_divisible_allocation(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct instance instance = draw(&rng, seed % 2);
		struct allocation ideal = solve(&instance);
		double tasks[TENANTS], slack = largest_task(&instance) * TENANTS;

		hand_out(&instance, tasks);
		for (unsigned t = 0; t < TENANTS; t++) {
			double share = tasks[t] * dominant(&instance, instance.demand[t]);
			double right = ideal.tasks[t] * dominant(&instance, instance.demand[t]);

			if (share < right - slack * instance.weight[t])
				fail_msg("seed %llu: tenant %u has a share of %.4f, %.4f is its right",
					(unsigned long long)seed, t, share, right);
		}
	}
}

UNIT_MAIN(test_divisible_allocation_has_the_four_properties, test_tasks_follow_the_divisible_allocation)
