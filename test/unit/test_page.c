/* Pages: rows from seeds come back as they were written, and bytes that are no page are refused without a crash. */
#include "proto/page.h"
#include "test/unit/fields.h"
#include "test/unit/unit.h"
#include <string.h>

enum { SEEDS = 200, ROWS = 20 };

static void write_page(struct dlsi_buffer *buffer, const struct unit_row *rows, uint32_t count)
{
	struct dlsi_page_writer writer;

	dlsi_page_begin(&writer, buffer);
	for (uint32_t i = 0; i < count; i++)
		dlsi_page_add_row(&writer, rows[i].fields, rows[i].count);
	assert_true(buffer->failed || dlsi_page_length(&writer) > 0);
	dlsi_page_end(&writer);
}

static void draw_rows(struct dlsi_rng *rng, struct unit_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		unit_row_draw(rng, &rows[i]);
}

static void test_rows_come_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint32_t count = (uint32_t)dlsi_rng_below(&rng, ROWS + 1);
		struct unit_row rows[ROWS], read;
		struct dlsi_buffer buffer;
		struct dlsi_page page;

		draw_rows(&rng, rows, count);
		dlsi_buffer_init(&buffer, unit_alloc());
		dlsi_buffer_append(&buffer, "before", seed % 7 % 6); /* a page need not begin the buffer */
		write_page(&buffer, rows, count);
		assert_int_equal(
			dlsi_page_open(buffer.data + seed % 7 % 6, buffer.length - seed % 7 % 6, count, &page, NULL),
			0);
		assert_int_equal(page.rows, count);
		for (uint32_t i = count; i-- > 0;) {
			assert_int_equal(dlsi_page_row(&page, i, read.fields, &read.count, NULL), 0);
			unit_row_assert_equal(&read, &rows[i]);
		}
		dlsi_buffer_fini(&buffer);
	}
}

/* Rows of a page, read by where its table says that they lie, are a page of their own. */
static void test_rows_are_cut_out(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint32_t count = 1 + (uint32_t)dlsi_rng_below(&rng, ROWS),
			 first = (uint32_t)dlsi_rng_below(&rng, count);
		uint32_t wanted = 1 + (uint32_t)dlsi_rng_below(&rng, count - first);
		struct unit_row rows[ROWS], read;
		struct dlsi_buffer whole, part;
		struct dlsi_page page;
		const uint8_t *entries;
		uint64_t begin, end;

		draw_rows(&rng, rows, count);
		dlsi_buffer_init(&whole, unit_alloc());
		dlsi_buffer_init(&part, unit_alloc());
		write_page(&whole, rows, count);
		entries = whole.data + dlsi_page_entry(whole.length, count, first);
		assert_int_equal(dlsi_page_extent(entries, wanted, whole.length, count, &begin, &end, NULL), 0);
		assert_int_equal(
			dlsi_page_extent(entries, wanted, end - 1 + 8 * (count + 1), count, &begin, &end, NULL),
			DLS_EFORMAT);
		dlsi_page_cut(&part, entries, wanted, whole.data + begin);
		assert_int_equal(dlsi_page_open(part.data, part.length, wanted, &page, NULL), 0);
		for (uint32_t i = 0; i < wanted; i++) {
			assert_int_equal(dlsi_page_row(&page, i, read.fields, &read.count, NULL), 0);
			unit_row_assert_equal(&read, &rows[first + i]);
		}
		dlsi_buffer_fini(&whole);
		dlsi_buffer_fini(&part);
	}
}

static void test_another_number_of_rows_is_refused(void **state)
{
	struct unit_row rows[2];
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer buffer;
	struct dlsi_page page = {0};
	struct dls_error err;

	(void)state;
	draw_rows(&rng, rows, 2);
	dlsi_buffer_init(&buffer, unit_alloc());
	write_page(&buffer, rows, 2);
	assert_int_equal(dlsi_page_open(buffer.data, buffer.length, 3, &page, &err), DLS_EFORMAT);
	assert_string_equal(err.text, "a page of 2 rows where 3 must be");
	assert_null(page.data);
	assert_int_equal(dlsi_page_open(buffer.data, buffer.length, UINT32_MAX, &page, NULL), 0);
	dlsi_buffer_fini(&buffer);
}

/* Opens a page and reads all of it, as far as it lets. */
static void read_all(const uint8_t *data, size_t length)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dlsi_page page;
	unsigned count;

	if (dlsi_page_open(data, length, UINT32_MAX, &page, NULL))
		return;
	for (uint32_t i = 0; i < page.rows; i++)
		if (dlsi_page_row(&page, i, fields, &count, NULL) == 0)
			assert_in_range(count, 1, DLSI_ROW_FIELDS);
}

