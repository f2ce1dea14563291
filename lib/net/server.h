/* Answers those who read this process's blobs, each as fast as it takes its answers: the questions of one that takes
 * none wait, or are dropped if they are too many, while others are answered. One thread, the data plane's. */
#ifndef DLSI_SERVER_H
#define DLSI_SERVER_H

#include "base/map.h"
#include "net/offer.h"
#include "net/reader.h"
#include "net/transport.h"
#include "proto/message.h"

/* What else happens on its connections. */
struct dlsi_server_owner {
	/* A message with something that is no question; the frames stay the server's. NULL: nobody listens. */
	void (*hear)(void *arg, const struct dlsi_arrival *arrival);

	void (*meet)(void *arg, struct dlsi_peer peer); /* one that dials has a connection */
	void (*lose)(void *arg, struct dlsi_peer peer); /* a connection has ended */
	void *arg;
};

struct dlsi_server {
	const struct dlsi_alloc *alloc;
	struct dlsi_transport *transport;
	struct dlsi_offers *offers; /* borrowed */
	struct dlsi_buffer message; /* the answer being written */
	struct dlsi_backlog *backlog;
	struct dlsi_list readers; /* all that have ever asked over their connection */
	struct dlsi_list waiting; /* those with questions, in the order of their turns */
	struct dlsi_map reader_by_peer;
	struct dlsi_id witness; /* net/direct.h */
	size_t question_count;  /* of all that wait */
	uint64_t questions;     /* ever asked */
	struct dlsi_server_owner owner;
};

/* Serves whoever connects to the endpoint. The caller fills in the owner. Errors: as dlsi_transport_listen. */
int dlsi_server_listen(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err);

/* Serves the one reader that it connects to, again and again. Errors: as dlsi_transport_dial. */
int dlsi_server_dial(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err);
void dlsi_server_fini(struct dlsi_server *server);

/* What to wait for. */
enum { DLSI_SERVER_POLL = 1 + DLSI_TRANSPORT_POLL };
void dlsi_server_poll_items(const struct dlsi_server *server, zmq_pollitem_t items[DLSI_SERVER_POLL]);

/* Says something of its own. Errors: as dlsi_transport_send. */
int dlsi_server_say(struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_record *record);

/* Answers what has arrived and what there is room for now, for a bounded time. */
void dlsi_server_step(struct dlsi_server *server);

#endif
