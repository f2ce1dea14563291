/* A payload that is counted, not copied: received from a socket, made from the program's memory, or a part of another.
 * The same frame is sent to many peers and kept by many holders; the bytes never change.
 *
 * Any thread may hold, read, send and release it: the count is atomic. */
#ifndef DLSI_FRAME_H
#define DLSI_FRAME_H

#include "base/alloc.h"
#include <stdint.h>
#include <zmq.h>

struct dlsi_frame;

/* A copy of `length` bytes. NULL when memory is exhausted, here and below. */
struct dlsi_frame *dlsi_frame_copy(const struct dlsi_alloc *alloc, const void *data, size_t length);

/* `length` bytes that the caller writes, before anybody else sees the frame. */
struct dlsi_frame *dlsi_frame_make(const struct dlsi_alloc *alloc, size_t length, uint8_t **bytes_out);

/* The bytes as they are: release(arg, data) is called once, by the thread that drops the last reference; NULL if
 * nothing is to be done. Not called when NULL is returned. */
struct dlsi_frame *dlsi_frame_wrap(const struct dlsi_alloc *alloc, const void *data, size_t length,
	void (*release)(void *arg, const void *data), void *arg);

/* The same of memory that the caller has from `alloc`, and which is the frame's from now on: it is freed with it, or at
 * once when NULL is returned. */
struct dlsi_frame *dlsi_frame_take(const struct dlsi_alloc *alloc, uint8_t *data, size_t length);

/* As dlsi_frame_wrap, but messages borrow the bytes however few they are, so that `release` tells when libzmq is done
 * with them. */
struct dlsi_frame *dlsi_frame_lend(const struct dlsi_alloc *alloc, const void *data, size_t length,
	void (*release)(void *arg, const void *data), void *arg);

/* What a socket has received, moved or, if it is small, copied: the message is still to be closed. */
struct dlsi_frame *dlsi_frame_receive(const struct dlsi_alloc *alloc, zmq_msg_t *message);

/* `length` bytes of another frame, which lie within it and keep it alive. */
struct dlsi_frame *dlsi_frame_part(struct dlsi_frame *whole, size_t offset, size_t length);

/* Returns the frame. */
struct dlsi_frame *dlsi_frame_ref(struct dlsi_frame *frame);

/* NULL is allowed. */
void dlsi_frame_unref(struct dlsi_frame *frame);

const uint8_t *dlsi_frame_data(const struct dlsi_frame *frame);
size_t dlsi_frame_size(const struct dlsi_frame *frame);

/* Makes a message of it that can be sent: from DLSI_INLINE_BYTES on the message borrows the frame's bytes and holds a
 * reference, below them it has a copy, which is cheaper. Errors: DLS_ENOMEM (*message_out is not initialised). */
int dlsi_frame_message(struct dlsi_frame *frame, zmq_msg_t *message_out);

#endif