static void test_truncated_and_damaged(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct unit_row rows[3];
		struct dlsi_buffer buffer;
		struct dlsi_page page;

		draw_rows(&rng, rows, 3);
		dlsi_buffer_init(&buffer, unit_alloc());
		write_page(&buffer, rows, 3);
		for (size_t length = 0; length < buffer.length; length++) {
			uint8_t *exact = test_malloc(length); /* so that a sanitizer sees a read behind it */

			memcpy(exact, buffer.data, length);
			assert_int_equal(dlsi_page_open(exact, length, 3, &page, NULL), DLS_EFORMAT);
			test_free(exact);
		}
		for (size_t i = 0; i < buffer.length; i++) {
			uint8_t kept = buffer.data[i];

			buffer.data[i] = (uint8_t)dlsi_rng_next(&rng);
			read_all(buffer.data, buffer.length);
			buffer.data[i] = kept;
		}
		dlsi_buffer_fini(&buffer);
	}
}

/* A page of one row with the given fields, which the writer does not check. */
static int reread(const struct dlsi_field *fields, unsigned count)
{
	struct dlsi_field read[DLSI_ROW_FIELDS];
	struct dlsi_buffer buffer;
	struct dlsi_page page;
	struct unit_row row = {.count = count};
	int rc;

	memcpy(row.fields, fields, count * sizeof *fields);
	dlsi_buffer_init(&buffer, unit_alloc());
	write_page(&buffer, &row, 1);
	assert_int_equal(dlsi_page_open(buffer.data, buffer.length, 1, &page, NULL), 0);
	rc = dlsi_page_row(&page, 0, read, &count, NULL);
	dlsi_buffer_fini(&buffer);
	return rc;
}

static void test_values_that_contradict_themselves(void **state)
{
	const uint8_t bytes[24] = {0};
	struct dlsi_field tensor = {
		.media = DLSI_MEDIA_TENSOR, .dtype = DLS_FLOAT32, .rank = 2, .dims = {2, 3}, .bytes = {bytes, 24}};
	struct dlsi_field blob = {.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = {.length = 100, .proof = DLSI_PROOF_HASH},
		.offset = 90,
		.length = 10};
	struct dlsi_field error = dlsi_field_error(DLS_EHANDLER, "no"), field, two[2];

	(void)state;
	assert_int_equal(reread(&tensor, 1), 0);
	assert_int_equal(reread(&blob, 1), 0);
	assert_int_equal(reread(&error, 1), 0);
#define REFUSED(base, change) (field = base, field.change, assert_int_equal(reread(&field, 1), DLS_EFORMAT))
	REFUSED(tensor, bytes.length = 23);
	REFUSED(tensor, dims[1] = 4);
	REFUSED(tensor, dims[1] = -3);
	REFUSED(tensor, dims[0] = INT64_MAX);
	REFUSED(tensor, dtype = 0);
	REFUSED(tensor, dtype = 99);
	REFUSED(tensor, media = 0);
	REFUSED(tensor, media = 4);
	REFUSED(tensor, media = DLSI_MEDIA_FILE);
	REFUSED(tensor, media = DLSI_MEDIA_TOP);
	REFUSED(blob, offset = 91);
	REFUSED(blob, offset = UINT64_MAX);
	REFUSED(blob, length = UINT64_MAX);
	REFUSED(blob, blob.length = DLSI_BLOB_BYTES + 1);
	REFUSED(blob, blob.proof = 0);
	REFUSED(blob, media = DLSI_MEDIA_TENSOR);
	REFUSED(error, code = 0);
	REFUSED(error, media = DLSI_MEDIA_FILE);
#undef REFUSED
	two[0] = tensor;
	two[1] = error;
	assert_int_equal(reread(two, 2), DLS_EFORMAT);
	assert_int_equal(reread(two, 0), DLS_EFORMAT);
}

static void test_top_values(void **state)
{
	const uint8_t bytes[40] = {0};
	struct dlsi_field top = {
		.media = DLSI_MEDIA_TOP, .dtype = DLS_FLOAT32, .rank = 1, .dims = {5}, .bytes = {bytes, 40}};

	(void)state;
	assert_int_equal(reread(&top, 1), 0);
	top.bytes.length = 36;
	assert_int_equal(reread(&top, 1), DLS_EFORMAT);
}

static void test_memory_runs_out(void **state)
{
	struct dlsi_rng rng = unit_rng(3);
	struct unit_row rows[ROWS];
	bool failed = true;

	(void)state;
	draw_rows(&rng, rows, ROWS);
	for (unsigned n = 1; failed; n++) {
		struct dlsi_buffer buffer;

		assert_true(n < 100);
		dlsi_buffer_init(&buffer, unit_alloc_failing_at(n));
		write_page(&buffer, rows, ROWS);
		failed = buffer.failed;
		dlsi_buffer_fini(&buffer);
	}
}

UNIT_MAIN(test_rows_come_back, test_rows_are_cut_out, test_another_number_of_rows_is_refused,
	test_truncated_and_damaged, test_values_that_contradict_themselves, test_top_values, test_memory_runs_out)
