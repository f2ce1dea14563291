#include "core/agent.h"

#include "base/limits.h"
#include "core/again.h"
#include "core/agent_state.h"
#include <string.h>

static void free_texts(const struct dlsi_alloc *alloc, char **texts)
{
	for (unsigned i = 0; texts && texts[i]; i++)
		dlsi_free(alloc, texts[i]);
	dlsi_free(alloc, texts);
}

static bool copy_devices(struct dlsi_agent *agent, const struct dlsi_agent_config *config)
{
	agent->devices = dlsi_calloc(agent->alloc, config->device_count, sizeof *agent->devices);
	if (!agent->devices)
		return false;
	for (uint16_t i = 0; i < config->device_count; i++) {
		agent->devices[i] = config->devices[i];
		agent->devices[i].name = dlsi_strdup(agent->alloc, config->devices[i].name);
		if (!agent->devices[i].name)
			return false;
	}
	return true;
}

static bool copy_resources(struct dlsi_agent *agent, const struct dlsi_agent_config *config)
{
	agent->resources = dlsi_calloc(agent->alloc, config->resource_count + 1, sizeof *agent->resources);
	if (!agent->resources)
		return false;
	for (unsigned i = 0; i < config->resource_count; i++) {
		agent->resources[i] = config->resources[i];
		agent->resources[i].name = dlsi_strdup(agent->alloc, config->resources[i].name);
		if (!agent->resources[i].name)
			return false;
	}
	return true;
}

/* The list, NULL-terminated; NULL when memory is exhausted. */
static char **copy_texts(const struct dlsi_alloc *alloc, const char *const *texts)
{
	unsigned count = 0;
	char **copies;

	while (texts && texts[count])
		count++;
	copies = dlsi_calloc(alloc, count + 1, sizeof *copies);
	for (unsigned i = 0; copies && i < count; i++) {
		copies[i] = dlsi_strdup(alloc, texts[i]);
		if (!copies[i]) {
			free_texts(alloc, copies);
			return NULL;
		}
	}
	return copies;
}

int dlsi_agent_create(const struct dlsi_alloc *alloc, const struct dlsi_agent_config *config,
	struct dlsi_agent **agent_out, struct dls_error *err)
{
	struct dlsi_agent *agent = dlsi_calloc(alloc, 1, sizeof *agent);

	if (!agent)
		return dlsi_fail_memory(err);
	agent->alloc = alloc;
	agent->config = *config;
	dlsi_list_init(&agent->jobs);
	dlsi_list_init(&agent->cancelled);
	dlsi_link_init(&agent->link, alloc);
	dlsi_buffer_init(&agent->handback, alloc);
	dlsi_map_init(&agent->job_by_id, alloc, config->seed);
	dlsi_map_init(&agent->task_by_attempt, alloc, config->seed + 1);
	agent->config.name = dlsi_strdup(alloc, config->name);
	agent->config.host = dlsi_strdup(alloc, config->host);
	agent->config.data_endpoint = dlsi_strdup(alloc, config->data_endpoint);
	agent->handlers = copy_texts(alloc, config->handlers);
	agent->labels = copy_texts(alloc, config->labels);
	if (!agent->config.name || !agent->config.host || !agent->config.data_endpoint || !agent->handlers ||
		!agent->labels || !copy_devices(agent, config) || !copy_resources(agent, config)) {
		dlsi_agent_destroy(agent, NULL);
		return dlsi_fail_memory(err);
	}
	*agent_out = agent;
	return 0;
}

static void destroy_task(struct dlsi_agent *agent, struct task *task)
{
	struct dlsi_id key = dlsi_map_key(0, task->result.attempt);

	dlsi_map_remove(&agent->task_by_attempt, &key);
	dlsi_list_remove(&task->node);
	dlsi_releases_add(&agent->link.releases, task->payload);
	dlsi_again_free(agent->alloc, &task->result.again);
	dlsi_free(agent->alloc, task);
}

static void destroy_job(struct dlsi_agent *agent, struct job *job)
{
	dlsi_map_remove(&agent->job_by_id, &job->id);
	dlsi_list_remove(&job->node);
	dlsi_releases_add(&agent->link.releases, job->manifest);
	dlsi_free(agent->alloc, job);
}

