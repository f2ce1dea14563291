#include "core/master.h"
#include "core/master_news.h"

#include "base/rng.h"
#include "core/master_kept.h"
#include "core/master_moves.h"
#include "core/master_times.h"

#include <string.h>

void dlsi_master_set_timer(struct dlsi_master *master, struct timer *timer, int64_t due_ns)
{
	if (!timer->node.place)
		timer->node.order = master->next_number++;
	if (dlsi_heap_set(&master->timers, &timer->node, due_ns))
		master->failed = true;
}

void dlsi_master_stop_timer(struct dlsi_master *master, struct timer *timer)
{
	dlsi_heap_remove(&master->timers, &timer->node);
}

static int check_config(const struct dlsi_master_config *config, struct dls_error *err)
{
	if (config->heartbeat_ns <= 0 || config->worker_timeout_ns <= config->heartbeat_ns ||
		config->lost_grace_ns < 0 || config->client_timeout_ns < 0)
		return dlsi_fail(err, DLS_EINVAL,
			"a master's heartbeat must be more than 0 and its worker timeout more than its heartbeat");
	return 0;
}

static void init_maps(struct dlsi_master *master)
{
	struct dlsi_map *const maps[] = {&master->worker_by_incarnation, &master->worker_by_name,
		&master->client_by_incarnation, &master->handler_by_name, &master->spec_by_key, &master->model_by_key,
		&master->task_by_attempt, &master->known, &master->class_by_key, &master->tenant_by_name,
		&master->queue_by_owners, &master->stopped};

	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		dlsi_map_init(maps[i], master->alloc, master->config.seed + i);
	dlsi_index_init(&master->job_by_id, master->alloc, master->config.seed + sizeof maps / sizeof *maps,
		offsetof(struct job, policy.id), offsetof(struct job, same_chain));
}

int dlsi_master_create(const struct dlsi_alloc *alloc, const struct dlsi_master_config *config,
	struct dlsi_master **master_out, struct dls_error *err)
{
	struct dlsi_master *master;
	struct dlsi_rng rng;
	int rc = check_config(config, err);

	if (rc)
		return rc;
	master = dlsi_calloc(alloc, 1, sizeof *master);
	if (!master)
		return dlsi_fail_memory(err);
	master->alloc = alloc;
	master->config = *config;
	if (!master->config.job_bytes)
		master->config.job_bytes = DLSI_JOBS_BYTES;
	master->review.kind = TIMER_REVIEW;
	master->speculation = dlsi_speculation_default;
	master->next_number = master->next_index = master->openings = 1;
	master->due_ns = INT64_MAX;
	/* Somewhere: a worker may still run an attempt of another master, and the two must not be one number. */
	dlsi_rng_init(&rng, config->seed);
	master->next_attempt = dlsi_rng_next(&rng) >> 1 | 1;
	init_maps(master);
	dlsi_heap_init(&master->timers, alloc);
	dlsi_releases_init(&master->releases, alloc);
	dlsi_list_init(&master->dirty);
	dlsi_list_init(&master->workers);
	dlsi_list_init(&master->clients);
	dlsi_list_init(&master->jobs);
	dlsi_list_init(&master->gone);
	dlsi_list_init(&master->weighed);
	dlsi_list_init(&master->changed);
	dlsi_list_init(&master->ended);
	dlsi_list_init(&master->decided);
	dlsi_list_init(&master->classes);
	dlsi_list_init(&master->tenants);
	dlsi_list_init(&master->idle_tenants);
	dlsi_list_init(&master->proposals);
	for (unsigned i = 0; i < DLSI_DEVICE_CREDITS; i++)
		dlsi_list_init(&master->loaded[i]);
	if (config->last_policy)
		rc = dlsi_master_use_policy(master, config->last_policy, NULL, err);
	if (rc == 0)
		rc = dlsi_master_use_policy(master, config->policy, config->policy_params, err);
	if (rc == 0 && config->speculation)
		rc = dlsi_speculation_read(config->speculation, &master->speculation, err);
	if (rc) {
		dlsi_master_end_policies(master);
		dlsi_free(alloc, master);
		return rc;
	}
	*master_out = master;
	return 0;
}

