/* The session's results: each item once to the program, acknowledged to the master, within the window. */
#include "core/session_state.h"

#include "proto/bytes.h"
#include <string.h>

uint64_t dlsi_session_window_end(const struct job *job)
{
	return job->window_items < UINT64_MAX - job->next ? job->next + job->window_items : UINT64_MAX;
}

uint64_t dlsi_session_window_bytes(const struct job *job)
{
	if (job->waiting < job->window_bytes)
		return job->window_bytes - job->waiting;
	return !dlsi_ranges_contains(&job->received, job->next); /* what the program waits for finds room */
}

void dlsi_session_fetch_destroy(struct dlsi_session *session, struct fetch *fetch)
{
	struct dlsi_id key = dlsi_map_key(0, fetch->result.attempt);

	dlsi_map_remove(&session->fetch_by_attempt, &key);
	dlsi_list_remove(&fetch->node);
	dlsi_free(session->alloc, fetch);
}

static struct dlsi_numbers numbers(const struct dlsi_buffer *buffer)
{
	return (struct dlsi_numbers){buffer->data, (uint32_t)(buffer->length / 8)};
}

void dlsi_session_post_ack(struct dlsi_session *session, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ACK};

	dlsi_list_remove(&job->dirty);
	if (session->link.state != DLSI_LINK_UP || !job->accepted)
		return;
	job->told_end = dlsi_session_window_end(job);
	job->told_bytes = dlsi_session_window_bytes(job);
	record.ack = (struct dlsi_ack){
		.job = job->id,
		.window_end = job->told_end,
		.window_bytes = job->told_bytes,
		.taken = numbers(&job->taken),
		.lost = numbers(&job->lost),
	};
	dlsi_session_post(session, &record, (struct dlsi_payload){0});
	dlsi_buffer_clear(&job->taken);
	dlsi_buffer_clear(&job->lost);
}

void dlsi_session_mark_dirty(struct dlsi_session *session, struct job *job)
{
	if (dlsi_list_empty(&job->dirty))
		dlsi_list_append(&session->dirty, &job->dirty);
}

/* Hands the items of a page that are new to the program. False if there were none. */
static bool deliver(
	struct dlsi_session *session, struct job *job, const struct dlsi_result *result, struct dlsi_payload payload)
{
	uint64_t added = 0, at = result->first;
	size_t worker = dlsi_effects_store(session->effects, result->worker.data, result->worker.length);

	while ((at = dlsi_ranges_first_missing(&job->received, at)) < result->end) {
		uint64_t known = dlsi_ranges_first_present(&job->received, at);
		struct dlsi_effect *effect = dlsi_effects_add(session->effects, DLSI_EFFECT_DELIVER);

		effect->job = job->id;
		effect->attempt = result->attempt;
		effect->payload = payload;
		effect->first = at;
		effect->end = known < result->end ? known : result->end;
		effect->deliver.page_first = result->first;
		effect->deliver.page_end = result->end;
		effect->deliver.elapsed_ns = result->elapsed_ns;
		effect->deliver.worker = worker;
		effect->deliver.worker_length = result->worker.length;
		at = effect->end;
	}
	if (dlsi_ranges_add(&job->received, result->first, result->end, &added))
		session->failed = true;
	job->received_items += added;
	return added != 0;
}

/* The payload is handed over. */
static void take_page(
	struct dlsi_session *session, struct job *job, const struct dlsi_result *result, struct dlsi_payload payload)
{
	if (!job->over && deliver(session, job, result, payload))
		job->waiting += payload.bytes;
	dlsi_session_release(session, payload);
	dlsi_write_u64(&job->taken, result->attempt);
	session->failed |= job->taken.failed;
	dlsi_session_mark_dirty(session, job);
	if (job->taken.length >= 8 * (DLSI_MESSAGE_RECORDS / 4))
		dlsi_session_post_ack(session, job);
	if (!job->over && job->received_items == job->count) {
		dlsi_session_post_ack(session, job);
		dlsi_session_finish(session, job, DLSI_JOB_DONE, 0, (struct dlsi_text){0});
	}
}

static void begin_fetch(struct dlsi_session *session, const struct job *job, const struct fetch *fetch)
{
	const struct dlsi_result *result = &fetch->result;
	size_t holder = dlsi_effects_store(session->effects, result->holder.data, result->holder.length);
	size_t host = dlsi_effects_store(session->effects, result->holder_host.data, result->holder_host.length);
	struct dlsi_effect *effect = dlsi_effects_add(session->effects, DLSI_EFFECT_FETCH);

	effect->job = job->id;
	effect->attempt = result->attempt;
	effect->first = result->first;
	effect->end = result->end;
	effect->fetch.token = job->token;
	effect->fetch.offer = result->offer;
	effect->fetch.holder = holder;
	effect->fetch.holder_length = result->holder.length;
	effect->fetch.holder_host = host;
	effect->fetch.holder_host_length = result->holder_host.length;
}

