/* The session's jobs: presenting them to a master until they are accepted, and how they end. */
#include "core/session_state.h"

#include "base/clock.h"
#include "proto/bytes.h"
#include <string.h>

static bool keep_about(struct dlsi_session *session, struct job *job, struct dlsi_bytes about)
{
	job->about_length = about.length;
	job->about = about.length ? dlsi_malloc(session->alloc, about.length) : NULL;
	if (job->about)
		memcpy(job->about, about.data, about.length);
	return job->about || !about.length;
}

static void begin_job(struct dlsi_session *session, struct job *job)
{
	job->retry_ns = INT64_MAX;
	dlsi_ranges_init(&job->received, session->alloc);
	dlsi_buffer_init(&job->taken, session->alloc);
	dlsi_buffer_init(&job->lost, session->alloc);
	dlsi_list_init(&job->dirty);
	dlsi_list_init(&job->offers);
	dlsi_list_init(&job->fetches);
	dlsi_list_append(&session->jobs, &job->node);
}

static struct job *create_job(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *job = dlsi_calloc(session->alloc, 1, sizeof *job);
	int64_t spec = job ? dlsi_session_use_spec(session, event->submit.spec) : -1;

	if (spec < 0 || !keep_about(session, job, event->submit.about) ||
		dlsi_map_put(&session->job_by_id, &event->job, job)) {
		if (spec >= 0)
			session->specs[spec].uses--;
		if (job)
			dlsi_free(session->alloc, job->about);
		dlsi_free(session->alloc, job);
		return NULL;
	}
	job->id = event->job;
	job->token = event->submit.token;
	job->spec = (uint32_t)spec;
	job->count = event->submit.count;
	job->priority = event->submit.priority;
	job->deadline_ns = event->submit.deadline_ns;
	job->durable = event->submit.durable;
	job->manifest = event->submit.manifest;
	job->manifest_blob = event->submit.manifest_blob;
	job->manifest_head = event->submit.manifest_head;
	job->window_items = event->submit.window_items;
	job->window_bytes = event->submit.window_bytes;
	begin_job(session, job);
	return job;
}

void dlsi_session_job_destroy(struct dlsi_session *session, struct job *job)
{
	dlsi_session_drop_fetches(session, job);
	dlsi_map_remove(&session->job_by_id, &job->id);
	dlsi_list_remove(&job->node);
	dlsi_list_remove(&job->dirty);
	if (!job->attached)
		session->specs[job->spec].uses--;
	dlsi_releases_add(&session->link.releases, job->manifest);
	dlsi_ranges_fini(&job->received);
	dlsi_buffer_fini(&job->taken);
	dlsi_buffer_fini(&job->lost);
	dlsi_free(session->alloc, job->about);
	dlsi_free(session->alloc, job);
}

/* As many as SUBMIT may carry; items beyond are run again and dropped when they come. */
static struct dlsi_numbers received_numbers(struct dlsi_session *session, const struct job *job)
{
	dlsi_buffer_clear(&session->scratch);
	for (size_t i = 0; i < job->received.count && i < DLSI_RECEIVED_RANGES; i++) {
		dlsi_write_u64(&session->scratch, job->received.at[i].first);
		dlsi_write_u64(&session->scratch, job->received.at[i].end);
	}
	session->link.failed |= session->scratch.failed;
	return dlsi_session_numbers(&session->scratch);
}

/* Until its deadline, as SUBMIT says it. */
static uint64_t left_ns(const struct dlsi_session *session, const struct job *job)
{
	int64_t left = job->deadline_ns - session->link.now_ns;

	if (!job->deadline_ns)
		return 0;
	return left > DLSI_DEADLINE_PASSED ? (uint64_t)left : DLSI_DEADLINE_PASSED;
}

static void post_attach(struct dlsi_session *session, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ATTACH};

	record.attach = (struct dlsi_attach){
		.job = job->id,
		.token = job->token,
		.window_end = job->told_end,
		.window_bytes = job->told_bytes,
		.received = received_numbers(session, job),
	};
	dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
}

