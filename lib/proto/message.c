#include "proto/message.h"

#include "base/limits.h"
#include "proto/bytes.h"
#include <string.h>

#define MAGIC 0x31534c44U /* "DLS1" */

/* Reads one field and moves *at behind it; false if it does not fit before `end` or is over its limit. */
static bool read_field(const struct dlsi_record_field *field, const uint8_t **at, const uint8_t *end, uint8_t *record)
{
	struct dlsi_reader reader = {*at, end, true};
	void *out = record + field->offset;

	switch (field->type) {
	case DLSI_FIELD_U8:
		*(uint8_t *)out = dlsi_read_u8(&reader);
		break;
	case DLSI_FIELD_U16:
	case DLSI_FIELD_FRAMES:
		*(uint16_t *)out = dlsi_read_u16(&reader);
		break;
	case DLSI_FIELD_U32:
		*(uint32_t *)out = dlsi_read_u32(&reader);
		break;
	case DLSI_FIELD_U64:
		*(uint64_t *)out = dlsi_read_u64(&reader);
		break;
	case DLSI_FIELD_ID:
		*(struct dlsi_id *)out = dlsi_read_id(&reader);
		break;
	case DLSI_FIELD_HASH:
		*(struct dlsi_hash *)out = dlsi_read_hash(&reader);
		break;
	case DLSI_FIELD_BLOB:
		*(struct dlsi_blob *)out = dlsi_read_blob(&reader);
		break;
	case DLSI_FIELD_TEXT:
		*(struct dlsi_text *)out = dlsi_read_text(&reader, field->limit);
		break;
	case DLSI_FIELD_BYTES:
		*(struct dlsi_bytes *)out = dlsi_read_bytes(&reader, field->limit);
		break;
	case DLSI_FIELD_NUMBERS:
		*(struct dlsi_numbers *)out = dlsi_read_numbers(&reader, field->limit);
		break;
	}
	*at = reader.at;
	return reader.good;
}

/* Decodes the record at `at`; a sender of an earlier release may end it between two fields. */
static bool read_record(const uint8_t *at, size_t length, struct dlsi_record *record)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(record->kind);
	const uint8_t *end = at + length;

	if (!shape)
		return false;
	for (unsigned i = 0; i < shape->fields && at < end; i++)
		if (!read_field(&shape->field[i], &at, end, (uint8_t *)&record->reg))
			return false;
	return true;
}

/* The kind and length of the record at message->at, NULL if they do not fit; else where its fields begin. */
static const uint8_t *record_header(const struct dlsi_message *message, uint16_t *kind_out, uint32_t *length_out)
{
	struct dlsi_reader reader = {message->at, message->end, true};

	*kind_out = dlsi_read_u16(&reader);
	dlsi_read_u16(&reader);
	*length_out = dlsi_read_u32(&reader);
	return reader.good && *length_out <= (size_t)(reader.end - reader.at) ? reader.at : NULL;
}

bool dlsi_message_next(struct dlsi_message *message, struct dlsi_record *record_out)
{
	const uint8_t *fields;
	uint32_t length;

	if (message->at == message->end)
		return false;
	memset(record_out, 0, sizeof *record_out);
	fields = record_header(message, &record_out->kind, &length);
	if (!fields || !read_record(fields, length, record_out))
		return false;
	message->at = fields + length;
	return true;
}

uint16_t dlsi_record_frames(const struct dlsi_record *record)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(record->kind);

	for (unsigned i = 0; i < shape->fields; i++)
		if (shape->field[i].type == DLSI_FIELD_FRAMES)
			return *(const uint16_t *)((const uint8_t *)&record->reg + shape->field[i].offset);
	return 0;
}

/* Walks all records once, so that later reading cannot fail. */
static int check_records(struct dlsi_message message, struct dls_error *err)
{
	unsigned records = 0, frames = 0;
	struct dlsi_record record;

	while (dlsi_message_next(&message, &record)) {
		uint16_t own = dlsi_record_frames(&record);

		if (own > 1)
			return dlsi_fail(err, DLS_EPROTOCOL, "a %s record claims %u payload frames; it has one at most",
				dlsi_record_shape(record.kind)->name, own);
		records++;
		frames += own;
	}
	if (message.at != message.end)
		return dlsi_fail(err, DLS_EPROTOCOL, "record %u of the message (kind %u) is unknown or malformed",
			records, record.kind);
	if (records != message.records || frames != message.frames)
		return dlsi_fail(err, DLS_EPROTOCOL,
			"the message announces %u records and %u payload frames but its records are %u with %u frames",
			message.records, message.frames, records, frames);
	return 0;
}