/* Whether one more page may come: as long as the window is not full, which the last one may overfill. The page that the
 * program waits for always may, or it would wait for ever. */
static bool has_room(const struct job *job, const struct fetch *fetch)
{
	return job->waiting + job->fetching < job->window_bytes || fetch->result.first <= job->next;
}

/* Fetches offers in the order of their items, as far as the window allows. */
static void begin_fetches(struct dlsi_session *session, struct job *job)
{
	while (!dlsi_list_empty(&job->offers)) {
		struct fetch *fetch = dlsi_list_entry(job->offers.next, struct fetch, node);

		if (!has_room(job, fetch))
			break;
		dlsi_list_remove(&fetch->node);
		dlsi_list_append(&session->fetches, &fetch->node);
		job->fetching += fetch->result.offer.length;
		begin_fetch(session, job, fetch);
	}
}

static void keep_text(char *copy, struct dlsi_text *text)
{
	if (text->length)
		memcpy(copy, text->data, text->length);
	text->data = copy;
}

/* Behind the offers of earlier items. */
static void insert_offer(struct job *job, struct fetch *fetch)
{
	struct dlsi_list *before = job->offers.previous;

	while (before != &job->offers &&
		dlsi_list_entry(before, struct fetch, node)->result.first > fetch->result.first)
		before = before->previous;
	dlsi_list_append(before->next, &fetch->node);
}

static void keep_offer(struct dlsi_session *session, struct job *job, const struct dlsi_result *result)
{
	struct dlsi_id key = dlsi_map_key(0, result->attempt);
	struct fetch *fetch;

	if (dlsi_map_get(&session->fetch_by_attempt, &key))
		return;
	fetch = dlsi_calloc(session->alloc, 1, sizeof *fetch);
	if (!fetch || dlsi_map_put(&session->fetch_by_attempt, &key, fetch)) {
		dlsi_free(session->alloc, fetch);
		session->failed = true;
		return;
	}
	fetch->job = job->id;
	fetch->result = *result;
	keep_text(fetch->worker, &fetch->result.worker);
	keep_text(fetch->holder, &fetch->result.holder);
	keep_text(fetch->holder_host, &fetch->result.holder_host);
	insert_offer(job, fetch);
	begin_fetches(session, job);
}

void dlsi_session_result(struct dlsi_session *session, const struct dlsi_result *result, struct dlsi_payload payload)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &result->job);

	if (!job || result->first >= result->end || result->end > job->count) {
		dlsi_session_release(session, payload);
		session->refused_records++;
	} else if (result->frames || job->over) {
		take_page(session, job, result, payload);
	} else {
		keep_offer(session, job, result);
	}
}

void dlsi_session_fetched(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct dlsi_id key = dlsi_map_key(0, event->attempt);
	struct fetch *fetch = dlsi_map_get(&session->fetch_by_attempt, &key);
	struct job *job = fetch ? dlsi_map_get(&session->job_by_id, &fetch->job) : NULL;

	if (job)
		job->fetching -= fetch->result.offer.length;
	if (!job) {
		dlsi_session_release(session, event->fetched.payload);
	} else if (event->fetched.code == 0) {
		take_page(session, job, &fetch->result, event->fetched.payload);
	} else {
		dlsi_write_u64(&job->lost, event->attempt);
		session->failed |= job->lost.failed;
		dlsi_session_mark_dirty(session, job);
	}
	if (fetch)
		dlsi_session_fetch_destroy(session, fetch);
	if (job && !job->over)
		begin_fetches(session, job);
}

void dlsi_session_drop_fetches(struct dlsi_session *session, struct job *job)
{
	dlsi_list_each (node, &job->offers)
		dlsi_session_fetch_destroy(session, dlsi_list_entry(node, struct fetch, node));
	dlsi_list_each (node, &session->fetches) {
		struct fetch *fetch = dlsi_list_entry(node, struct fetch, node);

		if (dlsi_id_equal(&fetch->job, &job->id))
			fetch->job = (struct dlsi_id){{0}};
	}
}

void dlsi_session_consumed(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &event->job);

	if (!job || job->over)
		return;
	job->next = event->consumed.next;
	job->waiting = event->consumed.bytes;
	begin_fetches(session, job);
	/* A quarter of the window at a time, so that a busy taker does not cost a message per item. */
	if (dlsi_session_window_end(job) - job->told_end >= job->window_items / 4 ||
		dlsi_session_window_bytes(job) > job->told_bytes + job->window_bytes / 4 ||
		(!job->told_bytes && dlsi_session_window_bytes(job)))
		dlsi_session_mark_dirty(session, job);
}
