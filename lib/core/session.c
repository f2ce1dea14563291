#include "core/session.h"

#include "core/session_state.h"

#include "proto/bytes.h"

int dlsi_session_create(const struct dlsi_alloc *alloc, const struct dlsi_session_config *config,
	struct dlsi_session **session_out, struct dls_error *err)
{
	struct dlsi_session *session = dlsi_calloc(alloc, 1, sizeof *session);

	if (!session)
		return dlsi_fail_memory(err);
	session->alloc = alloc;
	session->incarnation = config->incarnation;
	session->retry_ns = session->ack_ns = INT64_MAX;
	session->patience_ns = config->patience_ns;
	dlsi_list_init(&session->jobs);
	dlsi_list_init(&session->dirty);
	dlsi_list_init(&session->orphans);
	dlsi_link_init(&session->link, alloc);
	dlsi_buffer_init(&session->scratch, alloc);
	dlsi_buffer_init(&session->asked, alloc);
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
	dlsi_list_each (node, &session->orphans)
		dlsi_session_fetch_destroy(session, dlsi_list_entry(node, struct fetch, node));
	if (effects)
		dlsi_releases_flush(&session->link.releases, effects);
	for (uint32_t i = 0; i < session->spec_count; i++)
		dlsi_free(session->alloc, session->specs[i].json);
	dlsi_free(session->alloc, session->specs);
	dlsi_free(session->alloc, session->tenant);
	dlsi_free(session->alloc, session->host);
	dlsi_free(session->alloc, session->data_endpoint);
	dlsi_map_fini(&session->job_by_id);
	dlsi_map_fini(&session->fetch_by_attempt);
	dlsi_buffer_fini(&session->scratch);
	dlsi_buffer_fini(&session->asked);
	dlsi_link_fini(&session->link);
	dlsi_free(session->alloc, session);
}

static void register_with_master(struct dlsi_session *session)
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
	dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
	dlsi_link_registered(&session->link);
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

/* No master will take this client: every job ends, and so will those to come. */
static void give_up(struct dlsi_session *session, const struct dlsi_refused *record)
{
	dlsi_fail(&session->rejection, record->code, "%.*s", (int)record->sentence.length, record->sentence.data);
	dlsi_list_each (node, &session->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (!job->over)
			dlsi_session_finish(session, job, DLSI_JOB_FAILED, record->code, record->sentence);
		dlsi_session_job_destroy(session, job);
	}
	dlsi_link_notify(&session->link, DLSI_NOTICE_REJECTED, NULL, record->code, record->sentence);
}

/* `record` is the REFUSED that says no for good. */
static void follow_link(struct dlsi_session *session, enum dlsi_link_news news, const struct dlsi_record *record)
{
	switch (news) {
	case DLSI_LINK_REGISTER:
		register_with_master(session);
		break;
	case DLSI_LINK_MOVED:
	case DLSI_LINK_WELCOMED:
		resume(session, news == DLSI_LINK_MOVED);
		dlsi_link_notify(&session->link, DLSI_NOTICE_WELCOME, NULL, 0, (struct dlsi_text){0});
		break;
	case DLSI_LINK_LOST:
		dlsi_link_notify(&session->link, DLSI_NOTICE_LOST, NULL, 0, (struct dlsi_text){0});
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

	if (!job || job->over || !job->accepted)
		return;
	effect = dlsi_link_notify(&session->link, DLSI_NOTICE_PROGRESS, &job->id, 0, (struct dlsi_text){0});
	effect->notify.done = record->done;
	effect->notify.running = record->running;
	effect->notify.workers = record->workers;
}

static void take_call(struct dlsi_session *session, const struct dlsi_call *record)
{
	struct job *job = dlsi_map_get(&session->job_by_id, &record->job);
	struct dlsi_effects *effects = session->link.effects;
	struct dlsi_effect *effect;
	size_t reader;

	if (!job || job->over)
		return;
	reader = dlsi_effects_store(effects, record->reader.data, record->reader.length);
	effect = dlsi_effects_add(effects, DLSI_EFFECT_SERVE);
	effect->job = job->id;
	effect->serve.token = job->token;
	effect->serve.reader = reader;
	effect->serve.reader_length = record->reader.length;
}

static void reply(struct dlsi_session *session, uint64_t number, int code, struct dlsi_text text)
{
	dlsi_link_notify(&session->link, DLSI_NOTICE_REPLY, NULL, code, text)->notify.number = number;
}

/* Removes the number from the commands that wait for an answer; false if it is none of them. */
static bool take_asked(struct dlsi_session *session, uint64_t number)
{
	struct dlsi_numbers asked = dlsi_session_numbers(&session->asked);

	for (uint32_t i = 0; i < asked.count; i++) {
		if (dlsi_numbers_at(&asked, i) != number)
			continue;
		dlsi_put_u64(session->asked.data + 8 * (size_t)i, dlsi_numbers_at(&asked, asked.count - 1));
		session->asked.length -= 8;
		return true;
	}
	return false;
}

static void take_reply(struct dlsi_session *session, const struct dlsi_reply *record)
{
	struct dlsi_text text = {(const char *)record->json.data, record->json.length};

	if (take_asked(session, record->number))
		reply(session, record->number, record->code, text);
	else
		session->link.refused++;
}

static void take_record(
	void *owner, const struct dlsi_message *message, const struct dlsi_record *record, struct dlsi_payload payload)
{
	struct dlsi_session *session = owner;

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
	case DLSI_CALL:
		take_call(session, &record->call);
		break;
	case DLSI_REPLY:
		take_reply(session, &record->reply);
		break;
	case DLSI_REFUSED:
		if (!dlsi_id_is_zero(&record->refused.job)) {
			dlsi_session_refused(session, &record->refused);
			break;
		}
		/* fall through */
	default:
		follow_link(session, dlsi_link_record(&session->link, message, record), record);
		break;
	}
	dlsi_releases_add(&session->link.releases, payload);
}

