/* All fetches of a process that are under way, and the connections to their holders. One thread, the data plane's.
 *
 * A holder that cannot be connected to within DLSI_REACH_MS may be called (struct dlsi_fetch): it is then to connect to
 * the server of this process, and the fetch goes on over that connection. */
#ifndef DLSI_FETCHER_H
#define DLSI_FETCHER_H

#include "base/limits.h"
#include "net/transfer.h"

struct dlsi_fetcher {
	const struct dlsi_alloc *alloc;
	void *context;
	struct dlsi_offers *offers;    /* of this process; borrowed */
	struct dlsi_transport *server; /* of its server; NULL: it serves nobody */
	int64_t timeout_ns;            /* of a transfer that does not move, and of a holder without users */
	struct dlsi_list active;
	unsigned active_count;
	struct dlsi_list holders;
	unsigned holder_count;

	/* Called for each transfer that has ended, which is then the callee's. It may not call the fetcher. */
	void (*ended)(void *arg, struct dlsi_transfer *transfer, int code, const struct dls_error *err);
	void *arg;
};

void dlsi_fetcher_init(struct dlsi_fetcher *fetcher);

/* No transfer may be active. */
void dlsi_fetcher_fini(struct dlsi_fetcher *fetcher);

/* Takes a transfer that is in no list; fewer than DLSI_FETCHES_AT_ONCE are active. */
void dlsi_fetcher_start(struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int64_t now_ns);

/* Ends an active transfer. */
void dlsi_fetcher_end(
	struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int code, const struct dls_error *err);

/* What to wait for; returns how many. */
enum { DLSI_FETCHER_POLL = DLSI_FETCHER_HOLDERS * DLSI_TRANSPORT_POLL };
unsigned dlsi_fetcher_poll_items(const struct dlsi_fetcher *fetcher, zmq_pollitem_t *items);

/* When to step at the latest; INT64_MAX: not before something arrives. */
int64_t dlsi_fetcher_due_ns(const struct dlsi_fetcher *fetcher);

/* Takes what came over a connection to the server and is no question: answers, and what the peer serves. */
void dlsi_fetcher_hear(struct dlsi_fetcher *fetcher, const struct dlsi_arrival *arrival, int64_t now_ns);

/* That connection has ended. */
void dlsi_fetcher_lose(struct dlsi_fetcher *fetcher, struct dlsi_peer peer, int64_t now_ns);

/* Takes what has arrived, for a bounded time, and ends what has waited too long. */
void dlsi_fetcher_step(struct dlsi_fetcher *fetcher, int64_t now_ns);

#endif