void dlsi_agent_destroy(struct dlsi_agent *agent, struct dlsi_effects *effects)
{
	if (!agent)
		return;
	dlsi_list_each (node, &agent->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		dlsi_list_each (task, &job->tasks)
			destroy_task(agent, dlsi_list_entry(task, struct task, node));
		destroy_job(agent, job);
	}
	dlsi_list_each (task, &agent->cancelled)
		destroy_task(agent, dlsi_list_entry(task, struct task, node));
	if (effects)
		dlsi_releases_flush(&agent->link.releases, effects);
	for (uint16_t i = 0; agent->devices && i < agent->config.device_count; i++)
		dlsi_free(agent->alloc, (char *)(uintptr_t)agent->devices[i].name);
	for (unsigned i = 0; agent->resources && i < agent->config.resource_count; i++)
		dlsi_free(agent->alloc, (char *)(uintptr_t)agent->resources[i].name);
	free_texts(agent->alloc, agent->handlers);
	free_texts(agent->alloc, agent->labels);
	dlsi_free(agent->alloc, agent->devices);
	dlsi_free(agent->alloc, agent->resources);
	dlsi_free(agent->alloc, (char *)(uintptr_t)agent->config.name);
	dlsi_free(agent->alloc, (char *)(uintptr_t)agent->config.host);
	dlsi_free(agent->alloc, (char *)(uintptr_t)agent->config.data_endpoint);
	dlsi_map_fini(&agent->job_by_id);
	dlsi_map_fini(&agent->task_by_attempt);
	dlsi_buffer_fini(&agent->handback);
	dlsi_link_fini(&agent->link);
	dlsi_free(agent->alloc, agent);
}

/* Nobody wants its result any more. A task that the driver has ends when it says so. */
static void drop_task(struct dlsi_agent *agent, struct task *task)
{
	struct dlsi_effect *effect;

	if (task->finished) {
		destroy_task(agent, task);
		return;
	}
	task->cancelled = true;
	dlsi_list_remove(&task->node);
	dlsi_list_append(&agent->cancelled, &task->node);
	effect = dlsi_effects_add(agent->link.effects, DLSI_EFFECT_CANCEL);
	effect->job = task->result.job;
	effect->attempt = task->result.attempt;
}

static void forget_job(struct dlsi_agent *agent, struct job *job)
{
	if (job->seeks)
		dlsi_agent_tell_found(agent, &job->id, NULL);
	dlsi_list_each (node, &job->tasks)
		drop_task(agent, dlsi_list_entry(node, struct task, node));
	dlsi_effects_add(agent->link.effects, DLSI_EFFECT_JOB_CLOSE)->job = job->id;
	destroy_job(agent, job);
}

void dlsi_agent_post(struct dlsi_agent *agent, const struct dlsi_record *record)
{
	dlsi_link_post(&agent->link, record, (struct dlsi_payload){0});
}

static void post_capabilities(struct dlsi_agent *agent)
{
	struct dlsi_record record = {.kind = DLSI_DEVICE};

	for (uint16_t i = 0; i < agent->config.device_count; i++) {
		const struct dlsi_agent_device *device = &agent->devices[i];

		record.device = (struct dlsi_device_offer){
			i, device->credits, device->cores, device->memory_bytes, dlsi_text_of(device->name)};
		dlsi_agent_post(agent, &record);
	}
	record.kind = DLSI_RESOURCE;
	for (unsigned i = 0; i < agent->config.resource_count; i++) {
		record.resource.name = dlsi_text_of(agent->resources[i].name);
		record.resource.amount = agent->resources[i].amount;
		dlsi_agent_post(agent, &record);
	}
	record.kind = DLSI_LABEL;
	for (unsigned i = 0; agent->labels[i]; i++) {
		record.label.name = dlsi_text_of(agent->labels[i]);
		dlsi_agent_post(agent, &record);
	}
	record.kind = DLSI_HANDLER;
	for (unsigned i = 0; agent->handlers[i]; i++) {
		record.handler.name = dlsi_text_of(agent->handlers[i]);
		dlsi_agent_post(agent, &record);
	}
}

