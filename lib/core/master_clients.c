/* Clients as the master sees them: registration, the jobs they submit, and what they are told about them. */
#include "core/master_state.h"

#include <stdio.h>
#include <string.h>

#define LOST_OFFERS 8 /* one after another: the client cannot reach the workers */

static struct dlsi_id key_of(uint64_t incarnation)
{
	return dlsi_map_key(2, incarnation);
}

static void free_client(struct dlsi_master *master, struct client *client)
{
	dlsi_free(master->alloc, client->specs);
	dlsi_free(master->alloc, client->tenant);
	dlsi_free(master->alloc, client->host);
	dlsi_free(master->alloc, client->data_endpoint);
	dlsi_free(master->alloc, client);
}

static struct client *create(struct dlsi_master *master, const struct dlsi_register *record)
{
	struct client *client = dlsi_calloc(master->alloc, 1, sizeof *client);
	struct dlsi_id key = key_of(record->incarnation);

	if (!client)
		return NULL;
	dlsi_list_init(&client->jobs);
	client->grace.kind = TIMER_CLIENT_GRACE;
	client->incarnation = record->incarnation;
	client->number = master->next_number++;
	client->tenant = dlsi_strndup(master->alloc, record->name.data, record->name.length);
	client->host = dlsi_strndup(master->alloc, record->host.data, record->host.length);
	client->data_endpoint = dlsi_strndup(master->alloc, record->data_endpoint.data, record->data_endpoint.length);
	if (!client->tenant || !client->host || !client->data_endpoint ||
		dlsi_map_put(&master->client_by_incarnation, &key, client)) {
		free_client(master, client);
		return NULL;
	}
	dlsi_list_append(&master->clients, &client->node);
	return client;
}

/* The numbers of specifications belong to a connection. */
static void forget_specs(struct dlsi_master *master, struct client *client)
{
	for (uint32_t i = 0; i < client->spec_count; i++)
		dlsi_spec_unref(master, client->specs[i]);
	dlsi_free(master->alloc, client->specs);
	client->specs = NULL;
	client->spec_count = 0;
}

static void detach(struct dlsi_master *master, struct client *client)
{
	struct peer *peer = client->peer;

	client->peer = NULL;
	forget_specs(master, client);
	if (peer)
		dlsi_master_drop_peer(master, peer);
}

void dlsi_client_lost(struct dlsi_master *master, struct client *client)
{
	detach(master, client);
	dlsi_master_set_timer(master, &client->grace, master->now_ns + master->config.client_timeout_ns);
}

void dlsi_client_destroy(struct dlsi_master *master, struct client *client)
{
	struct dlsi_id key = key_of(client->incarnation);

	detach(master, client);
	dlsi_list_each (node, &client->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, client_node);

		if (job->durable) {
			job->client = NULL;
			dlsi_list_remove(node);
		} else {
			dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, "the client has gone");
		}
	}
	dlsi_master_stop_timer(master, &client->grace);
	dlsi_map_remove(&master->client_by_incarnation, &key);
	dlsi_list_remove(&client->node);
	free_client(master, client);
}

void dlsi_client_register(struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record)
{
	struct peer *peer = dlsi_master_peer(master, from);
	struct dlsi_id key = key_of(record->incarnation);
	struct client *client = dlsi_map_get(&master->client_by_incarnation, &key);

	if (peer && peer->client && peer->client == client) {
		dlsi_master_welcome(master, peer);
		return;
	}
	if (client)
		detach(master, client);
	else
		client = create(master, record);
	peer = peer ? peer : dlsi_master_add_peer(master, from);
	if (!client || !peer) {
		dlsi_master_refuse(master, from, NULL, DLS_EBUSY, 1000,
			"the master has no room for another client; it is asked again");
		if (client)
			dlsi_client_destroy(master, client);
		return;
	}
	dlsi_master_stop_timer(master, &client->grace);
	peer->client = client;
	client->peer = peer;
	dlsi_master_welcome(master, peer);
}

/* Makes room for specification `number`: numbers are given in order, and one whose jobs are over may be given again. */
static bool reserve_spec(struct dlsi_master *master, struct client *client, uint32_t number)
{
	struct spec **grown;

	if (number < client->spec_count)
		return true;
	if (number % 16 == 0) {
		grown = dlsi_realloc(master->alloc, client->specs, (number + 16) * sizeof *grown);
		if (!grown) {
			master->failed = true;
			return false;
		}
		client->specs = grown;
	}
	client->specs[client->spec_count++] = NULL;
	return true;
}

