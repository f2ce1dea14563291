/* Workers as the master sees them: registration, what they still hold after a lost connection, and their end. */
#include "core/master_news.h"
#include "core/master_places.h"

#include "proto/bytes.h"
#include <string.h>

static struct dlsi_id key_of(uint64_t incarnation)
{
	return dlsi_map_key(1, incarnation);
}

bool dlsi_worker_has_handler(const struct worker *worker, const struct handler *handler)
{
	for (uint16_t i = 0; i < worker->handler_count; i++)
		if (worker->handlers[i] == handler)
			return true;
	return false;
}

/* Counts the records of a kind in the rest of a message. */
static unsigned count(struct dlsi_message rest, uint16_t kind)
{
	struct dlsi_record record;
	unsigned found = 0;

	while (dlsi_message_next(&rest, &record))
		found += record.kind == kind;
	return found;
}

static bool fill_device(
	struct dlsi_master *master, struct worker *worker, uint16_t index, const struct dlsi_device_offer *offer)
{
	struct device *device = &worker->devices[index];

	device->worker = worker;
	device->index = index;
	device->policy.number = master->next_number++;
	device->offered = offer->credits < DLSI_DEVICE_CREDITS ? offer->credits : DLSI_DEVICE_CREDITS;
	if (!device->offered)
		device->offered = 1;
	device->cores = offer->cores;
	device->memory_bytes = offer->memory_bytes;
	device->name = dlsi_strndup(master->alloc, offer->name.data, offer->name.length);
	device->policy.name = device->name;
	device->policy.worker = worker->origin->name;
	return device->name != NULL;
}

/* Once, however often the worker names it: those who can run a handler are counted. */
static bool add_handler(struct dlsi_master *master, struct worker *worker, struct dlsi_text name)
{
	struct handler *handler = dlsi_handler_ref(master, name);

	if (!handler)
		return false;
	if (dlsi_worker_has_handler(worker, handler))
		dlsi_handler_unref(master, handler);
	else
		worker->handlers[worker->handler_count++] = handler;
	return true;
}

/* What its devices are, unless it says otherwise: they share one machine. */
static void add_capacity(struct worker *worker, const struct dlsi_device_offer *offer)
{
	struct dlsi_resources one = {0};

	one.amount[DLSI_RESOURCE_CORES] = (uint64_t)offer->cores * DLSI_RESOURCE_UNIT;
	if (offer->memory_bytes <= UINT64_MAX / DLSI_RESOURCE_UNIT)
		one.amount[DLSI_RESOURCE_MEMORY] = offer->memory_bytes * DLSI_RESOURCE_UNIT;
	dlsi_resources_raise(&worker->capacity, &one);
	worker->capacity.amount[DLSI_RESOURCE_DEVICES] += DLSI_RESOURCE_UNIT;
}

static bool add_resource(struct dlsi_master *master, struct worker *worker, const struct dlsi_resource_offer *offer)
{
	unsigned kind;

	if (dlsi_kind_ref(master, offer->name, &kind, NULL))
		return false;
	worker->capacity.amount[kind] = offer->amount;
	return true;
}

static bool add_label(struct dlsi_master *master, struct worker *worker, struct dlsi_text name)
{
	struct label *label = &worker->labels[worker->label_count++];

	label->key = dlsi_hash_key(name.data, name.length);
	label->name = dlsi_strndup(master->alloc, name.data, name.length);
	return label->name != NULL;
}

static bool fill_capabilities(struct dlsi_master *master, struct worker *worker, struct dlsi_message rest)
{
	struct dlsi_record record;
	uint16_t device = 0;

	while (dlsi_message_next(&rest, &record)) {
		bool done = true;

		switch (record.kind) {
		case DLSI_DEVICE:
			done = fill_device(master, worker, device++, &record.device);
			add_capacity(worker, &record.device);
			break;
		case DLSI_HANDLER:
			done = add_handler(master, worker, record.handler.name);
			break;
		case DLSI_RESOURCE:
			done = add_resource(master, worker, &record.resource);
			break;
		case DLSI_LABEL:
			done = add_label(master, worker, record.label.name);
			break;
		}
		if (!done)
			return false;
	}
	return true;
}

static struct origin *create_origin(struct dlsi_master *master, const struct dlsi_register *record)
{
	struct origin *origin = dlsi_calloc(master->alloc, 1, sizeof *origin);

