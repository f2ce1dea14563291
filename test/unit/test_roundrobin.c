/* Round robin over a made-up cluster: jobs that can run get the same number of turns, one that cannot does not hold up
 * the rest. */
#include "policy/registry.h"
#include "policy/roundrobin.h"
#include "test/unit/unit.h"

#include <string.h>

enum { JOBS = 5, ROUNDS = 100 };

struct cluster {
	struct dlsi_policy_job jobs[JOBS];
	unsigned turns[JOBS];
	bool blocked[JOBS];
	int device; /* its address is the device */
};

static struct dlsi_policy_device *least_loaded(void *arg, const struct dlsi_policy_job *job)
{
	struct cluster *cluster = arg;

	return cluster->blocked[job->number] ? NULL : (struct dlsi_policy_device *)&cluster->device;
}

static void *make_cluster(struct cluster *cluster)
{
	void *policy = dlsi_policy_roundrobin.create(unit_alloc());

	*cluster = (struct cluster){0};
	for (unsigned i = 0; i < JOBS; i++) {
		cluster->jobs[i].number = i;
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
	run(policy, &cluster, JOBS * ROUNDS);
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(cluster.turns[i], ROUNDS);
	dlsi_policy_roundrobin.destroy(policy);
}

static void test_blocked_and_idle_jobs_are_passed_over(void **state)
{
	struct dlsi_policy_view view;
	struct dlsi_policy_choice choice;
	struct cluster cluster;
	void *policy = make_cluster(&cluster);

	(void)state;
	cluster.blocked[0] = true;
	dlsi_policy_roundrobin.idle(policy, &cluster.jobs[3]);
	run(policy, &cluster, 3 * ROUNDS);
	assert_int_equal(cluster.turns[0], 0);
	assert_int_equal(cluster.turns[3], 0);
	for (unsigned i = 0; i < JOBS; i++)
		cluster.blocked[i] = true;
	view = (struct dlsi_policy_view){least_loaded, &cluster};
	assert_false(dlsi_policy_roundrobin.choose(policy, &view, &choice));
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

UNIT_MAIN(test_equal_turns, test_blocked_and_idle_jobs_are_passed_over, test_registry_names_what_there_is)
