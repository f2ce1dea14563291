/* Answers those who read this process's blobs. One thread, the data plane's. */
#ifndef DLSI_SERVER_H
#define DLSI_SERVER_H

#include "net/offer.h"
#include "net/transport.h"
#include "proto/message.h"

struct dlsi_server {
	struct dlsi_transport *transport;
	struct dlsi_offers *offers; /* borrowed */
	struct dlsi_buffer message; /* the answer being written */
};

/* Errors: as dlsi_transport_listen. */
int dlsi_server_init(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err);
void dlsi_server_fini(struct dlsi_server *server);

/* Answers what has arrived, for a bounded time. */
void dlsi_server_step(struct dlsi_server *server);

#endif
