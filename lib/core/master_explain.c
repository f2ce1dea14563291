/* Why a job is not running, or not running faster: reasons as words for programs and as sentences for people. What
 * keeps the whole job back comes first; whoever adds a rule by which the master keeps jobs back adds its reason here.
 */
#include "core/master_commands.h"
#include "core/master_places.h"
#include "core/master_times.h"

#include "core/agent.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMED = 16, NAMES_BYTES = 300 }; /* devices, tasks and handlers that a reason names */

struct explanation {
	struct request *request;
	const struct job *job;
	cJSON *reasons;
};

static cJSON *add(struct explanation *to, const char *reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the reason, to which facts may be added. */
static cJSON *add(struct explanation *to, const char *reason, const char *format, ...)
{
	cJSON *json = cJSON_CreateObject();
	char text[DLS_ERROR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	cJSON_AddStringToObject(json, "reason", reason);
	cJSON_AddStringToObject(json, "text", text);
	cJSON_AddItemToArray(to->reasons, json);
	return json;
}

/* Whether "name" is one of "a, b, name". */
static bool is_named(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(names, name); at; at = strstr(at + 1, name))
		if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* The names of handlers that workers have, as far as there is room. */
static void name_handlers(const struct dlsi_master *master, char names[NAMES_BYTES])
{
	size_t length = 0;
	unsigned looked_at = 0;

	*names = '\0';
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		for (uint16_t i = 0; i < worker->handler_count; i++) {
			const char *name = worker->handlers[i]->name;

			if (strcmp(name, DLSI_HANDLER_MODEL) == 0 || is_named(names, name) ||
				length + strlen(name) + 3 > NAMES_BYTES)
				continue;
			length += (size_t)snprintf(
				names + length, NAMES_BYTES - length, "%s%s", length ? ", " : "", name);
		}
		if (looked_at++ == DLSI_LISTED)
			return;
	}
}

/* Whether a connected worker has the handler, whatever else the job asks for. */
static bool has_handler_anywhere(const struct dlsi_master *master, const struct handler *handler)
{
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		if (worker->peer && dlsi_worker_has_handler(worker, handler))
			return true;
	}
	return false;
}

/* Whether a worker could run it but for being drained. */
static bool suits_who_drains(const struct dlsi_master *master, const struct class *class)
{
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		if (worker->peer && !dlsi_worker_is_open(worker) && dlsi_class_suits(class, worker))
			return true;
	}
	return false;
}

static void explain_misfit(struct explanation *to)
{
	struct dls_error error = {0};

	if (suits_who_drains(to->request->master, to->job->spec->class))
		add(to, "draining", "the workers that could run it are draining and take no more tasks");
	else if (dlsi_class_object(to->request->master, to->job->spec->class, &error))
		add(to, "no_fit", "%s", error.text);
	else
		add(to, "no_fit", "no worker that could run it has all the labels that it asks for");
}

static void explain_workers(struct explanation *to)
{
	const struct dlsi_master *master = to->request->master;
	const struct class *class = to->job->spec->class;
	char names[NAMES_BYTES];

	if (class->workers)
		return;
	name_handlers(master, names);
	if (dlsi_list_empty(&master->workers))
		add(to, "no_worker", "no worker is registered with the master");
	else if (has_handler_anywhere(master, class->handler))
		explain_misfit(to);
	else if (strcmp(class->handler->name, DLSI_HANDLER_MODEL) == 0)
		add(to, "no_worker", "no worker of the master runs models");
	else
		add(to, "no_worker", "no worker of the master has the handler \"%.64s\"; they have %s",
			class->handler->name, *names ? names : "none");
}

