/* The connection of a worker or a client to its master: registering until it is answered, heartbeats, silence, and
 * which cluster it belongs to. The owner adds what is particular to it.
 *
 * After three REGISTERs without an answer the socket is opened anew: a half-open connection would swallow them for
 * ever. */
#ifndef DLSI_LINK_H
#define DLSI_LINK_H

#include "core/lifecycle.h"
#include "core/outbox.h"

struct dlsi_link {
	struct dlsi_outbox outbox;
	uint8_t state;          /* enum dlsi_link_state */
	struct dlsi_id cluster; /* of the last WELCOME; zero before the first */
	uint64_t term;
	int64_t heartbeat_ns, timeout_ns; /* as the master asks */
	int64_t heard_ns;
	int64_t due_ns; /* next REGISTER or HEARTBEAT */
	uint64_t received;
	unsigned unanswered; /* REGISTERs */
	uint64_t refused_transitions;
};

/* What the owner does about a message or a moment. */
enum dlsi_link_news {
	DLSI_LINK_NOTHING,
	DLSI_LINK_REGISTER, /* post REGISTER, then call dlsi_link_registered */
	DLSI_LINK_WELCOMED, /* registered with the cluster it knows */
	DLSI_LINK_MOVED,    /* registered with another cluster, or for the first time */
	DLSI_LINK_LOST,
	DLSI_LINK_REFUSED_FOR_GOOD,
};

void dlsi_link_init(struct dlsi_link *link, const struct dlsi_alloc *alloc);
void dlsi_link_fini(struct dlsi_link *link);

void dlsi_link_post(struct dlsi_link *link, const struct dlsi_record *record, struct dlsi_payload payload,
	struct dlsi_effects *effects);

/* REGISTER has been posted: it leaves alone, and is repeated until it is answered. */
void dlsi_link_registered(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects);

enum dlsi_link_news dlsi_link_connected(struct dlsi_link *link, struct dlsi_peer peer, int64_t now_ns);
enum dlsi_link_news dlsi_link_lost(struct dlsi_link *link);

/* Counts a message and checks that it is from the cluster of the link; false: pass it over. */
bool dlsi_link_heard(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_record *first, int64_t now_ns);

/* WELCOME, HEARTBEAT, REFUSED without a job, LEAVE. */
enum dlsi_link_news dlsi_link_record(struct dlsi_link *link, const struct dlsi_message *message,
	const struct dlsi_record *record, int64_t now_ns, struct dlsi_effects *effects);

/* The deadline came, or may have. */
enum dlsi_link_news dlsi_link_timer(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects);

/* When to call it next. */
int64_t dlsi_link_deadline(const struct dlsi_link *link);

#endif
