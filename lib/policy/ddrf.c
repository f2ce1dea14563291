#include "policy/ddrf.h"

#include "policy/ordered.h"

#define CANDIDATES 16

/* What pairs are compared by, in this order. */
struct claim {
	double there, everywhere; /* shares over weight */
	const struct dlsi_policy_job *job;
};

static bool before(const struct claim *a, const struct claim *b)
{
	if (a->there != b->there)
		return a->there < b->there;
	if (a->everywhere != b->everywhere)
		return a->everywhere < b->everywhere;
	if (a->job->queue->tenant != b->job->queue->tenant)
		return a->job->queue->tenant->number < b->job->queue->tenant->number;
	return dlsi_ordered_before(a->job, b->job);
}

/* The best of the queue's pairs, if it is better than the best so far. Devices are not asked for when not even one
 * where the tenant has nothing would do: with many tenants the most of them have nothing at most devices. */
static void compare(const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct claim *best,
	struct dlsi_policy_choice *choice)
{
	const struct dlsi_policy_tenant *tenant = job->queue->tenant;
	struct dlsi_policy_device *devices[CANDIDATES];
	struct claim claim = {
		.everywhere = dlsi_resources_dominant(&tenant->used, view->total) / tenant->weight, .job = job};
	size_t count;

	if (best->job && !before(&claim, best))
		return;
	count = view->candidates(view->view_arg, job->queue, devices, CANDIDATES);
	for (size_t i = 0; i < count; i++) {
		claim.there = view->share_there(view->view_arg, tenant, devices[i]) / tenant->weight;
		if (best->job && (best->job == job ? claim.there >= best->there : !before(&claim, best)))
			continue;
		*best = claim;
		*choice = (struct dlsi_policy_choice){.job = job, .device = devices[i]};
	}
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	const struct dlsi_ordered *ordered = arg;
	struct dlsi_policy_choice choice = {0};
	struct claim best = {0};

	dlsi_list_each (node, &ordered->queues)
		compare(view, dlsi_ordered_first(dlsi_list_entry(node, struct dlsi_policy_queue, node)), &best,
			&choice);
	if (choice.job)
		*choice_out = choice;
	return choice.job != NULL;
}

const struct dlsi_policy_ops dlsi_policy_ddrf = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "ddrf",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.ready = dlsi_ordered_ready_by_priority,
	.idle = dlsi_ordered_idle,
	.choose = choose,
};