static void free_proposals(struct dlsi_master *master)
{
	dlsi_list_each (node, &master->proposals) {
		struct proposal *proposal = dlsi_list_entry(node, struct proposal, node);

		dlsi_list_remove(node);
		dlsi_buffer_fini(&proposal->bytes);
		dlsi_free(master->alloc, proposal);
	}
}

void dlsi_master_destroy(struct dlsi_master *master, struct dlsi_effects *effects)
{
	struct dlsi_effects ignored;

	if (!master)
		return;
	dlsi_effects_init(&ignored, master->alloc);
	master->effects = effects ? effects : &ignored;
	dlsi_list_each (job, &master->jobs)
		dlsi_job_destroy(master, dlsi_list_entry(job, struct job, node));
	dlsi_list_each (worker, &master->workers)
		dlsi_worker_destroy(master, dlsi_list_entry(worker, struct worker, node));
	dlsi_list_each (client, &master->clients)
		dlsi_client_destroy(master, dlsi_list_entry(client, struct client, node));
	while (dlsi_clients_catch_up(master))
		;
	if (effects)
		dlsi_releases_flush(&master->releases, effects);
	dlsi_ended_forget_all(master);
	free_proposals(master);
	dlsi_tenants_forget_all(master);
	dlsi_master_end_policies(master);
	dlsi_free(master->alloc, master->peers);
	dlsi_releases_fini(&master->releases);
	dlsi_heap_fini(&master->timers);
	dlsi_map_fini(&master->worker_by_incarnation);
	dlsi_map_fini(&master->worker_by_name);
	dlsi_map_fini(&master->client_by_incarnation);
	dlsi_map_fini(&master->handler_by_name);
	dlsi_index_fini(&master->job_by_id);
	dlsi_map_fini(&master->spec_by_key);
	dlsi_map_fini(&master->model_by_key);
	dlsi_map_fini(&master->class_by_key);
	dlsi_map_fini(&master->tenant_by_name);
	dlsi_map_fini(&master->queue_by_owners);
	dlsi_map_fini(&master->task_by_attempt);
	dlsi_map_fini(&master->known);
	dlsi_map_fini(&master->stopped);
	dlsi_effects_fini(&ignored);
	dlsi_free(master->alloc, master);
}

struct dlsi_master_counts dlsi_master_counts(const struct dlsi_master *master)
{
	return (struct dlsi_master_counts){
		.workers = master->worker_by_incarnation.count,
		.clients = master->client_by_incarnation.count,
		.jobs = master->job_by_id.count,
		.tasks = master->task_by_attempt.count,
		.specs = master->spec_by_key.count,
		.handlers = master->handler_by_name.count,
		.acquaintances = master->known.count,
		.held_bytes = master->held_bytes,
		.job_bytes = master->job_bytes,
		.kept_results = master->kept_results,
		.done_ranges = master->done_ranges,
		.done_items = master->done_items,
		.presented_items = master->presented_items,
		.done_tasks = master->done_tasks,
		.lost_workers = master->lost_workers,
		.refused_messages = master->refused_messages,
		.refused_transitions = master->refused_transitions,
	};
}

uint64_t dlsi_master_live_jobs(const struct dlsi_master *master)
{
	uint64_t count = 0;

	dlsi_list_each (node, &master->jobs)
		count += dlsi_list_entry(node, struct job, node)->state <= DLSI_JOB_ACTIVE;
	return count;
}

