/* A page: rows of fields, for inputs (a row per item, a field per model input) and for results (a field per model
 * output, or one error). The master forwards pages and never opens them.
 *
 *   "DLSP", u32 rows, u64 offset of each row and of the end, rows; a row: u16 fields, fields; a field:
 *   u8 form (inline, blob, error), u8 media, u8 dtype, u8 rank, u64 dims[rank], then
 *     inline: u32 length, bytes    blob: blob (hash, length, proof), u64 offset, u64 length    error: i32 code, text
 *
 * Pure. Reading allocates nothing and checks each row when it is read. */
#ifndef DLSI_PAGE_H
#define DLSI_PAGE_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/limits.h"
#include "proto/record.h"
#include <dlsched/tensor.h>

enum dlsi_form { DLSI_FORM_INLINE = 0, DLSI_FORM_BLOB = 1, DLSI_FORM_ERROR = 2 };

/* What the bytes are. */
enum dlsi_media {
	DLSI_MEDIA_TENSOR = 1, /* dense values of dtype and dims */
	DLSI_MEDIA_FILE = 2,   /* a file as it is: JPEG, PNG or .npy, told by its first bytes */
	DLSI_MEDIA_TOP = 3,    /* dims[0] float32 values, falling, then as many u32 indices */
};

/* How one value is found and read. Views into the page. */
struct dlsi_field {
	uint8_t form;  /* enum dlsi_form */
	uint8_t media; /* enum dlsi_media; 0 for an error */
	uint8_t dtype; /* enum dls_dtype; 0 for a file or an error */
	uint8_t rank;
	int64_t dims[DLSI_TENSOR_RANK];
	union {
		struct dlsi_bytes bytes;
		struct {
			struct dlsi_blob blob;
			uint64_t offset;
			uint64_t length;
		};
		struct {
			int32_t code;
			struct dlsi_text sentence;
		};
	};
};

struct dlsi_page {
	const uint8_t *data;
	size_t length;
	uint32_t rows;
};

/* Checks the offset table against the length. `rows` is what must be in it (UINT32_MAX: any number).
 * Errors: DLS_EFORMAT. */
int dlsi_page_open(
	const uint8_t *data, size_t length, uint32_t rows, struct dlsi_page *page_out, struct dls_error *err);

/* Decodes one row; fields_out has room for DLSI_ROW_FIELDS. A tensor's bytes agree with its dtype and dims.
 * Errors: DLS_EFORMAT. */
int dlsi_page_row(const struct dlsi_page *page, uint32_t row, struct dlsi_field *fields_out, unsigned *count_out,
	struct dls_error *err);

/* Writes pages of a number of rows known at the start, row after row, at the end of a buffer. */
struct dlsi_page_writer {
	struct dlsi_buffer *buffer;
	size_t start;
	uint32_t row;
};

struct dlsi_page_writer dlsi_page_begin(struct dlsi_buffer *buffer, uint32_t rows);
void dlsi_page_add_row(struct dlsi_page_writer *writer, const struct dlsi_field *fields, unsigned count);

/* A field as it lies in a page, for other places that describe a value (proto/manifest.h). */
struct dlsi_reader;
void dlsi_field_write(struct dlsi_buffer *buffer, const struct dlsi_field *field);
bool dlsi_field_read(struct dlsi_reader *reader, struct dlsi_field *field_out);

/* The field of an error row. */
struct dlsi_field dlsi_field_error(int code, const char *sentence);

#endif
