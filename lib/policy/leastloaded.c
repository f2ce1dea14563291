#include "policy/leastloaded.h"

#include "policy/ordered.h"

static void ready(void *ordered, struct dlsi_policy_job *job)
{
	dlsi_ordered_put(ordered, job, 0);
}

const struct dlsi_policy_ops dlsi_policy_leastloaded = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "leastloaded",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.ready = ready,
	.idle = dlsi_ordered_idle,
	.choose = dlsi_ordered_choose_by_key,
};
