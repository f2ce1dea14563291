#include "policy/roundrobin.h"

#include "policy/ordered.h"
#include "policy/placement.h"

/* The number is that of the next turn: the job's comes after those of all others. */
static void ready(void *arg, struct dlsi_policy_job *job)
{
	struct dlsi_ordered *ordered = arg;

	dlsi_ordered_put(ordered, job, ordered->number++);
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	if (!dlsi_ordered_choose(arg, view, dlsi_ordered_by_key, dlsi_place_least_loaded, choice_out))
		return false;
	ready(arg, choice_out->job);
	return true;
}

const struct dlsi_policy_ops dlsi_policy_roundrobin = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "roundrobin",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.ready = ready,
	.idle = dlsi_ordered_idle,
	.choose = choose,
};