bool dlsi_client_spec(struct dlsi_master *master, struct client *client, const struct dlsi_spec_record *record)
{
	if (record->number > client->spec_count || record->number >= DLSI_CLIENT_SPECS)
		return false;
	if (!reserve_spec(master, client, record->number))
		return true;
	dlsi_spec_unref(master, client->specs[record->number]);
	/* NULL for a bad one: jobs that name it are refused. */
	client->specs[record->number] = dlsi_spec_intern(master, record->json, &client->spec_error);
	return true;
}

/* Results that the client has, or is about to be sent again. */
static void present_again(struct dlsi_master *master, struct job *job)
{
	dlsi_list_each (node, &job->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, job_node);

		if (task->state != DLSI_TASK_RETURNED)
			continue;
		if (dlsi_ranges_first_missing(&job->done, task->first) >= task->end)
			dlsi_task_taken(master, task);
		else
			dlsi_client_send_result(master, task);
	}
}

/* What the client says it has received already. False if the ranges are no ranges of this job. */
static bool take_received(struct dlsi_master *master, struct job *job, const struct dlsi_numbers *received)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = job->policy.id};

	if (received->count % 2)
		return false;
	for (uint32_t i = 0; i < received->count; i += 2) {
		change.items.first = dlsi_numbers_at(received, i);
		change.items.end = dlsi_numbers_at(received, i + 1);
		if (change.items.first >= change.items.end || change.items.end > job->count)
			return false;
		dlsi_job_apply(master, job, &change);
	}
	return true;
}

static const char *objection(const struct dlsi_master *master, const struct client *client,
	const struct dlsi_submit *record, struct dlsi_payload manifest, int *code)
{
	*code = DLS_EINVAL;
	if (record->spec >= client->spec_count)
		return "the job's specification was never sent";
	if (!client->specs[record->spec]) {
		*code = client->spec_error.code;
		return client->spec_error.text;
	}
	if (!record->count)
		return "the job has no items";
	if (record->count > DLSI_JOB_ITEMS) {
		*code = DLS_ELIMIT;
		return "the job has more items than a job may have";
	}
	if (manifest.bytes > DLSI_INLINE_BYTES || (!manifest.handle && !record->manifest.length)) {
		*code = DLS_ELIMIT;
		return "the job's manifest is missing or too large to travel inside a message";
	}
	if (record->flags & DLSI_SUBMIT_DURABLE && !master->config.durable) {
		*code = DLS_EUNSUPPORTED;
		return "this master cannot keep durable jobs; submit the job attached, with a client that waits for it";
	}
	return NULL;
}

static struct job *new_job(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest)
{
	struct spec *spec = client->specs[record->spec];
	struct job *job = dlsi_job_create(master, &record->job, spec, record->count);

	if (!job)
		return NULL;
	spec->uses++;
	job->client = client;
	job->durable = record->flags & DLSI_SUBMIT_DURABLE;
	job->token = record->token;
	job->policy.priority = record->priority;
	job->manifest = manifest;
	job->manifest_blob = record->manifest;
	job->manifest_head = record->manifest_head;
	dlsi_list_append(&client->jobs, &job->client_node);
	return job;
}

static void submit_new(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_SUBMIT, .job = record->job};
	struct job *job = NULL;

	if (master->job_count < DLSI_JOBS)
		job = new_job(master, client, record, manifest);
	if (!job) {
		dlsi_master_release(master, manifest);
		dlsi_master_refuse(master, client->peer->outbox.peer, &record->job, DLS_EBUSY, 1000,
			"the master has no room for another job");
		return;
	}
	if (!job->durable) {
		job->window_end = record->window_end;
		job->window_bytes = record->window_bytes;
	}
	if (!take_received(master, job, &record->received)) {
		dlsi_master_refuse(master, client->peer->outbox.peer, &record->job, DLS_EPROTOCOL, 0,
			"the items said to be received are not items of the job");
		dlsi_job_destroy(master, job);
		return;
	}
	if (job->durable)
		dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job->state, DLSI_JOB_PROPOSED, &master->refused_transitions);
	change.submit.token = job->token;
	change.submit.count = job->count;
	change.submit.priority = job->policy.priority;
	change.submit.manifest = job->manifest_blob;
	change.submit.manifest_head = job->manifest_head;
	change.submit.spec = (struct dlsi_bytes){job->spec->json, job->spec->length};
	dlsi_job_change(master, job, &change, 0, job->manifest);
}

static void post_end(struct dlsi_master *master, struct client *client, const struct dlsi_id *job, uint8_t state)
{
	struct dlsi_record record = {.kind = DLSI_END};

	record.end.job = *job;
	record.end.state = state;
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
}

/* The job is here already: its client comes back, or says it twice. */
static void submit_again(
	struct dlsi_master *master, struct client *client, struct job *job, const struct dlsi_submit *record)
{
	struct dlsi_record accepted = {.kind = DLSI_ACCEPTED};

