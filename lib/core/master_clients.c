/* Clients as the master sees them: registration, what they confirm, and what they are told about their jobs. */
#include "core/master_kept.h"
#include "core/master_places.h"

#include <stdio.h>
#include <string.h>

#define LOST_OFFERS 8 /* one after another, each made after the one before was lost: workers cannot be reached */

static struct dlsi_id key_of(uint64_t incarnation)
{
	return dlsi_map_key(2, incarnation);
}

static void free_client(struct dlsi_master *master, struct client *client)
{
	dlsi_free(master->alloc, client->specs);
	dlsi_tenant_unref(master, client->tenant);
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
	dlsi_list_init(&client->specs_paid);
	dlsi_list_init(&client->weighed);
	client->grace.kind = TIMER_CLIENT_GRACE;
	client->incarnation = record->incarnation;
	client->number = master->next_number++;
	client->tenant = dlsi_tenant_ref(master, record->name);
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
	for (uint32_t i = 0; i < client->spec_count; i++) {
		dlsi_client_drop_spec(master, client, &client->specs[i]);
	}
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

/* Once there were more than the limit, it is too much until half of that is left. */
static bool is_too_much(bool was, uint64_t now, uint64_t limit)
{
	return now > (was ? limit / 2 : limit);
}

static void weigh(struct dlsi_master *master, struct client *client)
{
	bool full = is_too_much(client->full, client->held_bytes, DLSI_CLIENT_HELD_BYTES);
	bool crowded = is_too_much(client->crowded, client->offers, DLSI_CLIENT_OFFERS);

	if (full == client->full && crowded == client->crowded)
		return;
	client->full = full;
	client->crowded = crowded;
	client->to_look_at = client->jobs.next;
	dlsi_list_remove(&client->weighed);
	dlsi_list_append(&master->weighed, &client->weighed);
}

void dlsi_client_hold(struct dlsi_master *master, struct client *client, uint64_t bytes, bool offered)
{
	if (offered)
		client->offers++;
	else
		client->held_bytes += bytes;
	weigh(master, client);
}

void dlsi_client_unhold(struct dlsi_master *master, struct client *client, uint64_t bytes, bool offered)
{
	if (offered)
		client->offers--;
	else
		client->held_bytes -= bytes;
	weigh(master, client);
}

static void begin_grace(struct dlsi_master *master, struct client *client)
{
	dlsi_master_set_timer(master, &client->grace, master->now_ns + master->config.client_timeout_ns);
}

void dlsi_client_lost(struct dlsi_master *master, struct client *client)
{
	detach(master, client);
	if (dlsi_list_empty(&client->jobs)) /* there is nothing to come back to */
		dlsi_client_destroy(master, client);
	else
		begin_grace(master, client);
}

void dlsi_client_excuse(struct dlsi_master *master, struct client *client)
{
	if (!client->peer)
		begin_grace(master, client);
}

void dlsi_client_destroy(struct dlsi_master *master, struct client *client)
{
	struct dlsi_id key = key_of(client->incarnation);

	detach(master, client);
	dlsi_spec_forget_payer(client);
	dlsi_master_stop_timer(master, &client->grace);
	dlsi_map_remove(&master->client_by_incarnation, &key);
	dlsi_list_remove(&client->node);
	dlsi_list_append(&master->gone, &client->node);
	client->gone = true;
}

void dlsi_client_part(struct job *job)
{
	struct client *client = job->client;

	if (client && client->to_look_at == &job->client_node)
		client->to_look_at = job->client_node.next;
	if (client && client->to_tell == &job->client_node)
		client->to_tell = job->client_node.next;
	dlsi_list_remove(&job->client_node);
}

/* A durable job is nobody's from now on; another ends. */
static void leave_alone(struct dlsi_master *master, struct job *job)
{
	if (!job->durable) {
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, "the client has gone");
		return;
	}
	dlsi_client_part(job);
	job->client = NULL;
}

/* Returns how many more jobs may be dealt with; 0: no more. */
static unsigned end_jobs(struct dlsi_master *master, struct client *client, unsigned most)
{
	for (; most && !dlsi_list_empty(&client->jobs); most--)
		leave_alone(master, dlsi_list_entry(client->jobs.next, struct job, client_node));
	if (dlsi_list_empty(&client->jobs)) {
		dlsi_list_remove(&client->node);
		dlsi_list_remove(&client->weighed);
		free_client(master, client);
	}
	return most;
}

static unsigned look_at_jobs(struct dlsi_master *master, struct client *client, unsigned most)
{
	for (; most && client->to_look_at != &client->jobs; most--) {
		struct job *job = dlsi_list_entry(client->to_look_at, struct job, client_node);

		client->to_look_at = client->to_look_at->next;
		dlsi_job_refresh(master, job);
	}
	if (client->to_look_at == &client->jobs) {
		client->to_look_at = NULL;
		dlsi_list_remove(&client->weighed);
	}
	return most;
}

bool dlsi_clients_catch_up(struct dlsi_master *master)
{
	unsigned most = DLSI_JOBS_PER_TURN;

	while (most && !dlsi_list_empty(&master->gone))
		most = end_jobs(master, dlsi_list_entry(master->gone.next, struct client, node), most);
	while (most && !dlsi_list_empty(&master->weighed))
		most = look_at_jobs(master, dlsi_list_entry(master->weighed.next, struct client, weighed), most);
	return !dlsi_list_empty(&master->gone) || !dlsi_list_empty(&master->weighed);
}

