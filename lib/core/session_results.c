/* The session's results: each item once to the program, acknowledged to the master, within the window. */
#include "core/again.h"
#include "core/session_state.h"

#include "proto/bytes.h"
#include <string.h>

#define CONFIRMATIONS 64 /* so many do not wait for company */

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
	dlsi_again_free(session->alloc, &fetch->result.again);
	dlsi_free(session->alloc, fetch);
}

struct dlsi_numbers dlsi_session_numbers(const struct dlsi_buffer *buffer)
{
	return (struct dlsi_numbers){buffer->data, (uint32_t)(buffer->length / 8)};
}

/* The next of the attempts in the buffer from *at on, as many as a record may carry. */
static struct dlsi_numbers next_numbers(const struct dlsi_buffer *buffer, size_t *at)
{
	struct dlsi_numbers numbers = dlsi_session_numbers(buffer);
	size_t left = numbers.count - *at;

	numbers.count = (uint32_t)(left < DLSI_MESSAGE_RECORDS ? left : DLSI_MESSAGE_RECORDS);
	if (numbers.count)
		numbers.data += 8 * *at;
	*at += numbers.count;
	return numbers;
}

void dlsi_session_post_ack(struct dlsi_session *session, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ACK};
	size_t taken = 0, lost = 0;

	dlsi_list_remove(&job->dirty);
	if (session->link.state != DLSI_LINK_UP || !job->accepted)
		return;
	job->told_end = dlsi_session_window_end(job);
	job->told_bytes = dlsi_session_window_bytes(job);
	record.ack.job = job->id;
	record.ack.window_end = job->told_end;
	record.ack.window_bytes = job->told_bytes;
	do {
		record.ack.taken = next_numbers(&job->taken, &taken);
		record.ack.lost = next_numbers(&job->lost, &lost);
		dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
	} while (8 * taken < job->taken.length || 8 * lost < job->lost.length);
	dlsi_buffer_clear(&job->taken);
	dlsi_buffer_clear(&job->lost);
}

void dlsi_session_mark_dirty(struct dlsi_session *session, struct job *job, bool can_wait)
{
	int64_t due_ns = session->link.now_ns + (can_wait ? session->patience_ns : 0);

	if (dlsi_list_empty(&job->dirty))
		dlsi_list_append(&session->dirty, &job->dirty);
	if (due_ns < session->ack_ns)
		session->ack_ns = due_ns;
}

/* Of a run of final items, hands those that are new to the program, and returns how many they are. */
static uint64_t deliver_run(struct dlsi_session *session, struct job *job, const struct dlsi_effect *like,
	const struct dlsi_range *run, size_t *last_out)
{
	uint64_t added = 0, at = run->first;

	while ((at = dlsi_ranges_first_missing(&job->received, at)) < run->end) {
		uint64_t known = dlsi_ranges_first_present(&job->received, at);
		struct dlsi_effect *effect = dlsi_effects_add(session->link.effects, DLSI_EFFECT_DELIVER);

		*effect = *like;
		effect->first = at;
		effect->end = known < run->end ? known : run->end;
		*last_out = session->link.effects->count;
		at = effect->end;
	}
	if (dlsi_ranges_add(&job->received, run->first, run->end, &added))
		session->link.failed = true;
	return added;
}

/* Hands the items of a page that are new and final to the program. False if there were none. */
static bool deliver(
	struct dlsi_session *session, struct job *job, const struct dlsi_result *result, struct dlsi_payload payload)
{
	struct dlsi_effects *effects = session->link.effects;
	struct dlsi_effect effect = {
		.kind = DLSI_EFFECT_DELIVER, .job = job->id, .attempt = result->attempt, .payload = payload};
	struct dlsi_finals finals = {.result = result, .at = result->first};
	struct dlsi_range run;
	uint64_t added = 0;
	size_t last = 0;

	effect.deliver.page_first = result->first;
	effect.deliver.page_end = result->end;
	effect.deliver.elapsed_ns = result->elapsed_ns;
	effect.deliver.worker = dlsi_effects_store(effects, result->worker.data, result->worker.length);
	effect.deliver.worker_length = result->worker.length;
	while (dlsi_finals_next(&finals, &run))
		added += deliver_run(session, job, &effect, &run, &last);
	if (last) /* results are taken in order: until that one is, the page is kept */
		effects->at[last - 1].deliver.bytes = payload.bytes;
	job->received_items += added;
	return added != 0;
}

/* Whether the page has final items that have not come otherwise. */
static bool is_needed(const struct job *job, const struct dlsi_result *result)
{
	struct dlsi_finals finals = {.result = result, .at = result->first};
	struct dlsi_range run;

	while (dlsi_finals_next(&finals, &run))
		if (dlsi_ranges_first_missing(&job->received, run.first) < run.end)
			return true;
	return false;
}

/* The master need not keep this attempt's result any longer. */
static void confirm(struct dlsi_session *session, struct job *job, uint64_t attempt)
{
	dlsi_write_u64(&job->taken, attempt);
	session->link.failed |= job->taken.failed;
	dlsi_session_mark_dirty(
		session, job, job->taken.length < 8 * CONFIRMATIONS && 2 * job->waiting < job->window_bytes);
}

