#include "proto/manifest.h"

#include <inttypes.h>

#define MAGIC            0x4d534c44U /* "DLSM" */
#define HEADER_BYTES     20
#define EMPTY_PAGE_BYTES 16

/* A page is read whole by each worker that has a task with rows of it. So pages are as long as a few tasks need, and
 * grow with their number, since the head may not name too many. */
#define SHORT_PAGE_BYTES 131072
#define SHORT_PAGES      2048

void dlsi_manifest_writer_init(struct dlsi_manifest_writer *writer, const struct dlsi_alloc *alloc)
{
	*writer = (struct dlsi_manifest_writer){0};
	dlsi_buffer_init(&writer->head, alloc);
	dlsi_buffer_init(&writer->pages, alloc);
	dlsi_buffer_init(&writer->page.offsets, alloc);
}

void dlsi_manifest_writer_fini(struct dlsi_manifest_writer *writer)
{
	dlsi_buffer_fini(&writer->head);
	dlsi_buffer_fini(&writer->pages);
	dlsi_buffer_fini(&writer->page.offsets);
	dlsi_manifest_writer_init(writer, writer->head.alloc);
}

static int check_memory(const struct dlsi_manifest_writer *writer, struct dls_error *err)
{
	bool failed = writer->head.failed || writer->pages.failed || writer->page.offsets.failed;

	return failed ? dlsi_fail_memory(err) : 0;
}

static int check_items(const struct dlsi_manifest_writer *writer, uint64_t items, struct dls_error *err)
{
	if (items > DLSI_JOB_ITEMS - writer->items)
		return dlsi_fail(err, DLS_ELIMIT, "a job has at most %llu items", DLSI_JOB_ITEMS);
	return 0;
}

/* Whether one more run may come behind the page being filled. */
static int check_run(const struct dlsi_manifest_writer *writer, struct dls_error *err)
{
	size_t length = HEADER_BYTES + writer->head.length + 2 * (17 + DLSI_FIELD_BYTES);

	if (writer->runs + (writer->page.rows > 0) >= DLSI_MANIFEST_RUNS || length > DLSI_PAGE_BYTES)
		return dlsi_fail(err, DLS_ELIMIT,
			"the inputs of one job are in more than %d pieces; put them into larger ones or into several "
			"jobs",
			DLSI_MANIFEST_RUNS);
	return 0;
}

/* Ends the page being filled and describes it in the head. */
static void close_page(struct dlsi_manifest_writer *writer)
{
	size_t start = writer->page.start;

	if (!writer->page.rows)
		return;
	dlsi_write_u8(&writer->head, DLSI_RUN_PAGE);
	dlsi_write_u64(&writer->head, writer->page.rows);
	dlsi_page_end(&writer->page);
	dlsi_write_u32(&writer->head, (uint32_t)(writer->pages.length - start));
	writer->page.rows = 0;
	writer->runs++;
}

/* The most bytes that a row can take in a page, its offset included. */
static int row_bytes(const struct dlsi_field *fields, unsigned count, size_t *bytes_out, struct dls_error *err)
{
	size_t bytes = 2 + 8;

	for (unsigned i = 0; i < count; i++) {
		uint32_t length = 0;

		if (fields[i].form == DLSI_FORM_INLINE)
			length = fields[i].bytes.length;
		else if (fields[i].form == DLSI_FORM_ERROR)
			length = fields[i].sentence.length;
		if (length > DLSI_INLINE_BYTES)
			return dlsi_fail(err, DLS_ELIMIT, "input %u has %" PRIu32 " bytes; more than %d must be a blob",
				i, length, DLSI_INLINE_BYTES);
		bytes += DLSI_FIELD_BYTES + length;
	}
	*bytes_out = bytes;
	return 0;
}

/* Whether `bytes` more had better begin another page. */
static bool is_full(const struct dlsi_manifest_writer *writer, size_t bytes)
{
	size_t most = SHORT_PAGE_BYTES * (size_t)(1 + writer->runs / SHORT_PAGES);

	if (most > DLSI_PAGE_BYTES)
		most = DLSI_PAGE_BYTES;
	return writer->page.rows == DLSI_PAGE_ROWS || dlsi_page_length(&writer->page) + bytes > most;
}

