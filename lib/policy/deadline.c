#include "policy/deadline.h"

#include "policy/ordered.h"
#include "policy/placement.h"

static int admit(void *ordered, const struct dlsi_policy_view *view, const struct dlsi_policy_job *job, uint64_t items,
	struct dls_error *err)
{
	struct dlsi_policy_pace pace = view->pace(view->view_arg, job->queue);
	double left_ns = (double)(job->deadline_ns - view->now_ns), needed_ns;

	(void)ordered;
	if (job->deadline_ns == INT64_MAX || pace.items_per_ns <= 0)
		return 0;
	needed_ns = (double)items / pace.items_per_ns;
	if (needed_ns < (double)pace.fastest_ns)
		needed_ns = (double)pace.fastest_ns;
	if (needed_ns <= left_ns)
		return 0;
	return dlsi_fail(err, DLS_EEXPIRED,
		"the job cannot meet its deadline in %.3g s: its items take all devices together %.3g s; give it more "
		"time",
		left_ns / 1e9, needed_ns / 1e9);
}

static void ready(void *ordered, struct dlsi_policy_job *job)
{
	dlsi_ordered_put(ordered, job, job->deadline_ns);
}

static bool choose(void *ordered, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	return dlsi_ordered_choose(ordered, view, dlsi_place_earliest, choice_out);
}

const struct dlsi_policy_ops dlsi_policy_deadline = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "deadline",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.admit = admit,
	.ready = ready,
	.idle = dlsi_ordered_idle,
	.choose = choose,
};
