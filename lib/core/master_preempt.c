/* Preemption: a job that has no device takes the place of running tasks of lower priority, where the policy does such
 * things (core/policy_ops.h). A device is asked for what it holds of them: what it has not begun comes back, and what
 * it runs stops behind the item that it is at, so that nothing which is done is lost.
 *
 * Nothing thrashes: one device at a time is asked, as often as running tasks are looked at, each task once, and a job
 * takes the place only of those that the policy would not let go before it. */
#include "core/master_moves.h"

#include "proto/bytes.h"

static bool outranks(const struct dlsi_master *master, const struct job *job, const struct task *task)
{
	return master->policy_ops->outranks(master->policy, &job->policy, &task->job->policy);
}

/* Whether it could be asked to give back the task: it has not been, and there is something to give. */
static bool is_loose(const struct task *task, const struct task *front)
{
	return !task->stopped_ns && !task->twin && (task != front || task->end - task->first > 1);
}

/* The task of the lowest priority on the device that the job may take the place of; NULL: there is none. */
static const struct task *victim_on(
	const struct dlsi_master *master, const struct device *device, const struct job *job)
{
	const struct task *front = dlsi_device_front(device), *victim = NULL;

	if (!front || !dlsi_device_would_take(device, job->spec->class))
		return NULL;
	dlsi_list_each (node, &device->worker->tasks) {
		const struct task *task = dlsi_list_entry(node, struct task, worker_node);

		if (task->device == device && is_loose(task, front) && outranks(master, job, task) &&
			(!victim || task->job->policy.priority < victim->job->policy.priority))
			victim = task;
	}
	return victim;
}

static struct device *find_device(const struct dlsi_master *master, const struct job *job)
{
	const struct task *lowest = NULL;

	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		for (uint16_t i = 0; i < worker->device_count && dlsi_worker_is_open(worker); i++) {
			const struct task *victim = victim_on(master, &worker->devices[i], job);

			if (victim && (!lowest || victim->job->policy.priority < lowest->job->policy.priority))
				lowest = victim;
		}
	}
	return lowest ? lowest->device : NULL;
}

static void clear(struct dlsi_master *master, struct device *device, const struct job *job)
{
	const struct task *front = dlsi_device_front(device);
	struct dlsi_buffer attempts;

	dlsi_buffer_init(&attempts, master->alloc);
	dlsi_list_each (node, &device->worker->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, worker_node);

		if (task->device != device || !is_loose(task, front) || !outranks(master, job, task))
			continue;
		dlsi_write_u64(&attempts, task->attempt);
		task->stopped_ns = master->now_ns;
	}
	dlsi_worker_recall(master, device->worker, &attempts, true);
	dlsi_buffer_fini(&attempts);
	master->preemptions++;
}

void dlsi_master_preempt(struct dlsi_master *master)
{
	struct dlsi_policy_view view;
	const struct dlsi_policy_job *urgent;
	const struct job *job;
	struct device *device;

	if (!master->policy_ops->urgent)
		return;
	view = dlsi_master_view(master);
	urgent = master->policy_ops->urgent(master->policy, &view);
	if (!urgent)
		return;
	job = dlsi_list_entry(urgent, const struct job, policy);
	device = dlsi_tenant_may(dlsi_job_queue(job)) ? find_device(master, job) : NULL;
	if (device)
		clear(master, device, job);
}
