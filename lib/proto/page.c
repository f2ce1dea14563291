#include "proto/page.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC        0x50534c44U /* "DLSP" */
#define HEADER_BYTES 8

struct dlsi_field dlsi_field_error(int code, const char *sentence)
{
	struct dlsi_field field = {.form = DLSI_FORM_ERROR, .code = code, .sentence = dlsi_text_of(sentence)};

	if (field.sentence.length > DLSI_ITEM_ERROR_BYTES)
		field.sentence.length = DLSI_ITEM_ERROR_BYTES;
	return field;
}

void dlsi_field_write(struct dlsi_buffer *buffer, const struct dlsi_field *field)
{
	dlsi_write_u8(buffer, field->form);
	dlsi_write_u8(buffer, field->media);
	dlsi_write_u8(buffer, field->dtype);
	dlsi_write_u8(buffer, field->rank);
	for (unsigned i = 0; i < field->rank; i++)
		dlsi_write_u64(buffer, (uint64_t)field->dims[i]);
	switch (field->form) {
	case DLSI_FORM_INLINE:
		dlsi_write_bytes(buffer, field->bytes.data, field->bytes.length);
		break;
	case DLSI_FORM_BLOB:
		dlsi_write_blob(buffer, &field->blob);
		dlsi_write_u64(buffer, field->offset);
		dlsi_write_u64(buffer, field->length);
		break;
	case DLSI_FORM_ERROR:
		dlsi_write_u32(buffer, (uint32_t)field->code);
		dlsi_write_bytes(buffer, field->sentence.data, field->sentence.length);
		break;
	}
}

/* Whether `length` bytes can be what the field says they are. */
static bool is_length_right(const struct dlsi_field *field, uint64_t length)
{
	size_t bytes;

	if (field->media == DLSI_MEDIA_FILE)
		return field->dtype == 0 && field->rank == 0;
	if (dls_tensor_bytes(field->dtype, field->rank, field->dims, &bytes))
		return false;
	if (field->media == DLSI_MEDIA_TOP)
		return field->dtype == DLS_FLOAT32 && field->rank == 1 && length == 2 * (uint64_t)bytes;
	return field->media == DLSI_MEDIA_TENSOR && length == bytes;
}

static bool is_blob_right(const struct dlsi_field *field)
{
	return (field->blob.proof == DLSI_PROOF_HASH || field->blob.proof == DLSI_PROOF_CHECKSUM) &&
	       field->blob.length <= DLSI_BLOB_BYTES && field->offset <= field->blob.length &&
	       field->length <= field->blob.length - field->offset;
}

static bool read_form(struct dlsi_reader *reader, struct dlsi_field *field)
{
	switch (field->form) {
	case DLSI_FORM_INLINE:
		field->bytes = dlsi_read_bytes(reader, UINT32_MAX);
		return is_length_right(field, field->bytes.length);
	case DLSI_FORM_BLOB:
		field->blob = dlsi_read_blob(reader);
		field->offset = dlsi_read_u64(reader);
		field->length = dlsi_read_u64(reader);
		return is_blob_right(field) && is_length_right(field, field->length);
	case DLSI_FORM_ERROR:
		field->code = (int32_t)dlsi_read_u32(reader);
		field->sentence = dlsi_read_text(reader, DLSI_ITEM_ERROR_BYTES);
		return field->code < 0 && field->media == 0 && field->dtype == 0 && field->rank == 0;
	}
	return false;
}

struct dlsi_field dlsi_field_read(struct dlsi_reader *reader)
{
	struct dlsi_field field = {0};

	field.form = dlsi_read_u8(reader);
	field.media = dlsi_read_u8(reader);
	field.dtype = dlsi_read_u8(reader);
	field.rank = dlsi_read_u8(reader);
	if (field.rank > DLSI_TENSOR_RANK) {
		reader->good = false;
		return field;
	}
	for (unsigned i = 0; i < field.rank; i++)
		field.dims[i] = (int64_t)dlsi_read_u64(reader);
	if (!read_form(reader, &field))
		reader->good = false;
	return field;
}

/* Where row `row` begins; `rows` of them end where the table begins. */
static uint64_t offset_of(const struct dlsi_page *page, uint32_t row)
{
	const uint8_t *end = page->data + page->length;
	struct dlsi_reader reader = {end - 8 * ((size_t)page->rows - row + 1), end, true};

	return dlsi_read_u64(&reader);
}