static void post_held(struct dlsi_agent *agent)
{
	struct dlsi_record record = {.kind = DLSI_HELD};
	unsigned presented = 0;

	dlsi_list_each (job_node, &agent->jobs) {
		struct job *job = dlsi_list_entry(job_node, struct job, node);

		dlsi_list_each (node, &job->tasks) {
			struct task *task = dlsi_list_entry(node, struct task, node);

			if (presented++ >= DLSI_HELD_PRESENTED) {
				drop_task(agent, task);
				continue;
			}
			task->presented = true;
			record.held = (struct dlsi_held){
				job->id, task->result.attempt, task->result.first, task->result.end, task->finished};
			dlsi_agent_post(agent, &record);
		}
	}
}

static void register_with_master(struct dlsi_agent *agent)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){
		.role = DLSI_ROLE_WORKER,
		.version_low = DLSI_PROTOCOL_VERSION,
		.version_high = DLSI_PROTOCOL_VERSION,
		.incarnation = agent->config.incarnation,
		.name = dlsi_text_of(agent->config.name),
		.host = dlsi_text_of(agent->config.host),
		.data_endpoint = dlsi_text_of(agent->config.data_endpoint),
	};
	dlsi_agent_post(agent, &record);
	post_capabilities(agent);
	post_held(agent);
	dlsi_link_registered(&agent->link);
}

static void post_result(struct dlsi_agent *agent, const struct task *task)
{
	struct dlsi_record record = {.kind = DLSI_RESULT, .result = task->result};

	dlsi_link_post(&agent->link, &record, task->result.frames ? task->payload : (struct dlsi_payload){0});
}

/* Registered again with the same master: it knows of what REGISTER presented and of nothing else. Results go out once
 * more, and jobs without tasks are told anew when needed. */
static void resume(struct dlsi_agent *agent)
{
	dlsi_list_each (job_node, &agent->jobs) {
		struct job *job = dlsi_list_entry(job_node, struct job, node);

		dlsi_list_each (node, &job->tasks) {
			struct task *task = dlsi_list_entry(node, struct task, node);

			if (!task->presented)
				drop_task(agent, task);
			else if (task->finished)
				post_result(agent, task);
		}
		if (dlsi_list_empty(&job->tasks))
			forget_job(agent, job);
		else if (job->seeks)
			dlsi_agent_seek_again(agent, &job->id);
	}
}

static void drop_everything(struct dlsi_agent *agent)
{
	if (!dlsi_list_empty(&agent->jobs))
		dlsi_effects_log(agent->link.effects, DLS_LOG_WARNING,
			"the master is a new one; what was done for the old one is dropped");
	dlsi_list_each (node, &agent->jobs)
		forget_job(agent, dlsi_list_entry(node, struct job, node));
}

static void notify(struct dlsi_agent *agent, enum dlsi_notice notice, int code, struct dlsi_text sentence)
{
	dlsi_link_notify(&agent->link, notice, NULL, code, sentence);
}

