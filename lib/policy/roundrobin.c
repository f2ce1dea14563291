#include "policy/roundrobin.h"

struct roundrobin {
	const struct dlsi_alloc *alloc;
	struct dlsi_list ring; /* ready jobs; the one whose turn it is first */
};

static void *create(const struct dlsi_alloc *alloc)
{
	struct roundrobin *policy = dlsi_calloc(alloc, 1, sizeof *policy);

	if (policy) {
		policy->alloc = alloc;
		dlsi_list_init(&policy->ring);
	}
	return policy;
}

static void destroy(void *arg)
{
	struct roundrobin *policy = arg;

	dlsi_free(policy->alloc, policy);
}

static void ready(void *arg, struct dlsi_policy_job *job)
{
	struct roundrobin *policy = arg;

	dlsi_list_append(&policy->ring, &job->node);
}

static void idle(void *arg, struct dlsi_policy_job *job)
{
	(void)arg;
	dlsi_list_remove(&job->node);
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	struct roundrobin *policy = arg;

	dlsi_list_each (node, &policy->ring) {
		struct dlsi_policy_job *job = dlsi_list_entry(node, struct dlsi_policy_job, node);
		struct dlsi_policy_device *device = view->least_loaded(view->view_arg, job);

		if (!device)
			continue;
		dlsi_list_remove(node);
		dlsi_list_append(&policy->ring, node);
		*choice_out = (struct dlsi_policy_choice){job, device};
		return true;
	}
	return false;
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
