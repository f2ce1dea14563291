/* What devices hold, and which could take more.
 *
 * Devices in order of load: one list for every number of held tasks. A device is on the list of its number while it may
 * hold more and its worker is connected and not draining; within a list the one served longest ago is first.
 *
 * Resources. A device runs one of the tasks that it holds at a time, in whatever order, so it reserves of its worker
 * the largest demand of them in each kind; what the devices of a worker reserve together is never more than the worker
 * has. */
#include "core/master_places.h"

enum { DEVICES = 64, LOOKED_AT = 256, LOADS_WAITED = 8 };

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

/* What the device reserves follows what it holds. */
static void reserve(struct dlsi_master *master, struct device *device)
{
	struct worker *worker = device->worker;
	struct dlsi_resources needed = {0};

	dlsi_list_each (node, &device->services) {
		const struct service *service = dlsi_list_entry(node, struct service, device_node);

		if (service->held)
			dlsi_resources_raise(&needed, &service->class->policy.demand);
	}
	dlsi_resources_take(&worker->reserved, &device->reserved);
	dlsi_resources_add(&worker->reserved, &needed);
	if (!dlsi_resources_cover(&needed, &device->reserved))
		master->openings++;
	device->reserved = needed;
}

bool dlsi_device_hold(struct dlsi_master *master, struct device *device, struct queue *queue, uint64_t planned_ns)
{
	struct service *service = dlsi_device_service(device, queue->class);

	if (!service)
		service = dlsi_service_create(master, device, queue->class);
	if (!service || !dlsi_stake_add(master, device->worker, &queue->policy))
		return false;
	dlsi_service_hold(master, service, 1);
	if (service->held == 1)
		reserve(master, device);
	queue->class->served_ns = master->now_ns;
	if (!device->policy.held++)
		device->turned_ns = master->now_ns;
	device->planned_ns += planned_ns;
	dlsi_device_place(master, device);
	return true;
}

void dlsi_device_free(struct dlsi_master *master, struct device *device, struct queue *queue, uint64_t planned_ns)
{
	struct service *service = dlsi_device_service(device, queue->class);

	dlsi_service_hold(master, service, -1);
	if (!service->held)
		reserve(master, device);
	dlsi_stake_remove(master, device->worker, &queue->policy);
	device->policy.held--;
	device->planned_ns -= planned_ns;
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
	dlsi_service_measure(service, items, elapsed_ns, bytes);
}

/* Whether the device could run a task of the class beside what the others of its worker may be running. */
static bool fits(const struct class *class, const struct device *device)
{
	struct dlsi_resources reserved = device->worker->reserved, own = device->reserved;

	if (dlsi_resources_cover(&own, &class->policy.demand)) /* beside others like it */
		return true;
	dlsi_resources_take(&reserved, &own);
	dlsi_resources_raise(&own, &class->policy.demand);
	dlsi_resources_add(&reserved, &own);
	return dlsi_resources_cover(&device->worker->capacity, &reserved);
}

bool dlsi_device_can_take(const struct device *device, const struct class *class)
{
	return !dlsi_list_empty(&device->node) && dlsi_class_suits(class, device->worker) && fits(class, device);
}

struct task *dlsi_device_front(const struct device *device)
{
	dlsi_list_each (node, &device->worker->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, worker_node);

		if (task->device == device)
			return task;
	}
	return NULL;
}

bool dlsi_device_would_take(const struct device *device, const struct class *class)
{
	struct dlsi_resources others = device->worker->reserved;

	dlsi_resources_take(&others, &device->reserved);
	dlsi_resources_add(&others, &class->policy.demand);
	return dlsi_class_suits(class, device->worker) && dlsi_resources_cover(&device->worker->capacity, &others);
}

_Static_assert(DLSI_DEVICE_CREDITS <= 64, "a bit of `loads` each");

/* Whether it could, and would not load for what it holds another model than that of the class: what it then has is not
 * known. */
static bool is_candidate(const struct device *device, const struct class *class)
{
	const struct service *service = device->loading ? dlsi_device_service(device, class) : NULL;

	return dlsi_device_can_take(device, class) && (!device->loading || (service && service->loading));
}

