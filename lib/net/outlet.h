/* Connections that this process opens to those who read its blobs, because they cannot open one to it: it lies behind a
 * firewall, or says that it does not listen. A reader asks for that (CALL, docs/PROTOCOL.md), the process connects,
 * says which tokens it serves, and answers questions as a server does.
 *
 * At most DLSI_OUTLETS, the one used last is kept longest; one that nobody uses goes after DLSI_OUTLET_IDLE_S. What was
 * said is said again on each connection, for the last DLSI_OUTLET_TOKENS tokens. One thread, the data plane's. */
#ifndef DLSI_OUTLET_H
#define DLSI_OUTLET_H

#include "base/limits.h"
#include "net/server.h"

struct dlsi_outlets {
	const struct dlsi_alloc *alloc;
	void *context;
	struct dlsi_offers *offers; /* borrowed */
	struct dlsi_list list;
	unsigned count;
};

void dlsi_outlets_init(
	struct dlsi_outlets *outlets, const struct dlsi_alloc *alloc, void *context, struct dlsi_offers *offers);
void dlsi_outlets_fini(struct dlsi_outlets *outlets);

/* Lets the reader at this endpoint, a numeric address, read what the token opens. Errors: as dlsi_transport_dial. */
int dlsi_outlets_serve(struct dlsi_outlets *outlets, const char *endpoint, const struct dlsi_id *token, int64_t now_ns,
	struct dls_error *err);

/* What to wait for; returns how many. */
enum { DLSI_OUTLETS_POLL = DLSI_OUTLETS * DLSI_SERVER_POLL };
unsigned dlsi_outlets_poll_items(const struct dlsi_outlets *outlets, zmq_pollitem_t *items);

/* When to step at the latest; INT64_MAX: not before something arrives. */
int64_t dlsi_outlets_due_ns(const struct dlsi_outlets *outlets);

/* Answers what has arrived, for a bounded time, and closes what nobody uses. */
void dlsi_outlets_step(struct dlsi_outlets *outlets, int64_t now_ns);

#endif