int dlsi_message_open(
	const uint8_t *block, size_t length, size_t frames, struct dlsi_message *message_out, struct dls_error *err)
{
	struct dlsi_reader reader = {block, block + length, true};
	struct dlsi_message message = {0};
	uint32_t magic = dlsi_read_u32(&reader), body;
	int rc;

	message.version = dlsi_read_u8(&reader);
	dlsi_read_u8(&reader);
	message.records = dlsi_read_u16(&reader);
	message.frames = dlsi_read_u16(&reader);
	dlsi_read_u16(&reader);
	body = dlsi_read_u32(&reader);
	message.cluster = dlsi_read_id(&reader);
	message.term = dlsi_read_u64(&reader);
	if (!reader.good || magic != MAGIC)
		return dlsi_fail(err, DLS_EPROTOCOL, "%zu bytes that are not a message of this protocol", length);
	if (message.version != DLSI_PROTOCOL_VERSION)
		return dlsi_fail(err, DLS_EVERSION, "a message of protocol version %u; this release speaks %u",
			message.version, DLSI_PROTOCOL_VERSION);
	if (body > DLSI_MESSAGE_BODY_BYTES || message.records > DLSI_MESSAGE_RECORDS ||
		message.frames > DLSI_MESSAGE_FRAMES)
		return dlsi_fail(err, DLS_ELIMIT,
			"a message of %u bytes, %u records and %u payload frames; the limits "
			"are %u, %u and %u",
			body, message.records, message.frames, DLSI_MESSAGE_BODY_BYTES, DLSI_MESSAGE_RECORDS,
			DLSI_MESSAGE_FRAMES);
	if (body != (size_t)(reader.end - reader.at) || message.frames != frames)
		return dlsi_fail(err, DLS_EPROTOCOL,
			"a message announces %u bytes and %u payload frames but has %zu and %zu", body, message.frames,
			(size_t)(reader.end - reader.at), frames);
	message.at = reader.at;
	message.end = reader.end;
	rc = check_records(message, err);
	if (rc == 0)
		*message_out = message;
	return rc;
}

struct dlsi_message_writer dlsi_message_begin(struct dlsi_buffer *buffer, const struct dlsi_id *cluster, uint64_t term)
{
	struct dlsi_message_writer writer = {buffer, buffer->length};

	dlsi_write_u32(buffer, MAGIC);
	dlsi_write_u8(buffer, DLSI_PROTOCOL_VERSION);
	dlsi_write_u8(buffer, 0);
	dlsi_write_u16(buffer, 0);
	dlsi_write_u16(buffer, 0);
	dlsi_write_u16(buffer, 0);
	dlsi_write_u32(buffer, 0);
	dlsi_write_id(buffer, cluster);
	dlsi_write_u64(buffer, term);
	return writer;
}

static void write_field(struct dlsi_buffer *buffer, const struct dlsi_record_field *field, const uint8_t *record)
{
	const void *in = record + field->offset;

	switch (field->type) {
	case DLSI_FIELD_U8:
		dlsi_write_u8(buffer, *(const uint8_t *)in);
		break;
	case DLSI_FIELD_U16:
	case DLSI_FIELD_FRAMES:
		dlsi_write_u16(buffer, *(const uint16_t *)in);
		break;
	case DLSI_FIELD_U32:
		dlsi_write_u32(buffer, *(const uint32_t *)in);
		break;
	case DLSI_FIELD_U64:
		dlsi_write_u64(buffer, *(const uint64_t *)in);
		break;
	case DLSI_FIELD_ID:
		dlsi_write_id(buffer, in);
		break;
	case DLSI_FIELD_HASH:
		dlsi_write_hash(buffer, in);
		break;
	case DLSI_FIELD_BLOB:
		dlsi_write_blob(buffer, in);
		break;
	case DLSI_FIELD_TEXT: {
		const struct dlsi_text *text = in;

		dlsi_write_bytes(buffer, text->data, text->length);
		break;
	}
	case DLSI_FIELD_BYTES: {
		const struct dlsi_bytes *bytes = in;

		dlsi_write_bytes(buffer, bytes->data, bytes->length);
		break;
	}
	case DLSI_FIELD_NUMBERS:
		dlsi_write_numbers(buffer, in);
		break;
	}
}

/* Adds to the counts of the header what one more record brings. */
static void count(struct dlsi_message_writer *writer, uint16_t frames)
{
	uint8_t *header = writer->buffer->data + writer->start;
	struct dlsi_reader reader = {header + 6, header + 10, true};
	uint16_t records = (uint16_t)(dlsi_read_u16(&reader) + 1), all = (uint16_t)(dlsi_read_u16(&reader) + frames);

	dlsi_put_u16(header + 6, records);
	dlsi_put_u16(header + 8, all);
	dlsi_put_u32(header + 12, (uint32_t)(dlsi_message_length(writer) - DLSI_MESSAGE_HEADER_BYTES));
}

void dlsi_message_add(struct dlsi_message_writer *writer, const struct dlsi_record *record)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(record->kind);
	struct dlsi_buffer *buffer = writer->buffer;
	size_t start;

	dlsi_write_u16(buffer, record->kind);
	dlsi_write_u16(buffer, 0);
	dlsi_write_u32(buffer, 0);
	start = buffer->length;
	for (unsigned i = 0; i < shape->fields; i++)
		write_field(buffer, &shape->field[i], (const uint8_t *)&record->reg);
	if (buffer->failed)
		return;
	dlsi_put_u32(buffer->data + start - 4, (uint32_t)(buffer->length - start));
	count(writer, dlsi_record_frames(record));
}

size_t dlsi_message_length(const struct dlsi_message_writer *writer)
{
	return writer->buffer->length - writer->start;
}
