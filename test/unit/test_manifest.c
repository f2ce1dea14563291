/* Manifests: what was added comes back by item, from seeds; foreign bytes are refused without a crash. */
#include "proto/manifest.h"
#include "test/unit/fields.h"
#include "test/unit/unit.h"
#include <string.h>

enum { SEEDS = 100, PIECES = 12, ITEMS = 600 };

/* The plainest manifest: the fields of every item. */
struct model {
	struct unit_row rows[ITEMS];
	uint64_t items;
};

struct encoded {
	uint8_t *data;
	size_t length;
	uint32_t head;
};

static void add_equal(struct dlsi_rng *rng, struct model *model, struct dlsi_manifest_writer *writer)
{
	uint64_t items = 1 + dlsi_rng_below(rng, 40), stride = dlsi_rng_below(rng, 2000);
	struct dlsi_field first = {.form = DLSI_FORM_BLOB, .media = DLSI_MEDIA_TENSOR, .dtype = DLS_UINT8, .rank = 1};

	first.length = dlsi_rng_below(rng, 1000);
	first.dims[0] = (int64_t)first.length;
	first.offset = dlsi_rng_below(rng, 100);
	first.blob = (struct dlsi_blob){
		.proof = DLSI_PROOF_CHECKSUM, .length = first.offset + (items - 1) * stride + first.length};
	assert_int_equal(dlsi_manifest_add_equal(writer, items, stride, &first, NULL), 0);
	for (uint64_t i = 0; i < items; i++) {
		struct unit_row *row = &model->rows[model->items++];

		row->count = 1;
		row->fields[0] = first;
		row->fields[0].offset += i * stride;
	}
}

static void add_rows(struct dlsi_rng *rng, struct model *model, struct dlsi_manifest_writer *writer)
{
	for (uint64_t left = 1 + dlsi_rng_below(rng, 40); left; left--) {
		struct unit_row *row = &model->rows[model->items++];

		unit_row_draw(rng, row);
		assert_int_equal(dlsi_manifest_add_row(writer, row->fields, row->count, NULL), 0);
	}
}

/* A manifest of random pieces and the model of it. */
static struct encoded draw(struct dlsi_rng *rng, struct model *model)
{
	struct dlsi_manifest_writer writer;
	struct encoded encoded;

	memset(model, 0, sizeof *model);
	dlsi_manifest_writer_init(&writer, unit_alloc());
	for (uint64_t pieces = dlsi_rng_below(rng, PIECES); pieces; pieces--)
		(dlsi_rng_below(rng, 2) ? add_equal : add_rows)(rng, model, &writer);
	assert_int_equal(dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL), 0);
	dlsi_manifest_writer_fini(&writer);
	return encoded;
}

static int open_encoded(const struct encoded *encoded, uint64_t items, struct dlsi_manifest *manifest_out)
{
	return dlsi_manifest_open(encoded->data, encoded->length, encoded->length, items, manifest_out, NULL);
}

static void assert_item(
	const struct encoded *encoded, const struct dlsi_run *run, uint64_t item, const struct unit_row *expected)
{
	struct unit_row row = {.count = 1};
	struct dlsi_page page;

	assert_in_range(item, run->first, run->first + run->items - 1);
	if (run->kind == DLSI_RUN_EQUAL) {
		row.fields[0] = dlsi_run_field(run, item);
	} else {
		assert_int_equal(dlsi_page_open(encoded->data + run->page_offset, run->page_length,
					 (uint32_t)run->items, &page, NULL),
			0);
		assert_int_equal(dlsi_page_row(&page, (uint32_t)(item - run->first), row.fields, &row.count, NULL), 0);
	}
	unit_row_assert_equal(&row, expected);
}

static void test_items_come_back(void **state)
{
	struct model *model = test_malloc(sizeof *model);

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct encoded encoded = draw(&rng, model);
		struct dlsi_manifest manifest;
		struct dlsi_run run = {0};
		uint64_t item = 0;

		assert_int_equal(open_encoded(&encoded, model->items, &manifest), 0);
		assert_int_equal(manifest.length, encoded.head);
		while (dlsi_manifest_next(&manifest, &run))
			for (uint64_t i = 0; i < run.items; i++, item++)
				assert_item(&encoded, &run, item, &model->rows[item]);
		assert_int_equal(item, model->items);
		for (int i = 0; i < 20 && model->items; i++) {
			item = dlsi_rng_below(&rng, model->items);
			dlsi_manifest_find(&manifest, item, &run);
			assert_item(&encoded, &run, item, &model->rows[item]);
		}
		dlsi_free(unit_alloc(), encoded.data);
	}
	test_free(model);
}