	if (!origin)
		return NULL;
	origin->uses = 1;
	origin->name = dlsi_strndup(master->alloc, record->name.data, record->name.length);
	origin->host = dlsi_strndup(master->alloc, record->host.data, record->host.length);
	origin->data_endpoint = dlsi_strndup(master->alloc, record->data_endpoint.data, record->data_endpoint.length);
	if (origin->name && origin->host && origin->data_endpoint)
		return origin;
	dlsi_origin_unref(master, origin);
	return NULL;
}

void dlsi_origin_unref(struct dlsi_master *master, struct origin *origin)
{
	if (!origin || --origin->uses)
		return;
	dlsi_free(master->alloc, origin->name);
	dlsi_free(master->alloc, origin->host);
	dlsi_free(master->alloc, origin->data_endpoint);
	dlsi_free(master->alloc, origin);
}

static void free_device(struct dlsi_master *master, struct device *device)
{
	dlsi_list_each (node, &device->services)
		dlsi_service_destroy(master, dlsi_list_entry(node, struct service, device_node));
	dlsi_free(master->alloc, device->name);
}

static void free_worker(struct dlsi_master *master, struct worker *worker)
{
	for (uint16_t i = 0; worker->devices && i < worker->device_count; i++)
		free_device(master, &worker->devices[i]);
	dlsi_free(master->alloc, worker->devices);
	for (uint16_t i = 0; i < worker->handler_count; i++)
		dlsi_handler_unref(master, worker->handlers[i]);
	dlsi_free(master->alloc, worker->handlers);
	for (uint16_t i = 0; i < worker->label_count; i++)
		dlsi_free(master->alloc, worker->labels[i].name);
	dlsi_free(master->alloc, worker->labels);
	dlsi_kinds_unref(master, &worker->capacity);
	dlsi_origin_unref(master, worker->origin);
	dlsi_buffer_fini(&worker->taken);
	dlsi_free(master->alloc, worker);
}

static bool enter(struct dlsi_master *master, struct worker *worker)
{
	struct dlsi_id key = key_of(worker->incarnation),
		       name = dlsi_hash_key(worker->origin->name, strlen(worker->origin->name));

	if (dlsi_map_put(&master->worker_by_incarnation, &key, worker))
		return false;
	if (dlsi_map_put(&master->worker_by_name, &name, worker)) {
		dlsi_map_remove(&master->worker_by_incarnation, &key);
		return false;
	}
	return true;
}

static void init_device(struct device *device)
{
	dlsi_list_init(&device->node);
	dlsi_list_init(&device->services);
}

static struct worker *create(struct dlsi_master *master, const struct dlsi_register *record, struct dlsi_message rest)
{
	struct worker *worker = dlsi_calloc(master->alloc, 1, sizeof *worker);
	unsigned handlers = count(rest, DLSI_HANDLER), labels = count(rest, DLSI_LABEL);

	if (!worker)
		return NULL;
	dlsi_list_init(&worker->tasks);
	dlsi_list_init(&worker->offers);
	dlsi_list_init(&worker->jobs);
	dlsi_list_init(&worker->stakes);
	dlsi_list_init(&worker->copies);
	dlsi_list_init(&worker->loads);
	dlsi_buffer_init(&worker->taken, master->alloc);
	worker->grace.kind = TIMER_WORKER_GRACE;
	worker->incarnation = record->incarnation;
	worker->number = master->next_number++;
	worker->device_count = (uint16_t)count(rest, DLSI_DEVICE);
	worker->origin = create_origin(master, record);
	worker->devices = dlsi_calloc(master->alloc, worker->device_count, sizeof *worker->devices);
	worker->handlers = dlsi_calloc(master->alloc, handlers + 1, sizeof *worker->handlers);
	worker->labels = dlsi_calloc(master->alloc, labels + 1, sizeof *worker->labels);
	if (worker->devices)
		for (uint16_t i = 0; i < worker->device_count; i++)
			init_device(&worker->devices[i]);
	if (!worker->origin || !worker->devices || !worker->handlers || !worker->labels ||
		!fill_capabilities(master, worker, rest) || !enter(master, worker)) {
		free_worker(master, worker);
		return NULL;
	}
	dlsi_list_append(&master->workers, &worker->node);
	return worker;
}

static void place_devices(struct dlsi_master *master, struct worker *worker)
{
	for (uint16_t i = 0; i < worker->device_count; i++)
		dlsi_device_place(master, &worker->devices[i]);
}

static void detach(struct dlsi_master *master, struct worker *worker)
{
	struct peer *peer = worker->peer;
	bool was_open = dlsi_worker_is_open(worker);

	if (!peer)
		return;
	worker->peer = NULL;
	dlsi_buffer_clear(&worker->taken);
	place_devices(master, worker);
	if (was_open)
		dlsi_classes_count(master, worker, false);
	dlsi_master_drop_peer(master, peer);
}