void dlsi_client_register(struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record)
{
	struct dlsi_id key = key_of(record->incarnation);
	struct client *client = dlsi_map_get(&master->client_by_incarnation, &key);
	struct peer *peer;

	if (client)
		detach(master, client);
	else
		client = create(master, record);
	peer = client ? dlsi_master_add_peer(master, from) : NULL;
	if (!peer) {
		dlsi_master_refuse(master, from, NULL, DLS_EBUSY, 1000,
			"the master has no room for another client; it is asked again");
		if (client)
			dlsi_client_destroy(master, client);
		return;
	}
	dlsi_master_stop_timer(master, &client->grace);
	client->connections++;
	peer->client = client;
	client->peer = peer;
	dlsi_master_welcome(master, peer, false);
}

void dlsi_client_send_end(struct dlsi_master *master, struct client *client, const struct dlsi_id *job, uint8_t state)
{
	struct dlsi_record record = {.kind = DLSI_END};

	record.end.job = *job;
	record.end.state = state;
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
}

void dlsi_client_send_result(struct dlsi_master *master, struct task *task)
{
	struct dlsi_record record = {.kind = DLSI_RESULT, .result = task->result};

	if (task->job->client && task->job->client->peer)
		dlsi_master_post(master, task->job->client->peer, &record, task->payload);
}

/* The client has this attempt's result. False: it was the last, and the job is gone. */
static bool take(struct dlsi_master *master, struct task *task)
{
	if (!task->payload.handle)
		task->job->run->lost_offers = 0;
	return dlsi_task_commit(master, task);
}

static struct task *returned(const struct dlsi_master *master, const struct job *job, uint64_t attempt)
{
	struct task *task = dlsi_task_find(master, attempt);

	return task && task->job == job && task->state == DLSI_TASK_RETURNED ? task : NULL;
}

/* The client could not fetch an offered result. Those that a worker takes with it when it dies say nothing about who
 * can be reached; before its death is known here they are lost together and count once. */
static void lose_offer(struct dlsi_master *master, struct job *job, struct task *task)
{
	if (task->device && task->attempt >= job->run->lost_before) {
		job->run->lost_offers++;
		job->run->lost_before = master->next_attempt;
	}
	dlsi_task_drop(master, task, true);
}

void dlsi_client_ack(struct dlsi_master *master, struct client *client, const struct dlsi_ack *record)
{
	struct job *job = dlsi_job_find(master, &record->job);
	uint64_t window_end;

	if (!job || job->client != client)
		return;
	if (job->durable) {
		dlsi_kept_ack(master, job, record);
		return;
	}
	window_end = dlsi_job_run(job)->window_end;
	dlsi_job_set_window(
		master, job, record->window_end > window_end ? record->window_end : window_end, record->window_bytes);
	for (uint32_t i = 0; i < record->lost.count; i++) {
		struct task *task = returned(master, job, dlsi_numbers_at(&record->lost, i));

		if (task)
			lose_offer(master, job, task);
	}
	for (uint32_t i = 0; i < record->taken.count; i++) {
		struct task *task = returned(master, job, dlsi_numbers_at(&record->taken, i));

		if (task && !take(master, task))
			return;
	}
	if (dlsi_job_run(job)->lost_offers >= LOST_OFFERS)
		dlsi_job_end(master, job, DLSI_JOB_FAILED, DLS_EUNREACHABLE,
			"the client cannot fetch results from the workers; their --data-bind must be reachable from "
			"it");
	else
		dlsi_job_refresh(master, job);
}

void dlsi_client_cancel(struct dlsi_master *master, struct client *client, const struct dlsi_cancel *record)
{
	struct job *job = dlsi_job_find(master, &record->job);

	/* The client forgets the job itself when it has an END: of one that is not here, or is over, it is told at
	 * once. */
	if (!job || job->client != client)
		dlsi_client_send_end(master, client, &record->job, DLSI_JOB_CANCELLED);
	else if (job->state > DLSI_JOB_ACTIVE)
		dlsi_client_send_end(master, client, &record->job, job->state);
	else
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, "the job was cancelled");
}

_Static_assert(DLSI_PEERS <= UINT16_MAX, "so many workers can be told");

void dlsi_client_forget_told(struct job *job)
{
	job->told_workers = 0;
	if (job->run)
		job->run->told_done = job->run->told_running = 0;
}

void dlsi_client_tell_progress(struct dlsi_master *master, struct client *client, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_PROGRESS};
	const struct run *run = dlsi_job_run(job);
	uint32_t workers = job->spec->class->workers;

	if (run->done_items == run->told_done && run->running == run->told_running && workers == job->told_workers)
		return;
	record.progress = (struct dlsi_progress){
		.job = job->policy.id, .done = run->done_items, .running = run->running, .workers = workers};
	job->told_workers = (uint16_t)workers;
	if (job->run) {
		job->run->told_done = run->done_items;
		job->run->told_running = run->running;
	}
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
}

void dlsi_client_progress(struct dlsi_master *master, struct client *client)
{
	struct dlsi_list *node = client->to_tell ? client->to_tell : client->jobs.next;

	for (unsigned i = 0; node != &client->jobs && i < DLSI_LOOKED_AT; i++, node = node->next)
		dlsi_client_tell_progress(master, client, dlsi_list_entry(node, struct job, client_node));
	client->to_tell = node == &client->jobs ? NULL : node;
}
