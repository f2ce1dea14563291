#include "net/frame.h"

#include "base/error.h"
#include "base/handover.h"
#include "base/limits.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct elsewhere {
	const uint8_t *data;
	void (*release)(void *arg, const void *data); /* NULL: nothing is to be done */
	void *arg;
	zmq_msg_t message; /* of libzmq's that `data` points into; else it is not there */
};

/* The bytes of a small message lie in a buffer of libzmq's that they share with others and would keep alive. */
#define COPIED_BYTES 4096

/* A master may have a million of them, each of a few bytes: as few as a small message has begin where the members end.
 * More, or a struct elsewhere, begin behind the structure, where any value may lie. */
struct dlsi_frame {
	const struct dlsi_alloc *alloc;
	uint64_t size : 62;
	uint64_t is_elsewhere : 1;
	uint64_t is_lent : 1; /* whatever its size */
	atomic_uint references;
	uint8_t few[];
};

static struct dlsi_frame *create(const struct dlsi_alloc *alloc, size_t room, size_t size)
{
	struct dlsi_frame *frame = room > SIZE_MAX / 4 ? NULL : dlsi_malloc(alloc, sizeof *frame + room);

	if (!frame)
		return NULL;
	frame->alloc = alloc;
	frame->size = size;
	frame->is_elsewhere = frame->is_lent = false;
	atomic_init(&frame->references, 1);
	return frame;
}

static struct elsewhere *elsewhere(struct dlsi_frame *frame)
{
	return (struct elsewhere *)(frame + 1);
}

static uint8_t *own(struct dlsi_frame *frame)
{
	return frame->size <= COPIED_BYTES ? frame->few : (uint8_t *)(frame + 1);
}

static struct dlsi_frame *create_own(const struct dlsi_alloc *alloc, size_t length)
{
	size_t spared = length <= COPIED_BYTES ? sizeof(struct dlsi_frame) - offsetof(struct dlsi_frame, few) : 0;

	return create(alloc, length > spared ? length - spared : 0, length);
}

struct dlsi_frame *dlsi_frame_copy(const struct dlsi_alloc *alloc, const void *data, size_t length)
{
	struct dlsi_frame *frame = create_own(alloc, length);

	if (frame && length)
		memcpy(own(frame), data, length);
	return frame;
}

struct dlsi_frame *dlsi_frame_make(const struct dlsi_alloc *alloc, size_t length, uint8_t **bytes_out)
{
	struct dlsi_frame *frame = create_own(alloc, length);

	if (frame)
		*bytes_out = own(frame);
	return frame;
}

struct dlsi_frame *dlsi_frame_wrap(const struct dlsi_alloc *alloc, const void *data, size_t length,
	void (*release)(void *arg, const void *data), void *arg)
{
	struct dlsi_frame *frame = create(alloc, offsetof(struct elsewhere, message), length);

	if (!frame)
		return NULL;
	frame->is_elsewhere = true;
	elsewhere(frame)->data = data;
	elsewhere(frame)->release = release;
	elsewhere(frame)->arg = arg;
	return frame;
}

static void free_bytes(void *alloc, const void *data)
{
	dlsi_free(alloc, (void *)(uintptr_t)data);
}

struct dlsi_frame *dlsi_frame_take(const struct dlsi_alloc *alloc, uint8_t *data, size_t length)
{
	struct dlsi_frame *frame = dlsi_frame_wrap(alloc, data, length, free_bytes, (void *)(uintptr_t)alloc);

	if (!frame)
		dlsi_free(alloc, data);
	return frame;
}

struct dlsi_frame *dlsi_frame_lend(const struct dlsi_alloc *alloc, const void *data, size_t length,
	void (*release)(void *arg, const void *data), void *arg)
{
	struct dlsi_frame *frame = dlsi_frame_wrap(alloc, data, length, release, arg);

	if (frame)
		frame->is_lent = true;
	return frame;
}

static void close_message(void *arg, const void *data)
{
	(void)data;
	zmq_msg_close(arg);
}

struct dlsi_frame *dlsi_frame_receive(const struct dlsi_alloc *alloc, zmq_msg_t *message)
{
	struct dlsi_frame *frame;
	zmq_msg_t *kept;

	dlsi_handover_take(zmq_msg_data(message));
	if (zmq_msg_size(message) <= COPIED_BYTES)
		return dlsi_frame_copy(alloc, zmq_msg_data(message), zmq_msg_size(message));
	frame = create(alloc, sizeof(struct elsewhere), zmq_msg_size(message));
	if (!frame)
		return NULL;
	frame->is_elsewhere = true;
	kept = &elsewhere(frame)->message;
	zmq_msg_init(kept);
	zmq_msg_move(kept, message);
	elsewhere(frame)->data = zmq_msg_data(kept);
	elsewhere(frame)->release = close_message;
	elsewhere(frame)->arg = kept;
	return frame;
}

static void drop_whole(void *arg, const void *data)
{
	(void)data;
	dlsi_frame_unref(arg);
}

struct dlsi_frame *dlsi_frame_part(struct dlsi_frame *whole, size_t offset, size_t length)
{
	struct dlsi_frame *part =
		dlsi_frame_wrap(whole->alloc, dlsi_frame_data(whole) + offset, length, drop_whole, whole);

	if (part)
		dlsi_frame_ref(whole);
	return part;
}

struct dlsi_frame *dlsi_frame_ref(struct dlsi_frame *frame)
{
	atomic_fetch_add_explicit(&frame->references, 1, memory_order_relaxed);
	return frame;
}

void dlsi_frame_unref(struct dlsi_frame *frame)
{
	/* What other threads did with the bytes happens before their memory is given back. */
	if (!frame || atomic_fetch_sub_explicit(&frame->references, 1, memory_order_acq_rel) > 1)
		return;
	if (frame->is_elsewhere && elsewhere(frame)->release)
		elsewhere(frame)->release(elsewhere(frame)->arg, elsewhere(frame)->data);
	dlsi_free(frame->alloc, frame);
}

const uint8_t *dlsi_frame_data(const struct dlsi_frame *frame)
{
	struct dlsi_frame *mutable = (struct dlsi_frame *)(uintptr_t)frame;

	return frame->is_elsewhere ? elsewhere(mutable)->data : own(mutable);
}

size_t dlsi_frame_size(const struct dlsi_frame *frame)
{
	return frame->size;
}

static void drop_sent(void *data, void *arg)
{
	(void)data;
	dlsi_handover_take(arg);
	dlsi_frame_unref(arg);
}

int dlsi_frame_message(struct dlsi_frame *frame, zmq_msg_t *message_out)
{
	if (frame->is_lent || frame->size >= DLSI_INLINE_BYTES) {
		void *data = (void *)(uintptr_t)dlsi_frame_data(frame); /* libzmq only reads it */

		if (zmq_msg_init_data(message_out, data, frame->size, drop_sent, frame))
			return DLS_ENOMEM;
		dlsi_frame_ref(frame);
		dlsi_handover_give(frame);
		dlsi_handover_give(data);
		return 0;
	}
	if (zmq_msg_init_size(message_out, frame->size))
		return DLS_ENOMEM;
	if (frame->size)
		memcpy(zmq_msg_data(message_out), dlsi_frame_data(frame), frame->size);
	dlsi_handover_give(zmq_msg_data(message_out));
	return 0;
}
