/* Bytes that were given to libzmq for a peer and have not left this process yet: what a peer that takes nothing costs.
 *
 * A frame that counts is one more view of its bytes and is counted until libzmq lets go of it, on whatever thread that
 * is. Backlogs of single peers add to one of the whole, which has a descriptor that tells of room. Counts and
 * references are atomic; the rest belongs to the thread that sends. */
#ifndef DLSI_BACKLOG_H
#define DLSI_BACKLOG_H

#include "base/error.h"
#include "net/frame.h"
#include <stdbool.h>

struct dlsi_backlog;

/* The backlog of all. Errors: DLS_EIO (no descriptor), DLS_ENOMEM. */
int dlsi_backlog_create(const struct dlsi_alloc *alloc, struct dlsi_backlog **whole_out, struct dls_error *err);

/* The backlog of one; NULL when memory is exhausted. */
struct dlsi_backlog *dlsi_backlog_of_peer(struct dlsi_backlog *whole);

/* Drops the creator's reference; every frame that counts holds one more. NULL is allowed. */
void dlsi_backlog_unref(struct dlsi_backlog *backlog);

/* Whether `length` more bytes may be sent to a peer. It may have up to DLSI_SERVED_PEER_BYTES; once half of
 * DLSI_SERVED_BYTES is taken, by those who take nothing, each may have one message at a time. */
bool dlsi_backlog_has_room(const struct dlsi_backlog *peer, size_t length);

/* A frame with the bytes of `frame` that counts for a peer; NULL when memory is exhausted. */
struct dlsi_frame *dlsi_backlog_count(struct dlsi_backlog *peer, struct dlsi_frame *frame);

/* The descriptor of the whole can be read once there may be room that was asked for; asking resets it. Who finds no
 * room after asking is told. */
int dlsi_backlog_descriptor(const struct dlsi_backlog *whole);
void dlsi_backlog_ask(struct dlsi_backlog *whole);

#endif
