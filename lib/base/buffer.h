/* A growing run of bytes, for building messages and texts piece by piece.
 *
 * The first append that finds no memory marks the buffer as failed and every later one does nothing, so that a whole
 * message is built without a check per field and `failed` is asked once at the end. Not thread-safe. */
#ifndef DLSI_BUFFER_H
#define DLSI_BUFFER_H

#include "base/alloc.h"
#include <stdbool.h>
#include <stdint.h>

struct dlsi_buffer {
	uint8_t *data;
	size_t length;
	size_t capacity;
	bool failed;
	const struct dlsi_alloc *alloc;
};

void dlsi_buffer_init(struct dlsi_buffer *buffer, const struct dlsi_alloc *alloc);
void dlsi_buffer_fini(struct dlsi_buffer *buffer);

/* Empties it and forgets a failure; keeps the memory. */
void dlsi_buffer_clear(struct dlsi_buffer *buffer);

/* Makes room for `length` more bytes and returns where they go, or NULL (failed). The bytes are uninitialised. */
uint8_t *dlsi_buffer_extend(struct dlsi_buffer *buffer, size_t length);

void dlsi_buffer_append(struct dlsi_buffer *buffer, const void *data, size_t length);
void dlsi_buffer_printf(struct dlsi_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the memory over (to be freed with the buffer's allocator) and leaves the buffer empty. */
uint8_t *dlsi_buffer_take(struct dlsi_buffer *buffer, size_t *length_out);

#endif
