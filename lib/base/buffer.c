#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dlsi_buffer_init(struct dlsi_buffer *buffer, const struct dlsi_alloc *alloc)
{
	*buffer = (struct dlsi_buffer){.alloc = alloc};
}

void dlsi_buffer_fini(struct dlsi_buffer *buffer)
{
	dlsi_free(buffer->alloc, buffer->data);
	dlsi_buffer_init(buffer, buffer->alloc);
}

void dlsi_buffer_clear(struct dlsi_buffer *buffer)
{
	buffer->length = 0;
	buffer->failed = false;
}

static bool grow(struct dlsi_buffer *buffer, size_t length)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 64;
	uint8_t *grown;

	if (length > SIZE_MAX / 4 || buffer->length > SIZE_MAX / 4)
		return false;
	while (capacity < buffer->length + length)
		capacity *= 2;
	grown = dlsi_realloc(buffer->alloc, buffer->data, capacity);
	if (!grown)
		return false;
	buffer->data = grown;
	buffer->capacity = capacity;
	return true;
}

uint8_t *dlsi_buffer_extend(struct dlsi_buffer *buffer, size_t length)
{
	uint8_t *at;

	if (buffer->failed || (length > buffer->capacity - buffer->length && !grow(buffer, length))) {
		buffer->failed = true;
		return NULL;
	}
	at = buffer->data + buffer->length;
	buffer->length += length;
	return at;
}

void dlsi_buffer_append(struct dlsi_buffer *buffer, const void *data, size_t length)
{
	uint8_t *at;

	if (!length)
		return;
	at = dlsi_buffer_extend(buffer, length);
	if (at)
		memcpy(at, data, length);
}

void dlsi_buffer_printf(struct dlsi_buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;
	uint8_t *at;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	at = length < 0 ? NULL : dlsi_buffer_extend(buffer, (size_t)length + 1);
	if (!at) {
		buffer->failed = true;
		return;
	}
	va_start(arguments, format);
	vsnprintf((char *)at, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->length--; /* the NUL stays behind the text but is not part of it */
}

uint8_t *dlsi_buffer_take(struct dlsi_buffer *buffer, size_t *length_out)
{
	uint8_t *data = buffer->data;

	*length_out = buffer->length;
	dlsi_buffer_init(buffer, buffer->alloc);
	return data;
}
