#include "policy/roundrobin.h"

struct roundrobin {
	const struct dlsi_alloc *alloc;
	struct dlsi_list groups; /* with ready jobs, each in the order of their turns */
	uint64_t turns;
};

static void *create(const struct dlsi_alloc *alloc)
{
	struct roundrobin *policy = dlsi_calloc(alloc, 1, sizeof *policy);

	if (policy) {
		policy->alloc = alloc;
		dlsi_list_init(&policy->groups);
	}
	return policy;
}

static void destroy(void *arg)
{
	struct roundrobin *policy = arg;

	dlsi_free(policy->alloc, policy);
}

/* The job's next turn comes after those of all others. */
static void queue(struct roundrobin *policy, struct dlsi_policy_job *job)
{
	job->turn = policy->turns++;
	dlsi_list_append(&job->group->jobs, &job->node);
}

static void ready(void *arg, struct dlsi_policy_job *job)
{
	struct roundrobin *policy = arg;

	if (dlsi_list_empty(&job->group->jobs))
		dlsi_list_append(&policy->groups, &job->group->node);
	queue(policy, job);
}

static void idle(void *arg, struct dlsi_policy_job *job)
{
	(void)arg;
	dlsi_list_remove(&job->node);
	if (dlsi_list_empty(&job->group->jobs))
		dlsi_list_remove(&job->group->node);
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	struct roundrobin *policy = arg;
	struct dlsi_policy_choice best = {0};

	dlsi_list_each (node, &policy->groups) {
		struct dlsi_policy_group *group = dlsi_list_entry(node, struct dlsi_policy_group, node);
		struct dlsi_policy_job *job = dlsi_list_entry(group->jobs.next, struct dlsi_policy_job, node);
		struct dlsi_policy_device *device;

		if (best.job && best.job->turn < job->turn)
			continue;
		device = view->least_loaded(view->view_arg, group);
		if (device)
			best = (struct dlsi_policy_choice){job, device};
	}
	if (!best.job)
		return false;
	dlsi_list_remove(&best.job->node);
	queue(policy, best.job);
	*choice_out = best;
	return true;
}

const struct dlsi_policy_ops dlsi_policy_roundrobin = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "roundrobin",
	.create = create,
	.destroy = destroy,
	.ready = ready,
	.idle = idle,
	.choose = choose,
};
