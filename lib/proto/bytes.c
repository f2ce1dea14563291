#include "proto/bytes.h"

#include <string.h>

/* The next `length` bytes, or NULL if they do not fit. */
static const uint8_t *take(struct dlsi_reader *reader, uint64_t length)
{
	const uint8_t *at = reader->at;

	if (!reader->good || length > (uint64_t)(reader->end - at)) {
		reader->good = false;
		return NULL;
	}
	reader->at += length;
	return at;
}

static uint64_t little_endian(struct dlsi_reader *reader, unsigned bytes)
{
	const uint8_t *at = take(reader, bytes);
	uint64_t value = 0;

	while (at && bytes--)
		value = value << 8 | at[bytes];
	return value;
}

uint8_t dlsi_read_u8(struct dlsi_reader *reader)
{
	return (uint8_t)little_endian(reader, 1);
}

uint16_t dlsi_read_u16(struct dlsi_reader *reader)
{
	return (uint16_t)little_endian(reader, 2);
}

uint32_t dlsi_read_u32(struct dlsi_reader *reader)
{
	return (uint32_t)little_endian(reader, 4);
}

uint64_t dlsi_read_u64(struct dlsi_reader *reader)
{
	return little_endian(reader, 8);
}

struct dlsi_id dlsi_read_id(struct dlsi_reader *reader)
{
	const uint8_t *at = take(reader, DLSI_ID_BYTES);
	struct dlsi_id id = {{0}};

	if (at)
		memcpy(id.bytes, at, sizeof id.bytes);
	return id;
}

struct dlsi_hash dlsi_read_hash(struct dlsi_reader *reader)
{
	const uint8_t *at = take(reader, DLSI_HASH_BYTES);
	struct dlsi_hash hash = {{0}};

	if (at)
		memcpy(hash.bytes, at, sizeof hash.bytes);
	return hash;
}

struct dlsi_blob dlsi_read_blob(struct dlsi_reader *reader)
{
	struct dlsi_blob blob;

	blob.name = dlsi_read_hash(reader);
	blob.length = dlsi_read_u64(reader);
	blob.proof = dlsi_read_u8(reader);
	return blob;
}

struct dlsi_bytes dlsi_read_bytes(struct dlsi_reader *reader, uint32_t limit)
{
	uint32_t length = dlsi_read_u32(reader);
	const uint8_t *at;

	if (length > limit)
		reader->good = false;
	at = take(reader, length);
	return at ? (struct dlsi_bytes){at, length} : (struct dlsi_bytes){0};
}

struct dlsi_text dlsi_read_text(struct dlsi_reader *reader, uint32_t limit)
{
	struct dlsi_bytes bytes = dlsi_read_bytes(reader, limit);

	return (struct dlsi_text){(const char *)bytes.data, bytes.length};
}

struct dlsi_numbers dlsi_read_numbers(struct dlsi_reader *reader, uint32_t limit)
{
	uint32_t count = dlsi_read_u32(reader);
	const uint8_t *at;

	if (count > limit)
		reader->good = false;
	at = take(reader, 8 * (uint64_t)count);
	return at ? (struct dlsi_numbers){at, count} : (struct dlsi_numbers){0};
}

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; at && i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

void dlsi_put_u16(uint8_t *at, uint16_t value)
{
	put(at, value, 2);
}

void dlsi_put_u32(uint8_t *at, uint32_t value)
{
	put(at, value, 4);
}

void dlsi_put_u64(uint8_t *at, uint64_t value)
{
	put(at, value, 8);
}

void dlsi_write_u8(struct dlsi_buffer *buffer, uint8_t value)
{
	put(dlsi_buffer_extend(buffer, 1), value, 1);
}

void dlsi_write_u16(struct dlsi_buffer *buffer, uint16_t value)
{
	put(dlsi_buffer_extend(buffer, 2), value, 2);
}

void dlsi_write_u32(struct dlsi_buffer *buffer, uint32_t value)
{
	put(dlsi_buffer_extend(buffer, 4), value, 4);
}

void dlsi_write_u64(struct dlsi_buffer *buffer, uint64_t value)
{
	put(dlsi_buffer_extend(buffer, 8), value, 8);
}

void dlsi_write_id(struct dlsi_buffer *buffer, const struct dlsi_id *id)
{
	dlsi_buffer_append(buffer, id->bytes, sizeof id->bytes);
}

void dlsi_write_hash(struct dlsi_buffer *buffer, const struct dlsi_hash *hash)
{
	dlsi_buffer_append(buffer, hash->bytes, sizeof hash->bytes);
}

void dlsi_write_blob(struct dlsi_buffer *buffer, const struct dlsi_blob *blob)
{
	dlsi_write_hash(buffer, &blob->name);
	dlsi_write_u64(buffer, blob->length);
	dlsi_write_u8(buffer, blob->proof);
}

void dlsi_write_bytes(struct dlsi_buffer *buffer, const void *data, uint32_t length)
{
	dlsi_write_u32(buffer, length);
	dlsi_buffer_append(buffer, data, length);
}

void dlsi_write_numbers(struct dlsi_buffer *buffer, const struct dlsi_numbers *numbers)
{
	dlsi_write_u32(buffer, numbers->count);
	dlsi_buffer_append(buffer, numbers->data, 8 * (size_t)numbers->count);
}
