/* Policies over a made-up cluster: who gets the next task. One pool of resources, from which tasks take until it is
 * told otherwise; a queue whose demand does not fit has no device. */
#include "policy/registry.h"
#include "test/unit/policy.h"
#include "test/unit/unit.h"

#include <string.h>

enum { JOBS = 6, QUEUES = 3, ROUNDS = 100, S = 1000000000, MS = 1000000 };

struct cluster {
	const struct dlsi_policy_ops *ops;
	void *policy;
	struct dlsi_policy_tenant tenants[QUEUES];
	struct dlsi_policy_class
		classes[QUEUES]; /* queue n is tenant n's and class n's, job n is in queue n % QUEUES */
	struct dlsi_policy_queue queues[QUEUES];
	struct dlsi_policy_job jobs[JOBS];
	unsigned turns[JOBS];
	bool blocked[QUEUES];
	struct dlsi_resources total, used;
	struct dlsi_policy_device device;
	struct dlsi_policy_view view;
};

static struct dlsi_policy_device *least_loaded(void *arg, const struct dlsi_policy_queue *queue)
{
	struct cluster *cluster = arg;
	struct dlsi_resources used = cluster->used;

	dlsi_resources_add(&used, &queue->class->demand);
	return cluster->blocked[queue - cluster->queues] || !dlsi_resources_cover(&cluster->total, &used)
		       ? NULL
		       : &cluster->device;
}

static cJSON *params_of(const char *text)
{
	cJSON *json;

	assert_int_equal(dlsi_json_parse("params", text, strlen(text), 1000, &json, NULL), 0);
	return json;
}

/* Of 1000 units of the first resource, of which nobody asks for anything. */
static void begin(struct cluster *cluster, const char *name, const char *params)
{
	cJSON *json = params_of(params);

	memset(cluster, 0, sizeof *cluster);
	assert_int_equal(dlsi_policy_find(dlsi_policies, name, &cluster->ops, NULL), 0);
	assert_int_equal(cluster->ops->create(cluster->ops, unit_alloc(), json, &cluster->policy, NULL), 0);
	cJSON_Delete(json);
	cluster->total.amount[0] = 1000;
	cluster->view =
		(struct dlsi_policy_view){.total = &cluster->total, .least_loaded = least_loaded, .view_arg = cluster};
	for (unsigned i = 0; i < QUEUES; i++) {
		cluster->tenants[i] = (struct dlsi_policy_tenant){.number = i, .weight = 1};
		cluster->queues[i].tenant = &cluster->tenants[i];
		cluster->queues[i].class = &cluster->classes[i];
		unit_policy_queue_init(&cluster->queues[i], JOBS, 1);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		cluster->jobs[i] = (struct dlsi_policy_job){
			.place.order = i, .deadline_ns = INT64_MAX, .queue = &cluster->queues[i % QUEUES]};
	}
}

static void ready(struct cluster *cluster, unsigned job)
{
	cluster->ops->ready(cluster->policy, &cluster->jobs[job]);
}

static void idle(struct cluster *cluster, unsigned job)
{
	cluster->ops->idle(cluster->policy, &cluster->jobs[job]);
}

static void ready_all(struct cluster *cluster)
{
	for (unsigned i = 0; i < JOBS; i++)
		ready(cluster, i);
}

static void end(struct cluster *cluster)
{
	for (unsigned i = 0; i < QUEUES; i++)
		unit_policy_queue_fini(&cluster->queues[i]);
	cluster->ops->destroy(cluster->policy);
}

/* The job that is given the next task, which then uses what it demands; -1: none can be. */
static int next(struct cluster *cluster)
{
	struct dlsi_policy_choice choice;

	cluster->view.turn++;
	if (!cluster->ops->choose(cluster->policy, &cluster->view, &choice))
		return -1;
	assert_ptr_equal(choice.device, &cluster->device);
	cluster->turns[choice.job->place.order]++;
	dlsi_resources_add(&cluster->used, &choice.job->queue->class->demand);
	dlsi_resources_add(&choice.job->queue->tenant->used, &choice.job->queue->class->demand);
	return (int)choice.job->place.order;
}

