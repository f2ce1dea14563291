#include "policy/priority.h"

#include "policy/ordered.h"

#define AGEING_MS      10000
#define AGEING_MS_MOST (3600 * 1000)
#define NS_PER_MS      1000000

_Static_assert((INT64_MAX / 2) / DLSI_PRIORITY > (int64_t)AGEING_MS_MOST * NS_PER_MS, "no key overflows");

/* The number is the ageing in nanoseconds. */
static int create(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **policy_out, struct dls_error *err)
{
	static const char *const known[] = {"ageing_ms", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the policy's parameters", known, err);
	int64_t ageing_ms = dlsi_json_integer(&reader, "ageing_ms", AGEING_MS, 0, AGEING_MS_MOST);

	(void)ops;
	return reader.rc ? reader.rc : dlsi_ordered_create(alloc, ageing_ms * NS_PER_MS, policy_out, err);
}

static void ready(void *arg, struct dlsi_policy_job *job)
{
	struct dlsi_ordered *ordered = arg;
	int64_t ageing_ns = ordered->number;

	dlsi_ordered_put(ordered, job, ageing_ns ? job->since_ns - job->priority * ageing_ns : -(int64_t)job->priority);
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
};
