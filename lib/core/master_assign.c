/* The turn's decisions: the policy names a job and a device, the core makes it a task, until nothing fits or the turn
 * has done enough. Messages leave afterwards, one per worker. */
#include "core/master_places.h"

#define ASSIGNMENTS_PER_TURN 1024

enum answer { GIVEN, NOTHING, NEXT_TURN };

/* The policy has failed: the next one is asked in its place, if there is one. */
static enum answer replace_policy(struct dlsi_master *master, const char *sentence)
{
	return dlsi_master_drop_policy(master, sentence) ? NEXT_TURN : NOTHING;
}

static enum answer hear_excuse(struct dlsi_master *master)
{
	struct dls_error error = {0};
	int rc = master->policy_ops->excuse ? master->policy_ops->excuse(master->policy, &error) : 0;

	if (rc < 0)
		return replace_policy(master, error.text);
	return rc == DLSI_POLICY_MORE ? NEXT_TURN : NOTHING;
}

/* Why a choice cannot be; NULL: it can. */
static const char *objection(const struct job *job, const struct device *device)
{
	if (!job->offered)
		return "it chose a job that has nothing to give out";
	if (!dlsi_device_can_take(device, job->spec->class))
		return "it chose a device that cannot take a task of the job";
	if (!dlsi_tenant_may(dlsi_job_queue(job)))
		return "it chose a job whose tenant has as much as its quota allows";
	return NULL;
}

static enum answer assign_one(struct dlsi_master *master, const struct dlsi_policy_view *view)
{
	struct dlsi_policy_choice choice = {0};
	struct dlsi_range range;
	struct device *device;
	struct job *job;
	const char *sentence;

	if (!master->policy_ops->choose(master->policy, view, &choice))
		return hear_excuse(master);
	job = dlsi_list_entry(choice.job, struct job, policy);
	device = dlsi_list_entry(choice.device, struct device, policy);
	if (dlsi_job_held_back(job) != HELD_BACK_NOT) { /* it is about to be looked at again */
		dlsi_job_withdraw(master, job);
		return GIVEN;
	}
	sentence = objection(job, device);
	if (sentence)
		return replace_policy(master, sentence);
	if (dlsi_job_take(master, job, device, choice.items, &range) && !dlsi_task_assign(master, job, device, range)) {
		master->failed = true;
		return NOTHING;
	}
	dlsi_job_refresh(master, job);
	return GIVEN;
}

/* The policy sees each of them as a turn of its own. True if there is more to decide than one turn may. */
static bool assign_all(struct dlsi_master *master)
{
	struct dlsi_policy_view view;

	master->turns++;
	if (!dlsi_master_exchange(master))
		return true;
	view = dlsi_master_view(master);
	for (unsigned i = 0; i < ASSIGNMENTS_PER_TURN; i++) {
		enum answer answer;

		if (master->failed || master->held_bytes > DLSI_HELD_PAYLOAD_BYTES)
			return false;
		answer = assign_one(master, &view);
		if (answer != GIVEN)
			return answer == NEXT_TURN;
	}
	return true;
}

bool dlsi_master_assign(struct dlsi_master *master)
{
	master->relaxed = master->held_back = false;
	if (assign_all(master))
		return true;
	master->relaxed = true;
	return master->held_back && assign_all(master);
}