static void begin_fetch(struct dlsi_session *session, const struct job *job, const struct fetch *fetch)
{
	struct dlsi_effects *effects = session->link.effects;
	const struct dlsi_result *result = &fetch->result;
	size_t holder = dlsi_effects_store(effects, result->holder.data, result->holder.length);
	size_t host = dlsi_effects_store(effects, result->holder_host.data, result->holder_host.length);
	struct dlsi_effect *effect = dlsi_effects_add(effects, DLSI_EFFECT_FETCH);

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

/* Fetches offers in the order of their items, as far as the window allows. Those whose items have come otherwise are
 * not needed any more. */
static void begin_fetches(struct dlsi_session *session, struct job *job)
{
	while (!job->over && !dlsi_list_empty(&job->offers)) {
		struct fetch *fetch = dlsi_list_entry(job->offers.next, struct fetch, node);

		if (!is_needed(job, &fetch->result)) {
			confirm(session, job, fetch->result.attempt);
			dlsi_session_fetch_destroy(session, fetch);
			continue;
		}
		if (!has_room(job, fetch))
			break;
		dlsi_list_remove(&fetch->node);
		dlsi_list_append(&job->fetches, &fetch->node);
		job->fetching += fetch->result.offer.length;
		begin_fetch(session, job, fetch);
	}
}

/* The payload is handed over. */
static void take_page(
	struct dlsi_session *session, struct job *job, const struct dlsi_result *result, struct dlsi_payload payload)
{
	if (!job->over && deliver(session, job, result, payload))
		job->waiting += payload.bytes;
	dlsi_releases_add(&session->link.releases, payload);
	confirm(session, job, result->attempt);
	if (job->over)
		return;
	begin_fetches(session, job);
	if (job->received_items == job->count)
		dlsi_session_finish(session, job, DLSI_JOB_DONE, 0, (struct dlsi_text){0});
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
		session->link.failed = true;
		return;
	}
	fetch->job = job;
	fetch->result = *result;
	if (!dlsi_again_keep(session->alloc, &fetch->result.again))
		session->link.failed = true;
	keep_text(fetch->worker, &fetch->result.worker);
	keep_text(fetch->holder, &fetch->result.holder);
	keep_text(fetch->holder_host, &fetch->result.holder_host);
	insert_offer(job, fetch);
	begin_fetches(session, job);
}

void dlsi_session_drop_fetches(struct dlsi_session *session, struct job *job)
{
	dlsi_list_each (node, &job->offers)
		dlsi_session_fetch_destroy(session, dlsi_list_entry(node, struct fetch, node));
	dlsi_list_each (node, &job->fetches) {
		dlsi_list_entry(node, struct fetch, node)->job = NULL;
		dlsi_list_remove(node);
		dlsi_list_append(&session->orphans, node);
	}
}

/* Before ACCEPTED a RESULT is of an earlier job under the same key. */
static void lose_page(struct dlsi_session *session, struct job *job, uint64_t attempt)
{
	dlsi_write_u64(&job->lost, attempt);
	session->link.failed |= job->lost.failed;
	dlsi_session_mark_dirty(session, job, false);
}

void dlsi_session_result(struct dlsi_session *session, const struct dlsi_result *result, struct dlsi_payload payload)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &result->job);

	if (job && !job->accepted) {
		dlsi_releases_add(&session->link.releases, payload);
	} else if (!job || result->first >= result->end || result->end > job->count ||
		   !dlsi_again_is_sound(&result->again, result->first, result->end)) {
		dlsi_releases_add(&session->link.releases, payload);
		session->link.refused++;
	} else if (result->frames || job->over) {
		take_page(session, job, result, payload);
	} else if (result->offer.length > DLSI_RESULT_PAGE_BYTES) {
		lose_page(session, job, result->attempt);
	} else {
		keep_offer(session, job, result);
	}
}

static void take_fetched(
	struct dlsi_session *session, struct job *job, struct fetch *fetch, const struct dlsi_event *event)
{
	job->fetching -= fetch->result.offer.length;
	if (event->fetched.code) {
		lose_page(session, job, event->attempt);
		begin_fetches(session, job);
	} else {
		take_page(session, job, &fetch->result, event->fetched.payload);
	}
}

void dlsi_session_fetched(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct dlsi_id key = dlsi_map_key(0, event->attempt);
	struct fetch *fetch = dlsi_map_get(&session->fetch_by_attempt, &key);

	if (fetch && fetch->job)
		take_fetched(session, fetch->job, fetch, event);
	else
		dlsi_releases_add(&session->link.releases, event->fetched.payload);
	if (fetch)
		dlsi_session_fetch_destroy(session, fetch);
	else
		session->link.refused++;
}

void dlsi_session_consumed(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &event->job);
	uint64_t room;

	if (!job || job->over)
		return;
	job->next = event->consumed.next;
	job->waiting = event->consumed.bytes;
	room = dlsi_session_window_bytes(job);
	begin_fetches(session, job);
	/* A quarter of the window at a time, so that a busy taker does not cost a message per item. */
	if (dlsi_session_window_end(job) - job->told_end >= job->window_items / 4 ||
		(room > job->told_bytes && room - job->told_bytes > job->window_bytes / 4) ||
		(room && !job->told_bytes))
		dlsi_session_mark_dirty(session, job, false);
}
