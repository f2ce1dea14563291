/* Tasks that wait at a device behind a long one while another device has nothing to do: some are recalled, so that they
 * go there. Looked at as often as heartbeats are sent, and only where the first task has taken longer than that. The
 * task in front itself gives up the rest of its items where another device is done with them clearly sooner by what was
 * measured of both: its own device is much slower, or has become so.
 *
 * No task moves to and fro. The device that was relieved gets nothing more until the task in front is over, so what was
 * recalled goes elsewhere; a task moves only to a device that begins it at once and is expected to be done with it
 * before the device where it waits would be; and as many move as that device does while the task in front may last. A
 * rest moves only if that gains a quarter of its time, so it does not come back, and each task is asked for it once. */
#include "core/master_moves.h"

#include "proto/bytes.h"

#define STOPPED_NS 100000000 /* a rest that takes less stays */

/* How long the task in front may last: as expected, or once it has taken longer, as long again as it has taken. */
static uint64_t remaining_ns(const struct dlsi_master *master, const struct task *front)
{
	uint64_t taken_ns = (uint64_t)(master->now_ns - dlsi_task_began_ns(front));
	uint64_t whole_ns = dlsi_task_expected_ns(front, front->device);

	return whole_ns > taken_ns ? whole_ns - taken_ns : taken_ns;
}

/* The first task of the device behind `node`; NULL if there is none. */
static const struct task *next_task(const struct device *device, const struct dlsi_list *node)
{
	for (node = node->next; node != &device->worker->tasks; node = node->next) {
		const struct task *task = dlsi_list_entry(node, struct task, worker_node);

		if (task->device == device)
			return task;
	}
	return NULL;
}

/* How many of the tasks that wait from `task` on had better move; 0: none. */
static uint64_t count_moves(struct dlsi_master *master, const struct task *front, const struct task *task)
{
	const struct device *idle = dlsi_device_least_loaded(master, task->job->spec->class);
	uint64_t wait_ns = remaining_ns(master, front), there_ns = idle ? dlsi_task_expected_ns(task, idle) : 0;

	if (!idle || idle->policy.held || there_ns >= wait_ns + dlsi_task_expected_ns(task, task->device))
		return 0;
	return there_ns && wait_ns > there_ns ? wait_ns / there_ns : there_ns ? 1 : UINT64_MAX;
}

static void relieve(struct dlsi_master *master, struct device *device)
{
	const struct task *front = dlsi_device_front(device);
	const struct task *task = front ? next_task(device, &front->worker_node) : NULL;
	struct dlsi_buffer attempts;
	uint64_t moves;

	if (!task || master->now_ns - front->given_ns < master->config.heartbeat_ns ||
		master->now_ns - device->turned_ns < master->config.heartbeat_ns)
		return;
	moves = count_moves(master, front, task);
	if (!moves)
		return;
	dlsi_buffer_init(&attempts, master->alloc);
	for (; task && moves; moves--, task = next_task(device, &task->worker_node))
		dlsi_write_u64(&attempts, task->attempt);
	device->relieved = true;
	dlsi_device_place(master, device);
	dlsi_worker_recall(master, device->worker, &attempts, false);
	dlsi_buffer_fini(&attempts);
}

void dlsi_worker_relieve(struct dlsi_master *master, struct worker *worker)
{
	for (uint16_t i = 0; i < worker->device_count && dlsi_worker_is_open(worker); i++)
		if (worker->devices[i].policy.held > 1 && !worker->devices[i].relieved)
			relieve(master, &worker->devices[i]);
}

void dlsi_task_stop(struct dlsi_master *master, struct task *front)
{
	struct dlsi_buffer attempt;

	dlsi_buffer_init(&attempt, master->alloc);
	dlsi_write_u64(&attempt, front->attempt);
	front->stopped_ns = master->now_ns;
	front->device->relieved = true;
	dlsi_device_place(master, front->device);
	dlsi_worker_recall(master, front->device->worker, &attempt, true);
	dlsi_buffer_fini(&attempt);
}

/* Where it has taken longer than expected nobody knows how far it is: then all of it counts as its rest. */
bool dlsi_task_relieve(struct dlsi_master *master, struct task *front, const struct device *idle)
{
	uint64_t items = front->end - front->first, whole_ns = dlsi_task_expected_ns(front, front->device);
	uint64_t rest_ns = remaining_ns(master, front), there_ns = dlsi_task_expected_ns(front, idle);

	if (items == 1 || front->stopped_ns || front->twin || !whole_ns || !there_ns || rest_ns < STOPPED_NS)
		return false;
	if (rest_ns < whole_ns)
		there_ns = (uint64_t)((double)there_ns * (double)rest_ns / (double)whole_ns);
	if (there_ns + there_ns / 4 >= rest_ns)
		return false;
	dlsi_task_stop(master, front);
	return true;
}
