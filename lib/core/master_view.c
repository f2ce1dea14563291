/* What a policy sees of the master's tables. */
#include "core/master_places.h"

static const struct queue *queue_of(const struct dlsi_policy_queue *queue)
{
	return dlsi_list_entry(queue, struct queue, policy);
}

static struct class *class_of(const struct dlsi_policy_queue *queue)
{
	return queue_of(queue)->class;
}

static struct device *device_of(const struct dlsi_policy_device *device)
{
	return dlsi_list_entry(device, struct device, policy);
}

static size_t candidates(
	void *master, const struct dlsi_policy_queue *queue, struct dlsi_policy_device **devices, size_t limit)
{
	return dlsi_tenant_may(queue_of(queue)) ? dlsi_devices_for(master, class_of(queue), devices, limit) : 0;
}

static struct dlsi_policy_device *least_loaded(void *master, const struct dlsi_policy_queue *queue)
{
	struct dlsi_policy_device *device;

	return candidates(master, queue, &device, 1) ? device : NULL;
}

static uint64_t running(void *master, const struct dlsi_policy_job *job)
{
	(void)master;
	return dlsi_job_run(dlsi_list_entry(job, struct job, policy))->running;
}

static bool can_take(void *master, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *device)
{
	(void)master;
	return dlsi_tenant_may(queue_of(queue)) && dlsi_device_can_take(device_of(device), class_of(queue));
}

static struct dlsi_policy_expectation expect(
	void *arg, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *policy)
{
	const struct dlsi_master *master = arg;
	const struct device *device = device_of(policy);
	const struct service *service = dlsi_device_service(device, class_of(queue));
	uint64_t ran_ns = (uint64_t)(master->now_ns - device->turned_ns);

	return (struct dlsi_policy_expectation){
		.wait_ns = device->planned_ns > ran_ns ? device->planned_ns - ran_ns : 0,
		.load_ns = service && service->loaded ? 0 : class_of(queue)->load_ns,
		.item_ns = service ? service->measured.item_ns : 0,
		.tried = service && (service->held || service->measured.item_ns),
	};
}

static struct dlsi_policy_pace pace(void *master, const struct dlsi_policy_queue *queue)
{
	const struct class *class = class_of(queue);

	(void)master;
	return (struct dlsi_policy_pace){
		.items_per_ns = (double)class->speed / DLSI_SPEED_UNIT,
		.fastest_ns = class->fastest ? class->fastest->measured.item_ns : 0,
	};
}

static double share_there(
	void *master, const struct dlsi_policy_tenant *tenant, const struct dlsi_policy_device *policy)
{
	const struct worker *worker = device_of(policy)->worker;
	const struct dlsi_resources *used = dlsi_stake_used(worker, tenant);

	(void)master;
	return used ? dlsi_resources_dominant(used, &worker->capacity) : 0;
}

struct dlsi_policy_view dlsi_master_view(struct dlsi_master *master)
{
	return (struct dlsi_policy_view){
		.now_ns = master->now_ns,
		.turn = master->turns,
		.total = &master->total,
		.least_loaded = least_loaded,
		.candidates = candidates,
		.running = running,
		.can_take = can_take,
		.expect = expect,
		.pace = pace,
		.share_there = share_there,
		.view_arg = master,
	};
}