int dlsi_manifest_add_row(
	struct dlsi_manifest_writer *writer, const struct dlsi_field *fields, unsigned count, struct dls_error *err)
{
	size_t bytes = 0, most = DLSI_PAGE_BYTES - EMPTY_PAGE_BYTES;
	int rc;

	if (count < 1 || count > DLSI_ROW_FIELDS)
		return dlsi_fail(
			err, DLS_EINVAL, "an item has %u inputs; from 1 to %d are possible", count, DLSI_ROW_FIELDS);
	rc = row_bytes(fields, count, &bytes, err);
	if (rc == 0)
		rc = check_items(writer, 1, err);
	if (rc)
		return rc;
	if (bytes > most)
		return dlsi_fail(
			err, DLS_ELIMIT, "an item with %zu bytes of inputs; more than %zu must be blobs", bytes, most);
	if (!writer->page.rows || is_full(writer, bytes)) {
		rc = check_run(writer, err);
		if (rc)
			return rc;
		close_page(writer);
		dlsi_page_begin(&writer->page, &writer->pages);
	}
	dlsi_page_add_row(&writer->page, fields, count);
	writer->items++;
	return check_memory(writer, err);
}

/* Whether all items lie within the blob. */
static bool is_within(const struct dlsi_run *run)
{
	uint64_t last;

	return !__builtin_mul_overflow(run->items - 1, run->stride, &last) &&
	       !__builtin_add_overflow(last, run->field.offset, &last) && last <= run->field.blob.length &&
	       run->field.length <= run->field.blob.length - last;
}

int dlsi_manifest_add_equal(struct dlsi_manifest_writer *writer, uint64_t items, uint64_t stride,
	const struct dlsi_field *field, struct dls_error *err)
{
	struct dlsi_run run = {.items = items, .stride = stride, .field = *field};
	int rc;

	if (items == 0 || field->form != DLSI_FORM_BLOB || !is_within(&run))
		return dlsi_fail(err, DLS_EINVAL,
			"%" PRIu64 " items at a distance of %" PRIu64 " bytes do not lie within one blob", items,
			stride);
	rc = check_items(writer, items, err);
	if (rc == 0)
		rc = check_run(writer, err);
	if (rc)
		return rc;
	close_page(writer);
	dlsi_write_u8(&writer->head, DLSI_RUN_EQUAL);
	dlsi_write_u64(&writer->head, items);
	dlsi_write_u64(&writer->head, stride);
	dlsi_field_write(&writer->head, field);
	writer->runs++;
	writer->items += items;
	return check_memory(writer, err);
}

int dlsi_manifest_finish(struct dlsi_manifest_writer *writer, uint8_t **data_out, size_t *length_out,
	uint32_t *head_out, struct dls_error *err)
{
	struct dlsi_buffer whole;
	uint32_t head;
	int rc;

	close_page(writer);
	rc = check_memory(writer, err);
	if (rc)
		return rc;
	head = (uint32_t)(HEADER_BYTES + writer->head.length);
	dlsi_buffer_init(&whole, writer->head.alloc);
	dlsi_write_u32(&whole, MAGIC);
	dlsi_write_u32(&whole, writer->runs);
	dlsi_write_u64(&whole, writer->items);
	dlsi_write_u32(&whole, head);
	dlsi_buffer_append(&whole, writer->head.data, writer->head.length);
	dlsi_buffer_append(&whole, writer->pages.data, writer->pages.length);
	if (whole.failed) {
		dlsi_buffer_fini(&whole);
		return dlsi_fail_memory(err);
	}
	dlsi_manifest_writer_fini(writer);
	*data_out = dlsi_buffer_take(&whole, length_out);
	*head_out = head;
	return 0;
}