/* The loop itself was away (a stopped process, a suspended machine): nobody could be heard, so nobody was silent. */
static void excuse_silence(struct dlsi_master *master)
{
	for (uint32_t i = 0; i < master->peer_capacity; i++)
		if (master->peers[i])
			master->peers[i]->heard_ns = master->now_ns;
	dlsi_list_each (node, &master->workers)
		dlsi_worker_excuse(master, dlsi_list_entry(node, struct worker, node));
	dlsi_list_each (node, &master->clients)
		dlsi_client_excuse(master, dlsi_list_entry(node, struct client, node));
}

static void expire(struct dlsi_master *master, struct timer *timer)
{
	switch (timer->kind) {
	case TIMER_HEARTBEAT:
		dlsi_master_heartbeat(master, dlsi_list_entry(timer, struct peer, heartbeat));
		break;
	case TIMER_WORKER_GRACE:
		dlsi_worker_lost(master, dlsi_list_entry(timer, struct worker, grace), true);
		break;
	case TIMER_CLIENT_GRACE:
		dlsi_client_destroy(master, dlsi_list_entry(timer, struct client, grace));
		break;
	case TIMER_JOB_LIMIT:
		dlsi_job_expire(master, dlsi_list_entry(timer, struct extras, limit)->job);
		break;
	case TIMER_JOB_RETRY:
		dlsi_job_retry(master, dlsi_list_entry(timer, struct retries, timer));
		break;
	case TIMER_REVIEW:
		master->review_due = true;
		break;
	}
}

static void run_timers(struct dlsi_master *master)
{
	struct dlsi_heap_node *first;

	while ((first = dlsi_heap_first(&master->timers)) && dlsi_heap_due(&master->timers, first) <= master->now_ns) {
		dlsi_heap_remove(&master->timers, first);
		expire(master, dlsi_list_entry(first, struct timer, node));
	}
}

/* Answers what is no part of the conversation, and closes it. */
static void reject(struct dlsi_master *master, struct dlsi_peer from, int code, const char *sentence)
{
	struct peer *peer = dlsi_master_peer(master, from);

	master->refused_messages++;
	dlsi_master_refuse(master, from, NULL, code, 0, sentence);
	if (peer) {
		dlsi_outbox_flush(&peer->outbox, master->effects);
		dlsi_master_lose_peer(master, peer, true);
	} else {
		dlsi_effects_add(master->effects, DLSI_EFFECT_DISCONNECT)->peer = from;
	}
}

static bool is_registered_as(const struct peer *peer, const struct dlsi_register *record)
{
	if (peer->worker)
		return record->role == DLSI_ROLE_WORKER && peer->worker->incarnation == record->incarnation;
	return record->role == DLSI_ROLE_CLIENT && peer->client->incarnation == record->incarnation;
}

static void take_register(
	struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record, struct dlsi_message rest)
{
	struct peer *peer = dlsi_master_peer(master, from);

	if (record->version_low > DLSI_PROTOCOL_VERSION || record->version_high < DLSI_PROTOCOL_VERSION)
		reject(master, from, DLS_EVERSION, "this master speaks protocol version 1 only");
	else if (peer ? !is_registered_as(peer, record)
		      : record->role != DLSI_ROLE_WORKER && record->role != DLSI_ROLE_CLIENT)
		reject(master, from, DLS_EPROTOCOL, "a connection registers one worker or one client");
	else if (peer) /* the answer has crossed its question */
		dlsi_master_welcome(master, peer, true);
	else if (record->role == DLSI_ROLE_WORKER)
		dlsi_worker_register(master, from, record, rest);
	else
		dlsi_client_register(master, from, record);
}

/* False when the connection is of no use any more. */
static bool take_heartbeat(struct dlsi_master *master, struct peer *peer, const struct dlsi_heartbeat *record)
{
	if (record->sent == peer->received)
		return true;
	dlsi_news_gap(master, record->sent, peer->received);
	dlsi_master_lose_peer(master, peer, false);
	return false;
}

