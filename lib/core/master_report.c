/* What the master says of itself and of its workers. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <string.h>

static cJSON *describe_device(const struct device *device)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", device->name);
	cJSON_AddNumberToObject(json, "cores", device->cores);
	cJSON_AddNumberToObject(json, "memory_bytes", (double)device->memory_bytes);
	cJSON_AddNumberToObject(json, "credits", device->offered);
	cJSON_AddNumberToObject(json, "held", device->policy.held);
	cJSON_AddNumberToObject(json, "done_tasks", (double)device->done_tasks);
	cJSON_AddNumberToObject(json, "task_ms", (double)device->task_ns / 1e6);
	return json;
}

/* Of each kind that the worker has: so much. */
static void add_resources(const struct dlsi_master *master, const struct worker *worker, cJSON *json, const char *name,
	const struct dlsi_resources *amounts)
{
	cJSON *object = cJSON_AddObjectToObject(json, name);

	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		if (worker->capacity.amount[i])
			cJSON_AddNumberToObject(
				object, dlsi_kind_name(master, i), (double)amounts->amount[i] / DLSI_RESOURCE_UNIT);
}

static cJSON *describe_worker(const struct dlsi_master *master, const struct worker *worker)
{
	cJSON *json = cJSON_CreateObject(), *devices, *handlers, *labels;

	cJSON_AddStringToObject(json, "name", worker->origin->name);
	cJSON_AddBoolToObject(json, "connected", worker->peer != NULL);
	cJSON_AddBoolToObject(json, "draining", worker->drained || worker->leaving);
	cJSON_AddNumberToObject(json, "done_items", (double)worker->done_items);
	dlsi_describe_traffic(&worker->traffic, json);
	labels = cJSON_AddArrayToObject(json, "labels");
	for (uint16_t i = 0; i < worker->label_count; i++)
		cJSON_AddItemToArray(labels, cJSON_CreateString(worker->labels[i].name));
	add_resources(master, worker, json, "resources", &worker->capacity);
	add_resources(master, worker, json, "reserved", &worker->reserved);
	devices = cJSON_AddArrayToObject(json, "devices");
	for (uint16_t i = 0; i < worker->device_count; i++)
		cJSON_AddItemToArray(devices, describe_device(&worker->devices[i]));
	handlers = cJSON_AddArrayToObject(json, "handlers");
	for (uint16_t i = 0; i < worker->handler_count; i++)
		cJSON_AddItemToArray(handlers, cJSON_CreateString(worker->handlers[i]->name));
	return json;
}

/* Bytes of texts in the description, and of what its devices take beside. */
static size_t measure_worker(const struct dlsi_master *master, const struct worker *worker)
{
	size_t bytes = strlen(worker->origin->name);

	for (uint16_t i = 0; i < worker->label_count; i++)
		bytes += strlen(worker->labels[i].name) + 1;
	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		bytes += worker->capacity.amount[i] ? 2 * strlen(dlsi_kind_name(master, i)) + 8 : 0;
	for (uint16_t i = 0; i < worker->device_count; i++)
		bytes += strlen(worker->devices[i].name) + 32;
	for (uint16_t i = 0; i < worker->handler_count; i++)
		bytes += strlen(worker->handlers[i]->name) + 1;
	return bytes;
}

/* Lists workers from `node` on; where there are more, "next" is the name of the last one listed. */
static void list_workers(struct request *request, const struct dlsi_list *node)
{
	cJSON *workers = cJSON_AddArrayToObject(request->answer, "workers");
	unsigned limit = dlsi_request_limit(request);
	const struct worker *last = NULL;

	for (; node != &request->master->workers; node = node->next) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		if (last && (!limit || !dlsi_request_has_room(request, measure_worker(request->master, worker)))) {
			cJSON_AddStringToObject(request->answer, "next", last->origin->name);
			break;
		}
		cJSON_AddItemToArray(workers, describe_worker(request->master, worker));
		last = worker;
		limit--;
	}
}

int dlsi_command_workers(struct request *request)
{
	const char *after = dlsi_json_text(&request->reader, "after", NULL);
	const struct dlsi_list *first = request->master->workers.next;

	if (after) {
		struct dlsi_id name = dlsi_hash_key(after, strlen(after));
		const struct worker *worker = dlsi_map_get(&request->master->worker_by_name, &name);

		if (!worker)
			return dlsi_fail(request->err, DLS_ENOTFOUND,
				"the worker \"%.255s\", behind which the list was to go on, is gone; begin again",
				after);
		first = worker->node.next;
	}
	cJSON_AddNumberToObject(request->answer, "worker_count", (double)request->master->worker_by_incarnation.count);
	list_workers(request, first);
	return request->reader.rc;
}

int dlsi_command_status(struct request *request)
{
	const struct dlsi_master *master = request->master;
	struct dlsi_master_counts counts = dlsi_master_counts(master);
	char cluster[DLSI_ID_TEXT_BYTES];
	cJSON *json = request->answer;

	dlsi_hex(master->config.cluster.bytes, DLSI_ID_BYTES, cluster);
	cJSON_AddStringToObject(json, "cluster", cluster);
	cJSON_AddStringToObject(json, "policy", master->policy_ops->name);
	if (master->policy_failure)
		cJSON_AddStringToObject(json, "policy_failure", master->policy_failure);
	cJSON_AddNumberToObject(json, "jobs", (double)counts.jobs);
	cJSON_AddNumberToObject(json, "done_items", (double)counts.done_items);
	cJSON_AddNumberToObject(json, "presented_items", (double)counts.presented_items);
	cJSON_AddNumberToObject(json, "done_tasks", (double)counts.done_tasks);
	cJSON_AddNumberToObject(json, "lost_workers", (double)counts.lost_workers);
	cJSON_AddNumberToObject(json, "second_runs", (double)master->second_runs);
	cJSON_AddNumberToObject(json, "second_wins", (double)master->second_wins);
	cJSON_AddNumberToObject(json, "preemptions", (double)master->preemptions);
	cJSON_AddNumberToObject(json, "unwanted_results", (double)master->unwanted_results);
	cJSON_AddNumberToObject(json, "held_result_bytes", (double)counts.held_bytes);
	cJSON_AddNumberToObject(json, "refused_messages", (double)counts.refused_messages);
	cJSON_AddNumberToObject(json, "refused_transitions", (double)counts.refused_transitions);
	cJSON_AddNumberToObject(json, "longest_turn_ms", (double)master->longest_turn_ns / 1e6);
	cJSON_AddNumberToObject(json, "recent_turn_ms", (double)master->recent_turn_ns / 1e6);
	cJSON_AddNumberToObject(json, "worker_count", (double)counts.workers);
	list_workers(request, master->workers.next);
	return request->reader.rc;
}
