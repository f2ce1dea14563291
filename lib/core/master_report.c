/* Answers to commands, as JSON: what the master knows of its workers and jobs. 64-bit ids are text; lists are cut at a
 * limit that the answer names. */
#include "core/master_state.h"

#include "base/json.h"
#include <string.h>

#define LISTED 1000

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {"new", "proposed", "active", "done", "cancelled", "failed"};

	return state < sizeof names / sizeof *names ? names[state] : "unknown";
}

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

static cJSON *describe_worker(const struct dlsi_master *master, const struct worker *worker)
{
	cJSON *json = cJSON_CreateObject(), *devices, *handlers;

	cJSON_AddStringToObject(json, "name", worker->name);
	cJSON_AddBoolToObject(json, "connected", worker->peer != NULL);
	cJSON_AddNumberToObject(json, "done_items", (double)worker->done_items);
	devices = cJSON_AddArrayToObject(json, "devices");
	for (uint16_t i = 0; i < worker->device_count; i++)
		cJSON_AddItemToArray(devices, describe_device(&worker->devices[i]));
	handlers = cJSON_AddArrayToObject(json, "handlers");
	for (uint16_t i = 0; i < worker->handler_count; i++)
		cJSON_AddItemToArray(handlers, cJSON_CreateString(master->handlers[worker->handlers[i]].name));
	return json;
}

static cJSON *describe_job(const struct dlsi_master *master, const struct job *job)
{
	char id[DLSI_ID_TEXT_BYTES];
	cJSON *json = cJSON_CreateObject();

	dlsi_hex(job->policy.id.bytes, DLSI_ID_BYTES, id);
	cJSON_AddStringToObject(json, "job", id);
	cJSON_AddStringToObject(json, "tenant", job->client ? job->client->tenant : "");
	cJSON_AddStringToObject(json, "handler", master->handlers[job->spec->handler].name);
	cJSON_AddStringToObject(json, "state", state_name(job->state));
	cJSON_AddNumberToObject(json, "priority", job->policy.priority);
	cJSON_AddNumberToObject(json, "items", (double)job->count);
	cJSON_AddNumberToObject(json, "done", (double)job->done_items);
	cJSON_AddNumberToObject(json, "running", (double)job->running);
	cJSON_AddNumberToObject(json, "item_ms", (double)job->measured.item_ns / 1e6);
	return json;
}

static cJSON *report_jobs(const struct dlsi_master *master)
{
	cJSON *json = cJSON_CreateObject(), *jobs = cJSON_AddArrayToObject(json, "jobs");
	unsigned listed = 0;

	cJSON_AddNumberToObject(json, "count", (double)master->job_count);
	dlsi_list_each (node, &master->jobs) {
		if (listed++ == LISTED)
			break;
		cJSON_AddItemToArray(jobs, describe_job(master, dlsi_list_entry(node, struct job, node)));
	}
	return json;
}

static cJSON *report_status(const struct dlsi_master *master)
{
	char cluster[DLSI_ID_TEXT_BYTES];
	cJSON *json = cJSON_CreateObject(), *workers;
	unsigned listed = 0;

	dlsi_hex(master->config.cluster.bytes, DLSI_ID_BYTES, cluster);
	cJSON_AddStringToObject(json, "cluster", cluster);
	cJSON_AddStringToObject(json, "policy", master->config.policy->name);
	cJSON_AddNumberToObject(json, "jobs", (double)master->job_count);
	cJSON_AddNumberToObject(json, "done_items", (double)master->done_items);
	cJSON_AddNumberToObject(json, "done_tasks", (double)master->done_tasks);
	cJSON_AddNumberToObject(json, "lost_workers", (double)master->lost_workers);
	cJSON_AddNumberToObject(json, "held_result_bytes", (double)master->held_bytes);
	cJSON_AddNumberToObject(json, "refused_messages", (double)master->refused_messages);
	cJSON_AddNumberToObject(json, "refused_transitions", (double)master->refused_transitions);
	workers = cJSON_AddArrayToObject(json, "workers");
	dlsi_list_each (node, &master->workers) {
		if (listed++ == LISTED)
			break;
		cJSON_AddItemToArray(workers, describe_worker(master, dlsi_list_entry(node, struct worker, node)));
	}
	return json;
}

/* The answer, or NULL and an error. */
static cJSON *answer(const struct dlsi_master *master, struct dlsi_bytes question, struct dls_error *err)
{
	static const char *const members[] = {"command", NULL}, *const commands[] = {"status", "jobs", NULL};
	struct dlsi_json_reader reader;
	cJSON *json = NULL, *result = NULL;
	int command;

	if (dlsi_json_parse("the command", question.data, question.length, DLSI_COMMAND_BYTES, &json, err))
		return NULL;
	reader = dlsi_json_read(json, "the command", members, err);
	command = dlsi_json_choice(&reader, "command", commands, -1);
	if (reader.rc == 0 && command < 0)
		dlsi_fail(err, DLS_EINVAL, "the command does not say which: \"command\" is missing");
	else if (reader.rc == 0)
		result = command ? report_jobs(master) : report_status(master);
	cJSON_Delete(json);
	return result;
}

void dlsi_master_answer(struct dlsi_master *master, struct client *client, const struct dlsi_command *command)
{
	struct dlsi_record record = {.kind = DLSI_REPLY};
	struct dls_error error = {0};
	cJSON *json = answer(master, command->json, &error);
	char *text = json ? dlsi_json_print(master->alloc, json) : NULL;

	cJSON_Delete(json);
	if (json && !text)
		dlsi_fail_memory(&error);
	if (text && strlen(text) > DLSI_COMMAND_BYTES)
		dlsi_fail(&error, DLS_ELIMIT, "the answer is larger than a message");
	record.reply.number = command->number;
	record.reply.code = error.code;
	record.reply.json.data = (const uint8_t *)(error.code ? error.text : text);
	record.reply.json.length = (uint32_t)strlen(error.code ? error.text : text);
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
	dlsi_free(master->alloc, text);
}