static void run(struct cluster *cluster, unsigned choices)
{
	while (choices--)
		assert_true(next(cluster) >= 0);
}

static void test_roundrobin_gives_equal_turns(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "roundrobin", "{}");
	ready_all(&cluster);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		run(&cluster, JOBS);
		for (unsigned i = 0; i < JOBS; i++)
			assert_int_equal(cluster.turns[i], round);
	}
	end(&cluster);
}

static void test_roundrobin_passes_over_the_blocked_and_idle(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "roundrobin", "{}");
	ready_all(&cluster);
	cluster.blocked[0] = true; /* jobs 0 and 3 */
	idle(&cluster, 4);
	run(&cluster, 3 * ROUNDS); /* jobs 1, 2 and 5 */
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(cluster.turns[i], i == 1 || i == 2 || i == 5 ? ROUNDS : 0);
	cluster.blocked[0] = false;
	run(&cluster, 2); /* those that have waited longest */
	assert_int_equal(cluster.turns[0] + cluster.turns[3], 2);
	for (unsigned i = 0; i < QUEUES; i++)
		cluster.blocked[i] = true;
	assert_int_equal(next(&cluster), -1);
	end(&cluster);
}

/* Jobs come and go; what is left gets all turns. */
static void test_roundrobin_idle_and_ready_again(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "roundrobin", "{}");
	ready_all(&cluster);
	for (unsigned i = 1; i < JOBS; i++)
		idle(&cluster, i);
	run(&cluster, ROUNDS);
	assert_int_equal(cluster.turns[0], ROUNDS);
	ready(&cluster, 1);
	run(&cluster, 2 * ROUNDS);
	assert_int_equal(cluster.turns[1], ROUNDS);
	end(&cluster);
}

static void test_leastloaded_serves_who_came_first(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "leastloaded", "{}");
	for (unsigned i = JOBS; i-- > 0;)
		ready(&cluster, i);
	run(&cluster, ROUNDS);
	assert_int_equal(cluster.turns[0], ROUNDS);
	cluster.blocked[0] = true;
	assert_int_equal(next(&cluster), 1);
	idle(&cluster, 1);
	assert_int_equal(next(&cluster), 2);
	end(&cluster);
}

static void test_priority_is_obeyed_and_grows_with_waiting(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "priority", "{\"ageing_ms\": 1000}");
	cluster.jobs[4].priority = 3;
	cluster.jobs[2].priority = -1;
	ready_all(&cluster);
	assert_int_equal(next(&cluster), 4);
	idle(&cluster, 4);
	assert_int_equal(next(&cluster), 0);
	cluster.jobs[4].since_ns = INT64_C(2999) * MS; /* later by less than its three steps */
	ready(&cluster, 4);
	assert_int_equal(next(&cluster), 4);
	idle(&cluster, 4);
	cluster.jobs[4].since_ns = INT64_C(3001) * MS;
	ready(&cluster, 4);
	assert_int_equal(next(&cluster), 0);
	end(&cluster);
}

/* Of a stream of important jobs each is younger than the one before; the unimportant one is served all the same. */
static void test_priority_starves_nobody(void **state)
{
	struct cluster cluster;
	int served = -1;

	(void)state;
	begin(&cluster, "priority", "{}");
	cluster.jobs[0].priority = 0;
	ready(&cluster, 0);
	for (int second = 0; second < 100 && served != 0; second++) {
		cluster.jobs[1].priority = 5;
		cluster.jobs[1].since_ns = (int64_t)second * S;
		ready(&cluster, 1);
		served = next(&cluster);
		idle(&cluster, 1);
	}
	assert_int_equal(served, 0);
	end(&cluster);
}

static void test_strict_priority(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "priority", "{\"ageing_ms\": 0}");
	cluster.jobs[5].priority = 1;
	cluster.jobs[5].since_ns = INT64_C(1000000) * S;
	ready_all(&cluster);
	assert_int_equal(next(&cluster), 5);
	end(&cluster);
}