enum { SHORT_PAGE_BYTES = 131072 }; /* as a job's first ones are */

static void test_many_rows_make_several_pages(void **state)
{
	const uint64_t items = 100000;
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE, .bytes = {(const uint8_t *)"x", 1}};
	struct dlsi_manifest_writer writer;
	struct dlsi_manifest manifest;
	struct encoded encoded;
	struct dlsi_run run = {0};

	(void)state;
	dlsi_manifest_writer_init(&writer, unit_alloc());
	for (uint64_t i = 0; i < items; i++)
		assert_int_equal(dlsi_manifest_add_row(&writer, &field, 1, NULL), 0);
	assert_int_equal(dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL), 0);
	assert_int_equal(open_encoded(&encoded, items, &manifest), 0);
	assert_true(manifest.runs > 10);
	while (dlsi_manifest_next(&manifest, &run)) /* a worker reads all of it for a few rows */
		assert_true(run.page_length <= SHORT_PAGE_BYTES);
	dlsi_free(unit_alloc(), encoded.data);
}

static void test_pages_grow_with_their_number(void **state)
{
	struct dlsi_field equal = {.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = {.length = 1000, .proof = DLSI_PROOF_HASH},
		.length = 10};
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE, .bytes = {(const uint8_t *)"x", 1}};
	struct dlsi_manifest_writer writer;
	struct dlsi_manifest manifest;
	struct encoded encoded;
	struct dlsi_run run = {0};
	enum { RUNS = 10000, ROWS = 100000 };

	(void)state;
	dlsi_manifest_writer_init(&writer, unit_alloc());
	for (uint64_t i = 0; i < RUNS; i++)
		assert_int_equal(dlsi_manifest_add_equal(&writer, 1, 0, &equal, NULL), 0);
	for (uint64_t i = 0; i < ROWS; i++)
		assert_int_equal(dlsi_manifest_add_row(&writer, &field, 1, NULL), 0);
	assert_int_equal(dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL), 0);
	assert_int_equal(open_encoded(&encoded, RUNS + ROWS, &manifest), 0);
	dlsi_manifest_find(&manifest, RUNS, &run);
	assert_in_range(run.page_length, 2 * SHORT_PAGE_BYTES, DLSI_PAGE_BYTES);
	dlsi_free(unit_alloc(), encoded.data);
}

static void test_large_rows_within_the_limit(void **state)
{
	uint8_t *bytes = test_calloc(1, DLSI_INLINE_BYTES + 1);
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dlsi_manifest_writer writer;
	struct dlsi_manifest manifest;
	struct encoded encoded;
	struct dlsi_run run = {0};

	(void)state;
	for (unsigned i = 0; i < DLSI_ROW_FIELDS; i++)
		fields[i] = (struct dlsi_field){.media = DLSI_MEDIA_FILE, .bytes = {bytes, DLSI_INLINE_BYTES}};
	dlsi_manifest_writer_init(&writer, unit_alloc());
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(dlsi_manifest_add_row(&writer, fields, 2, NULL), 0);
	assert_int_equal(dlsi_manifest_add_row(&writer, fields, DLSI_ROW_FIELDS, NULL), DLS_ELIMIT);
	fields[0].bytes.length++;
	assert_int_equal(dlsi_manifest_add_row(&writer, fields, 1, NULL), DLS_ELIMIT);
	assert_int_equal(dlsi_manifest_add_row(&writer, fields, 0, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL), 0);
	assert_int_equal(open_encoded(&encoded, 100, &manifest), 0);
	while (dlsi_manifest_next(&manifest, &run))
		assert_true(run.page_length <= DLSI_PAGE_BYTES);
	dlsi_free(unit_alloc(), encoded.data);
	test_free(bytes);
}