void dlsi_worker_destroy(struct dlsi_master *master, struct worker *worker)
{
	struct dlsi_id key = key_of(worker->incarnation),
		       name = dlsi_hash_key(worker->origin->name, strlen(worker->origin->name));

	detach(master, worker);
	dlsi_list_each (node, &worker->tasks)
		dlsi_task_drop(master, dlsi_list_entry(node, struct task, worker_node), true);
	dlsi_list_each (
		node, &worker->offers) { /* the client may have it already, or will say that it cannot be fetched */
		dlsi_list_entry(node, struct task, worker_node)->device = NULL;
		dlsi_list_remove(node);
	}
	dlsi_list_each (node, &worker->jobs)
		dlsi_master_part(master, dlsi_list_entry(node, struct acquaintance, worker_node));
	dlsi_worker_forget_models(master, worker);
	dlsi_master_stop_timer(master, &worker->grace);
	dlsi_map_remove(&master->worker_by_incarnation, &key);
	dlsi_map_remove(&master->worker_by_name, &name);
	dlsi_list_remove(&worker->node);
	free_worker(master, worker);
}

static void begin_grace(struct dlsi_master *master, struct worker *worker)
{
	dlsi_master_set_timer(master, &worker->grace, master->now_ns + master->config.lost_grace_ns);
}

void dlsi_worker_lost(struct dlsi_master *master, struct worker *worker, bool dead)
{
	detach(master, worker);
	if (dead) {
		master->lost_workers++;
		dlsi_news_of_worker(master, worker, "is lost");
		dlsi_worker_destroy(master, worker);
	} else {
		begin_grace(master, worker);
	}
}

void dlsi_worker_leave(struct dlsi_master *master, struct worker *worker)
{
	dlsi_news_of_worker(master, worker, "has left");
	dlsi_worker_destroy(master, worker);
}

void dlsi_worker_excuse(struct dlsi_master *master, struct worker *worker)
{
	if (!worker->peer)
		begin_grace(master, worker);
}

/* The task that the worker says it has, if it is one the master gave it. */
static struct task *held_task(
	const struct dlsi_master *master, const struct worker *worker, const struct dlsi_held *held)
{
	struct task *task = dlsi_task_find(master, held->attempt);
	bool ours = task && task->device && task->device->worker == worker &&
		    dlsi_id_equal(&task->job->policy.id, &held->job);

	return ours ? task : NULL;
}

/* What the worker has and the master has not: the one task, or all of a job of which nothing is known there. */
static void disown(struct dlsi_master *master, struct worker *worker, const struct dlsi_held *held)
{
	struct job *job = dlsi_job_find(master, &held->job);
	struct dlsi_record record = {.kind = DLSI_FORGET};

	if (job && dlsi_master_acquainted(master, worker, job)) {
		record.kind = DLSI_CANCEL;
		record.cancel.job = held->job;
		record.cancel.attempt = held->attempt;
	} else {
		record.forget.job = held->job;
	}
	dlsi_master_post(master, worker->peer, &record, (struct dlsi_payload){0});
}

/* Tasks that the worker presents stay with it, and it need not be told of their jobs again. */
static void recognise(struct dlsi_master *master, struct worker *worker, struct dlsi_message rest)
{
	struct dlsi_record record;
	bool known;

	while (dlsi_message_next(&rest, &record)) {
		struct task *task = record.kind == DLSI_HELD ? held_task(master, worker, &record.held) : NULL;

		if (!task)
			continue;
		task->presented = true;
		if (!dlsi_master_acquaint(master, worker, task->job, &known))
			master->failed = true;
	}
}

/* After a reconnect: what the worker holds stays, what was lost with the connection goes back. It forgets by itself the
 * jobs of which it holds nothing. */
static void reconcile(struct dlsi_master *master, struct worker *worker, struct dlsi_message rest)
{
	struct dlsi_record record;

	dlsi_list_each (node, &worker->jobs)
		dlsi_master_part(master, dlsi_list_entry(node, struct acquaintance, worker_node));
	dlsi_worker_forget_loads(master, worker);
	dlsi_list_each (node, &worker->tasks)
		dlsi_list_entry(node, struct task, worker_node)->presented = false;
	recognise(master, worker, rest);
	while (dlsi_message_next(&rest, &record))
		if (record.kind == DLSI_HELD && !held_task(master, worker, &record.held))
			disown(master, worker, &record.held);
	dlsi_list_each (node, &worker->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, worker_node);

		if (!task->presented)
			dlsi_task_drop(master, task, true);
	}
}