/* The example of the paper's section 4.1: of 9 processors and 18 GB tasks take <1, 4> and <3, 1>; three of the first
 * tenant and two of the second run, and both have a dominant share of 2/3. */
static void test_drf_gives_the_shares_of_the_paper(void **state)
{
	struct cluster cluster;
	static const int order[] = {0, 1, 0, 1, 0};

	(void)state;
	begin(&cluster, "drf", "{}");
	cluster.total = (struct dlsi_resources){{[DLSI_RESOURCE_CORES] = 9, [DLSI_RESOURCE_MEMORY] = 18}};
	cluster.classes[0].demand = (struct dlsi_resources){{[DLSI_RESOURCE_CORES] = 1, [DLSI_RESOURCE_MEMORY] = 4}};
	cluster.classes[1].demand = (struct dlsi_resources){{[DLSI_RESOURCE_CORES] = 3, [DLSI_RESOURCE_MEMORY] = 1}};
	ready(&cluster, 0);
	ready(&cluster, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(next(&cluster), order[i]);
	assert_int_equal(next(&cluster), -1);
	for (unsigned i = 0; i < 2; i++)
		assert_true(dlsi_resources_dominant(&cluster.tenants[i].used, &cluster.total) == 2.0 / 3);
	end(&cluster);
}

/* Twice the weight is twice the tasks, and inside a tenant priority decides. */
static void test_drf_weights_and_priorities(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "drf", "{}");
	cluster.tenants[1].weight = 2;
	for (unsigned i = 0; i < QUEUES; i++)
		cluster.classes[i].demand.amount[0] = 1;
	cluster.jobs[4].priority = 1; /* tenant 1's second */
	ready(&cluster, 0);
	ready(&cluster, 1);
	ready(&cluster, 4);
	run(&cluster, 900);
	assert_int_equal(cluster.turns[0], 300);
	assert_int_equal(cluster.turns[1], 0);
	assert_int_equal(cluster.turns[4], 600);
	end(&cluster);
}

static void test_parameters_that_cannot_be(void **state)
{
	static const struct {
		const char *policy, *params, *says;
	} cases[] = {
		{"roundrobin", "{\"ageing_ms\": 1}", "ageing_ms"},
		{"priority", "{\"aging_ms\": 1}", "ageing_ms"},
		{"priority", "{\"ageing_ms\": -1}", "ageing_ms"},
		{"priority", "[]", "object"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dlsi_policy_ops *ops;
		cJSON *json = params_of(cases[i].params);
		struct dls_error error;
		void *policy = NULL;

		assert_int_equal(dlsi_policy_find(dlsi_policies, cases[i].policy, &ops, NULL), 0);
		assert_int_equal(ops->create(ops, unit_alloc(), json, &policy, &error), DLS_EINVAL);
		assert_non_null(strstr(error.text, cases[i].says));
		assert_null(policy);
		cJSON_Delete(json);
	}
}

static void test_registry_names_what_there_is(void **state)
{
	const struct dlsi_policy_ops *ops;
	struct dls_error error;

	(void)state;
	assert_int_equal(dlsi_policy_find(dlsi_policies, "roundrobin", &ops, &error), 0);
	assert_string_equal(ops->name, "roundrobin");
	assert_int_equal(dlsi_policy_find(dlsi_policies, "fastest", &ops, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "fastest"));
	assert_non_null(strstr(error.text, "roundrobin"));
	assert_non_null(strstr(error.text, "drf"));
}

UNIT_MAIN(test_roundrobin_gives_equal_turns, test_roundrobin_passes_over_the_blocked_and_idle,
	test_roundrobin_idle_and_ready_again, test_leastloaded_serves_who_came_first,
	test_priority_is_obeyed_and_grows_with_waiting, test_priority_starves_nobody, test_strict_priority,
	test_drf_gives_the_shares_of_the_paper, test_drf_weights_and_priorities, test_parameters_that_cannot_be,
	test_registry_names_what_there_is)