/* What its client, or the memory that all clients share, has no room for. */
static void explain_room(struct explanation *to)
{
	const struct job *job = to->job;
	const struct run *run = dlsi_job_run(job);

	switch (dlsi_job_held_back(job)) {
	case HELD_BACK_NOT:
		break;
	case HELD_BACK_CLIENT:
		add(to, "client_full",
			"results of its client's jobs take more than %llu MB of the master's memory; more is given out "
			"when "
			"the client has fetched half of them",
			DLSI_CLIENT_HELD_BYTES / 1000000);
		break;
	case HELD_BACK_OFFERS:
		add(to, "client_full",
			"more than %d results of its client's jobs wait at workers to be fetched; until half of them "
			"are, a "
			"job has one task at a time",
			DLSI_CLIENT_OFFERS);
		break;
	case HELD_BACK_BYTES:
		add(to, "window",
			"its client has room for %" PRIu64 " bytes of results; the program must take those that it has",
			dlsi_job_window_bytes(job));
		break;
	case HELD_BACK_LOG:
		add(to, "log",
			"the master's log, or the disk below it, has no room for more results of detached jobs now");
		break;
	}
	if (run->window_end < job->count && dlsi_job_fresh(job).first == dlsi_job_fresh(job).end && !run->retry_items)
		add(to, "window",
			"its client has room for results up to item %" PRIu64
			"; the program must take those that it has",
			run->window_end);
	if (to->request->master->held_bytes > DLSI_HELD_PAYLOAD_BYTES)
		add(to, "master_full",
			"results that clients have not fetched take all the memory that the master has for them");
}

/* What a device is busy with: a task, and of which job. */
static void name_task(const struct dlsi_master *master, const struct task *task, cJSON *list)
{
	cJSON *json = dlsi_describe_task(master, task);
	char id[DLSI_ID_TEXT_BYTES];

	dlsi_hex(task->job->policy.id.bytes, DLSI_ID_BYTES, id);
	cJSON_AddStringToObject(json, "job", id);
	cJSON_AddItemToArray(list, json);
}

/* All devices that can run it are full: says with what, and until when. */
static void explain_devices(struct explanation *to)
{
	const struct dlsi_master *master = to->request->master;
	struct class *class = to->job->spec->class;
	unsigned named = 0, looked_at = 0;
	cJSON *list;

	if (!class->workers || dlsi_device_least_loaded(to->request->master, class))
		return;
	if (!dlsi_list_empty(&master->loaded[0]) && class->load_ns) {
		add(to, "model",
			"devices that are free have not loaded its model, which takes %.2g s; it waits for one of the "
			"%" PRIu32 " that have",
			(double)class->load_ns / 1e9, class->loaded);
		return;
	}
	list = cJSON_AddArrayToObject(
		add(to, "devices_full",
			"all %" PRIu32 " devices that can run it have as many tasks as they may have at once, or too "
			"little left of what it asks for",
			class->devices),
		"tasks");
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		if (!worker->peer || !dlsi_class_suits(class, worker))
			continue;
		for (uint16_t i = 0; i < worker->device_count && named < NAMED; i++) {
			const struct task *task = dlsi_device_front(&worker->devices[i]);

			if (task) {
				name_task(master, task, list);
				named++;
			}
		}
		if (looked_at++ == DLSI_LISTED)
			return;
	}
}

/* Others that wait for the same devices. */
static void explain_order(struct explanation *to)
{
	const struct dlsi_master *master = to->request->master;
	const struct job *job = to->job;
	unsigned looked_at = 0, others = 0, above = 0;

	if (!job->offered)
		return;
	dlsi_list_each (node, &master->jobs) {
		const struct job *other = dlsi_list_entry(node, struct job, node);

		if (looked_at++ == DLSI_LOOKED_AT)
			break;
		if (other == job || !other->offered || other->spec->class != job->spec->class)
			continue;
		others++;
		above += other->policy.priority > job->policy.priority;
	}
	if (others)
		add(to, "order",
			"%s%u other jobs wait for the same devices, %u of them with a higher priority; the policy %s "
			"decides "
			"whose turn it is",
			looked_at > DLSI_LOOKED_AT ? "at least " : "", others, above, master->policy_ops->name);
}

