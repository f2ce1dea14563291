#include "core/session.h"

#include "core/session_state.h"

void dlsi_session_release(struct dlsi_session *session, struct dlsi_payload payload)
{
	if (!dlsi_releases_add(&session->releases, payload))
		session->failed = true;
}

void dlsi_session_post(struct dlsi_session *session, const struct dlsi_record *record, struct dlsi_payload payload)
{
	dlsi_link_post(&session->link, record, payload, session->effects);
}

struct dlsi_effect *dlsi_session_notify(struct dlsi_session *session, enum dlsi_notice notice,
	const struct dlsi_id *job, int code, struct dlsi_text sentence)
{
	size_t text = dlsi_effects_store(session->effects, sentence.data, sentence.length);
	struct dlsi_effect *effect = dlsi_effects_add(session->effects, DLSI_EFFECT_NOTIFY);

	if (job)
		effect->job = *job;
	effect->notify.notice = notice;
	effect->notify.code = code;
	effect->notify.text = text;
	effect->notify.text_length = sentence.length;
	return effect;
}

int dlsi_session_create(const struct dlsi_alloc *alloc, const struct dlsi_session_config *config,
	struct dlsi_session **session_out, struct dls_error *err)
{
	struct dlsi_session *session = dlsi_calloc(alloc, 1, sizeof *session);

	if (!session)
		return dlsi_fail_memory(err);
	session->alloc = alloc;
	session->incarnation = config->incarnation;
	session->retry_ns = INT64_MAX;
	dlsi_list_init(&session->jobs);
	dlsi_list_init(&session->dirty);
	dlsi_list_init(&session->fetches);
	dlsi_link_init(&session->link, alloc);
	dlsi_releases_init(&session->releases, alloc);
	dlsi_buffer_init(&session->scratch, alloc);
	dlsi_map_init(&session->job_by_id, alloc, config->seed);
	dlsi_map_init(&session->fetch_by_attempt, alloc, config->seed + 1);
	session->tenant = dlsi_strdup(alloc, config->tenant);
	session->host = dlsi_strdup(alloc, config->host);
	session->data_endpoint = dlsi_strdup(alloc, config->data_endpoint);
	if (!session->tenant || !session->host || !session->data_endpoint) {
		dlsi_session_destroy(session, NULL);
		return dlsi_fail_memory(err);
	}
	*session_out = session;
	return 0;
}

void dlsi_session_destroy(struct dlsi_session *session, struct dlsi_effects *effects)
{
	if (!session)
		return;
	dlsi_list_each (node, &session->jobs)
		dlsi_session_job_destroy(session, dlsi_list_entry(node, struct job, node));
	dlsi_list_each (node, &session->fetches)
		dlsi_session_fetch_destroy(session, dlsi_list_entry(node, struct fetch, node));
	if (effects)
		dlsi_releases_flush(&session->releases, effects);
	for (uint32_t i = 0; i < session->spec_count; i++)
		dlsi_free(session->alloc, session->specs[i].json);
	dlsi_free(session->alloc, session->specs);
	dlsi_free(session->alloc, session->tenant);
	dlsi_free(session->alloc, session->host);
	dlsi_free(session->alloc, session->data_endpoint);
	dlsi_map_fini(&session->job_by_id);
	dlsi_map_fini(&session->fetch_by_attempt);
	dlsi_buffer_fini(&session->scratch);
	dlsi_releases_fini(&session->releases);
	dlsi_link_fini(&session->link);
	dlsi_free(session->alloc, session);
}

static void register_with_master(struct dlsi_session *session, int64_t now_ns)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){
		.role = DLSI_ROLE_CLIENT,
		.version_low = DLSI_PROTOCOL_VERSION,
		.version_high = DLSI_PROTOCOL_VERSION,
		.incarnation = session->incarnation,
		.name = dlsi_text_of(session->tenant),
		.host = dlsi_text_of(session->host),
		.data_endpoint = dlsi_text_of(session->data_endpoint),
	};
	dlsi_session_post(session, &record, (struct dlsi_payload){0});
	dlsi_link_registered(&session->link, now_ns, session->effects);
}

static void resume(struct dlsi_session *session, bool moved)
{
	for (uint32_t i = 0; i < session->spec_count; i++)
		session->specs[i].sent = false;
	dlsi_list_each (node, &session->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		job->accepted = false;
		if (!job->over)
			dlsi_session_post_submit(session, job);
		else if (moved)
			dlsi_session_job_destroy(session, job);
		else
			dlsi_session_post_cancel(session, job);
	}
}

/* No master will take this client: every job ends. */
static void give_up(struct dlsi_session *session, const struct dlsi_refused *record)
{
	dlsi_list_each (node, &session->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (!job->over)
			dlsi_session_finish(session, job, DLSI_JOB_FAILED, record->code, record->sentence);
		dlsi_session_job_destroy(session, job);
	}
	dlsi_session_notify(session, DLSI_NOTICE_REJECTED, NULL, record->code, record->sentence);
}

static void follow_link(
	struct dlsi_session *session, enum dlsi_link_news news, const struct dlsi_record *record, int64_t now_ns)
{
	switch (news) {
	case DLSI_LINK_REGISTER:
		register_with_master(session, now_ns);
		break;
	case DLSI_LINK_MOVED:
	case DLSI_LINK_WELCOMED:
		resume(session, news == DLSI_LINK_MOVED);
		dlsi_session_notify(session, DLSI_NOTICE_WELCOME, NULL, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_LOST:
		dlsi_session_notify(session, DLSI_NOTICE_LOST, NULL, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_REFUSED_FOR_GOOD:
		give_up(session, &record->refused);
		break;
	case DLSI_LINK_NOTHING:
		break;
	}
}

static void take_progress(struct dlsi_session *session, const struct dlsi_progress *record)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &record->job);
	struct dlsi_effect *effect;

