/* Jobs and their tasks as answers show them. Ids and numbers above 2^53 are texts; times are milliseconds, counted from
 * or to the moment of the answer. */
#include "core/master_commands.h"
#include "core/master_moves.h"
#include "core/master_times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_id(cJSON *json, const struct dlsi_id *id)
{
	char text[DLSI_ID_TEXT_BYTES];

	dlsi_hex(id->bytes, DLSI_ID_BYTES, text);
	cJSON_AddStringToObject(json, "job", text);
}

static void add_ms(cJSON *json, const char *name, int64_t duration_ns)
{
	cJSON_AddNumberToObject(json, name, (double)(duration_ns > 0 ? duration_ns / 1000 : 0) / 1e3);
}

const char *dlsi_describe_state(const struct job *job)
{
	if (job->state == DLSI_JOB_ACTIVE && (job->paused || job->waits))
		return job->paused ? "paused" : "waiting";
	return dlsi_job_state_name(job->state);
}

size_t dlsi_describe_job_texts(const struct job *job)
{
	return strlen(dlsi_job_tenant(job)->name) + strlen(job->spec->class->handler->name) +
	       dlsi_about_texts(dlsi_job_extras(job)->about);
}

size_t dlsi_describe_ended_texts(const struct ended *ended)
{
	return strlen(ended->tenant) + strlen(ended->handler) + strlen(ended->sentence) +
	       dlsi_about_texts(ended->about);
}

cJSON *dlsi_describe_job(const struct dlsi_master *master, const struct job *job)
{
	cJSON *json = cJSON_CreateObject();
	const struct run *run = dlsi_job_run(job);

	add_id(json, &job->policy.id);
	dlsi_about_describe(dlsi_job_extras(job)->about, json);
	cJSON_AddStringToObject(json, "tenant", dlsi_job_tenant(job)->name);
	cJSON_AddStringToObject(json, "handler", job->spec->class->handler->name);
	cJSON_AddStringToObject(json, "state", dlsi_describe_state(job));
	cJSON_AddNumberToObject(json, "priority", job->policy.priority);
	cJSON_AddNumberToObject(json, "items", (double)job->count);
	cJSON_AddNumberToObject(json, "done", (double)run->done_items);
	cJSON_AddNumberToObject(json, "running", (double)run->running);
	cJSON_AddNumberToObject(json, "returned", (double)run->returned);
	cJSON_AddNumberToObject(json, "failed", (double)run->failed_items);
	if (run->retries) {
		cJSON_AddNumberToObject(json, "retried", (double)run->retries->retried);
		cJSON_AddNumberToObject(json, "retry_waiting", (double)run->retries->set.waiting);
	}
	cJSON_AddNumberToObject(json, "moves", run->moves);
	cJSON_AddNumberToObject(json, "second_runs", run->second_runs);
	cJSON_AddNumberToObject(json, "item_ms", (double)job->spec->measured.item_ns / 1e6);
	add_ms(json, "age_ms", master->now_ns - job->policy.since_ns);
	if (job->policy.deadline_ns != INT64_MAX)
		add_ms(json, "deadline_ms", job->policy.deadline_ns - master->now_ns);
	return json;
}

cJSON *dlsi_describe_ended(const struct dlsi_master *master, const struct ended *ended)
{
	cJSON *json = cJSON_CreateObject();

	add_id(json, &ended->id);
	dlsi_about_describe(ended->about, json);
	cJSON_AddStringToObject(json, "tenant", ended->tenant);
	cJSON_AddStringToObject(json, "handler", ended->handler);
	cJSON_AddStringToObject(json, "state", dlsi_job_state_name(ended->state));
	cJSON_AddNumberToObject(json, "priority", ended->priority);
	cJSON_AddNumberToObject(json, "items", (double)ended->count);
	cJSON_AddNumberToObject(json, "done", (double)ended->done_items);
	cJSON_AddNumberToObject(json, "failed", (double)ended->failed_items);
	if (ended->retried)
		cJSON_AddNumberToObject(json, "retried", (double)ended->retried);
	cJSON_AddNumberToObject(json, "moves", ended->moves);
	cJSON_AddNumberToObject(json, "second_runs", ended->second_runs);
	add_ms(json, "age_ms", master->now_ns - ended->begun_ns);
	add_ms(json, "took_ms", ended->ended_ns - ended->begun_ns);
	add_ms(json, "ended_ms", master->now_ns - ended->ended_ns);
	if (ended->code) {
		cJSON_AddStringToObject(json, "error", dls_error_name(ended->code));
		cJSON_AddStringToObject(json, "text", ended->sentence);
	}
	return json;
}

/* What the device of a task does before it. */
struct line {
	bool waits;           /* there is something */
	uint64_t expected_ns; /* of it */
	bool known;           /* that is of all of it */
};

/* A device runs its tasks in the order in which it was given them. */
static struct line stand_in_line(const struct task *task)
{
	struct line line = {.known = true};

	dlsi_list_each (node, &task->device->worker->tasks) {
		const struct task *other = dlsi_list_entry(node, struct task, worker_node);
		uint64_t expected_ns = dlsi_task_expected_ns(other, other->device);

		if (other == task)
			break;
		if (other->device != task->device)
			continue;
		line.waits = true;
		line.known &= expected_ns != 0;
		line.expected_ns += expected_ns;
	}
	return line;
}

