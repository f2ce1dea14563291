/* A task gives its handler the values that the manifest names, wherever they lie, and makes one page of what the
 * handler gives back. */
#include "test/unit/unit.h"
#include "worker/task.h"
#include <stdio.h>
#include <string.h>

enum { SEEDS = 200, ITEMS = 30, BLOB_BYTES = 4096 };

static uint8_t blobs[3][BLOB_BYTES];

/* What fails items that their handler forgot. */
static const struct dls_error nothing_said = {.code = DLS_EHANDLER, .text = "nothing was said"};

static struct dlsi_blob blob_named(unsigned number)
{
	return (struct dlsi_blob){.name.bytes = {(uint8_t)number}, .length = BLOB_BYTES, .proof = DLSI_PROOF_CHECKSUM};
}

/* What a handler must see of one input. */
struct expected {
	const uint8_t *bytes;
	size_t length;
	bool is_file;
	enum dls_dtype dtype;
};

struct row {
	struct dlsi_field fields[3];
	struct expected expected[3];
	unsigned count;
};

static void choose_place(struct dlsi_rng *rng, struct dlsi_field *field, struct expected *expected, uint64_t *next)
{
	unsigned number = (unsigned)dlsi_rng_below(rng, 3);
	uint64_t offset = dlsi_rng_below(rng, 2) ? *next : dlsi_rng_below(rng, BLOB_BYTES);

	if (offset + expected->length > BLOB_BYTES)
		offset = 0;
	*next = offset + expected->length;
	expected->bytes = blobs[number] + offset;
	if (dlsi_rng_below(rng, 3) == 0) {
		field->form = DLSI_FORM_INLINE;
		field->bytes = (struct dlsi_bytes){expected->bytes, (uint32_t)expected->length};
		return;
	}
	field->form = DLSI_FORM_BLOB;
	field->blob = blob_named(number);
	field->offset = offset;
	field->length = expected->length;
}

static void choose_row(struct dlsi_rng *rng, struct row *row, uint64_t *next)
{
	static const enum dls_dtype types[] = {DLS_UINT8, DLS_FLOAT32, DLS_INT64};

	*row = (struct row){.count = 1 + (unsigned)dlsi_rng_below(rng, 3)};
	for (unsigned i = 0; i < row->count; i++) {
		struct dlsi_field *field = &row->fields[i];
		struct expected *expected = &row->expected[i];
		uint64_t elements = dlsi_rng_below(rng, 40);

		expected->is_file = dlsi_rng_below(rng, 3) == 0;
		expected->dtype = expected->is_file ? DLS_UINT8 : types[dlsi_rng_below(rng, 3)];
		expected->length = elements * dls_dtype_bytes(expected->dtype);
		field->media = expected->is_file ? DLSI_MEDIA_FILE : DLSI_MEDIA_TENSOR;
		if (!expected->is_file) {
			field->dtype = (uint8_t)expected->dtype;
			field->rank = 2;
			field->dims[0] = (int64_t)elements;
			field->dims[1] = 1;
		}
		choose_place(rng, field, expected, next);
	}
}

static void fill_reads(struct dlsi_task_inputs *inputs)
{
	for (uint32_t i = 0; i < inputs->read_count; i++) {
		const struct dlsi_task_read *read = &inputs->reads[i];
		const uint8_t *data = blobs[read->blob.name.bytes[0]] + read->offset;

		assert_true(read->offset + read->length <= BLOB_BYTES);
		dlsi_task_inputs_fill(inputs, i, dlsi_frame_copy(unit_alloc(), data, (size_t)read->length));
	}
}

static void assert_row(struct dls_task *task, uint32_t item, const struct row *row)
{
	const struct dls_tensor *tensors;
	uint32_t count;

	assert_int_equal(dls_task_item(task, item, &tensors, &count, NULL), 0);
	assert_int_equal(count, row->count);
	for (unsigned i = 0; i < count; i++) {
		const struct expected *expected = &row->expected[i];

		assert_int_equal(tensors[i].dtype, expected->dtype);
		assert_int_equal(tensors[i].rank, expected->is_file ? 1 : 2);
		assert_int_equal(tensors[i].dims[0], expected->length / dls_dtype_bytes(expected->dtype));
		assert_int_equal(tensors[i].bytes, expected->length);
		assert_int_equal(
			expected->length ? (uintptr_t)tensors[i].data % dls_dtype_bytes(expected->dtype) : 0, 0);
		if (expected->length)
			assert_memory_equal(tensors[i].data, expected->bytes, expected->length);
		assert_int_equal(dlsi_task_inputs_at(&task->inputs, item, i).is_file, expected->is_file);
	}
}

