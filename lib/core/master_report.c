/* Answers to commands, as JSON: what the master knows of its workers and jobs. Ids are text. A list is as long as fits
 * into an answer; its member beside it says how many there are. */
#include "core/master_state.h"

#include "base/json.h"
#include "base/limits.h"
#include <string.h>

#define LISTED 1000

static cJSON *describe_device(const struct device *device)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", device->name);
	cJSON_AddNumberToObject(json, "cores", device->cores);
	cJSON_AddNumberToObject(json, "memory_bytes", (double)device->memory_bytes);
	cJSON_AddNumberToObject(json, "credits", device->offered);
	cJSON_AddNumberToObject(json, "held", device->held);
	cJSON_AddNumberToObject(json, "done_tasks", (double)device->done_tasks);
	cJSON_AddNumberToObject(json, "task_ms", (double)device->task_ns / 1e6);
	return json;
}

static cJSON *describe_worker(const struct worker *worker)
{
	cJSON *json = cJSON_CreateObject(), *devices, *handlers;

	cJSON_AddStringToObject(json, "name", worker->origin->name);
	cJSON_AddBoolToObject(json, "connected", worker->peer != NULL);
	cJSON_AddNumberToObject(json, "done_items", (double)worker->done_items);
	devices = cJSON_AddArrayToObject(json, "devices");
	for (uint16_t i = 0; i < worker->device_count; i++)
		cJSON_AddItemToArray(devices, describe_device(&worker->devices[i]));
	handlers = cJSON_AddArrayToObject(json, "handlers");
	for (uint16_t i = 0; i < worker->handler_count; i++)
		cJSON_AddItemToArray(handlers, cJSON_CreateString(worker->handlers[i]->name));
	return json;
}

static cJSON *describe_job(const struct job *job)
{
	char id[DLSI_ID_TEXT_BYTES];
	cJSON *json = cJSON_CreateObject();

	dlsi_hex(job->policy.id.bytes, DLSI_ID_BYTES, id);
	cJSON_AddStringToObject(json, "job", id);
	cJSON_AddStringToObject(json, "tenant", job->client ? job->client->tenant : "");
	cJSON_AddStringToObject(json, "handler", job->spec->handler->name);
	cJSON_AddStringToObject(json, "state", dlsi_job_state_name(job->state));
	cJSON_AddNumberToObject(json, "priority", job->policy.priority);
	cJSON_AddNumberToObject(json, "items", (double)job->count);
	cJSON_AddNumberToObject(json, "done", (double)job->done_items);
	cJSON_AddNumberToObject(json, "running", (double)job->running);
	cJSON_AddNumberToObject(json, "item_ms", (double)job->measured.item_ns / 1e6);
	return json;
}

static cJSON *report_jobs(const struct dlsi_master *master, unsigned limit)
{
	cJSON *json = cJSON_CreateObject(), *jobs = cJSON_AddArrayToObject(json, "jobs");
	unsigned listed = 0;

	cJSON_AddNumberToObject(json, "count", (double)master->job_by_id.count);
	dlsi_list_each (node, &master->jobs) {
		if (listed++ == limit)
			break;
		cJSON_AddItemToArray(jobs, describe_job(dlsi_list_entry(node, struct job, node)));
	}
	return json;
}