	dlsi_list_remove(&job->client_node);
	dlsi_list_append(&client->jobs, &job->client_node);
	job->client = client;
	job->told = (struct dlsi_progress){0};
	if (job->state == DLSI_JOB_PROPOSED)
		return;
	accepted.accepted.job = job->policy.id;
	dlsi_master_post(master, client->peer, &accepted, (struct dlsi_payload){0});
	if (job->durable) {
		if (job->state != DLSI_JOB_ACTIVE)
			post_end(master, client, &job->policy.id, job->state);
		return;
	}
	job->window_end = record->window_end;
	job->window_bytes = record->window_bytes;
	take_received(master, job, &record->received);
	present_again(master, job);
	if (job->done_items == job->count)
		dlsi_job_end(master, job, DLSI_JOB_DONE, 0, "");
	else
		dlsi_job_refresh(master, job);
}

void dlsi_client_submit(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest)
{
	struct job *job = dlsi_job_find(master, &record->job);
	int code;
	const char *sentence = objection(master, client, record, manifest, &code);

	if (sentence) {
		dlsi_master_release(master, manifest);
		dlsi_master_refuse(master, client->peer->outbox.peer, &record->job, code, 0, sentence);
		return;
	}
	/* Of an attached job only the client that has its results can go on; for another one it begins anew. */
	if (job && !job->durable && (job->client != client || job->count != record->count)) {
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED,
			"the job was submitted again under the same key");
		job = NULL;
	}
	if (!job) {
		submit_new(master, client, record, manifest);
		return;
	}
	dlsi_master_release(master, manifest);
	submit_again(master, client, job, record);
}

void dlsi_client_send_result(struct dlsi_master *master, struct task *task)
{
	struct dlsi_record record = {.kind = DLSI_RESULT, .result = task->result};

	if (task->job->client && task->job->client->peer)
		dlsi_master_post(master, task->job->client->peer, &record, task->payload);
}

/* The client has this attempt's result: its items are done. */
static void commit(struct dlsi_master *master, struct job *job, struct task *task)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = job->policy.id};

	change.items.first = task->first;
	change.items.end = task->end;
	job->lost_offers = 0;
	dlsi_job_change(master, job, &change, task->attempt, (struct dlsi_payload){0});
}

static struct task *returned(const struct dlsi_master *master, const struct job *job, uint64_t attempt)
{
	struct task *task = dlsi_task_find(master, attempt);

	return task && task->job == job && task->state == DLSI_TASK_RETURNED ? task : NULL;
}

void dlsi_client_ack(struct dlsi_master *master, struct client *client, const struct dlsi_ack *record)
{
	struct job *job = dlsi_job_find(master, &record->job);

	if (!job || job->client != client || job->durable)
		return;
	if (record->window_end > job->window_end)
		job->window_end = record->window_end;
	job->window_bytes = record->window_bytes;
	for (uint32_t i = 0; i < record->lost.count; i++) {
		struct task *task = returned(master, job, dlsi_numbers_at(&record->lost, i));

		if (task) {
			dlsi_task_drop(master, task, true);
			job->lost_offers++;
		}
	}
	if (job->lost_offers >= LOST_OFFERS) {
		dlsi_job_end(master, job, DLSI_JOB_FAILED, DLS_EUNREACHABLE,
			"the client cannot fetch results from the workers; their --data-bind must be reachable from "
			"it");
		return;
	}
	for (uint32_t i = 0; i < record->taken.count; i++) {
		struct task *task = returned(master, job, dlsi_numbers_at(&record->taken, i));

		if (!task)
			continue;
		commit(master, job, task);
		job = dlsi_job_find(master, &record->job); /* the last item ends it */
		if (!job)
			return;
	}
	dlsi_job_refresh(master, job);
}

void dlsi_client_cancel(struct dlsi_master *master, struct client *client, const struct dlsi_cancel *record)
{
	struct job *job = dlsi_job_find(master, &record->job);

	if (job && job->client == client)
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, "the job was cancelled");
	else /* the client waits for this answer before it forgets the job itself */
		post_end(master, client, &record->job, DLSI_JOB_CANCELLED);
}

void dlsi_client_progress(struct dlsi_master *master, struct client *client)
{
	dlsi_list_each (node, &client->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, client_node);
		struct dlsi_record record = {.kind = DLSI_PROGRESS};

		record.progress = (struct dlsi_progress){
			.job = job->policy.id,
			.done = job->done_items,
			.running = job->running,
			.workers = master->handlers[job->spec->handler].workers,
		};
		if (record.progress.done == job->told.done && record.progress.running == job->told.running &&
			record.progress.workers == job->told.workers)
			continue;
		job->told = record.progress;
		dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
	}
}
