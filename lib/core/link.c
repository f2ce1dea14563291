#include "core/link.h"

#include "base/clock.h"

#define REGISTER_EVERY_NS    INT64_C(1000000000)
#define REGISTERS_PER_SOCKET 3
#define PERIOD_MAX_NS        (3600 * DLSI_SECOND_NS) /* of what a master asks */

void dlsi_link_init(struct dlsi_link *link, const struct dlsi_alloc *alloc)
{
	*link = (struct dlsi_link){.due_ns = INT64_MAX};
	dlsi_outbox_init(&link->outbox, alloc);
	dlsi_releases_init(&link->releases, alloc);
}

void dlsi_link_fini(struct dlsi_link *link)
{
	dlsi_outbox_fini(&link->outbox);
	dlsi_releases_fini(&link->releases);
}

void dlsi_link_begin(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects)
{
	link->now_ns = now_ns;
	link->effects = effects;
}

void dlsi_link_end(struct dlsi_link *link)
{
	link->effects->deadline_ns = link->due_ns;
	link->effects->failed |= link->failed | link->releases.failed;
}

void dlsi_link_post(struct dlsi_link *link, const struct dlsi_record *record, struct dlsi_payload payload)
{
	dlsi_outbox_post(&link->outbox, &link->cluster, link->term, record, payload, link->effects);
}

struct dlsi_effect *dlsi_link_notify(
	struct dlsi_link *link, enum dlsi_notice notice, const struct dlsi_id *job, int code, struct dlsi_text sentence)
{
	size_t text = dlsi_effects_store(link->effects, sentence.data, sentence.length);
	struct dlsi_effect *effect = dlsi_effects_add(link->effects, DLSI_EFFECT_NOTIFY);

	if (job)
		effect->job = *job;
	effect->notify.notice = notice;
	effect->notify.code = code;
	effect->notify.text = text;
	effect->notify.text_length = sentence.length;
	return effect;
}

void dlsi_link_turn(struct dlsi_link *link)
{
	dlsi_outbox_flush(&link->outbox, link->effects);
	dlsi_releases_flush(&link->releases, link->effects);
}

void dlsi_link_leave(struct dlsi_link *link, const char *reason)
{
	struct dlsi_record record = {.kind = DLSI_LEAVE};

	if (link->state != DLSI_LINK_UP)
		return;
	record.leave.reason = dlsi_text_of(reason);
	dlsi_link_post(link, &record, (struct dlsi_payload){0});
	dlsi_outbox_flush(&link->outbox, link->effects);
}

static bool move(struct dlsi_link *link, enum dlsi_link_state next)
{
	return dlsi_lifecycle_set(DLSI_LIFECYCLE_LINK, &link->state, (uint8_t)next, &link->refused_transitions);
}

void dlsi_link_registered(struct dlsi_link *link)
{
	dlsi_outbox_flush(&link->outbox, link->effects);
	link->outbox.sent = 1;
	link->due_ns = link->now_ns + REGISTER_EVERY_NS;
}

static enum dlsi_link_news connected(struct dlsi_link *link, struct dlsi_peer peer)
{
	if (link->state == DLSI_LINK_REJECTED)
		return DLSI_LINK_NOTHING;
	move(link, DLSI_LINK_REGISTERING);
	dlsi_outbox_connect(&link->outbox, peer);
	link->heard_ns = link->now_ns;
	link->unanswered = 0;
	return DLSI_LINK_REGISTER;
}

static enum dlsi_link_news lose(struct dlsi_link *link)
{
	bool up = link->state == DLSI_LINK_UP;

	if (link->state == DLSI_LINK_REJECTED || link->state == DLSI_LINK_DOWN)
		return DLSI_LINK_NOTHING;
	move(link, DLSI_LINK_DOWN);
	dlsi_outbox_connect(&link->outbox, (struct dlsi_peer){0});
	link->due_ns = INT64_MAX;
	return up ? DLSI_LINK_LOST : DLSI_LINK_NOTHING;
}

/* Counts a message and checks that it is from the cluster of the link. */
static bool is_heard(struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_record *first)
{
	if (link->state == DLSI_LINK_DOWN || link->state == DLSI_LINK_REJECTED)
		return false;
	link->heard_ns = link->now_ns;
	link->received++;
	if (first->kind == DLSI_WELCOME || first->kind == DLSI_REFUSED)
		return true;
	return link->state == DLSI_LINK_UP && dlsi_id_equal(&message->cluster, &link->cluster) &&
	       message->term >= link->term;
}