static cJSON *report_status(const struct dlsi_master *master, unsigned limit)
{
	char cluster[DLSI_ID_TEXT_BYTES];
	struct dlsi_master_counts counts = dlsi_master_counts(master);
	cJSON *json = cJSON_CreateObject(), *workers;
	unsigned listed = 0;

	dlsi_hex(master->config.cluster.bytes, DLSI_ID_BYTES, cluster);
	cJSON_AddStringToObject(json, "cluster", cluster);
	cJSON_AddStringToObject(json, "policy", master->config.policy->name);
	cJSON_AddNumberToObject(json, "jobs", (double)counts.jobs);
	cJSON_AddNumberToObject(json, "done_items", (double)counts.done_items);
	cJSON_AddNumberToObject(json, "presented_items", (double)counts.presented_items);
	cJSON_AddNumberToObject(json, "done_tasks", (double)counts.done_tasks);
	cJSON_AddNumberToObject(json, "lost_workers", (double)counts.lost_workers);
	cJSON_AddNumberToObject(json, "held_result_bytes", (double)counts.held_bytes);
	cJSON_AddNumberToObject(json, "refused_messages", (double)counts.refused_messages);
	cJSON_AddNumberToObject(json, "refused_transitions", (double)counts.refused_transitions);
	cJSON_AddNumberToObject(json, "longest_turn_ms", (double)master->longest_turn_ns / 1e6);
	cJSON_AddNumberToObject(json, "recent_turn_ms", (double)master->recent_turn_ns / 1e6);
	cJSON_AddNumberToObject(json, "worker_count", (double)counts.workers);
	workers = cJSON_AddArrayToObject(json, "workers");
	dlsi_list_each (node, &master->workers) {
		if (listed++ == limit)
			break;
		cJSON_AddItemToArray(workers, describe_worker(dlsi_list_entry(node, struct worker, node)));
	}
	return json;
}

enum command { COMMAND_STATUS, COMMAND_JOBS };

static int read_command(struct dlsi_bytes question, enum command *command_out, struct dls_error *err)
{
	static const char *const members[] = {"command", NULL}, *const commands[] = {"status", "jobs", NULL};
	struct dlsi_json_reader reader;
	cJSON *json;
	int command,
		rc = dlsi_json_parse("the command", question.data, question.length, DLSI_COMMAND_BYTES, &json, err);

	if (rc)
		return rc;
	reader = dlsi_json_read(json, "the command", members, err);
	command = dlsi_json_choice(&reader, "command", commands, -1);
	cJSON_Delete(json);
	if (reader.rc)
		return reader.rc;
	if (command < 0)
		return dlsi_fail(err, DLS_EINVAL, "the command does not say which: \"command\" is missing");
	*command_out = (enum command)command;
	return 0;
}

/* The text of a report whose lists have up to `limit` entries; NULL when memory is exhausted. */
static char *print_report(const struct dlsi_master *master, enum command command, unsigned limit)
{
	cJSON *json = command == COMMAND_JOBS ? report_jobs(master, limit) : report_status(master, limit);
	char *text = json ? dlsi_json_print(master->alloc, json) : NULL;

	cJSON_Delete(json);
	return text;
}

/* The answer, with lists that are short enough for it, to be freed; NULL and an error. */
static char *answer(
	const struct dlsi_master *master, struct client *client, struct dlsi_bytes question, struct dls_error *err)
{
	enum command command = COMMAND_STATUS;
	char *text;

	if (client->answers++ >= DLSI_ANSWERS_PER_TURN) {
		dlsi_fail(err, DLS_EBUSY, "too many commands at once; ask again");
		return NULL;
	}
	if (read_command(question, &command, err))
		return NULL;
	for (unsigned limit = LISTED;; limit /= 2) {
		text = print_report(master, command, limit);
		if (!text)
			dlsi_fail_memory(err);
		if (!text || strlen(text) <= DLSI_COMMAND_BYTES)
			return text;
		dlsi_free(master->alloc, text);
	}
}

void dlsi_master_answer(struct dlsi_master *master, struct client *client, const struct dlsi_command *command)
{
	struct dlsi_record record = {.kind = DLSI_REPLY};
	struct dls_error error = {0};
	char *text = answer(master, client, command->json, &error);
	struct dlsi_text reply = dlsi_text_of(text ? text : error.text);

	record.reply.number = command->number;
	record.reply.code = error.code;
	record.reply.json = (struct dlsi_bytes){(const uint8_t *)reply.data, reply.length};
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
	dlsi_free(master->alloc, text);
}
