#include "policy/priority.h"

#include "policy/ordered.h"

#define AGEING_MS      10000
#define AGEING_MS_MOST (3600 * 1000)
#define NS_PER_MS      1000000

_Static_assert((INT64_MAX / 2) / DLSI_PRIORITY > (int64_t)AGEING_MS_MOST * NS_PER_MS, "no key overflows");

/* The number is the ageing in nanoseconds, the choice whether jobs take the place of others. */
static int create(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **policy_out, struct dls_error *err)
{
	static const char *const known[] = {"ageing_ms", "preempt", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the policy's parameters", known, err);
	int64_t ageing_ms = dlsi_json_integer(&reader, "ageing_ms", AGEING_MS, 0, AGEING_MS_MOST);
	bool preempt = dlsi_json_bool(&reader, "preempt", false);
	struct dlsi_ordered *ordered;
	int rc = reader.rc ? reader.rc : dlsi_ordered_create(alloc, ageing_ms * NS_PER_MS, policy_out, err);

	(void)ops;
	if (rc)
		return rc;
	ordered = *policy_out;
	ordered->choice = preempt;
	return 0;
}

static int64_t key(const struct dlsi_ordered *ordered, const struct dlsi_policy_job *job)
{
	int64_t ageing_ns = ordered->number;

	return ageing_ns ? job->since_ns - job->priority * ageing_ns : -(int64_t)job->priority;
}

static void ready(void *ordered, struct dlsi_policy_job *job)
{
	dlsi_ordered_put(ordered, job, key(ordered, job));
}

static struct dlsi_policy_job *urgent(void *arg, const struct dlsi_policy_view *view)
{
	const struct dlsi_ordered *ordered = arg;
	struct dlsi_policy_job *best = NULL;

	if (!ordered->choice)
		return NULL;
	dlsi_list_each (node, &ordered->queues) {
		struct dlsi_policy_queue *queue = dlsi_list_entry(node, struct dlsi_policy_queue, node);
		struct dlsi_policy_job *job = dlsi_ordered_first(queue);

		if ((!best || dlsi_ordered_before(job, best)) && !view->least_loaded(view->view_arg, queue))
			best = job;
	}
	return best;
}

/* One that has aged as far is not stopped: it would go first again. */
static bool outranks(void *ordered, const struct dlsi_policy_job *waiting, const struct dlsi_policy_job *running)
{
	return waiting->priority > running->priority && key(ordered, waiting) < key(ordered, running);
}

const struct dlsi_policy_ops dlsi_policy_priority = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "priority",
	.create = create,
	.destroy = dlsi_ordered_destroy,
	.ready = ready,
	.idle = dlsi_ordered_idle,
	.choose = dlsi_ordered_choose_by_key,
	.urgent = urgent,
	.outranks = outranks,
};
