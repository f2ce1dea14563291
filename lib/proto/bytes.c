#include "proto/bytes.h"

#include <endian.h>
#include <string.h>

const uint8_t *dlsi_read_raw(struct dlsi_reader *reader, uint64_t length)
{
	const uint8_t *at = reader->at;

	if (!reader->good || length > (uint64_t)(reader->end - at)) {
		reader->good = false;
		return NULL;
	}
	reader->at += length;
	return at;
}

uint8_t dlsi_read_u8(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, 1);

	return at ? *at : 0;
}

uint16_t dlsi_read_u16(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, sizeof(uint16_t));
	uint16_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return le16toh(value);
}

uint32_t dlsi_read_u32(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return le32toh(value);
}

uint64_t dlsi_read_u64(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return le64toh(value);
}

struct dlsi_id dlsi_read_id(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, DLSI_ID_BYTES);
	struct dlsi_id id = {{0}};

	if (at)
		memcpy(id.bytes, at, sizeof id.bytes);
	return id;
}

struct dlsi_hash dlsi_read_hash(struct dlsi_reader *reader)
{
	const uint8_t *at = dlsi_read_raw(reader, DLSI_HASH_BYTES);
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
	at = dlsi_read_raw(reader, length);
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
	at = dlsi_read_raw(reader, 8 * (uint64_t)count);
	return at ? (struct dlsi_numbers){at, count} : (struct dlsi_numbers){0};
}

void dlsi_put_u16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof value);
}

void dlsi_put_u32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof value);
}

void dlsi_put_u64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof value);
}

void dlsi_write_u8(struct dlsi_buffer *buffer, uint8_t value)
{
	dlsi_buffer_append(buffer, &value, sizeof value);
}

void dlsi_write_u16(struct dlsi_buffer *buffer, uint16_t value)
{
	value = htole16(value);
	dlsi_buffer_append(buffer, &value, sizeof value);
}

void dlsi_write_u32(struct dlsi_buffer *buffer, uint32_t value)
{
	value = htole32(value);
	dlsi_buffer_append(buffer, &value, sizeof value);
}

void dlsi_write_u64(struct dlsi_buffer *buffer, uint64_t value)
{
	value = htole64(value);
	dlsi_buffer_append(buffer, &value, sizeof value);
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