static void add_progress(const struct dlsi_master *master, const struct task *task, cJSON *json)
{
	const struct device *device = task->device;
	struct line line = stand_in_line(task);
	uint64_t expected_ns = dlsi_task_expected_ns(task, task->device);
	int64_t turned_ns = dlsi_task_began_ns(task);
	int64_t since_ns = line.waits ? task->given_ns : turned_ns;

	cJSON_AddStringToObject(json, "state", line.waits ? "queued" : "running");
	cJSON_AddStringToObject(json, "worker", device->worker->origin->name);
	cJSON_AddStringToObject(json, "device", device->name);
	add_ms(json, "since_ms", master->now_ns - since_ns);
	if (expected_ns && line.known)
		add_ms(json, "expected_ms", turned_ns + (int64_t)(line.expected_ns + expected_ns) - master->now_ns);
}

static void add_attempt(cJSON *json, const char *name, const struct task *task)
{
	char attempt[24];

	snprintf(attempt, sizeof attempt, "%" PRIu64, task->attempt);
	cJSON_AddStringToObject(json, name, attempt);
}

cJSON *dlsi_describe_task(const struct dlsi_master *master, const struct task *task)
{
	cJSON *json = cJSON_CreateObject();

	add_attempt(json, "attempt", task);
	if (task->twin)
		add_attempt(json, "twin", task->twin);
	cJSON_AddNumberToObject(json, "first", (double)task->first);
	cJSON_AddNumberToObject(json, "items", (double)(task->end - task->first));
	if (task->state == DLSI_TASK_ASSIGNED) {
		add_progress(master, task, json);
	} else {
		cJSON_AddStringToObject(json, "state", "returned");
		cJSON_AddStringToObject(json, "worker", task->origin->name);
		add_ms(json, "since_ms", master->now_ns - task->given_ns);
	}
	return json;
}

/* How many devices work at it now; of a job with more tasks than are listed: how many may. */
static unsigned count_devices(const struct job *job)
{
	unsigned devices = 0;

	if (dlsi_job_run(job)->task_count > DLSI_LISTED)
		return job->spec->class->devices;
	dlsi_list_each (node, &dlsi_job_run(job)->tasks) {
		const struct task *task = dlsi_list_entry(node, struct task, job_node);

		devices += task->state == DLSI_TASK_ASSIGNED && !stand_in_line(task).waits;
	}
	return devices;
}

/* As long as the devices that work at it now take for what is left. Not said while that is not known. */
static void add_expected_end(const struct job *job, cJSON *json)
{
	uint64_t left = dlsi_job_waiting(job) + dlsi_job_run(job)->running;
	unsigned devices = count_devices(job);

	if (devices && job->spec->measured.item_ns)
		cJSON_AddNumberToObject(json, "expected_ms",
			round((double)left * (double)job->spec->measured.item_ns / devices / 1e3) / 1e3);
}

void dlsi_describe_traffic(const struct traffic *traffic, cJSON *json)
{
	uint64_t bytes = traffic->read + traffic->direct + traffic->passed;
	cJSON *object = cJSON_AddObjectToObject(json, "bytes");

	cJSON_AddNumberToObject(object, "read", (double)traffic->read);
	cJSON_AddNumberToObject(object, "direct", (double)traffic->direct);
	cJSON_AddNumberToObject(object, "through_master", (double)traffic->passed);
	cJSON_AddNumberToObject(object, "per_item", traffic->items ? round((double)bytes / (double)traffic->items) : 0);
}

static void list_tasks(struct request *request, const struct job *job)
{
	unsigned limit = dlsi_request_limit(request);
	cJSON *tasks;

	cJSON_AddNumberToObject(request->answer, "task_count", (double)dlsi_job_run(job)->task_count);
	tasks = cJSON_AddArrayToObject(request->answer, "tasks");
	dlsi_list_each (node, &dlsi_job_run(job)->tasks) {
		if (!limit-- || !dlsi_request_has_room(request, 2 * DLSI_NAME_BYTES))
			break;
		cJSON_AddItemToArray(
			tasks, dlsi_describe_task(request->master, dlsi_list_entry(node, struct task, job_node)));
	}
}

int dlsi_command_job(struct request *request)
{
	const char *name = dlsi_json_text(&request->reader, "job", "");
	struct dlsi_master *master = request->master;
	struct found found;
	int rc = request->reader.rc ? request->reader.rc : dlsi_find_job(master, name, &found, request->err);

	if (rc)
		return rc;
	cJSON_Delete(request->answer);
	if (!found.job) {
		request->answer = dlsi_describe_ended(master, found.ended);
		dlsi_describe_traffic(&found.ended->traffic, request->answer);
		return 0;
	}
	request->answer = dlsi_describe_job(master, found.job);
	cJSON_AddNumberToObject(request->answer, "waiting", (double)dlsi_job_waiting(found.job));
	dlsi_describe_traffic(&dlsi_job_run(found.job)->traffic, request->answer);
	add_expected_end(found.job, request->answer);
	list_tasks(request, found.job);
	return request->reader.rc;
}