static void test_inputs_are_what_the_rows_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < BLOB_BYTES; j++)
			blobs[i][j] = (uint8_t)(i * 89 + j * 7 + j / 256);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_id job = {{1}};
		static struct row rows[ITEMS];
		struct dls_task task;
		uint64_t next = 0;

		assert_int_equal(dlsi_task_init(&task, unit_alloc(), &job, 1, 0, ITEMS, "{}"), 0);
		for (uint32_t item = 0; item < ITEMS; item++) {
			choose_row(&rng, &rows[item], &next);
			assert_int_equal(
				dlsi_task_inputs_add(&task.inputs, rows[item].fields, rows[item].count, NULL), 0);
		}
		fill_reads(&task.inputs);
		for (uint32_t item = ITEMS; item-- > 0;)
			assert_row(&task, item, &rows[item]);
		assert_row(&task, 0, &rows[0]);
		dlsi_task_fini(&task);
	}
}

static struct dlsi_field blob_field(unsigned blob, uint64_t offset, uint64_t length)
{
	return (struct dlsi_field){.form = DLSI_FORM_BLOB,
		.media = DLSI_MEDIA_FILE,
		.blob = blob_named(blob),
		.offset = offset,
		.length = length};
}

static void test_neighbours_become_one_read(void **state)
{
	const struct dlsi_field fields[] = {blob_field(0, 0, 784), blob_field(0, 784, 784), blob_field(0, 784, 784),
		blob_field(0, 1568, 784), blob_field(1, 2352, 784), blob_field(1, 0, 784), blob_field(1, 0, 0)};
	struct dlsi_task_inputs inputs;

	(void)state;
	assert_int_equal(dlsi_task_inputs_init(&inputs, unit_alloc(), 7), 0);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(dlsi_task_inputs_add(&inputs, &fields[i], 1, NULL), 0);
	assert_int_equal(inputs.read_count, 3);
	assert_int_equal(inputs.reads[0].length, 3 * 784);
	assert_int_equal(inputs.bytes, 5 * 784);
	dlsi_task_inputs_fini(&inputs);
}

/* The row of a page as its fields; the page stays in `page`. */
static unsigned read_row(const struct dlsi_buffer *page, uint32_t rows, uint32_t row, struct dlsi_field *fields)
{
	struct dlsi_page open;
	unsigned count;

	assert_int_equal(dlsi_page_open(page->data, page->length, rows, &open, NULL), 0);
	assert_int_equal(dlsi_page_row(&open, row, fields, &count, NULL), 0);
	return count;
}

static void assert_error(const struct dlsi_buffer *page, uint32_t rows, uint32_t row, int code, const char *sentence)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];

	assert_int_equal(read_row(page, rows, row, fields), 1);
	assert_int_equal(fields->form, DLSI_FORM_ERROR);
	assert_int_equal(fields->code, code);
	assert_int_equal(fields->sentence.length, strlen(sentence));
	assert_memory_equal(fields->sentence.data, sentence, strlen(sentence));
}

static void begin_task(struct dls_task *task, uint32_t items)
{
	static const uint8_t byte = 7;
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE, .bytes = {&byte, 1}};
	struct dlsi_id job = {{0xab, 0xcd}};

	assert_int_equal(dlsi_task_init(task, unit_alloc(), &job, 5, 1000, items, "{\"a\":1}"), 0);
	for (uint32_t i = 0; i < items; i++)
		assert_int_equal(dlsi_task_inputs_add(&task->inputs, &field, 1, NULL), 0);
}

static struct dls_tensor floats(const float *values, int64_t count)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_FLOAT32;
	tensor.rank = 1;
	tensor.dims[0] = count;
	tensor.data = values;
	tensor.bytes = (size_t)count * sizeof *values;
	return tensor;
}

static void test_says_what_it_is_about(void **state)
{
	struct dls_task task;

	(void)state;
	begin_task(&task, 2);
	assert_int_equal(dls_task_items(&task), 2);
	assert_int_equal(dls_task_item_number(&task, 1), 1001);
	assert_int_equal(dls_task_attempt(&task), 5);
	assert_string_equal(dls_task_job(&task), "abcd0000000000000000000000000000");
	assert_string_equal(dls_task_params(&task), "{\"a\":1}");
	assert_int_equal(dls_task_cancelled(&task), 0);
	dlsi_task_fini(&task);
}

