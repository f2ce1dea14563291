/* What each device does for each class: the tasks it holds, how long they took there, and how fast all devices together
 * are at a class. And what tenants use of each worker. */
#include "core/master_places.h"

struct service *dlsi_device_service(const struct device *device, const struct class *class)
{
	dlsi_list_each (node, &device->services) {
		struct service *service = dlsi_list_entry(node, struct service, device_node);

		if (service->class == class)
			return service;
	}
	return NULL;
}

struct service *dlsi_service_create(struct dlsi_master *master, struct device *device, struct class *class)
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

static void find_fastest(struct class *class)
{
	class->fastest = NULL;
	dlsi_list_each (node, &class->services) {
		struct service *service = dlsi_list_entry(node, struct service, class_node);

		if (service->speed && (!class->fastest || service->measured.item_ns < class->fastest->measured.item_ns))
			class->fastest = service;
	}
}

/* It counts for the pace of its class with this speed from now on. All others are looked at only when the fastest has
 * become slower. */
static void set_speed(struct service *service, uint64_t speed)
{
	struct class *class = service->class;
	bool slower = speed < service->speed;

	class->speed = class->speed - service->speed + speed;
	service->speed = speed;
	if (class->fastest == service && slower)
		find_fastest(class);
	else if (speed && (!class->fastest || service->measured.item_ns <= class->fastest->measured.item_ns))
		class->fastest = service;
}

static void update_loading(struct service *service)
{
	bool loading = service->held && service->class->has_model && !service->loaded;

	service->device->loading += loading - service->loading;
	service->loading = loading;
}

void dlsi_service_hold(struct dlsi_master *master, struct service *service, int32_t more)
{
	uint32_t before = service->device->loading;

	service->held += (uint32_t)more;
	update_loading(service);
	if (before && !service->device->loading) /* others may come */
		master->openings++;
}

/* Those of a class that are loaded stay in front of the others. */
static void set_loaded(struct service *service, bool loaded)
{
	struct class *class = service->class;

	if (service->loaded == loaded)
		return;
	service->loaded = loaded;
	class->loaded += loaded ? 1 : -1U;
	dlsi_list_remove(&service->class_node);
	dlsi_list_append(loaded ? class->services.next : &class->services, &service->class_node);
	update_loading(service);
}

void dlsi_service_load(struct dlsi_master *master, struct service *service, uint64_t load_ns)
{
	struct class *class = service->class;
	uint32_t before = service->device->loading;

	if (load_ns)
		class->load_ns = class->load_ns ? class->load_ns / 4 * 3 + load_ns / 4 : load_ns;
	set_loaded(service, class->has_model && dlsi_worker_is_open(service->device->worker));
	if (before && !service->device->loading)
		master->openings++;
}

void dlsi_worker_unloaded(struct worker *worker, const struct dlsi_unloaded *record)
{
	if (record->device >= worker->device_count)
		return;
	dlsi_list_each (node, &worker->devices[record->device].services) {
		struct service *service = dlsi_list_entry(node, struct service, device_node);

		if (dlsi_hash_equal(&service->class->model, &record->model))
			set_loaded(service, false);
	}
}

void dlsi_service_count(struct service *service, bool present)
{
	uint64_t item_ns = service->measured.item_ns;

	set_speed(service, present && item_ns ? DLSI_SPEED_UNIT / item_ns : 0);
	if (!present)
		set_loaded(service, false);
}

void dlsi_service_measure(struct service *service, uint64_t items, uint64_t elapsed_ns, uint64_t bytes)
{
	dlsi_measured_add(&service->measured, items, elapsed_ns, bytes);
	dlsi_sizes_add(&service->sizes, items, elapsed_ns);
	dlsi_service_count(service, dlsi_worker_is_open(service->device->worker));
}

void dlsi_service_destroy(struct dlsi_master *master, struct service *service)
{
	set_loaded(service, false);
	dlsi_list_remove(&service->device_node);
	dlsi_list_remove(&service->class_node);
	set_speed(service, 0);
	dlsi_free(master->alloc, service);
}

static struct stake *find_stake(const struct worker *worker, const struct dlsi_policy_tenant *tenant)
{
	dlsi_list_each (node, &worker->stakes) {
		struct stake *stake = dlsi_list_entry(node, struct stake, node);

		if (stake->tenant == tenant)
			return stake;
	}
	return NULL;
}

const struct dlsi_resources *dlsi_stake_used(const struct worker *worker, const struct dlsi_policy_tenant *tenant)
{
	const struct stake *stake = find_stake(worker, tenant);

	return stake ? &stake->used : NULL;
}

bool dlsi_stake_add(struct dlsi_master *master, struct worker *worker, const struct dlsi_policy_queue *queue)
{
	struct stake *stake = find_stake(worker, queue->tenant);

	if (!stake) {
		stake = dlsi_calloc(master->alloc, 1, sizeof *stake);
		if (!stake)
			return false;
		stake->tenant = queue->tenant;
		dlsi_list_append(&worker->stakes, &stake->node);
	}
	stake->tasks++;
	dlsi_resources_add(&stake->used, &queue->class->demand);
	dlsi_resources_add(&queue->tenant->used, &queue->class->demand);
	return true;
}

void dlsi_stake_remove(struct dlsi_master *master, struct worker *worker, const struct dlsi_policy_queue *queue)
{
	struct stake *stake = find_stake(worker, queue->tenant);

	dlsi_resources_take(&queue->tenant->used, &queue->class->demand);
	dlsi_resources_take(&stake->used, &queue->class->demand);
	if (--stake->tasks)
		return;
	dlsi_list_remove(&stake->node);
	dlsi_free(master->alloc, stake);
}