void dlsi_session_post_submit(struct dlsi_session *session, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_SUBMIT};

	job->told_end = dlsi_session_window_end(job);
	job->told_bytes = dlsi_session_window_bytes(job);
	job->retry_ns = INT64_MAX;
	dlsi_buffer_clear(&job->taken); /* the ranges received say it */
	dlsi_buffer_clear(&job->lost);
	if (job->attached) {
		post_attach(session, job);
		return;
	}
	dlsi_session_post_spec(session, job->spec);
	record.submit = (struct dlsi_submit){
		.job = job->id,
		.token = job->token,
		.spec = job->spec,
		.flags = job->durable ? DLSI_SUBMIT_DURABLE : 0,
		.frames = job->manifest.handle != 0,
		.count = job->count,
		.priority = job->priority,
		.deadline_ns = left_ns(session, job),
		.window_end = job->told_end,
		.window_bytes = job->told_bytes,
		.manifest = job->manifest_blob,
		.manifest_head = job->manifest_head,
		.received = received_numbers(session, job),
		.about = {job->about, job->about_length},
	};
	dlsi_link_post(&session->link, &record, job->manifest);
}

void dlsi_session_post_cancel(struct dlsi_session *session, const struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_CANCEL};

	record.cancel.job = job->id;
	dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
}

void dlsi_session_finish(
	struct dlsi_session *session, struct job *job, uint8_t state, int code, struct dlsi_text sentence)
{
	job->over = true;
	job->retry_ns = INT64_MAX;
	dlsi_releases_add(&session->link.releases, job->manifest);
	job->manifest = (struct dlsi_payload){0};
	dlsi_link_notify(&session->link, DLSI_NOTICE_ENDED, &job->id, code, sentence)->notify.state = state;
}

/* The job ends before it has begun. */
static void refuse(struct dlsi_session *session, const struct dlsi_event *event, int code, const char *sentence)
{
	dlsi_releases_add(&session->link.releases, event->submit.manifest);
	dlsi_link_notify(&session->link, DLSI_NOTICE_ENDED, &event->job, code, dlsi_text_of(sentence))->notify.state =
		DLSI_JOB_FAILED;
}

void dlsi_session_submit(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *known = dlsi_map_get(&session->job_by_id, &event->job), *job;

	if (session->rejection.code) {
		refuse(session, event, session->rejection.code, session->rejection.text);
		return;
	}
	if (event->submit.spec.length > DLSI_SPEC_BYTES || event->submit.about.length > DLSI_ABOUT_BYTES) {
		refuse(session, event, DLS_ELIMIT, "the job's specification is too long");
		return;
	}
	if (known && !known->over) {
		session->link.refused++;
		dlsi_releases_add(&session->link.releases, event->submit.manifest);
		return;
	}
	if (known)
		dlsi_session_job_destroy(session, known);
	job = create_job(session, event);
	if (!job)
		refuse(session, event, DLS_EBUSY, "this client has no room for another specification or job");
	else if (session->link.state == DLSI_LINK_UP)
		dlsi_session_post_submit(session, job);
}

void dlsi_session_cancel(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &event->job);

	if (!job || job->over)
		return;
	dlsi_session_finish(session, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, dlsi_text_of("the job was cancelled"));
	if (session->link.state == DLSI_LINK_UP)
		dlsi_session_post_cancel(session, job);
	else if (dlsi_id_is_zero(&session->link.cluster))
		dlsi_session_job_destroy(session, job); /* no master has ever heard of it */
}