/* Tasks that were given out and have not begun: the devices do others first. */
static void explain_queued(struct explanation *to)
{
	const struct dlsi_master *master = to->request->master;
	unsigned looked_at = 0, queued = 0;
	cJSON *list = cJSON_CreateArray();

	dlsi_list_each (node, &dlsi_job_run(to->job)->tasks) {
		const struct task *task = dlsi_list_entry(node, struct task, job_node);
		const struct task *first = task->state == DLSI_TASK_ASSIGNED ? dlsi_device_front(task->device) : NULL;

		if (looked_at++ == DLSI_LISTED)
			break;
		if (!first || first == task || first->job == to->job)
			continue;
		if (queued++ < NAMED)
			name_task(master, first, list);
	}
	if (queued)
		cJSON_AddItemToObject(
			add(to, "queued", "%u of its tasks are at devices that are busy with tasks of other jobs",
				queued),
			"tasks", list);
	else
		cJSON_Delete(list);
}

/* Items that have failed and wait to be tried again. */
static void explain_retries(struct explanation *to)
{
	const struct retries *retries = dlsi_job_run(to->job)->retries;
	int64_t left_ns = retries ? retries->set.due_ns - to->request->master->now_ns : 0;

	if (retries && retries->set.waiting)
		add(to, "retry",
			"%" PRIu64 " of its items have failed and wait to be tried again, the first of them for %.3g s",
			retries->set.waiting, left_ns > 0 ? (double)left_ns / 1e9 : 0);
}

/* How far what has been given out is. */
static void explain_rest(struct explanation *to)
{
	const struct run *run = dlsi_job_run(to->job);
	uint64_t waiting = dlsi_job_waiting(to->job);

	if (run->returned)
		add(to, "returned", "%" PRIu64 " results are on their way to its client, which has not confirmed them",
			run->returned);
	if (run->running && !waiting)
		add(to, "given_out", "all its items are given out; %" PRIu64 " of them are at workers", run->running);
	else if (run->running)
		add(to, "running", "%" PRIu64 " of its items are at workers, in %" PRIu64 " tasks", run->running,
			run->task_count);
	if (!cJSON_GetArraySize(to->reasons))
		add(to, "next", "nothing keeps it back; it is about to be given out");
}

static void explain(struct explanation *to)
{
	const struct job *job = to->job;

	if (job->state == DLSI_JOB_PROPOSED)
		add(to, "proposed", "its submission is being written down");
	if (job->paused)
		add(to, "paused", "it is paused");
	if (job->waits)
		add(to, "after", "it waits for %u other jobs to end", dlsi_job_extras(job)->open);
	explain_workers(to);
	explain_room(to);
	if (!job->paused && !job->waits && job->policy.ready) {
		if (!dlsi_tenant_may(dlsi_job_queue(job)))
			add(to, "quota", "the tasks of its tenant %.64s take as much as the tenant's quota allows",
				dlsi_job_tenant(job)->name);
		explain_devices(to);
		explain_order(to);
	}
	explain_queued(to);
	explain_retries(to);
	explain_rest(to);
}

int dlsi_command_explain(struct request *request)
{
	struct explanation to = {.request = request};
	const char *name = dlsi_json_text(&request->reader, "job", "");
	struct found found;
	int rc = request->reader.rc ? request->reader.rc : dlsi_find_job(request->master, name, &found, request->err);

	if (rc)
		return rc;
	cJSON_Delete(request->answer);
	request->answer = found.job ? dlsi_describe_job(request->master, found.job)
				    : dlsi_describe_ended(request->master, found.ended);
	to.reasons = cJSON_AddArrayToObject(request->answer, "reasons");
	to.job = found.job;
	if (found.job && found.job->state <= DLSI_JOB_ACTIVE)
		explain(&to);
	else
		add(&to, "ended", "it has ended");
	return 0;
}