	if (!job || job->over)
		return;
	effect = dlsi_session_notify(session, DLSI_NOTICE_PROGRESS, &job->id, 0, (struct dlsi_text){0});
	effect->notify.done = record->done;
	effect->notify.running = record->running;
	effect->notify.workers = record->workers;
}

static void take_reply(struct dlsi_session *session, const struct dlsi_reply *record)
{
	struct dlsi_text text = {(const char *)record->json.data, record->json.length};

	dlsi_session_notify(session, DLSI_NOTICE_REPLY, NULL, record->code, text)->notify.number = record->number;
}

/* The payload is handed over. */
static void take_record(struct dlsi_session *session, const struct dlsi_message *message,
	const struct dlsi_record *record, struct dlsi_payload payload, int64_t now_ns)
{
	switch (record->kind) {
	case DLSI_RESULT:
		dlsi_session_result(session, &record->result, payload);
		return;
	case DLSI_ACCEPTED:
		dlsi_session_accepted(session, &record->accepted);
		break;
	case DLSI_END:
		dlsi_session_end(session, &record->end);
		break;
	case DLSI_PROGRESS:
		take_progress(session, &record->progress);
		break;
	case DLSI_REPLY:
		take_reply(session, &record->reply);
		break;
	case DLSI_REFUSED:
		if (!dlsi_id_is_zero(&record->refused.job)) {
			dlsi_session_refused(session, &record->refused, now_ns);
			break;
		}
		/* fall through */
	default:
		follow_link(session, dlsi_link_record(&session->link, message, record, now_ns, session->effects),
			record, now_ns);
		break;
	}
	dlsi_session_release(session, payload);
}

static void take_message(struct dlsi_session *session, const struct dlsi_event *event, int64_t now_ns)
{
	struct dlsi_message message;
	struct dlsi_record record;
	size_t frame = 0;
	bool first = true;

	if (dlsi_peer_equal(event->peer, session->link.outbox.peer) &&
		dlsi_message_open(
			event->message.block, event->message.length, event->message.frame_count, &message, NULL) == 0) {
		while (dlsi_message_next(&message, &record)) {
			struct dlsi_payload payload = {0};

			if (first && !dlsi_link_heard(&session->link, &message, &record, now_ns))
				break;
			first = false;
			if (dlsi_record_frames(&record))
				payload = event->message.frames[frame++];
			take_record(session, &message, &record, payload, now_ns);
		}
	} else {
		session->refused_records++;
	}
	for (; frame < event->message.frame_count; frame++)
		dlsi_session_release(session, event->message.frames[frame]);
}

static void ask(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	if (session->link.state != DLSI_LINK_UP) {
		dlsi_session_notify(session, DLSI_NOTICE_REPLY, NULL, DLS_EUNREACHABLE,
			dlsi_text_of("there is no connection to a master"))
			->notify.number = event->command.number;
		return;
	}
	record.command.number = event->command.number;
	record.command.json = event->command.json;
	dlsi_session_post(session, &record, (struct dlsi_payload){0});
}

static void say_goodbye(struct dlsi_session *session)
{
	struct dlsi_record record = {.kind = DLSI_LEAVE};

	record.leave.reason = dlsi_text_of("the client ends");
	if (session->link.state == DLSI_LINK_UP)
		dlsi_session_post(session, &record, (struct dlsi_payload){0});
	dlsi_outbox_flush(&session->link.outbox, session->effects);
}

static void end_turn(struct dlsi_session *session)
{
	dlsi_list_each (node, &session->dirty)
		dlsi_session_post_ack(session, dlsi_list_entry(node, struct job, dirty));
	dlsi_outbox_flush(&session->link.outbox, session->effects);
	dlsi_releases_flush(&session->releases, session->effects);
}

static int64_t deadline(const struct dlsi_session *session)
{
	int64_t due = dlsi_link_deadline(&session->link);

	return session->link.state == DLSI_LINK_UP && session->retry_ns < due ? session->retry_ns : due;
}

void dlsi_session_step(
	struct dlsi_session *session, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	enum dlsi_link_news news = DLSI_LINK_NOTHING;

	session->effects = effects;
	switch (event->kind) {
	case DLSI_EVENT_CONNECTED:
		news = dlsi_link_connected(&session->link, event->peer, now_ns);
		break;
	case DLSI_EVENT_LOST:
		if (dlsi_peer_equal(event->peer, session->link.outbox.peer))
			news = dlsi_link_lost(&session->link);
		break;
	case DLSI_EVENT_TIMER:
		dlsi_session_run_retries(session, now_ns);
		news = dlsi_link_timer(&session->link, now_ns, effects);
		break;
	case DLSI_EVENT_MESSAGE:
		take_message(session, event, now_ns);
		break;
	case DLSI_EVENT_FETCHED:
		dlsi_session_fetched(session, event);
		break;
	case DLSI_EVENT_SUBMIT:
		dlsi_session_submit(session, event);
		break;
	case DLSI_EVENT_CONSUMED:
		dlsi_session_consumed(session, event);
		break;
	case DLSI_EVENT_CANCEL:
		dlsi_session_cancel(session, event);
		break;
	case DLSI_EVENT_COMMAND:
		ask(session, event);
		break;
	case DLSI_EVENT_STOP:
		say_goodbye(session);
		break;
	case DLSI_EVENT_TURN:
		end_turn(session);
		break;
	default:
		session->refused_records++;
		break;
	}
	follow_link(session, news, NULL, now_ns);
	effects->deadline_ns = deadline(session);
	effects->failed |= session->failed;
}
