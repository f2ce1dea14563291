/* Answers those who read this process's blobs, each as fast as it takes its answers: the questions of one that takes
 * none wait, or are dropped if they are too many, while others are answered. One thread, the data plane's. */
#ifndef DLSI_SERVER_H
#define DLSI_SERVER_H

#include "base/map.h"
#include "net/offer.h"
#include "net/reader.h"
#include "net/transport.h"
#include "proto/message.h"

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
	size_t question_count;  /* of all */
};

/* Errors: as dlsi_transport_listen. */
int dlsi_server_init(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err);
void dlsi_server_fini(struct dlsi_server *server);

/* What to wait for. */
enum { DLSI_SERVER_POLL = 1 + DLSI_TRANSPORT_POLL };
void dlsi_server_poll_items(const struct dlsi_server *server, zmq_pollitem_t items[DLSI_SERVER_POLL]);

/* Answers what has arrived and what there is room for now, for a bounded time. */
void dlsi_server_step(struct dlsi_server *server);

#endif