void dlsi_session_attach(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct job *job = dlsi_calloc(session->alloc, 1, sizeof *job);

	if (session->rejection.code || !job || dlsi_map_put(&session->job_by_id, &event->job, job)) {
		int code = session->rejection.code ? session->rejection.code : DLS_ENOMEM;

		dlsi_free(session->alloc, job);
		dlsi_link_notify(&session->link, DLSI_NOTICE_ENDED, &event->job, code,
			dlsi_text_of(session->rejection.code ? session->rejection.text : dls_error_meaning(code)))
			->notify.state = DLSI_JOB_FAILED;
		return;
	}
	job->id = event->job;
	job->token = event->attach.token;
	job->durable = job->attached = true;
	job->window_items = event->attach.window_items;
	job->window_bytes = event->attach.window_bytes;
	begin_job(session, job);
	if (session->link.state == DLSI_LINK_UP)
		dlsi_session_post_submit(session, job);
}

/* The master need not send anything more of it. */
void dlsi_session_detach(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct dlsi_record record = {.kind = DLSI_ACK};
	struct job *job = dlsi_map_get(&session->job_by_id, &event->job);

	if (!job)
		return;
	record.ack.job = job->id;
	if (session->link.state == DLSI_LINK_UP && job->accepted && !job->over)
		dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
	dlsi_session_job_destroy(session, job);
}

/* The job whose submission is answered; NULL: it is over, or the answer is to an earlier one under its key. */
static struct job *find_asked(const struct dlsi_session *session, const struct dlsi_id *id, const struct dlsi_id *token)
{
	struct job *job = dlsi_map_get(&session->job_by_id, id);

	return job && dlsi_id_equal(&job->token, token) ? job : NULL;
}

void dlsi_session_accepted(struct dlsi_session *session, const struct dlsi_accepted *record)
{
	struct job *job = find_asked(session, &record->job, &record->token);

	if (!job || job->accepted)
		return;
	job->accepted = true;
	if (job->attached)
		job->count = record->count;
	if (!job->over)
		dlsi_link_notify(&session->link, DLSI_NOTICE_ACCEPTED, &job->id, 0, (struct dlsi_text){0})
			->notify.count = job->count;
	if (job->taken.length || job->lost.length || dlsi_session_window_end(job) != job->told_end ||
		dlsi_session_window_bytes(job) != job->told_bytes)
		dlsi_session_mark_dirty(session, job, true);
}

void dlsi_session_refused(struct dlsi_session *session, const struct dlsi_refused *record)
{
	struct job *job = find_asked(session, &record->job, &record->token);

	if (!job)
		return;
	if (record->retry_after_ms && !job->over) {
		if (!job->attached)
			session->specs[job->spec].sent = false; /* it may be what the master had no room for */
		job->retry_ns = session->link.now_ns + record->retry_after_ms * DLSI_MILLISECOND_NS;
		if (job->retry_ns < session->retry_ns)
			session->retry_ns = job->retry_ns;
		dlsi_link_notify(&session->link, DLSI_NOTICE_DEFERRED, &job->id, record->code, record->sentence);
		return;
	}
	if (!job->over)
		dlsi_session_finish(session, job, DLSI_JOB_FAILED, record->code, record->sentence);
	dlsi_session_job_destroy(session, job);
}

/* Before ACCEPTED an END speaks of an earlier job under the same key. */
void dlsi_session_end(struct dlsi_session *session, const struct dlsi_end *record)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &record->job);

	if (!job || (!job->over && !job->accepted))
		return;
	if (!job->over)
		dlsi_session_finish(session, job, record->state, record->code, record->sentence);
	dlsi_session_job_destroy(session, job);
}

void dlsi_session_run_retries(struct dlsi_session *session)
{
	int64_t now_ns = session->link.now_ns;

	if (session->retry_ns > now_ns || session->link.state != DLSI_LINK_UP)
		return;
	session->retry_ns = INT64_MAX;
	dlsi_list_each (node, &session->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (job->retry_ns <= now_ns)
			dlsi_session_post_submit(session, job);
		if (job->retry_ns < session->retry_ns)
			session->retry_ns = job->retry_ns;
	}
}
