/* Devices in order of load: one list for every number of held tasks. A device is on the list of its number while it may
 * hold more and its worker is connected; within a list the one served longest ago is first. */
#include "core/master_state.h"

void dlsi_device_place(struct dlsi_master *master, struct device *device)
{
	uint32_t credits = dlsi_division_credits(device->offered, device->task_ns, device->task_bytes);
	bool was_free = !dlsi_list_empty(&device->node), is_free = device->held < credits && device->worker->peer;

	dlsi_list_remove(&device->node);
	if (is_free) {
		dlsi_list_append(&master->loaded[device->held], &device->node);
		master->loads |= UINT64_C(1) << device->held;
	}
	if (is_free != was_free)
		dlsi_handler_count_free(device->worker, is_free);
}

void dlsi_device_hold(struct dlsi_master *master, struct device *device)
{
	device->held++;
	dlsi_device_place(master, device);
}

void dlsi_device_free(struct dlsi_master *master, struct device *device)
{
	device->held--;
	dlsi_device_place(master, device);
}

void dlsi_device_measure(struct device *device, uint64_t elapsed_ns, uint64_t bytes)
{
	struct dlsi_measured measured = {device->task_ns, device->task_bytes};

	dlsi_measured_add(&measured, 1, elapsed_ns, bytes);
	device->task_ns = measured.item_ns;
	device->task_bytes = measured.item_bytes;
	device->done_tasks++;
}

_Static_assert(DLSI_DEVICE_CREDITS <= 64, "a bit of `loads` each");

/* The first of a list whose worker has the handler. */
static struct device *first_with(const struct dlsi_list *devices, const struct handler *handler)
{
	dlsi_list_each (node, devices) {
		struct device *device = dlsi_list_entry(node, struct device, node);

		if (dlsi_worker_has_handler(device->worker, handler))
			return device;
	}
	return NULL;
}

struct device *dlsi_device_least_loaded(struct dlsi_master *master, const struct handler *handler)
{
	uint64_t loads = handler->free_devices ? master->loads : 0;

	while (loads) {
		unsigned held = (unsigned)__builtin_ctzll(loads);
		struct device *device = first_with(&master->loaded[held], handler);

		if (device)
			return device;
		if (dlsi_list_empty(&master->loaded[held]))
			master->loads &= ~(UINT64_C(1) << held);
		loads &= loads - 1;
	}
	return NULL;
}
