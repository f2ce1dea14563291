/* The transport port: messages (one block and its payload frames) between this process and its peers, over libzmq.
 *
 * A listener is a ROUTER with many peers; a dialer is a DEALER whose only peer, while there is a connection, is the
 * listener. What a driver can rely on: within one connection messages arrive complete and in order; a connection may
 * break at any moment and lose an unknown tail both ways; a reconnected peer is another peer (core/peer.h). No call
 * waits that does not say so. Whatever strangers send is dropped and counted: too many or too large frames, self-chosen
 * routing ids, messages when the table of peers is full. An empty message is ignored.
 *
 * Facts of libzmq 4.3 that shape it. A ROUTER that cannot deliver drops silently unless MANDATORY; it reports a loss
 * only through the monitor, by a descriptor that the next peer may reuse, hence hints and probes. A DEALER reconnects
 * silently. With a fixed routing id a reconnected peer can be deaf for good, so nobody sets one.
 * A limit of received messages can end the process, so there is none: what waits unread is bounded by what honest peers
 * may have under way, and for others by memory, as is a message of many frames that never ends.
 *
 * One thread at a time. */
#ifndef DLSI_TRANSPORT_H
#define DLSI_TRANSPORT_H

#include "base/error.h"
#include "core/peer.h"
#include "net/frame.h"

struct dlsi_transport;

struct dlsi_transport_config {
	void *context;        /* libzmq's, with one I/O thread: more would mix up the order of the monitor's news */
	const char *endpoint; /* net/endpoint.h; tcp port 0 or * takes any that is free */
	int queue;            /* messages that may wait for one peer; 0: DLSI_PEER_QUEUE */
	int heartbeat_ms;     /* libzmq's own, which sees stopped processes; 0: none */
	int timeout_ms;       /* without a sign of life for so long a connection is closed */
};

/* Binds. Errors: DLS_EADDRESS (in use, not of this machine, does not resolve, not permitted; one sentence says which),
 * DLS_EIO, DLS_ENOMEM. May wait for a name server, as dlsi_transport_dial does. */
int dlsi_transport_listen(const struct dlsi_alloc *alloc, const struct dlsi_transport_config *config,
	struct dlsi_transport **transport_out, struct dls_error *err);

/* Begins to connect and never gives up. Errors: DLS_EADDRESS (does not resolve), DLS_EIO, DLS_ENOMEM. */
int dlsi_transport_dial(const struct dlsi_alloc *alloc, const struct dlsi_transport_config *config,
	struct dlsi_transport **transport_out, struct dls_error *err);

/* Waits until a listener's address is free, as a rule not noticeably. What was sent may go out for linger_ms more,
 * during which the context cannot be terminated. NULL is allowed. */
void dlsi_transport_destroy(struct dlsi_transport *transport, int linger_ms);

/* The same without a wait: a listener's address may be in use for a moment longer. */
void dlsi_transport_abandon(struct dlsi_transport *transport, int linger_ms);

/* The address with the port that was taken. */
const char *dlsi_transport_endpoint(const struct dlsi_transport *transport);

/* What to wait for with zmq_poll, once dlsi_transport_next has nothing more: over inproc the first CONNECTED, also
 * after a reopen, wakes nobody. */
enum { DLSI_TRANSPORT_POLL = 2 };
void dlsi_transport_poll_items(const struct dlsi_transport *transport, zmq_pollitem_t items[DLSI_TRANSPORT_POLL]);

/* The same for a caller that is woken often: plain descriptors to wait for until they can be read, which saves the
 * system calls with which zmq_poll asks every socket. They tell only of what comes after dlsi_transport_next had
 * nothing more, and a send may use that up: nobody may wait for them while something is unread. */
void dlsi_transport_descriptors(const struct dlsi_transport *transport, int fds_out[DLSI_TRANSPORT_POLL]);
bool dlsi_transport_has_unread(struct dlsi_transport *transport);

enum dlsi_arrival_kind {
	DLSI_ARRIVAL_MESSAGE = 1,
	DLSI_ARRIVAL_CONNECTED, /* dialer: a connection is up */
	DLSI_ARRIVAL_LOST,      /* the connection has ended, and the peer is forgotten; over inproc only a send tells */
};

struct dlsi_arrival {
	enum dlsi_arrival_kind kind;
	struct dlsi_peer peer;
	const uint8_t *block; /* MESSAGE: valid until the next call */
	size_t length;
	struct dlsi_frame *
		*frames; /* MESSAGE: each reference is the caller's to drop; the array is valid like the block */
	size_t frame_count;
};

/* 1: something arrived; 0: nothing now; call it until then, or for as long as a turn may last. Errors: DLS_ENOMEM (a
 * message of arrival_out->peer was dropped, so the connection is incomplete: forget the peer, or reopen), DLS_ESTATE
 * (the context was terminated). */
int dlsi_transport_next(struct dlsi_transport *transport, struct dlsi_arrival *arrival_out);

/* Whether the message that was told last came from this machine, as far as its address says. */
bool dlsi_transport_is_from_here(const struct dlsi_transport *transport);

/* Sends a message; the frames stay the caller's. Errors, all without any of it sent: DLS_ELOST (the peer's connection
 * is gone; it is forgotten and no arrival follows), DLS_EBUSY (more than `queue` messages wait for it), DLS_ENOMEM. */
int dlsi_transport_send(struct dlsi_transport *transport, struct dlsi_peer peer, const uint8_t *block, size_t length,
	struct dlsi_frame *const *frames, size_t frame_count);

/* Listener: the peer's slot is free; if it sends again, it is a new peer. An unknown peer is ignored. */
void dlsi_transport_forget(struct dlsi_transport *transport, struct dlsi_peer peer);

/* Dialer: drops the connection with all that waits in it and begins anew with a new socket. The old peer is forgotten
 * and no arrival says so. Errors: DLS_EIO. */
int dlsi_transport_reopen(struct dlsi_transport *transport, struct dls_error *err);

/* Messages that were dropped for one of the reasons above. */
uint64_t dlsi_transport_dropped(const struct dlsi_transport *transport);

#endif
