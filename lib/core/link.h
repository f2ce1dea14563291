/* The end of a worker or a client of its connection to a master: registering until it is answered, heartbeats, silence,
 * which cluster it belongs to, and what waits to be said and to be released. The owner adds what is particular to it.
 *
 * After three REGISTERs without an answer the socket is opened anew: a half-open connection would swallow them for
 * ever. */
#ifndef DLSI_LINK_H
#define DLSI_LINK_H

#include "core/event.h"
#include "core/lifecycle.h"
#include "core/outbox.h"
#include "core/releases.h"

struct dlsi_link {
	struct dlsi_effects *effects; /* of the running step */
	int64_t now_ns;
	struct dlsi_outbox outbox;
	struct dlsi_releases releases;
	bool failed; /* memory ran out within a step */

	uint8_t state;          /* enum dlsi_link_state */
	struct dlsi_id cluster; /* of the last WELCOME; zero before the first */
	uint64_t term;
	int64_t heartbeat_ns, timeout_ns; /* as the master asks */
	int64_t heard_ns;
	int64_t due_ns; /* next REGISTER or HEARTBEAT */
	uint64_t received;
	unsigned unanswered; /* REGISTERs */
	uint64_t refused_transitions;
	uint64_t refused; /* messages, records and events that make no sense here */
};

/* What the owner does about an event or a record. */
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

/* Around every step of the owner: afterwards the effects say when to step again, and whether memory ran out. */
void dlsi_link_begin(struct dlsi_link *link, int64_t now_ns, struct dlsi_effects *effects);
void dlsi_link_end(struct dlsi_link *link);

/* CONNECTED, LOST or TIMER. */
enum dlsi_link_news dlsi_link_event(struct dlsi_link *link, const struct dlsi_event *event);

/* MESSAGE: gives the owner each record of a message that is to be heard. The payload is handed over. */
void dlsi_link_take(struct dlsi_link *link, const struct dlsi_event *event,
	void (*take)(void *owner, const struct dlsi_message *message, const struct dlsi_record *record,
		struct dlsi_payload payload),
	void *owner);

/* WELCOME, HEARTBEAT, REFUSED without a job, LEAVE; other records are refused. */
enum dlsi_link_news dlsi_link_record(
	struct dlsi_link *link, const struct dlsi_message *message, const struct dlsi_record *record);

/* REGISTER has been posted: it leaves at once, and is repeated until it is answered. */
void dlsi_link_registered(struct dlsi_link *link);

/* REGISTER, or anything while the link is up: else nobody would hear it. */
void dlsi_link_post(struct dlsi_link *link, const struct dlsi_record *record, struct dlsi_payload payload);

/* A NOTIFY effect for the program; `job` may be NULL. The caller may add to it. */
struct dlsi_effect *dlsi_link_notify(struct dlsi_link *link, enum dlsi_notice notice, const struct dlsi_id *job,
	int code, struct dlsi_text sentence);

/* TURN: sends what waits, then releases. */
void dlsi_link_turn(struct dlsi_link *link);

/* STOP: says LEAVE. */
void dlsi_link_leave(struct dlsi_link *link, const char *reason);

/* The connection is of no use any more: a new socket, and all begins anew. */
enum dlsi_link_news dlsi_link_abandon(struct dlsi_link *link);

#endif