/* A worker of the same name that is another process: two of one name would take turns for ever. */
static struct worker *namesake(const struct dlsi_master *master, const struct dlsi_register *record)
{
	struct dlsi_id key = dlsi_hash_key(record->name.data, record->name.length);
	struct worker *worker = dlsi_map_get(&master->worker_by_name, &key);

	return worker && worker->incarnation != record->incarnation ? worker : NULL;
}

/* A new process under an old name ends the old one, which must not come back by itself. */
static void supersede(struct dlsi_master *master, struct worker *old)
{
	if (old->peer) {
		dlsi_master_refuse(master, old->peer->outbox.peer, NULL, DLS_EEXISTS, 0,
			"another worker has registered under this worker's name; give each its own with --name");
		dlsi_outbox_flush(&old->peer->outbox, master->effects);
	}
	dlsi_news_of_worker(master, old, "is replaced by another of its name");
	dlsi_worker_destroy(master, old);
}

static bool are_devices_numbered(struct dlsi_message rest)
{
	struct dlsi_record record;
	uint16_t index = 0;

	while (dlsi_message_next(&rest, &record))
		if (record.kind == DLSI_DEVICE && record.device.index != index++)
			return false;
	return true;
}

/* Whether it names each kind once, and none that is counted from its devices. */
static bool are_resources_sound(struct dlsi_message rest)
{
	struct dlsi_record record, other;
	struct dlsi_text devices = dlsi_text_of("devices");

	while (dlsi_message_next(&rest, &record)) {
		struct dlsi_message later = rest;

		if (record.kind != DLSI_RESOURCE)
			continue;
		if (!record.resource.amount || !record.resource.name.length ||
			dlsi_text_equal(record.resource.name, devices))
			return false;
		while (dlsi_message_next(&later, &other))
			if (other.kind == DLSI_RESOURCE && dlsi_text_equal(other.resource.name, record.resource.name))
				return false;
	}
	return true;
}

static const char *objection(const struct dlsi_register *record, struct dlsi_message rest)
{
	if (!record->name.length)
		return "a worker without a name cannot be told from others";
	if (count(rest, DLSI_DEVICE) == 0 || count(rest, DLSI_DEVICE) > DLSI_WORKER_DEVICES)
		return "a worker must offer 1 to 64 devices";
	if (count(rest, DLSI_HANDLER) > DLSI_WORKER_HANDLERS)
		return "a worker may offer 64 handlers at most";
	if (count(rest, DLSI_RESOURCE) > DLSI_RESOURCE_KINDS)
		return "a worker may name 16 kinds of resources at most";
	if (count(rest, DLSI_LABEL) > DLSI_WORKER_LABELS)
		return "a worker may have 64 labels at most";
	if (!are_resources_sound(rest))
		return "a worker's resources must each be named once, be more than 0, and not be its devices";
	if (!are_devices_numbered(rest))
		return "a worker's devices must be numbered from 0 on, in order";
	return NULL;
}

void dlsi_worker_register(
	struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record, struct dlsi_message rest)
{
	struct dlsi_id key = key_of(record->incarnation);
	struct peer *peer;
	struct worker *worker = dlsi_map_get(&master->worker_by_incarnation, &key), *old = namesake(master, record);
	const char *sentence = objection(record, rest);
	bool known;

	if (sentence) {
		dlsi_master_refuse(master, from, NULL, DLS_EINVAL, 0, sentence);
		return;
	}
	if (old)
		supersede(master, old);
	known = worker != NULL;
	if (known)
		detach(master, worker);
	else
		worker = create(master, record, rest);
	peer = worker ? dlsi_master_add_peer(master, from) : NULL;
	if (!peer) {
		dlsi_master_refuse(master, from, NULL, DLS_EBUSY, 1000,
			"the master has no room for another worker; it is asked again");
		if (worker)
			dlsi_worker_destroy(master, worker);
		return;
	}
	dlsi_master_stop_timer(master, &worker->grace);
	peer->worker = worker;
	worker->peer = peer;
	if (dlsi_worker_is_open(worker))
		dlsi_classes_count(master, worker, true);
	dlsi_master_welcome(master, peer, false);
	reconcile(master, worker, rest);
	place_devices(master, worker);
	if (known)
		dlsi_news_of_worker(master, worker, "is back");
	else
		dlsi_news_joined(master, worker);
}
