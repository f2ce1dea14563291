#include "proto/message.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "proto/bytes.h"
#include <string.h>

#define MAGIC       0x31534c44U /* "DLS1" */
#define COUNT_BYTES sizeof(uint32_t)
#define BLOB_BYTES  (DLSI_HASH_BYTES + 8 + 1)

/* Bytes of a field by its type; of those that begin with a count, bytes of what is counted. */
static const uint8_t sizes[] = {
	[DLSI_FIELD_U8] = 1,
	[DLSI_FIELD_U16] = 2,
	[DLSI_FIELD_U32] = 4,
	[DLSI_FIELD_U64] = 8,
	[DLSI_FIELD_ID] = DLSI_ID_BYTES,
	[DLSI_FIELD_BLOB] = BLOB_BYTES,
	[DLSI_FIELD_TEXT] = 1,
	[DLSI_FIELD_BYTES] = 1,
	[DLSI_FIELD_NUMBERS] = 8,
	[DLSI_FIELD_HASH] = DLSI_HASH_BYTES,
	[DLSI_FIELD_FRAMES] = 2,
};

static bool is_counted(const struct dlsi_record_field *field)
{
	return field->type == DLSI_FIELD_TEXT || field->type == DLSI_FIELD_BYTES || field->type == DLSI_FIELD_NUMBERS;
}

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

/* UTF-8 without a NUL. */
static bool is_text(const uint8_t *at, size_t length)
{
	uint32_t code = 1;
	size_t bytes;

	for (; length && code; at += bytes, length -= bytes) {
		code = *at;
		bytes = code < 0x80 ? 1 : dlsi_utf8_next(at, length, &code);
		if (!bytes)
			return false;
	}
	return code != 0;
}

/* Moves the reader behind a field; not good if the field is cut, over its limit, or no text where one must be. */
static void skip_field(struct dlsi_reader *reader, const struct dlsi_record_field *field)
{
	uint64_t length = sizes[field->type];
	const uint8_t *at;

	if (is_counted(field)) {
		uint32_t count = dlsi_read_u32(reader);

		reader->good &= count <= field->limit;
		length *= count;
	}
	at = dlsi_read_raw(reader, length);
	if (at && field->type == DLSI_FIELD_TEXT)
		reader->good &= is_text(at, (size_t)length);
}

/* Moves the message behind its next record, which has *frames_out payload frames. False if it is unknown or malformed.
 */
static bool skip_record(struct dlsi_message *message, uint16_t *kind_out, uint16_t *frames_out)
{
	uint32_t length;
	const uint8_t *fields = record_header(message, kind_out, &length);
	const struct dlsi_record_shape *shape = dlsi_record_shape(*kind_out);
	struct dlsi_reader reader = {fields, fields + length, fields && shape};

	*frames_out = 0;
	for (unsigned i = 0; reader.good && i < shape->fields && reader.at < reader.end; i++) {
		struct dlsi_reader ahead = reader;

		if (shape->field[i].type == DLSI_FIELD_FRAMES)
			*frames_out = dlsi_read_u16(&ahead);
		skip_field(&reader, &shape->field[i]);
	}
	if (reader.good)
		message->at = fields + length;
	return reader.good;
}

/* Walks all records once, so that later reading cannot fail. */
static int check_records(struct dlsi_message message, struct dls_error *err)
{
	unsigned records = 0, frames = 0;
	uint16_t kind, own;

	for (; message.at != message.end; records++, frames += own) {
		if (!skip_record(&message, &kind, &own))
			return dlsi_fail(err, DLS_EPROTOCOL,
				"record %u of the message (kind %u) is unknown or malformed", records, kind);
		if (own > 1)
			return dlsi_fail(err, DLS_EPROTOCOL, "a %s record claims %u payload frames; it has one at most",
				dlsi_record_shape(kind)->name, own);
	}
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

static size_t field_bytes(const struct dlsi_record_field *field, const uint8_t *record)
{
	const void *in = record + field->offset;

	switch (field->type) {
	case DLSI_FIELD_TEXT:
		return COUNT_BYTES + ((const struct dlsi_text *)in)->length;
	case DLSI_FIELD_BYTES:
		return COUNT_BYTES + ((const struct dlsi_bytes *)in)->length;
	case DLSI_FIELD_NUMBERS:
		return COUNT_BYTES + 8 * (size_t)((const struct dlsi_numbers *)in)->count;
	default:
		return sizes[field->type];
	}
}

static void put_counted(uint8_t *at, const void *data, uint32_t count, size_t bytes)
{
	dlsi_put_u32(at, count);
	if (bytes)
		memcpy(at + COUNT_BYTES, data, bytes);
}

static void put_blob(uint8_t *at, const struct dlsi_blob *blob)
{
	memcpy(at, blob->name.bytes, DLSI_HASH_BYTES);
	dlsi_put_u64(at + DLSI_HASH_BYTES, blob->length);
	at[BLOB_BYTES - 1] = blob->proof;
}

static void put_field(uint8_t *at, const struct dlsi_record_field *field, const uint8_t *record)
{
	const void *in = record + field->offset;
	const struct dlsi_text *text = in;
	const struct dlsi_bytes *bytes = in;
	const struct dlsi_numbers *numbers = in;

	switch (field->type) {
	case DLSI_FIELD_U16:
	case DLSI_FIELD_FRAMES:
		dlsi_put_u16(at, *(const uint16_t *)in);
		break;
	case DLSI_FIELD_U32:
		dlsi_put_u32(at, *(const uint32_t *)in);
		break;
	case DLSI_FIELD_U64:
		dlsi_put_u64(at, *(const uint64_t *)in);
		break;
	case DLSI_FIELD_BLOB:
		put_blob(at, in);
		break;
	case DLSI_FIELD_TEXT:
		put_counted(at, text->data, text->length, text->length);
		break;
	case DLSI_FIELD_BYTES:
		put_counted(at, bytes->data, bytes->length, bytes->length);
		break;
	case DLSI_FIELD_NUMBERS:
		put_counted(at, numbers->data, numbers->count, 8 * (size_t)numbers->count);
		break;
	default: /* bytes as they are */
		memcpy(at, in, sizes[field->type]);
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
	const uint8_t *fields = (const uint8_t *)&record->reg;
	size_t length = 0;
	uint8_t *at;

	for (unsigned i = 0; i < shape->fields; i++)
		length += field_bytes(&shape->field[i], fields);
	at = dlsi_buffer_extend(writer->buffer, DLSI_RECORD_HEADER_BYTES + length);
	if (!at)
		return;
	dlsi_put_u16(at, record->kind);
	dlsi_put_u16(at + 2, 0);
	dlsi_put_u32(at + 4, (uint32_t)length);
	at += DLSI_RECORD_HEADER_BYTES;
	for (unsigned i = 0; i < shape->fields; i++) {
		put_field(at, &shape->field[i], fields);
		at += field_bytes(&shape->field[i], fields);
	}
	count(writer, dlsi_record_frames(record));
}

size_t dlsi_message_length(const struct dlsi_message_writer *writer)
{
	return writer->buffer->length - writer->start;
}