static void test_page_has_the_last_word_of_each_item(void **state)
{
	float values[] = {1, 2, 3};
	struct dls_tensor both[] = {floats(values, 3), floats(values, 0)};
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dlsi_buffer page;
	struct dls_task task;
	uint32_t failed;

	(void)state;
	begin_task(&task, 4);
	assert_int_equal(dls_task_fail(&task, 0, DLS_EINVAL, "first"), 0);
	assert_int_equal(dls_task_result(&task, 0, both, 2, NULL), 0);
	assert_int_equal(dls_task_result(&task, 1, both, 1, NULL), 0);
	assert_int_equal(dls_task_fail(&task, 1, DLS_EFORMAT, "line\none\x01 \xff"), 0);
	assert_int_equal(dls_task_fail(&task, 2, 0, NULL), 0);
	values[0] = 9; /* results are copies */
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &nothing_said, &page, &failed), 0);
	assert_int_equal(failed, 3);
	assert_int_equal(read_row(&page, 4, 0, fields), 2);
	assert_memory_equal(fields[0].bytes.data, ((float[]){1, 2, 3}), 12);
	assert_int_equal(fields[1].bytes.length, 0);
	assert_error(&page, 4, 1, DLS_EFORMAT, "line\none? ?");
	assert_error(&page, 4, 2, DLS_EHANDLER, "handler failed");
	assert_error(&page, 4, 3, DLS_EHANDLER, "nothing was said");
	dlsi_buffer_fini(&page);
	dlsi_task_fini(&task);
}

static void test_a_long_error_is_cut_between_characters(void **state)
{
	char sentence[DLSI_ITEM_ERROR_BYTES + 3], kept[sizeof sentence];
	struct dlsi_buffer page;
	struct dls_task task;
	uint32_t failed;

	(void)state;
	memset(sentence, 'e', sizeof sentence);
	strcpy(sentence + DLSI_ITEM_ERROR_BYTES - 1, "\xc3\xa9"); /* one byte of two would fit */
	strcpy(kept, sentence);
	kept[DLSI_ITEM_ERROR_BYTES - 1] = '\0';
	begin_task(&task, 2);
	assert_int_equal(dls_task_fail(&task, 0, DLS_EINVAL, sentence), 0);
	assert_int_equal(dls_task_fail(&task, 1, DLS_EINVAL, kept), 0);
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &nothing_said, &page, &failed), 0);
	assert_error(&page, 2, 0, DLS_EINVAL, kept);
	assert_error(&page, 2, 1, DLS_EINVAL, kept);
	dlsi_buffer_fini(&page);
	dlsi_task_fini(&task);
}

static void test_a_failed_run_fails_what_is_left(void **state)
{
	const struct dls_error broken = {.code = DLS_ELIMIT, .text = "the run broke off"};
	float value = 1;
	struct dls_tensor tensor = floats(&value, 1);
	struct dlsi_buffer page;
	struct dls_task task;
	uint32_t failed;

	(void)state;
	begin_task(&task, 2);
	assert_int_equal(dls_task_result(&task, 0, &tensor, 1, NULL), 0);
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &broken, &page, &failed), 0);
	assert_int_equal(failed, 1);
	assert_error(&page, 2, 1, DLS_ELIMIT, "the run broke off");
	dlsi_buffer_fini(&page);
	dlsi_task_fini(&task);
}

