#include "policy/placement.h"

#define CANDIDATES 64
#define WAITS      2 /* an item may take so many times what the fastest device takes, however little is left */

/* No device can take a task of the queue. */
static enum dlsi_placed find_none(const struct dlsi_policy_queue *queue)
{
	return queue->tenant->bounded ? DLSI_PASSED : DLSI_BLOCKED;
}

enum dlsi_placed dlsi_place_least_loaded(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out)
{
	struct dlsi_policy_device *device = view->least_loaded(view->view_arg, job->queue);

	if (!device)
		return find_none(job->queue);
	*choice_out = (struct dlsi_policy_choice){.job = job, .device = device};
	return DLSI_PLACED;
}

/* How many items the device can do in half of the time until then, at least one, since what is expected then may turn
 * out otherwise (Hummel, Schonberg and Flynn, "Factoring", Comm. ACM 35, 1992); of a device that never ran one: as many
 * as usual. */
static uint64_t items_until(const struct dlsi_policy_expectation *expected, uint64_t until_ns)
{
	uint64_t items;

	if (!expected->item_ns)
		return 0;
	items = until_ns > expected->wait_ns ? (until_ns - expected->wait_ns) / 2 / expected->item_ns : 0;
	return items ? items : 1;
}

/* By `until_ns` from now, unless nothing of the job runs anywhere. */
static enum dlsi_placed place_until(const struct dlsi_policy_view *view, struct dlsi_policy_job *job, uint64_t until_ns,
	struct dlsi_policy_choice *choice_out)
{
	struct dlsi_policy_device *candidates[CANDIDATES];
	size_t count = view->candidates(view->view_arg, job->queue, candidates, CANDIDATES);
	bool is_running = until_ns != UINT64_MAX && view->running(view->view_arg, job);
	uint64_t best_ns = UINT64_MAX;
	bool late = false; /* one could take it, and would end last */

	for (size_t i = 0; i < count; i++) {
		struct dlsi_policy_expectation expected = view->expect(view->view_arg, job->queue, candidates[i]);
		uint64_t finish_ns = expected.wait_ns + expected.load_ns + expected.item_ns;

		if (finish_ns >= best_ns || (!expected.item_ns && expected.tried))
			continue;
		if (finish_ns > until_ns && is_running) {
			late = true;
			continue;
		}
		best_ns = finish_ns;
		*choice_out = (struct dlsi_policy_choice){job, candidates[i], items_until(&expected, until_ns)};
	}
	if (best_ns != UINT64_MAX)
		return DLSI_PLACED;
	return late ? DLSI_PASSED : find_none(job->queue);
}

enum dlsi_placed dlsi_place_earliest(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out)
{
	return place_until(view, job, UINT64_MAX, choice_out);
}

enum dlsi_placed dlsi_place_in_time(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out)
{
	struct dlsi_policy_pace pace = view->pace(view->view_arg, job->queue);
	double left = (double)(job->ready + view->running(view->view_arg, job));
	double left_ns = pace.items_per_ns > 0 ? left / pace.items_per_ns : 0;
	uint64_t until_ns = WAITS * pace.fastest_ns;

	if (left_ns > (double)until_ns)
		until_ns = left_ns < (double)INT64_MAX ? (uint64_t)left_ns : INT64_MAX;
	return place_until(view, job, until_ns, choice_out);
}