/* Devices that could be given a task, the best first. */
struct choice {
	struct dlsi_policy_device **devices;
	size_t count, limit;
	unsigned liked[DEVICES]; /* how much each is preferred */
};

/* Behind those that are as good. */
static void add(struct choice *choice, struct device *device, unsigned liked, size_t from)
{
	size_t at = choice->count < choice->limit ? choice->count : choice->limit - 1;

	if (choice->count == choice->limit && (from == choice->count || choice->liked[at] >= liked))
		return;
	for (; at > from && choice->liked[at - 1] < liked; at--) {
		choice->devices[at] = choice->devices[at - 1];
		choice->liked[at] = choice->liked[at - 1];
	}
	choice->devices[at] = &device->policy;
	choice->liked[at] = liked;
	choice->count += choice->count < choice->limit;
}

/* Those of a list that can take a task. Where some are preferred, those that are so most of the ones looked at. */
static void collect(const struct dlsi_list *list, const struct class *class, struct choice *choice)
{
	size_t from = choice->count;
	unsigned looked_at = 0, enough = 0;

	dlsi_list_each (node, list) {
		struct device *device = dlsi_list_entry(node, struct device, node);
		unsigned liked;

		if (from + enough == choice->limit || looked_at == LOOKED_AT)
			return;
		if (!is_candidate(device, class))
			continue;
		liked = dlsi_class_likes(class, device->worker);
		add(choice, device, liked, from);
		enough += liked == class->preferred_count;
		looked_at++;
	}
}

static void collect_all(struct dlsi_master *master, struct class *class, struct choice *choice)
{
	bool may = class->handler->free_devices && class->found_none != master->openings;
	uint64_t loads = may ? master->loads : 0;

	for (; loads && choice->count < choice->limit; loads &= loads - 1) {
		unsigned held = (unsigned)__builtin_ctzll(loads);

		collect(&master->loaded[held], class, choice);
		if (dlsi_list_empty(&master->loaded[held]))
			master->loads &= ~(UINT64_C(1) << held);
	}
	if (!choice->count)
		class->found_none = master->openings;
}

/* Those that have the model, with the fewest tasks first. */
static void collect_loaded(const struct class *class, struct choice *choice)
{
	unsigned looked_at = 0;

	dlsi_list_each (node, &class->services) {
		const struct service *service = dlsi_list_entry(node, struct service, class_node);

		if (!service->loaded || looked_at++ == LOOKED_AT)
			return;
		if (is_candidate(service->device, class))
			add(choice, service->device, DLSI_DEVICE_CREDITS - service->device->policy.held, 0);
	}
}

/* Whether what waits takes those that have the model longer than another load. */
static bool is_worth_a_load(const struct class *class)
{
	uint64_t item_ns = class->fastest ? class->fastest->measured.item_ns : 0;

	return !class->loaded || (double)class->ready * (double)item_ns > (double)class->load_ns * class->loaded;
}

size_t dlsi_devices_for(
	struct dlsi_master *master, struct class *class, struct dlsi_policy_device **devices, size_t limit)
{
	struct choice choice = {.devices = devices, .limit = limit};
	int64_t waited_ns = master->now_ns - class->served_ns;

	if (class->load_ns)
		collect_loaded(class, &choice);
	if (choice.count && !devices[0]->held)
		return choice.count;
	if ((uint64_t)waited_ns / LOADS_WAITED >= class->load_ns) {
		choice.count = 0;
		collect_all(master, class, &choice);
	} else if (!choice.count && master->relaxed && is_worth_a_load(class)) {
		collect(&master->loaded[0], class, &choice);
	} else if (!choice.count) {
		master->held_back = true;
	}
	return choice.count;
}

struct device *dlsi_device_least_loaded(struct dlsi_master *master, struct class *class)
{
	struct dlsi_policy_device *device;

	return dlsi_devices_for(master, class, &device, 1) ? dlsi_list_entry(device, struct device, policy) : NULL;
}