/* Reads the description of the run behind *run; false if it is malformed or there is none. */
static bool read_run(const struct dlsi_manifest *manifest, struct dlsi_run *run)
{
	uint32_t at = run->next ? run->next : HEADER_BYTES;
	struct dlsi_reader reader = {manifest->head + at, manifest->head + manifest->length, true};
	struct dlsi_run next = {.first = run->first + run->items};

	next.next_offset = next.page_offset = run->next ? run->next_offset : manifest->length;
	next.kind = dlsi_read_u8(&reader);
	next.items = dlsi_read_u64(&reader);
	if (next.kind == DLSI_RUN_EQUAL) {
		next.stride = dlsi_read_u64(&reader);
		next.field = dlsi_field_read(&reader);
		reader.good &= next.field.form == DLSI_FORM_BLOB && next.items && is_within(&next);
	} else {
		next.page_length = dlsi_read_u32(&reader);
		next.next_offset += next.page_length;
		reader.good &= next.kind == DLSI_RUN_PAGE && next.items && next.items <= DLSI_PAGE_ROWS &&
			       next.page_length <= DLSI_PAGE_BYTES;
	}
	if (!reader.good)
		return false;
	next.next = (uint32_t)(reader.at - manifest->head);
	*run = next;
	return true;
}

bool dlsi_manifest_next(const struct dlsi_manifest *manifest, struct dlsi_run *run)
{
	return run->next != manifest->length && read_run(manifest, run);
}

/* Walks all runs once, so that later reading cannot fail. */
static int check_runs(const struct dlsi_manifest *manifest, uint64_t total, struct dls_error *err)
{
	struct dlsi_run run = {.next_offset = manifest->length};

	for (uint32_t i = 0; i < manifest->runs; i++) {
		if (!dlsi_manifest_next(manifest, &run))
			return dlsi_fail(err, DLS_EFORMAT, "run %" PRIu32 " of a manifest is malformed", i);
		if (run.items > manifest->items - run.first)
			return dlsi_fail(err, DLS_EFORMAT,
				"the runs of a manifest have more than its %" PRIu64 " items", manifest->items);
	}
	if ((run.next ? run.next : HEADER_BYTES) != manifest->length || run.first + run.items != manifest->items ||
		run.next_offset != total)
		return dlsi_fail(err, DLS_EFORMAT,
			"a manifest of %" PRIu64 " bytes and %" PRIu64 " items whose runs do not add up to that", total,
			manifest->items);
	return 0;
}

int dlsi_manifest_open(const uint8_t *data, size_t length, uint64_t total, uint64_t items,
	struct dlsi_manifest *manifest_out, struct dls_error *err)
{
	struct dlsi_reader reader = {data, data + length, true};
	struct dlsi_manifest manifest = {.head = data};
	uint32_t magic = dlsi_read_u32(&reader);
	int rc;

	manifest.runs = dlsi_read_u32(&reader);
	manifest.items = dlsi_read_u64(&reader);
	manifest.length = dlsi_read_u32(&reader);
	if (!reader.good || magic != MAGIC)
		return dlsi_fail(err, DLS_EFORMAT, "%zu bytes that are not a manifest", length);
	if (manifest.length < HEADER_BYTES || manifest.length > length || manifest.length > DLSI_PAGE_BYTES ||
		manifest.runs > DLSI_MANIFEST_RUNS)
		return dlsi_fail(err, DLS_EFORMAT, "the head of a manifest is cut off, or over its limit");
	if (manifest.items != items)
		return dlsi_fail(err, DLS_EFORMAT, "a manifest of %" PRIu64 " items for a job of %" PRIu64,
			manifest.items, items);
	rc = check_runs(&manifest, total, err);
	if (rc == 0)
		*manifest_out = manifest;
	return rc;
}

void dlsi_manifest_find(const struct dlsi_manifest *manifest, uint64_t item, struct dlsi_run *run)
{
	if (item < run->first)
		*run = (struct dlsi_run){0};
	while (item >= run->first + run->items && dlsi_manifest_next(manifest, run))
		;
}

struct dlsi_field dlsi_run_field(const struct dlsi_run *run, uint64_t item)
{
	struct dlsi_field field = run->field;

	field.offset += (item - run->first) * run->stride;
	return field;
}