static void ask(struct dlsi_session *session, const struct dlsi_event *event)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	if (event->command.json.length > DLSI_COMMAND_BYTES) {
		reply(session, event->command.number, DLS_ELIMIT, dlsi_text_of("the command is too long"));
		return;
	}
	dlsi_write_u64(&session->asked, event->command.number);
	session->link.failed |= session->asked.failed;
	if (session->link.state != DLSI_LINK_UP) /* it is answered when the step ends */
		return;
	record.command.number = event->command.number;
	record.command.json = event->command.json;
	dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
}

/* An answer comes over the connection of its question or not at all. */
static void answer_unreached(struct dlsi_session *session)
{
	struct dlsi_numbers asked = dlsi_session_numbers(&session->asked);

	for (uint32_t i = 0; i < asked.count; i++)
		reply(session, dlsi_numbers_at(&asked, i), DLS_EUNREACHABLE,
			dlsi_text_of("there is no connection to a master"));
	dlsi_buffer_clear(&session->asked);
}

static void post_acks(struct dlsi_session *session)
{
	dlsi_list_each (node, &session->dirty)
		dlsi_session_post_ack(session, dlsi_list_entry(node, struct job, dirty));
	session->ack_ns = INT64_MAX;
}

static void end_turn(struct dlsi_session *session)
{
	if (session->link.outbox.records || session->link.now_ns >= session->ack_ns)
		post_acks(session);
	dlsi_link_turn(&session->link);
}

static void end_step(struct dlsi_session *session)
{
	struct dlsi_effects *effects = session->link.effects;
	bool up = session->link.state == DLSI_LINK_UP;

	if (!up)
		answer_unreached(session);
	dlsi_link_end(&session->link);
	if (up && session->retry_ns < effects->deadline_ns)
		effects->deadline_ns = session->retry_ns;
}

void dlsi_session_step(
	struct dlsi_session *session, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_link_begin(&session->link, now_ns, effects);
	switch (event->kind) {
	case DLSI_EVENT_MESSAGE:
		dlsi_link_take(&session->link, event, take_record, session);
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
	case DLSI_EVENT_ATTACH:
		dlsi_session_attach(session, event);
		break;
	case DLSI_EVENT_DETACH:
		dlsi_session_detach(session, event);
		break;
	case DLSI_EVENT_COMMAND:
		ask(session, event);
		break;
	case DLSI_EVENT_STOP:
		post_acks(session);
		dlsi_link_leave(&session->link, "the client ends");
		break;
	case DLSI_EVENT_TURN:
		end_turn(session);
		break;
	case DLSI_EVENT_TIMER:
		dlsi_session_run_retries(session);
		/* fall through */
	default:
		follow_link(session, dlsi_link_event(&session->link, event), NULL);
		break;
	}
	end_step(session);
	if (event->kind == DLSI_EVENT_TURN && session->ack_ns < effects->deadline_ns)
		effects->deadline_ns = session->ack_ns; /* after all other events a turn follows */
}

struct dlsi_session_counts dlsi_session_counts(const struct dlsi_session *session)
{
	return (struct dlsi_session_counts){
		.jobs = session->job_by_id.count,
		.fetches = session->fetch_by_attempt.count,
		.commands = session->asked.length / 8,
		.refused = session->link.refused,
		.refused_transitions = session->link.refused_transitions,
	};
}
