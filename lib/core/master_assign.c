/* The turn's decisions: the policy names a job and a device, the core makes it a task, until nothing fits or the turn
 * has done enough. Messages leave afterwards, one per worker. */
#include "core/master_state.h"

#define ASSIGNMENTS_PER_TURN 1024

static struct dlsi_policy_device *least_loaded(void *view_arg, const struct dlsi_policy_group *group)
{
	const struct handler *handler = dlsi_list_entry(group, struct handler, jobs);

	return (struct dlsi_policy_device *)dlsi_device_least_loaded(view_arg, handler);
}

bool dlsi_master_assign(struct dlsi_master *master)
{
	const struct dlsi_policy_ops *policy = master->config.policy;
	struct dlsi_policy_view view = {least_loaded, master};
	struct dlsi_policy_choice choice;
	struct dlsi_range range;

	for (unsigned i = 0; i < ASSIGNMENTS_PER_TURN; i++) {
		struct job *job;

		if (master->failed || master->held_bytes > DLSI_HELD_PAYLOAD_BYTES ||
			!policy->choose(master->policy, &view, &choice))
			return false;
		job = dlsi_list_entry(choice.job, struct job, policy);
		if (dlsi_job_take(job, &range) &&
			!dlsi_task_assign(master, job, (struct device *)choice.device, range)) {
			master->failed = true;
			return false;
		}
		dlsi_job_refresh(master, job);
	}
	return true;
}
