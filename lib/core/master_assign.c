/* The turn's decisions: the policy names a job and a device, the core makes it a task, until nothing fits or the turn
 * has done enough. Messages leave afterwards, one per worker. */
#include "core/master_places.h"

#define ASSIGNMENTS_PER_TURN 1024

bool dlsi_master_assign(struct dlsi_master *master)
{
	struct dlsi_policy_view view = dlsi_master_view(master);
	struct dlsi_policy_choice choice;
	struct dlsi_range range;

	for (unsigned i = 0; i < ASSIGNMENTS_PER_TURN; i++) {
		struct device *device;
		struct job *job;

		if (master->failed || master->held_bytes > DLSI_HELD_PAYLOAD_BYTES ||
			!master->policy_ops->choose(master->policy, &view, &choice))
			return false;
		job = dlsi_list_entry(choice.job, struct job, policy);
		device = dlsi_list_entry(choice.device, struct device, policy);
		if (dlsi_job_take(job, device, choice.items, &range) && !dlsi_task_assign(master, job, device, range)) {
			master->failed = true;
			return false;
		}
		dlsi_job_refresh(master, job);
	}
	return true;
}
