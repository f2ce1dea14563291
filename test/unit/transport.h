/* Transports in tests: made over any scheme, waited for with a time limit, and raw sockets that behave badly. */
#ifndef DLSI_UNIT_TRANSPORT_H
#define DLSI_UNIT_TRANSPORT_H

#include "net/transport.h"
#include "proto/message.h"
#include <stdbool.h>

/* A transport at or to this endpoint, which must work. */
struct dlsi_transport *unit_listen(void *context, const char *endpoint);
struct dlsi_transport *unit_dial(void *context, const char *endpoint);

/* The next arrival; the test fails if none comes in time. */
struct dlsi_arrival unit_next(struct dlsi_transport *transport);

/* The next arrival, which must be of this kind. */
struct dlsi_arrival unit_expect(struct dlsi_transport *transport, enum dlsi_arrival_kind kind);

/* Drops the frames of an arrival. */
void unit_arrival_release(const struct dlsi_arrival *arrival);

/* Sends a message without frames. */
void unit_say(struct dlsi_transport *transport, struct dlsi_peer peer, const char *text);

/* Sends a message of one record, with the frame if there is one, which stays the caller's. */
void unit_send_record(struct dlsi_transport *transport, struct dlsi_peer peer, const struct dlsi_record *record,
	struct dlsi_frame *frame);

/* The next arrival, which must be such a message; who sent it. */
struct dlsi_peer unit_expect_text(struct dlsi_transport *transport, const char *text);

/* A dialer that is connected and has said its name, and the peer that it is to the listener. */
struct dlsi_transport *unit_join(
	void *context, struct dlsi_transport *listener, const char *name, struct dlsi_peer *peer_out);

/* A socket connected to the tcp or ipc endpoint, without libzmq. */
int unit_connect(const char *endpoint);

/* Writes as far as the other side lets; false when it has closed the connection. */
bool unit_write(int fd, const void *data, size_t length);

/* Whether the other side closes the connection in time. */
bool unit_is_closed(int fd);

#endif