static void take_leave(struct dlsi_master *master, struct peer *peer)
{
	if (peer->worker)
		dlsi_worker_leave(master, peer->worker);
	else
		dlsi_client_destroy(master, peer->client);
}

/* The client of a job that the worker has is to connect to it. */
static void pass_call(struct dlsi_master *master, const struct worker *worker, const struct dlsi_id *id)
{
	struct job *job = dlsi_job_find(master, id);
	struct dlsi_record record = {.kind = DLSI_CALL, .call = {.job = *id}};

	if (!job || !job->client || !job->client->peer || !dlsi_master_acquainted(master, worker, job))
		return;
	record.call.reader = dlsi_text_of(worker->origin->data_endpoint);
	dlsi_master_post(master, job->client->peer, &record, (struct dlsi_payload){0});
}

/* A record from a worker. False if no worker says such a thing; then the payload is still the caller's. */
static bool take_from_worker(struct dlsi_master *master, struct worker *worker, const struct dlsi_record *record,
	struct dlsi_payload payload)
{
	switch (record->kind) {
	case DLSI_RESULT:
		return dlsi_task_result(master, worker, &record->result, payload);
	case DLSI_UNLOADED:
		dlsi_worker_unloaded(worker, &record->unloaded);
		return true;
	case DLSI_HANDBACK:
		dlsi_worker_handback(master, worker, &record->handback);
		return true;
	case DLSI_SEEK:
		dlsi_worker_seek(master, worker, &record->seek);
		return true;
	case DLSI_CALL:
		pass_call(master, worker, &record->call.job);
		return true;
	default:
		return false;
	}
}

/* The same of a client. */
static bool take_from_client(struct dlsi_master *master, struct client *client, const struct dlsi_record *record,
	struct dlsi_payload payload)
{
	switch (record->kind) {
	case DLSI_SPEC:
		return dlsi_client_spec(master, client, &record->spec);
	case DLSI_SUBMIT:
		dlsi_client_submit(master, client, &record->submit, payload);
		return true;
	case DLSI_ATTACH:
		dlsi_client_attach(master, client, &record->attach);
		return true;
	case DLSI_ACK:
		dlsi_client_ack(master, client, &record->ack);
		return true;
	case DLSI_CANCEL:
		dlsi_client_cancel(master, client, &record->cancel);
		return true;
	case DLSI_COMMAND:
		dlsi_master_answer(master, client, &record->command);
		return true;
	default:
		return false;
	}
}

/* One record of a peer that is registered; false when the rest of the message is not to be read. The payload is handed
 * over. */
static bool take_record(
	struct dlsi_master *master, struct peer *peer, const struct dlsi_record *record, struct dlsi_payload payload)
{
	bool taken;

	switch (record->kind) {
	case DLSI_HEARTBEAT:
		return take_heartbeat(master, peer, &record->heartbeat);
	case DLSI_LEAVE:
		take_leave(master, peer);
		return false;
	}
	taken = peer->worker ? take_from_worker(master, peer->worker, record, payload)
			     : take_from_client(master, peer->client, record, payload);
	if (!taken) {
		dlsi_releases_add(&master->releases, payload);
		reject(master, peer->outbox.peer, DLS_EPROTOCOL, "a record that a master does not take from this side");
	}
	return taken;
}

/* Whether the peer may say this: who is not registered, or with another master, is told to register. */
static bool is_heard(struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_message *message)
{
	if (dlsi_master_peer(master, from) && dlsi_id_equal(&message->cluster, &master->config.cluster))
		return true;
	master->refused_messages++;
	dlsi_master_refuse(master, from, NULL, DLS_ESTATE, 0, "register first");
	return false;
}

