#include "policy/drf.h"

#include "policy/ordered.h"
#include "policy/placement.h"

static double share(const struct dlsi_policy_view *view, const struct dlsi_policy_tenant *tenant)
{
	return dlsi_resources_dominant(&tenant->used, view->total) / tenant->weight;
}

static bool before(
	const struct dlsi_policy_view *view, const struct dlsi_policy_job *a, const struct dlsi_policy_job *b)
{
	const struct dlsi_policy_tenant *tenant_a = a->queue->tenant, *tenant_b = b->queue->tenant;
	double share_a, share_b;

	if (tenant_a == tenant_b)
		return dlsi_ordered_before(a, b);
	share_a = share(view, tenant_a);
	share_b = share(view, tenant_b);
	return share_a != share_b ? share_a < share_b : tenant_a->number < tenant_b->number;
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	const struct dlsi_ordered *ordered = arg;
	struct dlsi_policy_choice best = {0};

	dlsi_list_each (node, &ordered->queues) {
		struct dlsi_policy_job *job = dlsi_ordered_first(dlsi_list_entry(node, struct dlsi_policy_queue, node));

		if (!best.job || before(view, job, best.job))
			dlsi_place_least_loaded(view, job, &best);
	}
	if (best.job)
		*choice_out = best;
	return best.job != NULL;
}

const struct dlsi_policy_ops dlsi_policy_drf = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "drf",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.ready = dlsi_ordered_ready_by_priority,
	.idle = dlsi_ordered_idle,
	.choose = choose,
};