static void test_equal_items_outside_their_blob(void **state)
{
	struct dlsi_field field = {.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = {.length = 1000, .proof = DLSI_PROOF_HASH},
		.length = 100};
	struct dlsi_manifest_writer writer;

	(void)state;
	dlsi_manifest_writer_init(&writer, unit_alloc());
	assert_int_equal(dlsi_manifest_add_equal(&writer, 10, 100, &field, NULL), 0);
	assert_int_equal(dlsi_manifest_add_equal(&writer, 11, 100, &field, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_manifest_add_equal(&writer, 10, 101, &field, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_manifest_add_equal(&writer, 3, UINT64_MAX / 2 + 1, &field, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_manifest_add_equal(&writer, 0, 100, &field, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_manifest_add_equal(&writer, DLSI_JOB_ITEMS, 0, &field, NULL), DLS_ELIMIT);
	field.form = DLSI_FORM_INLINE;
	assert_int_equal(dlsi_manifest_add_equal(&writer, 1, 0, &field, NULL), DLS_EINVAL);
	assert_int_equal(writer.items, 10);
	dlsi_manifest_writer_fini(&writer);
}

static void test_runs_have_a_limit(void **state)
{
	struct dlsi_field field = {.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = {.length = 1000, .proof = DLSI_PROOF_HASH},
		.length = 100};
	struct dlsi_manifest_writer writer;
	struct dlsi_manifest manifest;
	struct encoded encoded;
	uint64_t items = 0;

	(void)state;
	dlsi_manifest_writer_init(&writer, unit_alloc());
	while (dlsi_manifest_add_equal(&writer, 1, 0, &field, NULL) == 0)
		assert_true(++items <= DLSI_MANIFEST_RUNS);
	assert_true(items > DLSI_MANIFEST_RUNS / 2);
	assert_int_equal(dlsi_manifest_add_equal(&writer, 1, 0, &field, NULL), DLS_ELIMIT);
	assert_int_equal(dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL), 0);
	assert_true(encoded.head <= DLSI_PAGE_BYTES);
	assert_int_equal(open_encoded(&encoded, items, &manifest), 0);
	dlsi_free(unit_alloc(), encoded.data);
}

/* Opens a manifest and reads all runs, as far as it lets. */
static void read_all(const uint8_t *data, size_t length, uint64_t items)
{
	struct dlsi_manifest manifest;
	struct dlsi_run run = {0};

	if (dlsi_manifest_open(data, length, length, items, &manifest, NULL))
		return;
	while (dlsi_manifest_next(&manifest, &run))
		if (run.kind == DLSI_RUN_PAGE)
			assert_true(run.page_offset + run.page_length <= length);
	dlsi_manifest_find(&manifest, items - 1, &run);
}

static void test_truncated_and_damaged(void **state)
{
	struct model *model = test_malloc(sizeof *model);

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct encoded encoded = draw(&rng, model);
		struct dlsi_manifest manifest = {0};

		for (size_t length = 0; length < encoded.head; length++) {
			uint8_t *exact = test_malloc(length);

			memcpy(exact, encoded.data, length);
			assert_int_equal(
				dlsi_manifest_open(exact, length, encoded.length, model->items, &manifest, NULL),
				DLS_EFORMAT);
			assert_null(manifest.head);
			test_free(exact);
		}
		assert_int_equal(open_encoded(&encoded, model->items + 1, &manifest), DLS_EFORMAT);
		assert_int_equal(dlsi_manifest_open(
					 encoded.data, encoded.head, encoded.length + 1, model->items, &manifest, NULL),
			DLS_EFORMAT);
		for (size_t i = 0; i < encoded.head && model->items; i++) {
			uint8_t kept = encoded.data[i];

			encoded.data[i] = (uint8_t)dlsi_rng_next(&rng);
			read_all(encoded.data, encoded.length, model->items);
			encoded.data[i] = kept;
		}
		dlsi_free(unit_alloc(), encoded.data);
	}
	test_free(model);
}

/* Some of everything; 0 or DLS_ENOMEM. */
static int build(const struct dlsi_alloc *alloc)
{
	struct dlsi_field field = {.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = {.length = 1000, .proof = DLSI_PROOF_HASH},
		.length = 100};
	struct dlsi_manifest_writer writer;
	struct encoded encoded = {0};
	int rc = 0;

	dlsi_manifest_writer_init(&writer, alloc);
	for (int i = 0; i < 40 && rc == 0; i++)
		rc = i % 5 ? dlsi_manifest_add_row(&writer, &field, 1, NULL)
			   : dlsi_manifest_add_equal(&writer, 2, 10, &field, NULL);
	if (rc == 0)
		rc = dlsi_manifest_finish(&writer, &encoded.data, &encoded.length, &encoded.head, NULL);
	assert_true(rc == 0 || !encoded.data);
	dlsi_manifest_writer_fini(&writer);
	dlsi_free(alloc, encoded.data);
	return rc;
}

static void test_memory_runs_out(void **state)
{
	unsigned n = 1;

	(void)state;
	while (build(unit_alloc_failing_at(n)) == DLS_ENOMEM)
		assert_true(++n < 200);
	assert_int_equal(build(unit_alloc_failing_at(n)), 0);
	assert_true(n > 10);
}

UNIT_MAIN(test_items_come_back, test_many_rows_make_several_pages, test_pages_grow_with_their_number,
	test_large_rows_within_the_limit, test_equal_items_outside_their_blob, test_runs_have_a_limit,
	test_truncated_and_damaged, test_memory_runs_out)