/* Returns how many of the message's payloads were handed over. */
static size_t take_records(struct dlsi_master *master, const struct dlsi_event *event, struct dlsi_message message)
{
	struct dlsi_record record;
	size_t frame = 0;
	bool more = true;

	while (more && dlsi_message_next(&message, &record)) {
		struct dlsi_payload payload = {0};

		if (record.kind == DLSI_REGISTER) {
			take_register(master, event->peer, &record.reg, message);
			break;
		}
		if (!is_heard(master, event->peer, &message))
			break;
		if (dlsi_record_frames(&record))
			payload = event->message.frames[frame++];
		more = take_record(master, dlsi_master_peer(master, event->peer), &record, payload);
	}
	return frame;
}

static void take_message(struct dlsi_master *master, const struct dlsi_event *event)
{
	struct peer *peer = dlsi_master_peer(master, event->peer);
	struct dlsi_message message;
	struct dls_error error;
	size_t frame = 0;

	if (dlsi_message_open(
		    event->message.block, event->message.length, event->message.frame_count, &message, &error)) {
		reject(master, event->peer, error.code, error.text);
	} else {
		if (peer) {
			peer->heard_ns = master->now_ns;
			peer->received++;
		}
		frame = take_records(master, event, message);
	}
	for (; frame < event->message.frame_count; frame++)
		dlsi_releases_add(&master->releases, event->message.frames[frame]);
}

/* The earlier of the first timer and that time. */
static int64_t next_due_ns(const struct dlsi_master *master, int64_t time_ns)
{
	const struct dlsi_heap_node *first = dlsi_heap_first(&master->timers);
	int64_t due_ns = first ? dlsi_heap_due(&master->timers, first) : INT64_MAX;

	return due_ns < time_ns ? due_ns : time_ns;
}

static void say_goodbye(struct dlsi_master *master)
{
	struct dlsi_record record = {.kind = DLSI_LEAVE};

	record.leave.reason = dlsi_text_of("the master ends");
	for (uint32_t i = 0; i < master->peer_capacity; i++)
		if (master->peers[i])
			dlsi_master_post(master, master->peers[i], &record, (struct dlsi_payload){0});
	dlsi_master_flush(master);
}

void dlsi_master_step(
	struct dlsi_master *master, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	int64_t flush_ns = INT64_MAX; /* of what a turn leaves: after all other events a turn follows */
	struct peer *peer;
	bool more = false;

	master->effects = effects;
	master->now_ns = now_ns;
	if (now_ns > master->due_ns && now_ns - master->due_ns > master->config.worker_timeout_ns / 2)
		excuse_silence(master);
	switch (event->kind) {
	case DLSI_EVENT_MESSAGE:
		take_message(master, event);
		break;
	case DLSI_EVENT_LOST:
		peer = dlsi_master_peer(master, event->peer);
		if (peer)
			dlsi_master_lose_peer(master, peer, false);
		break;
	case DLSI_EVENT_TIMER:
		run_timers(master);
		break;
	case DLSI_EVENT_PERSISTED:
		dlsi_job_persisted(master, event->persisted.index);
		break;
	case DLSI_EVENT_LOG_STATE:
		master->log_trouble = event->log_state;
		break;
	case DLSI_EVENT_STOP:
		say_goodbye(master);
		break;
	case DLSI_EVENT_TURN:
		if (event->turn.longest_ns) {
			master->longest_turn_ns = event->turn.longest_ns;
			master->recent_turn_ns = event->turn.recent_ns;
		}
		if (master->recovered)
			dlsi_master_end_complete_jobs(master);
		more = dlsi_master_decide_followers(master);
		more |= dlsi_clients_catch_up(master);
		more |= dlsi_master_assign(master);
		dlsi_master_review(master);
		flush_ns = dlsi_master_flush(master);
		dlsi_releases_flush(&master->releases, master->effects);
		master->searched = 0;
		break;
	default:
		master->refused_transitions++;
		break;
	}
	master->due_ns = more ? now_ns : next_due_ns(master, flush_ns);
	effects->deadline_ns = master->due_ns;
	effects->failed |= master->failed | master->releases.failed;
}
