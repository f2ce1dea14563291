/* What devices hold, and which could take more.
 *
 * Devices in order of load: one list for every number of held tasks. A device is on the list of its number while it may
 * hold more and its worker is connected and not draining; within a list the one served longest ago is first.
 *
 * Resources. A device runs one of the tasks that it holds at a time, in whatever order, so it reserves of its worker
 * the largest demand of them in each kind; what the devices of a worker reserve together is never more than the worker
 * has. */
#include "core/master_state.h"

void dlsi_device_place(struct dlsi_master *master, struct device *device)
{
	uint32_t held = device->policy.held;
	bool was_free = !dlsi_list_empty(&device->node), is_free;

	device->policy.credits = dlsi_division_credits(device->offered, device->task_ns, device->task_bytes);
	device->relieved &= held != 0;
	is_free = held < device->policy.credits && !device->relieved && dlsi_worker_is_open(device->worker);
	dlsi_list_remove(&device->node);
	if (is_free) {
		dlsi_list_append(&master->loaded[held], &device->node);
		master->loads |= UINT64_C(1) << held;
	}
	if (is_free != was_free)
		dlsi_handler_count_free(device->worker, is_free);
	if (is_free && !was_free)
		master->openings++;
}

struct service *dlsi_device_service(const struct device *device, const struct class *class)
{
	dlsi_list_each (node, &device->services) {
		struct service *service = dlsi_list_entry(node, struct service, device_node);

		if (service->class == class)
			return service;
	}
	return NULL;
}

static struct service *create_service(struct dlsi_master *master, struct device *device, struct class *class)
{
	struct service *service = dlsi_calloc(master->alloc, 1, sizeof *service);

	if (!service)
		return NULL;
	service->device = device;
	service->class = class;
	dlsi_list_append(&device->services, &service->device_node);
	dlsi_list_append(&class->services, &service->class_node);
	return service;
}

void dlsi_service_destroy(struct dlsi_master *master, struct service *service)
{
	dlsi_list_remove(&service->device_node);
	dlsi_list_remove(&service->class_node);
	dlsi_free(master->alloc, service);
}

/* What the device reserves follows what it holds. */
static void reserve(struct dlsi_master *master, struct device *device)
{
	struct worker *worker = device->worker;
	struct dlsi_resources needed = {0};

	dlsi_list_each (node, &device->services) {
		const struct service *service = dlsi_list_entry(node, struct service, device_node);

		if (service->held)
			dlsi_resources_raise(&needed, &service->class->demand);
	}
	dlsi_resources_take(&worker->reserved, &device->reserved);
	dlsi_resources_add(&worker->reserved, &needed);
	if (!dlsi_resources_cover(&needed, &device->reserved))
		master->openings++;
	device->reserved = needed;
}

bool dlsi_device_hold(struct dlsi_master *master, struct device *device, struct queue *queue)
{
	struct service *service = dlsi_device_service(device, queue->class);

	if (!service)
		service = create_service(master, device, queue->class);
	if (!service)
		return false;
	if (!service->held++)
		reserve(master, device);
	dlsi_resources_add(&queue->policy.tenant->used, &queue->class->demand);
	device->policy.held++;
	dlsi_device_place(master, device);
	return true;
}

void dlsi_device_free(struct dlsi_master *master, struct device *device, struct queue *queue)
{
	struct service *service = dlsi_device_service(device, queue->class);

	if (!--service->held)
		reserve(master, device);
	dlsi_resources_take(&queue->policy.tenant->used, &queue->class->demand);
	device->policy.held--;
	dlsi_device_place(master, device);
}

void dlsi_device_measure(
	struct device *device, const struct class *class, uint64_t items, uint64_t elapsed_ns, uint64_t bytes)
{
	struct dlsi_measured measured = {device->task_ns, device->task_bytes};
	struct service *service = dlsi_device_service(device, class);

	dlsi_measured_add(&measured, 1, elapsed_ns, bytes);
	device->task_ns = measured.item_ns;
	device->task_bytes = measured.item_bytes;
	device->done_tasks++;
	dlsi_measured_add(&service->measured, items, elapsed_ns, bytes);
	dlsi_sizes_add(&service->sizes, items, elapsed_ns);
}

/* Whether the device could run a task of the class beside what the others of its worker may be running. */
static bool fits(const struct class *class, const struct device *device)
{
	struct dlsi_resources reserved = device->worker->reserved, own = device->reserved;

	dlsi_resources_take(&reserved, &own);
	dlsi_resources_raise(&own, &class->demand);
	dlsi_resources_add(&reserved, &own);
	return dlsi_resources_cover(&device->worker->capacity, &reserved);
}

_Static_assert(DLSI_DEVICE_CREDITS <= 64, "a bit of `loads` each");

static struct device *first_for(const struct dlsi_list *devices, const struct class *class)
{
	dlsi_list_each (node, devices) {
		struct device *device = dlsi_list_entry(node, struct device, node);

		if (dlsi_class_suits(class, device->worker) && fits(class, device))
			return device;
	}
	return NULL;
}

struct device *dlsi_device_least_loaded(struct dlsi_master *master, struct class *class)
{
	bool may = class->handler->free_devices && class->found_none != master->openings;
	uint64_t loads = may ? master->loads : 0;

	while (loads) {
		unsigned held = (unsigned)__builtin_ctzll(loads);
		struct device *device = first_for(&master->loaded[held], class);

		if (device)
			return device;
		if (dlsi_list_empty(&master->loaded[held]))
			master->loads &= ~(UINT64_C(1) << held);
		loads &= loads - 1;
	}
	class->found_none = master->openings;
	return NULL;
}