/* `record` is the REFUSED that says no for good. */
static void follow_link(struct dlsi_agent *agent, enum dlsi_link_news news, const struct dlsi_record *record)
{
	switch (news) {
	case DLSI_LINK_REGISTER:
		register_with_master(agent);
		break;
	case DLSI_LINK_MOVED:
		drop_everything(agent);
		dlsi_buffer_clear(&agent->handback);
		if (agent->leaving)
			dlsi_agent_post_handback(agent);
		notify(agent, DLSI_NOTICE_WELCOME, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_WELCOMED:
		resume(agent);
		if (agent->leaving || agent->handback.length)
			dlsi_agent_post_handback(agent);
		notify(agent, DLSI_NOTICE_WELCOME, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_LOST:
		notify(agent, DLSI_NOTICE_LOST, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_REFUSED_FOR_GOOD:
		drop_everything(agent);
		notify(agent, DLSI_NOTICE_REJECTED, record->refused.code, record->refused.sentence);
		break;
	case DLSI_LINK_NOTHING:
		break;
	}
}

/* The same job may be told twice; the first manifest stays. */
static void take_job(struct dlsi_agent *agent, const struct dlsi_job_record *record, struct dlsi_payload manifest)
{
	struct job *job = dlsi_map_get(&agent->job_by_id, &record->job);
	struct dlsi_effect *effect;
	size_t spec, holder, host;

	if (job) {
		dlsi_releases_add(&agent->link.releases, manifest);
		return;
	}
	job = dlsi_calloc(agent->alloc, 1, sizeof *job);
	if (!job || dlsi_map_put(&agent->job_by_id, &record->job, job)) {
		dlsi_free(agent->alloc, job);
		dlsi_releases_add(&agent->link.releases, manifest);
		agent->link.failed = true;
		return;
	}
	job->id = record->job;
	job->manifest = manifest;
	dlsi_list_init(&job->tasks);
	dlsi_list_append(&agent->jobs, &job->node);
	spec = dlsi_effects_store(agent->link.effects, record->spec.data, record->spec.length);
	holder = dlsi_effects_store(agent->link.effects, record->holder.data, record->holder.length);
	host = dlsi_effects_store(agent->link.effects, record->holder_host.data, record->holder_host.length);
	effect = dlsi_effects_add(agent->link.effects, DLSI_EFFECT_JOB_OPEN);
	effect->job = job->id;
	effect->payload = manifest;
	effect->open.token = record->token;
	effect->open.count = record->count;
	effect->open.manifest = record->manifest;
	effect->open.manifest_head = record->manifest_head;
	effect->open.spec = spec;
	effect->open.spec_length = record->spec.length;
	effect->open.holder = holder;
	effect->open.holder_length = record->holder.length;
	effect->open.holder_host = host;
	effect->open.holder_host_length = record->holder_host.length;
}

struct task *dlsi_agent_find_task(const struct dlsi_agent *agent, uint64_t attempt)
{
	struct dlsi_id key = dlsi_map_key(0, attempt);

	return dlsi_map_get(&agent->task_by_attempt, &key);
}

static void take_assign(struct dlsi_agent *agent, const struct dlsi_assign *record)
{
	struct dlsi_id key = dlsi_map_key(0, record->attempt);
	struct job *job = dlsi_map_get(&agent->job_by_id, &record->job);
	struct dlsi_effect *effect;
	struct task *task;

	if (!job || record->first >= record->end || record->end - record->first > DLSI_TASK_ITEMS ||
		record->device >= agent->config.device_count || dlsi_agent_find_task(agent, record->attempt)) {
		agent->link.refused++;
		return;
	}
	if (agent->leaving) {
		dlsi_agent_hand_back(agent, record->attempt);
		return;
	}
	task = dlsi_calloc(agent->alloc, 1, sizeof *task);
	if (!task || dlsi_map_put(&agent->task_by_attempt, &key, task)) {
		dlsi_free(agent->alloc, task);
		agent->link.failed = true;
		return;
	}
	task->result.job = job->id;
	task->result.attempt = record->attempt;
	task->result.first = record->first;
	task->result.end = record->end;
	dlsi_list_append(&job->tasks, &task->node);
	effect = dlsi_effects_add(agent->link.effects, DLSI_EFFECT_EXECUTE);
	effect->job = job->id;
	effect->attempt = record->attempt;
	effect->first = record->first;
	effect->end = record->end;
	effect->execute.device = record->device;
}

static void take_cancel(struct dlsi_agent *agent, const struct dlsi_cancel *record)
{
	struct task *task = dlsi_agent_find_task(agent, record->attempt);

	if (task && !task->cancelled && dlsi_id_equal(&task->result.job, &record->job))
		drop_task(agent, task);
}

static void take_forget(struct dlsi_agent *agent, const struct dlsi_forget *record)
{
	struct job *job = dlsi_map_get(&agent->job_by_id, &record->job);

	if (job)
		forget_job(agent, job);
}

static void take_taken(struct dlsi_agent *agent, const struct dlsi_taken *record)
{
	for (uint32_t i = 0; i < record->attempts.count; i++) {
		struct task *task = dlsi_agent_find_task(agent, dlsi_numbers_at(&record->attempts, i));

		if (task && task->finished)
			destroy_task(agent, task);
	}
}

/* A master that gives more than any worker can hold is left; what it gave is presented to whoever answers next. */
static bool has_room(struct dlsi_agent *agent)
{
	if (agent->job_by_id.count < DLSI_WORKER_JOBS && agent->task_by_attempt.count < DLSI_WORKER_TASKS)
		return true;
	agent->link.refused++;
	if (agent->link.state == DLSI_LINK_UP)
		follow_link(agent, dlsi_link_abandon(&agent->link), NULL);
	return false;
}

static void take_record(
	void *owner, const struct dlsi_message *message, const struct dlsi_record *record, struct dlsi_payload payload)
{
	struct dlsi_agent *agent = owner;

	switch (record->kind) {
	case DLSI_JOB:
		if (!has_room(agent))
			break;
		take_job(agent, &record->job, payload);
		return;
	case DLSI_ASSIGN:
		if (has_room(agent))
			take_assign(agent, &record->assign);
		break;
	case DLSI_CANCEL:
		take_cancel(agent, &record->cancel);
		break;
	case DLSI_RECALL:
		dlsi_agent_recall(agent, &record->recall);
		break;
	case DLSI_FORGET:
		take_forget(agent, &record->forget);
		break;
	case DLSI_FOUND:
		dlsi_agent_found(agent, &record->found);
		break;
	case DLSI_TAKEN:
		take_taken(agent, &record->taken);
		break;
	default:
		follow_link(agent, dlsi_link_record(&agent->link, message, record), record);
		break;
	}
	dlsi_releases_add(&agent->link.releases, payload);
}

/* Nobody need be told later: who registers again is taken to have nothing loaded. */
static void post_unloaded(struct dlsi_agent *agent, const struct dlsi_event *event)
{
	struct dlsi_record record = {.kind = DLSI_UNLOADED};

	for (unsigned i = 0; i < event->executed.unloaded_count && agent->link.state == DLSI_LINK_UP; i++) {
		record.unloaded = (struct dlsi_unloaded){event->executed.device, event->executed.unloaded[i]};
		dlsi_agent_post(agent, &record);
	}
}

static void take_executed(struct dlsi_agent *agent, const struct dlsi_event *event)
{
	struct task *task = dlsi_agent_find_task(agent, event->attempt);

	post_unloaded(agent, event);
	if (!task || task->finished) {
		dlsi_releases_add(&agent->link.releases, event->executed.payload);
		agent->link.refused++;
		return;
	}
	task->payload = event->executed.payload;
	if (task->cancelled || event->executed.dropped) {
		if (!task->cancelled && task->recalled)
			dlsi_agent_hand_back(agent, event->attempt);
		destroy_task(agent, task);
		return;
	}
	task->finished = true;
	task->result.end -= event->executed.left;
	task->result.bytes = task->payload.bytes;
	task->result.elapsed_ns = event->executed.elapsed_ns;
	task->result.load_ns = event->executed.load_ns;
	task->result.failed = event->executed.failed;
	task->result.offer = event->executed.offer;
	task->result.frames = event->executed.offer.length == 0;
	task->result.again = event->executed.again;
	task->result.read_bytes = event->executed.read_bytes;
	if (!dlsi_again_keep(agent->alloc, &task->result.again)) {
		agent->link.failed = true;
		return;
	}
	if (agent->link.state == DLSI_LINK_UP)
		post_result(agent, task);
}

static void turn(struct dlsi_agent *agent)
{
	if (agent->handback.length)
		dlsi_agent_post_handback(agent);
	dlsi_link_turn(&agent->link);
	if (agent->drained || !dlsi_agent_is_drained(agent))
		return;
	agent->drained = true;
	notify(agent, DLSI_NOTICE_DRAINED, 0, (struct dlsi_text){0});
}

void dlsi_agent_step(
	struct dlsi_agent *agent, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_link_begin(&agent->link, now_ns, effects);
	switch (event->kind) {
	case DLSI_EVENT_MESSAGE:
		dlsi_link_take(&agent->link, event, take_record, agent);
		break;
	case DLSI_EVENT_EXECUTED:
		take_executed(agent, event);
		break;
	case DLSI_EVENT_STOP:
		dlsi_link_leave(&agent->link, "the worker ends");
		break;
	case DLSI_EVENT_SEEK:
		dlsi_agent_seek(agent, event);
		break;
	case DLSI_EVENT_CALL:
		dlsi_agent_call(agent, &event->job);
		break;
	case DLSI_EVENT_DRAIN:
		dlsi_agent_leave_soon(agent);
		break;
	case DLSI_EVENT_TURN:
		turn(agent);
		break;
	default:
		follow_link(agent, dlsi_link_event(&agent->link, event), NULL);
		break;
	}
	dlsi_link_end(&agent->link);
}

struct dlsi_agent_counts dlsi_agent_counts(const struct dlsi_agent *agent)
{
	struct dlsi_agent_counts counts = {
		.tasks = agent->task_by_attempt.count,
		.jobs = agent->job_by_id.count,
		.refused = agent->link.refused,
		.refused_transitions = agent->link.refused_transitions,
	};

	return counts;
}