static void test_inputs_that_cannot_be_had_are_the_items_error(void **state)
{
	const struct dlsi_field good = blob_field(0, 0, 8), lost = blob_field(1, 0, 8);
	const struct dls_error away = {.code = DLS_ELOST, .text = "the client is gone"};
	const struct dls_error broken = {.code = DLS_EFORMAT, .text = "no page"};
	struct dlsi_field pair[] = {good, lost};
	struct dlsi_id job = {{1}};
	const struct dls_tensor *tensors;
	struct dlsi_buffer page;
	struct dls_error err;
	struct dls_task task;
	uint32_t count, failed;

	(void)state;
	assert_int_equal(dlsi_task_init(&task, unit_alloc(), &job, 1, 0, 4, "{}"), 0);
	assert_int_equal(dlsi_task_inputs_add(&task.inputs, &good, 1, NULL), 0);
	assert_int_equal(dlsi_task_inputs_add(&task.inputs, pair, 2, NULL), 0);
	assert_int_equal(dlsi_task_inputs_add_failed(&task.inputs, 2, &broken), 0);
	assert_int_equal(task.inputs.read_count, 3);
	dlsi_task_inputs_fill(&task.inputs, 0, dlsi_frame_copy(unit_alloc(), "12345678", 8));
	dlsi_task_inputs_fail(&task.inputs, 1, &away);

	assert_int_equal(dls_task_item(&task, 0, &tensors, &count, &err), 0);
	assert_int_equal(dls_task_item(&task, 1, &tensors, &count, &err), DLS_ELOST);
	assert_string_equal(err.text, "the client is gone");
	assert_int_equal(dls_task_item(&task, 3, &tensors, &count, &err), DLS_EFORMAT);
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &nothing_said, &page, &failed), 0);
	assert_int_equal(failed, 4);
	assert_error(&page, 4, 1, DLS_ELOST, "the client is gone");
	assert_error(&page, 4, 2, DLS_EFORMAT, "no page");
	dlsi_buffer_fini(&page);
	dlsi_task_fini(&task);
}

static void test_refuses_what_is_no_result(void **state)
{
	float values[2] = {0};
	struct dls_tensor good = floats(values, 2), bad[4];
	struct dls_error err;
	struct dls_task task;

	(void)state;
	begin_task(&task, 1);
	bad[0] = bad[1] = bad[2] = bad[3] = good;
	bad[0].bytes = 4;
	bad[1].dtype = 99;
	bad[2].rank = DLS_TENSOR_RANK + 1;
	bad[3].data = NULL;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(dls_task_result(&task, 0, &bad[i], 1, &err), DLS_EINVAL);
	assert_string_equal(err.text, "the result has no data");
	assert_int_equal(dls_task_result(&task, 0, NULL, 1, &err), DLS_EINVAL);
	assert_int_equal(dls_task_result(&task, 0, &good, 0, &err), DLS_EINVAL);
	assert_int_equal(dls_task_result(&task, 0, &good, DLSI_ROW_FIELDS + 1, &err), DLS_EINVAL);
	assert_int_equal(dls_task_result(&task, 1, &good, 1, &err), DLS_EINVAL);
	assert_int_equal(dls_task_fail(&task, 1, DLS_EIO, "x"), DLS_EINVAL);
	dlsi_task_fini(&task);
}

/* One task from its making to its page; the number of the request that fails decides where it ends. */
static int run_whole(const struct dlsi_alloc *alloc, struct dlsi_buffer *page)
{
	static const uint8_t bytes[9] = {0};
	const struct dlsi_field fields[] = {blob_field(0, 0, 8),
		{.media = DLSI_MEDIA_TENSOR, .dtype = DLS_FLOAT64, .rank = 0, .bytes = {bytes + 1, 8}}};
	const struct dls_tensor *tensors;
	struct dlsi_id job = {{1}};
	struct dls_task task;
	uint32_t count, failed;
	int rc = dlsi_task_init(&task, alloc, &job, 1, 0, 1, "{}");

	if (rc)
		return rc;
	rc = dlsi_task_inputs_add(&task.inputs, fields, 2, NULL);
	if (rc == 0) {
		dlsi_task_inputs_fill(&task.inputs, 0, dlsi_frame_copy(unit_alloc(), "12345678", 8));
		rc = dls_task_item(&task, 0, &tensors, &count, NULL);
	}
	if (rc == 0)
		rc = dls_task_result(&task, 0, tensors, count, NULL);
	if (rc == 0)
		rc = dlsi_task_finish(&task, &nothing_said, page, &failed);
	dlsi_task_fini(&task);
	return rc;
}

static void test_survives_exhausted_memory(void **state)
{
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		const struct dlsi_alloc *alloc = unit_alloc_failing_at(++n);
		struct dlsi_buffer page;

		dlsi_buffer_init(&page, alloc);
		rc = run_whole(alloc, &page);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		dlsi_buffer_fini(&page);
	} while (rc);
	assert_true(n > 5);
}

UNIT_MAIN(test_inputs_are_what_the_rows_name, test_neighbours_become_one_read, test_says_what_it_is_about,
	test_page_has_the_last_word_of_each_item, test_a_long_error_is_cut_between_characters,
	test_a_failed_run_fails_what_is_left, test_inputs_that_cannot_be_had_are_the_items_error,
	test_refuses_what_is_no_result, test_survives_exhausted_memory)
