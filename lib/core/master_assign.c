/* The turn's decisions: the policy names a job and a device, the core makes it a task, until nothing fits or the turn
 * has done enough. Messages leave afterwards, one per worker. */
#include "core/master_state.h"

#define ASSIGNMENTS_PER_TURN 1024

static struct dlsi_policy_device *least_loaded(void *view_arg, const struct dlsi_policy_queue *queue)
{
	struct device *device = dlsi_device_least_loaded(view_arg, dlsi_list_entry(queue, struct queue, policy)->class);

	return device ? &device->policy : NULL;
}

bool dlsi_master_assign(struct dlsi_master *master)
{
	struct dlsi_policy_view view = {
		.now_ns = master->now_ns, .total = &master->total, .least_loaded = least_loaded, .view_arg = master};
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
		if (dlsi_job_take(job, device, &range) && !dlsi_task_assign(master, job, device, range)) {
			master->failed = true;
			return false;
		}
		dlsi_job_refresh(master, job);
	}
	return true;
}