void dlsi_link_take(struct dlsi_link *link, const struct dlsi_event *event,
	void (*take)(void *owner, const struct dlsi_message *message, const struct dlsi_record *record,
		struct dlsi_payload payload),
	void *owner)
{
	bool ours = dlsi_peer_equal(event->peer, link->outbox.peer), first = true;
	struct dlsi_message message;
	struct dlsi_record record;
	size_t frame = 0;
	int rc = dlsi_message_open(
		event->message.block, event->message.length, event->message.frame_count, &message, NULL);

	link->refused += rc != 0;
	while (ours && rc == 0 && dlsi_message_next(&message, &record)) {
		struct dlsi_payload payload = {0};

		if (first ? !is_heard(link, &message, &record) : link->state != DLSI_LINK_UP)
			break;
		first = false;
		if (dlsi_record_frames(&record))
			payload = event->message.frames[frame++];
		take(owner, &message, &record, payload);
	}
	for (; frame < event->message.frame_count; frame++)
		dlsi_releases_add(&link->releases, event->message.frames[frame]);
}

static int64_t between(uint64_t value, int64_t low, int64_t high)
{
	return value < (uint64_t)low ? low : value > (uint64_t)high ? high : (int64_t)value;
}

static enum dlsi_link_news welcomed(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_welcome *record)
{
	bool moved = !dlsi_id_equal(&link->cluster, &message->cluster);
	bool again = link->state == DLSI_LINK_UP && record->again; /* REGISTER was repeated needlessly */

	if (!moved && message->term < link->term) /* a leader of the past */
		return DLSI_LINK_NOTHING;
	move(link, DLSI_LINK_UP);
	link->cluster = message->cluster;
	link->term = message->term;
	link->heartbeat_ns = between(record->heartbeat_ns, DLSI_MILLISECOND_NS, PERIOD_MAX_NS);
	link->timeout_ns = between(record->timeout_ns, 2 * link->heartbeat_ns, 4 * PERIOD_MAX_NS);
	link->received = 1;
	link->unanswered = 0;
	link->due_ns = link->heard_ns + link->heartbeat_ns;
	if (again && !moved)
		return DLSI_LINK_NOTHING;
	return moved ? DLSI_LINK_MOVED : DLSI_LINK_WELCOMED;
}

enum dlsi_link_news dlsi_link_abandon(struct dlsi_link *link)
{
	enum dlsi_link_news news = lose(link);

	dlsi_effects_add(link->effects, DLSI_EFFECT_RECONNECT);
	return news;
}

static enum dlsi_link_news refused(struct dlsi_link *link, const struct dlsi_refused *record)
{
	if (record->code != DLS_ESTATE && !record->retry_after_ms) {
		move(link, DLSI_LINK_REJECTED);
		link->due_ns = INT64_MAX;
		return DLSI_LINK_REFUSED_FOR_GOOD;
	}
	move(link, DLSI_LINK_REGISTERING);
	dlsi_outbox_connect(&link->outbox, link->outbox.peer); /* what waited would be refused too */
	/* ESTATE: the master has no entry for this connection. Else the timer repeats REGISTER. */
	return record->code == DLS_ESTATE ? DLSI_LINK_REGISTER : DLSI_LINK_NOTHING;
}

enum dlsi_link_news dlsi_link_record(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_record *record)
{
	switch (record->kind) {
	case DLSI_WELCOME:
		return welcomed(link, message, &record->welcome);
	case DLSI_HEARTBEAT:
		return record->heartbeat.sent == link->received ? DLSI_LINK_NOTHING : dlsi_link_abandon(link);
	case DLSI_LEAVE:
		return dlsi_link_abandon(link);
	case DLSI_REFUSED:
		return refused(link, &record->refused);
	default:
		link->refused++;
		return DLSI_LINK_NOTHING;
	}
}

static enum dlsi_link_news heartbeat(struct dlsi_link *link)
{
	struct dlsi_record record = {.kind = DLSI_HEARTBEAT};

	if (link->now_ns - link->due_ns > link->timeout_ns / 2) /* the loop itself was away: nobody could be heard */
		link->heard_ns = link->now_ns;
	if (link->now_ns - link->heard_ns > link->timeout_ns)
		return dlsi_link_abandon(link);
	record.heartbeat.sent = link->outbox.sent + 1;
	record.heartbeat.received = link->received;
	dlsi_link_post(link, &record, (struct dlsi_payload){0});
	link->due_ns = link->now_ns + link->heartbeat_ns;
	return DLSI_LINK_NOTHING;
}

static enum dlsi_link_news timer(struct dlsi_link *link)
{
	if (link->now_ns < link->due_ns)
		return DLSI_LINK_NOTHING;
	if (link->state == DLSI_LINK_UP)
		return heartbeat(link);
	return ++link->unanswered < REGISTERS_PER_SOCKET ? DLSI_LINK_REGISTER : dlsi_link_abandon(link);
}

enum dlsi_link_news dlsi_link_event(struct dlsi_link *link, const struct dlsi_event *event)
{
	switch (event->kind) {
	case DLSI_EVENT_CONNECTED:
		return connected(link, event->peer);
	case DLSI_EVENT_LOST:
		return dlsi_peer_equal(event->peer, link->outbox.peer) ? lose(link) : DLSI_LINK_NOTHING;
	case DLSI_EVENT_TIMER:
		return timer(link);
	default:
		link->refused++;
		return DLSI_LINK_NOTHING;
	}
}
