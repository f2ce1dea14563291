#include "core/link.h"

#include "base/clock.h"

#define REGISTER_EVERY_NS    INT64_C(1000000000)
#define REGISTERS_PER_SOCKET 3
#define PERIOD_MAX_NS        (3600 * DLSI_SECOND_NS) /* of what a master asks */

void dlsi_link_init(struct dlsi_link *link, const struct dlsi_alloc *alloc)
{
	*link = (struct dlsi_link){.due_ns = INT64_MAX};
	dlsi_outbox_init(&link->outbox, alloc);
}

void dlsi_link_fini(struct dlsi_link *link)
{
	dlsi_outbox_fini(&link->outbox);
}

static bool move(struct dlsi_link *link, enum dlsi_link_state next)
{
	return dlsi_lifecycle_set(DLSI_LIFECYCLE_LINK, &link->state, (uint8_t)next, &link->refused_transitions);
}

void dlsi_link_post(struct dlsi_link *link, const struct dlsi_record *record, struct dlsi_payload payload,
	struct dlsi_effects *effects)
{
	dlsi_outbox_post(&link->outbox, &link->cluster, link->term, record, payload, effects);
}

void dlsi_link_registered(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects)
{
	dlsi_outbox_flush(&link->outbox, effects);
	link->outbox.sent = 1;
	link->due_ns = now_ns + REGISTER_EVERY_NS;
}

enum dlsi_link_news dlsi_link_connected(struct dlsi_link *link, struct dlsi_peer peer, int64_t now_ns)
{
	if (link->state == DLSI_LINK_REJECTED || !move(link, DLSI_LINK_REGISTERING))
		return DLSI_LINK_NOTHING;
	dlsi_outbox_connect(&link->outbox, peer);
	link->heard_ns = now_ns;
	link->unanswered = 0;
	return DLSI_LINK_REGISTER;
}

enum dlsi_link_news dlsi_link_lost(struct dlsi_link *link)
{
	bool up = link->state == DLSI_LINK_UP;

	if (link->state == DLSI_LINK_REJECTED || link->state == DLSI_LINK_DOWN)
		return DLSI_LINK_NOTHING;
	move(link, DLSI_LINK_DOWN);
	dlsi_outbox_connect(&link->outbox, (struct dlsi_peer){0});
	link->due_ns = INT64_MAX;
	return up ? DLSI_LINK_LOST : DLSI_LINK_NOTHING;
}

bool dlsi_link_heard(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_record *first, int64_t now_ns)
{
	if (link->state == DLSI_LINK_DOWN || link->state == DLSI_LINK_REJECTED)
		return false;
	link->heard_ns = now_ns;
	link->received++;
	if (first->kind == DLSI_WELCOME || first->kind == DLSI_REFUSED)
		return true;
	return link->state == DLSI_LINK_UP && dlsi_id_equal(&message->cluster, &link->cluster) &&
	       message->term >= link->term;
}

static int64_t between(uint64_t value, int64_t low, int64_t high)
{
	return value < (uint64_t)low ? low : value > (uint64_t)high ? high : (int64_t)value;
}

static enum dlsi_link_news welcomed(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_welcome *record)
{
	bool moved = !dlsi_id_equal(&link->cluster, &message->cluster);
	bool again = link->state == DLSI_LINK_UP; /* the answer to a REGISTER that was repeated needlessly */

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

/* The connection is of no use any more: a new socket, and all begins anew. */
static enum dlsi_link_news abandon(struct dlsi_link *link, struct dlsi_effects *effects)
{
	enum dlsi_link_news news = dlsi_link_lost(link);

	dlsi_effects_add(effects, DLSI_EFFECT_RECONNECT);
	return news;
}

static enum dlsi_link_news refused(struct dlsi_link *link, const struct dlsi_refused *record)
{
	if (record->code == DLS_ESTATE) { /* the master has no entry for this connection */
		move(link, DLSI_LINK_REGISTERING);
		return DLSI_LINK_REGISTER;
	}
	if (record->retry_after_ms) {
		move(link, DLSI_LINK_REGISTERING);
		return DLSI_LINK_NOTHING;
	}
	move(link, DLSI_LINK_REJECTED);
	link->due_ns = INT64_MAX;
	return DLSI_LINK_REFUSED_FOR_GOOD;
}

enum dlsi_link_news dlsi_link_record(struct dlsi_link *link, const struct dlsi_message *message,
	const struct dlsi_record *record, int64_t now_ns, struct dlsi_effects *effects)
{
	switch (record->kind) {
	case DLSI_WELCOME:
		link->heard_ns = now_ns;
		return welcomed(link, message, &record->welcome);
	case DLSI_HEARTBEAT:
		return record->heartbeat.sent == link->received ? DLSI_LINK_NOTHING : abandon(link, effects);
	case DLSI_LEAVE:
		return abandon(link, effects);
	case DLSI_REFUSED:
		return refused(link, &record->refused);
	default:
		return DLSI_LINK_NOTHING;
	}
}

static enum dlsi_link_news heartbeat(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects)
{
	struct dlsi_record record = {.kind = DLSI_HEARTBEAT};

	if (now_ns - link->due_ns > link->timeout_ns / 2) /* the loop itself was away: nobody could be heard */
		link->heard_ns = now_ns;
	if (now_ns - link->heard_ns > link->timeout_ns)
		return abandon(link, effects);
	record.heartbeat.sent = link->outbox.sent + 1;
	record.heartbeat.received = link->received;
	dlsi_link_post(link, &record, (struct dlsi_payload){0}, effects);
	link->due_ns = now_ns + link->heartbeat_ns;
	return DLSI_LINK_NOTHING;
}

enum dlsi_link_news dlsi_link_timer(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects)
{
	if (now_ns < link->due_ns)
		return DLSI_LINK_NOTHING;
	if (link->state == DLSI_LINK_UP)
		return heartbeat(link, now_ns, effects);
	if (link->state != DLSI_LINK_REGISTERING)
		return DLSI_LINK_NOTHING;
	return ++link->unanswered < REGISTERS_PER_SOCKET ? DLSI_LINK_REGISTER : abandon(link, effects);
}

int64_t dlsi_link_deadline(const struct dlsi_link *link)
{
	return link->due_ns;
}
