/* Round robin over a made-up cluster: jobs that can run get the same number of turns, one that cannot does not hold up
 * the rest. */
#include "policy/registry.h"
#include "policy/roundrobin.h"
#include "test/unit/unit.h"

#include <string.h>

enum { JOBS = 6, GROUPS = 3, ROUNDS = 100 };

struct cluster {
	struct dlsi_policy_group groups[GROUPS]; /* job n is in group n % GROUPS */
	struct dlsi_policy_job jobs[JOBS];
	unsigned turns[JOBS];
	bool blocked[GROUPS];
	int device; /* its address is the device */
};

static struct dlsi_policy_device *least_loaded(void *arg, const struct dlsi_policy_group *group)
{
	struct cluster *cluster = arg;

	return cluster->blocked[group - cluster->groups] ? NULL : (struct dlsi_policy_device *)&cluster->device;
}

static void *make_cluster(struct cluster *cluster)
{
	void *policy = dlsi_policy_roundrobin.create(unit_alloc());

	*cluster = (struct cluster){0};
	for (unsigned i = 0; i < GROUPS; i++) {
		dlsi_list_init(&cluster->groups[i].jobs);
		dlsi_list_init(&cluster->groups[i].node);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		cluster->jobs[i].number = i;
		cluster->jobs[i].group = &cluster->groups[i % GROUPS];
		dlsi_list_init(&cluster->jobs[i].node);
		dlsi_policy_roundrobin.ready(policy, &cluster->jobs[i]);
	}
	return policy;
}

static void run(void *policy, struct cluster *cluster, unsigned choices)
{
	struct dlsi_policy_view view = {least_loaded, cluster};
	struct dlsi_policy_choice choice;

	while (choices--) {
		assert_true(dlsi_policy_roundrobin.choose(policy, &view, &choice));
		assert_ptr_equal(choice.device, &cluster->device);
		cluster->turns[choice.job->number]++;
	}
}

static void test_equal_turns(void **state)
{
	struct cluster cluster;
	void *policy = make_cluster(&cluster);

	(void)state;
	for (int round = 1; round <= ROUNDS; round++) {
		run(policy, &cluster, JOBS);
		for (unsigned i = 0; i < JOBS; i++)
			assert_int_equal(cluster.turns[i], round);
	}
	dlsi_policy_roundrobin.destroy(policy);
}

static void test_blocked_and_idle_jobs_are_passed_over(void **state)
{
	struct dlsi_policy_view view;
	struct dlsi_policy_choice choice;
	struct cluster cluster;
	void *policy = make_cluster(&cluster);

	(void)state;
	cluster.blocked[0] = true; /* jobs 0 and 3 */
	dlsi_policy_roundrobin.idle(policy, &cluster.jobs[4]);
	run(policy, &cluster, 3 * ROUNDS); /* jobs 1, 2 and 5 */
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(cluster.turns[i], i == 1 || i == 2 || i == 5 ? ROUNDS : 0);
	cluster.blocked[0] = false;
	run(policy, &cluster, 2); /* those that have waited longest */
	assert_int_equal(cluster.turns[0] + cluster.turns[3], 2);
	for (unsigned i = 0; i < GROUPS; i++)
		cluster.blocked[i] = true;
	view = (struct dlsi_policy_view){least_loaded, &cluster};
	assert_false(dlsi_policy_roundrobin.choose(policy, &view, &choice));
	dlsi_policy_roundrobin.destroy(policy);
}

/* Jobs come and go; what is left gets all turns. */
static void test_idle_and_ready_again(void **state)
{
	struct cluster cluster;
	void *policy = make_cluster(&cluster);

	(void)state;
	for (unsigned i = 1; i < JOBS; i++)
		dlsi_policy_roundrobin.idle(policy, &cluster.jobs[i]);
	run(policy, &cluster, ROUNDS);
	assert_int_equal(cluster.turns[0], ROUNDS);
	dlsi_policy_roundrobin.ready(policy, &cluster.jobs[1]);
	run(policy, &cluster, 2 * ROUNDS);
	assert_int_equal(cluster.turns[1], ROUNDS);
	dlsi_policy_roundrobin.destroy(policy);
}

static void test_registry_names_what_there_is(void **state)
{
	const struct dlsi_policy_ops *ops;
	struct dls_error error;

	(void)state;
	assert_int_equal(dlsi_policy_find("roundrobin", &ops, &error), 0);
	assert_ptr_equal(ops, &dlsi_policy_roundrobin);
	assert_int_equal(dlsi_policy_find("fastest", &ops, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "fastest"));
	assert_non_null(strstr(error.text, "roundrobin"));
}

UNIT_MAIN(test_equal_turns, test_blocked_and_idle_jobs_are_passed_over, test_idle_and_ready_again,
	test_registry_names_what_there_is)
