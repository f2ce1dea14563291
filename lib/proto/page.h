/* A page: rows of fields, for inputs (a row per item, a field per model input) and for results (a field per model
 * output, or one error). The master forwards pages and never opens them.
 *
 *   "DLSP", u32 rows, rows, u64 offset of each row and of the end of the last
 *   a row:   u16 fields, fields
 *   a field: u8 form (inline, blob, error), u8 media, u8 dtype, u8 rank, u64 dims[rank], then
 *     inline: u32 length, bytes    blob: blob (hash, length, proof), u64 offset, u64 length    error: i32 code, text
 *
 * The table of offsets comes last, so that a page is written row after row without knowing their number. Pure. Reading
 * allocates nothing and checks each row when it is read. */
#ifndef DLSI_PAGE_H
#define DLSI_PAGE_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/limits.h"
#include "proto/bytes.h"
#include <dlsched/tensor.h>

enum dlsi_form { DLSI_FORM_INLINE = 0, DLSI_FORM_BLOB = 1, DLSI_FORM_ERROR = 2 };

/* What the bytes are. */
enum dlsi_media {
	DLSI_MEDIA_TENSOR = 1, /* dense values of dtype and dims */
	DLSI_MEDIA_FILE = 2,   /* a file as it is: JPEG, PNG or .npy, told by its first bytes */
	DLSI_MEDIA_TOP = 3,    /* dims[0] values of dtype float32, falling, then as many u32 indices */
};

/* How one value is found and read. Views into the page. */
struct dlsi_field {
	uint8_t form;  /* enum dlsi_form */
	uint8_t media; /* enum dlsi_media; 0 for an error */
	uint8_t dtype; /* enum dls_dtype; 0 for a file or an error */
	uint8_t rank;  /* 0 for a file or an error */
	int64_t dims[DLSI_TENSOR_RANK];
	union {
		struct dlsi_bytes bytes;
		struct {
			struct dlsi_blob blob;
			uint64_t offset; /* of the value in the blob */
			uint64_t length;
		};
		struct {
			int32_t code; /* DLS_E* */
			struct dlsi_text sentence;
		};
	};
};

/* Most bytes of a field beside its inline bytes or its sentence. */
#define DLSI_FIELD_BYTES (4 + 8 * DLSI_TENSOR_RANK + 57)

/* The field of an error row; a sentence longer than DLSI_ITEM_ERROR_BYTES is cut. */
struct dlsi_field dlsi_field_error(int code, const char *sentence);

/* A field as it lies in a page, for other places that describe a value (proto/manifest.h). Reading is not good unless
 * the form and media exist, a tensor's bytes agree with its dtype and dims, and a blob's value lies within the blob. */
void dlsi_field_write(struct dlsi_buffer *buffer, const struct dlsi_field *field);
struct dlsi_field dlsi_field_read(struct dlsi_reader *reader);

struct dlsi_page {
	const uint8_t *data;
	size_t length;
	uint32_t rows;
};

/* Checks the table of offsets. `rows` is what must be in it (UINT32_MAX: any number). The bytes stay the caller's and
 * must outlive the page. Errors: DLS_EFORMAT. */
int dlsi_page_open(
	const uint8_t *data, size_t length, uint32_t rows, struct dlsi_page *page_out, struct dls_error *err);

/* Decodes one row (below page->rows): from 1 to DLSI_ROW_FIELDS fields, none of them an error unless it is alone.
 * fields_out has room for DLSI_ROW_FIELDS; after a failure it holds nothing of use. Errors: DLS_EFORMAT. */
int dlsi_page_row(const struct dlsi_page *page, uint32_t row, struct dlsi_field *fields_out, unsigned *count_out,
	struct dls_error *err);

/* Where a page of `rows` rows and `length` bytes says where row `row` begins, or with `rows` where the last one ends:
 * in 8 bytes. Who knows where some rows begin and end need not read the others. */
uint64_t dlsi_page_entry(uint64_t length, uint32_t rows, uint32_t row);

/* Where the first of `count` rows begins and the last one ends by their count + 1 entries. Errors: DLS_EFORMAT (not in
 * a page of `rows` rows and `length` bytes). */
int dlsi_page_extent(const uint8_t *entries, uint32_t count, uint64_t length, uint32_t rows, uint64_t *begin_out,
	uint64_t *end_out, struct dls_error *err);

/* Writes a page of these rows at the end of a buffer: `data` are the bytes of that extent. A failed allocation shows in
 * buffer->failed; whether the entries between are right shows when it is opened. */
void dlsi_page_cut(struct dlsi_buffer *buffer, const uint8_t *entries, uint32_t count, const uint8_t *data);

/* Writes a page at the end of a buffer, row after row; a failed allocation shows in buffer->failed. */
struct dlsi_page_writer {
	struct dlsi_buffer *buffer;
	struct dlsi_buffer offsets; /* the table so far */
	size_t start;               /* of the page in the buffer */
	uint32_t rows;
};

void dlsi_page_begin(struct dlsi_page_writer *writer, struct dlsi_buffer *buffer);
void dlsi_page_add_row(struct dlsi_page_writer *writer, const struct dlsi_field *fields, unsigned count);

/* Bytes of the page if it ended here. */
size_t dlsi_page_length(const struct dlsi_page_writer *writer);

/* Completes the page and frees the writer's own memory. Without rows it leaves a page of none. */
void dlsi_page_end(struct dlsi_page_writer *writer);

#endif