int dlsi_page_open(const uint8_t *data, size_t length, uint32_t rows, struct dlsi_page *page_out, struct dls_error *err)
{
	struct dlsi_reader reader = {data, data + length, true};
	uint32_t magic = dlsi_read_u32(&reader);
	struct dlsi_page page = {data, length, dlsi_read_u32(&reader)};
	uint64_t before = HEADER_BYTES;

	if (!reader.good || magic != MAGIC)
		return dlsi_fail(err, DLS_EFORMAT, "%zu bytes that are not a page", length);
	if (page.rows > DLSI_PAGE_ROWS || (rows != UINT32_MAX && page.rows != rows))
		return dlsi_fail(err, DLS_EFORMAT, "a page of %" PRIu32 " rows where %" PRIu32 " must be", page.rows,
			rows == UINT32_MAX ? DLSI_PAGE_ROWS : rows);
	if (length < HEADER_BYTES + 8 * ((size_t)page.rows + 1))
		return dlsi_fail(
			err, DLS_EFORMAT, "a page of %" PRIu32 " rows is cut off at %zu bytes", page.rows, length);
	for (uint32_t row = 0; row <= page.rows; row++) {
		uint64_t offset = offset_of(&page, row);

		if (offset < before || (row == 0 && offset != HEADER_BYTES))
			return dlsi_fail(err, DLS_EFORMAT, "the offset of row %" PRIu32 " of a page is wrong", row);
		before = offset;
	}
	if (before != length - 8 * ((size_t)page.rows + 1))
		return dlsi_fail(err, DLS_EFORMAT, "the rows of a page do not end where its table begins");
	*page_out = page;
	return 0;
}

int dlsi_page_row(const struct dlsi_page *page, uint32_t row, struct dlsi_field *fields_out, unsigned *count_out,
	struct dls_error *err)
{
	struct dlsi_reader reader = {page->data + offset_of(page, row), page->data + offset_of(page, row + 1), true};
	unsigned count = dlsi_read_u16(&reader);

	if (count < 1 || count > DLSI_ROW_FIELDS)
		return dlsi_fail(err, DLS_EFORMAT, "row %" PRIu32 " of a page has %u fields; from 1 to %d are possible",
			row, count, DLSI_ROW_FIELDS);
	for (unsigned i = 0; i < count; i++) {
		struct dlsi_field field = dlsi_field_read(&reader);

		if (!reader.good || (field.form == DLSI_FORM_ERROR && count > 1))
			return dlsi_fail(
				err, DLS_EFORMAT, "field %u of row %" PRIu32 " of a page is malformed", i, row);
		fields_out[i] = field;
	}
	if (reader.at != reader.end)
		return dlsi_fail(err, DLS_EFORMAT, "row %" PRIu32 " of a page is longer than its fields", row);
	*count_out = count;
	return 0;
}

uint64_t dlsi_page_entry(uint64_t length, uint32_t rows, uint32_t row)
{
	return length - 8 * ((uint64_t)rows - row + 1);
}

static uint64_t entry(const uint8_t *entries, uint32_t i)
{
	struct dlsi_reader reader = {entries + 8 * (size_t)i, entries + 8 * ((size_t)i + 1), true};

	return dlsi_read_u64(&reader);
}

int dlsi_page_extent(const uint8_t *entries, uint32_t count, uint64_t length, uint32_t rows, uint64_t *begin_out,
	uint64_t *end_out, struct dls_error *err)
{
	uint64_t begin = entry(entries, 0), end = entry(entries, count);

	if (begin < HEADER_BYTES || begin >= end || end > dlsi_page_entry(length, rows, 0))
		return dlsi_fail(err, DLS_EFORMAT, "the offsets of %" PRIu32 " rows of a page are wrong", count);
	*begin_out = begin;
	*end_out = end;
	return 0;
}

void dlsi_page_cut(struct dlsi_buffer *buffer, const uint8_t *entries, uint32_t count, const uint8_t *data)
{
	uint64_t begin = entry(entries, 0);

	dlsi_write_u32(buffer, MAGIC);
	dlsi_write_u32(buffer, count);
	dlsi_buffer_append(buffer, data, (size_t)(entry(entries, count) - begin));
	for (uint32_t i = 0; i <= count; i++)
		dlsi_write_u64(buffer, entry(entries, i) - begin + HEADER_BYTES);
}

static void note_offset(struct dlsi_page_writer *writer)
{
	dlsi_write_u64(&writer->offsets, writer->buffer->length - writer->start);
}

void dlsi_page_begin(struct dlsi_page_writer *writer, struct dlsi_buffer *buffer)
{
	*writer = (struct dlsi_page_writer){.buffer = buffer, .start = buffer->length};
	dlsi_buffer_init(&writer->offsets, buffer->alloc);
	dlsi_write_u32(buffer, MAGIC);
	dlsi_write_u32(buffer, 0);
	note_offset(writer);
}

void dlsi_page_add_row(struct dlsi_page_writer *writer, const struct dlsi_field *fields, unsigned count)
{
	dlsi_write_u16(writer->buffer, (uint16_t)count);
	for (unsigned i = 0; i < count; i++)
		dlsi_field_write(writer->buffer, &fields[i]);
	note_offset(writer);
	writer->rows++;
}

size_t dlsi_page_length(const struct dlsi_page_writer *writer)
{
	return writer->buffer->length - writer->start + writer->offsets.length;
}

void dlsi_page_end(struct dlsi_page_writer *writer)
{
	struct dlsi_buffer *buffer = writer->buffer;

	dlsi_buffer_append(buffer, writer->offsets.data, writer->offsets.length);
	buffer->failed |= writer->offsets.failed;
	if (!buffer->failed)
		dlsi_put_u32(buffer->data + writer->start + 4, writer->rows);
	dlsi_buffer_fini(&writer->offsets);
}
