/* A task of a model: every item gets what the model gives it alone, whatever stands beside it in its batch, and a bad
 * item only its own error. */
#include "base/limits.h"
#include "model/folder.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include "worker/inference.h"
#include "worker/inference_output.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 40, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, TOP = 3 };

#define ONNX "examples/fashion/model.onnx"

static uint8_t pictures[ITEMS][PIXELS];

static void draw_pictures(void)
{
	struct dlsi_rng rng = unit_rng(7);

	for (int i = 0; i < ITEMS; i++)
		for (int j = 0; j < PIXELS; j++)
			pictures[i][j] = (uint8_t)dlsi_rng_below(&rng, 256);
}

/* What the model itself says of one picture. */
static void score(struct dlsi_model *model, const uint8_t *picture, float scores[CLASSES])
{
	float values[PIXELS];
	struct dls_tensor input = DLS_TENSOR_INIT, output = DLS_TENSOR_INIT;

	for (int i = 0; i < PIXELS; i++)
		values[i] = (float)(picture[i] / 255.0);
	input.dtype = DLS_FLOAT32;
	input.rank = 4;
	input.dims[0] = input.dims[1] = 1;
	input.dims[2] = input.dims[3] = SIDE;
	input.data = values;
	input.bytes = sizeof values;
	output.data = scores;
	output.bytes = CLASSES * sizeof *scores;
	assert_int_equal(dlsi_model_run(model, 1, &input, &output, NULL), 0);
}

static struct dlsi_frame *read_frame(const char *path)
{
	struct dlsi_frame *frame;
	uint8_t *data;
	size_t length;

	assert_int_equal(dlsi_file_read(unit_alloc(), path, 1 << 24, &data, &length, NULL), 0);
	frame = dlsi_frame_copy(unit_alloc(), data, length);
	dlsi_free(unit_alloc(), data);
	return frame;
}

static void score_all(float scores[ITEMS][CLASSES])
{
	struct dlsi_frame *onnx = read_frame(ONNX);
	struct dlsi_device *device;
	struct dlsi_model *model;

	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &device, NULL), 0);
	assert_int_equal(dlsi_model_load(unit_alloc(), device, "it",
				 &(struct dlsi_onnx){.file = dlsi_frame_data(onnx), .length = dlsi_frame_size(onnx)},
				 &model, NULL),
		0);
	for (int i = 0; i < ITEMS; i++)
		score(model, pictures[i], scores[i]);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_frame_unref(onnx);
}

/* Items 5, 6 and 7 are no pictures of the right kind, and item 8 could not be fetched. */
static bool is_bad(int item)
{
	return item >= 5 && item <= 8;
}

static void begin_task(struct dls_task *task)
{
	const struct dls_error lost = {.code = DLS_ELOST, .text = "it went away"};
	struct dlsi_id job = {{1}};

	assert_int_equal(dlsi_task_init(task, unit_alloc(), &job, 1, 0, ITEMS, "{}"), 0);
	for (int i = 0; i < ITEMS; i++) {
		struct dlsi_field fields[2] = {{.media = DLSI_MEDIA_TENSOR,
			.dtype = DLS_UINT8,
			.rank = 2,
			.dims = {SIDE, SIDE},
			.bytes = {pictures[i], PIXELS}}};
		unsigned count = i == 6 ? 2 : 1;

		fields[1] = fields[0];
		if (i == 5) {
			fields[0].dtype = DLS_INT8;
		} else if (i == 7) {
			fields[0].media = DLSI_MEDIA_FILE;
			fields[0].dtype = fields[0].rank = 0;
		}
		if (i == 8)
			assert_int_equal(dlsi_task_inputs_add_failed(&task->inputs, 1, &lost), 0);
		else
			assert_int_equal(dlsi_task_inputs_add(&task->inputs, fields, count, NULL), 0);
	}
}

/* One device's, with what it loads. */
static struct dlsi_loaded *begin(uint64_t most_bytes, struct dlsi_inference **inference_out)
{
	struct dlsi_loaded *loaded;

	assert_int_equal(dlsi_loaded_create(unit_alloc(), &dlsi_device_onednn, NULL, &loaded, NULL), 0);
	assert_int_equal(dlsi_inference_create(unit_alloc(), loaded, 2, most_bytes, inference_out, NULL), 0);
	return loaded;
}

/* Runs the task by a description and leaves its page. */
static uint32_t run(const char *description, struct dlsi_buffer *page)
{
	const struct dls_error missing = {.code = DLS_EHANDLER, .text = "nothing was given"};
	struct dlsi_inference *inference;
	struct dlsi_loaded *loaded;
	struct dlsi_model_file at[] = {{"model.onnx", read_frame(ONNX)}, {"model.json", NULL}};
	struct dlsi_model_files files = {.at = at, .count = description ? 2 : 1};
	struct dls_task task;
	uint32_t failed;

	if (description)
		at[1].bytes = dlsi_frame_copy(unit_alloc(), description, strlen(description));
	begin_task(&task);
	loaded = begin(0, &inference);
	dlsi_inference_run(inference, &files, &task);
	dlsi_inference_destroy(inference);
	dlsi_loaded_destroy(loaded);
	dlsi_buffer_init(page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &missing, page, &failed), 0);
	dlsi_task_fini(&task);
	dlsi_frame_unref(at[0].bytes);
	dlsi_frame_unref(at[1].bytes);
	return failed;
}

static struct dlsi_field read_row(const struct dlsi_buffer *page, uint32_t row)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dlsi_page open;
	unsigned count;

	assert_int_equal(dlsi_page_open(page->data, page->length, ITEMS, &open, NULL), 0);
	assert_int_equal(dlsi_page_row(&open, row, fields, &count, NULL), 0);
	assert_int_equal(count, 1);
	return fields[0];
}

static void assert_error(const struct dlsi_buffer *page, uint32_t row, int code, const char *part)
{
	struct dlsi_field field = read_row(page, row);
	char sentence[DLSI_SENTENCE_BYTES + 1];

	assert_int_equal(field.form, DLSI_FORM_ERROR);
	snprintf(sentence, sizeof sentence, "%.*s", (int)field.sentence.length, field.sentence.data);
	if (field.code != code || !strstr(sentence, part))
		fail_msg("row %u: %d \"%s\"", row, field.code, sentence);
}

static void test_the_best_classes_of_each_good_item(void **state)
{
	static float scores[ITEMS][CLASSES];
	struct dlsi_buffer page;

	(void)state;
	draw_pictures();
	score_all(scores);
	assert_int_equal(run("{\"inputs\": {\"input\": {\"kind\": \"image\", \"resize\": {\"exact\": [28, 28]}, "
			     "\"colour\": \"grey\", \"std\": [255]}},"
			     "\"outputs\": {\"output\": {\"kind\": \"classes\", \"top\": 3}}, \"max_batch\": 7}",
				 &page),
		4);
	for (int i = 0; i < ITEMS; i++) {
		float best[TOP], values[2 * TOP];
		uint32_t indices[TOP];
		struct dlsi_field field = read_row(&page, (uint32_t)i);

		if (is_bad(i))
			continue;
		assert_int_equal(field.media, DLSI_MEDIA_TOP);
		assert_int_equal(field.dims[0], TOP);
		dlsi_output_top(scores[i], CLASSES, TOP, best, indices);
		memcpy(values, field.bytes.data, sizeof values);
		assert_memory_equal(values + TOP, indices, sizeof indices);
		for (int j = 0; j < TOP; j++)
			assert_true(fabsf(values[j] - best[j]) < 1e-4f);
	}
	assert_error(&page, 5, DLS_EINVAL, "int8 [28, 28]");
	assert_error(&page, 6, DLS_EINVAL, "the model has 1 inputs, and this item brings 2");
	assert_error(&page, 7, DLS_EFORMAT, "");
	assert_error(&page, 8, DLS_ELOST, "it went away");
	dlsi_buffer_fini(&page);
}

static void test_whole_outputs_with_softmax(void **state)
{
	static float scores[ITEMS][CLASSES];
	struct dlsi_buffer page;

	(void)state;
	draw_pictures();
	score_all(scores);
	assert_int_equal(run("{\"inputs\": {\"input\": {\"kind\": \"image\", \"resize\": {\"exact\": [28, 28]}, "
			     "\"colour\": \"grey\", \"std\": [255]}},"
			     "\"outputs\": {\"output\": {\"kind\": \"classes\", \"softmax\": true}}}",
				 &page),
		4);
	for (int i = 0; i < ITEMS; i++) {
		struct dlsi_field field = read_row(&page, (uint32_t)i);
		float values[CLASSES];

		if (is_bad(i))
			continue;
		assert_int_equal(field.media, DLSI_MEDIA_TENSOR);
		assert_int_equal(field.rank, 1);
		assert_int_equal(field.dims[0], CLASSES);
		dlsi_output_softmax(scores[i], CLASSES);
		memcpy(values, field.bytes.data, sizeof values);
		for (int j = 0; j < CLASSES; j++)
			assert_true(fabsf(values[j] - scores[i][j]) < 1e-5f);
	}
	dlsi_buffer_fini(&page);
}

static void test_a_model_without_description_wants_its_own_tensors(void **state)
{
	struct dlsi_buffer page;

	(void)state;
	draw_pictures();
	assert_int_equal(run(NULL, &page), ITEMS);
	assert_error(&page, 0, DLS_EINVAL, "float32 [1, 1, 28, 28], and this item is uint8 [28, 28]");
	dlsi_buffer_fini(&page);
}

static void test_a_model_that_cannot_be_loaded_fails_all(void **state)
{
	struct dlsi_buffer page;

	(void)state;
	draw_pictures();
	assert_int_equal(run("{\"outputs\": {\"output\": {\"kind\": \"classes\", \"top\": 11}}}", &page), ITEMS);
	assert_error(&page, 0, DLS_EINVAL, "asks for the best 11");
	assert_error(&page, ITEMS - 1, DLS_EINVAL, "asks for the best 11");
	dlsi_buffer_fini(&page);
}

/* Item i has i % 4 elements that are not 0. */
static void give_counts(struct dls_task *task)
{
	static float numbers[] = {1, 1, 1, 0, 0, 0};
	struct dlsi_id job = {{1}};

	assert_int_equal(dlsi_task_init(task, unit_alloc(), &job, 1, 0, ITEMS, "{}"), 0);
	for (int i = 0; i < ITEMS; i++) {
		struct dlsi_field field = {.media = DLSI_MEDIA_TENSOR,
			.dtype = DLS_FLOAT32,
			.rank = 1,
			.dims = {3},
			.bytes = {(uint8_t *)&numbers[3 - i % 4], 3 * sizeof *numbers}};

		assert_int_equal(dlsi_task_inputs_add(&task->inputs, &field, 1, NULL), 0);
	}
}

/* Runs the task on a model of one file and leaves its results. */
static void run_text(const char *text, struct dls_task *task, struct dlsi_buffer *page_out)
{
	const struct dls_error missing = {.code = DLS_EHANDLER, .text = "nothing was given"};
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_inference *inference;
	struct dlsi_loaded *loaded;
	struct dlsi_model_file onnx = {.name = "model.onnx"};
	struct dlsi_model_files files = {.at = &onnx, .count = 1};
	struct dlsi_buffer file;
	uint32_t failed;

	unit_onnx(&file, &rng, text);
	onnx.bytes = dlsi_frame_copy(unit_alloc(), file.data, file.length);
	dlsi_buffer_fini(&file);
	loaded = begin(0, &inference);
	dlsi_inference_run(inference, &files, task);
	dlsi_inference_destroy(inference);
	dlsi_loaded_destroy(loaded);
	dlsi_buffer_init(page_out, unit_alloc());
	assert_int_equal(dlsi_task_finish(task, &missing, page_out, &failed), 0);
	assert_int_equal(failed, 0);
	dlsi_task_fini(task);
	dlsi_frame_unref(onnx.bytes);
}

static void test_results_are_as_large_as_their_items_make_them(void **state)
{
	struct dlsi_buffer page;
	struct dls_task task;

	(void)state;
	give_counts(&task);
	run_text("in x 3\nnode NonZero x > y\nout y\n", &task, &page);
	for (uint32_t i = 0; i < ITEMS; i++) {
		struct dlsi_field field = read_row(&page, i);

		assert_true(field.dtype == DLS_INT64 && field.rank == 2 && field.dims[0] == 1);
		assert_int_equal(field.dims[1], i % 4);
		assert_int_equal(field.bytes.length, i % 4 * sizeof(int64_t));
	}
	dlsi_buffer_fini(&page);
}

/* Item i has i / 3 % 4 + 1 rows, so that some follow others of the same shape. */
static uint32_t rows_of(uint32_t i)
{
	return i / 3 % 4 + 1;
}

static void test_an_item_has_as_many_rows_as_the_file_leaves_open(void **state)
{
	static float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct dlsi_id job = {{1}};
	struct dlsi_buffer page;
	struct dls_task task;

	(void)state;
	assert_int_equal(dlsi_task_init(&task, unit_alloc(), &job, 1, 0, ITEMS, "{}"), 0);
	for (uint32_t i = 0; i < ITEMS; i++) {
		struct dlsi_field field = {.media = DLSI_MEDIA_TENSOR,
			.dtype = DLS_FLOAT32,
			.rank = 2,
			.dims = {rows_of(i), 2},
			.bytes = {(uint8_t *)numbers, rows_of(i) * 2 * (uint32_t)sizeof *numbers}};

		assert_int_equal(dlsi_task_inputs_add(&task.inputs, &field, 1, NULL), 0);
	}
	run_text("in x ? 2\nnode ReduceMax x > y axes:I=0 keepdims:i=0\nout y\n", &task, &page);
	for (uint32_t i = 0; i < ITEMS; i++) {
		struct dlsi_field field = read_row(&page, i);
		float largest[2];

		assert_true(field.rank == 1 && field.dims[0] == 2 && field.bytes.length == sizeof largest);
		memcpy(largest, field.bytes.data, sizeof largest);
		assert_true(largest[0] == (float)(2 * rows_of(i) - 2) && largest[1] == (float)(2 * rows_of(i) - 1));
	}
	dlsi_buffer_fini(&page);
}

static void test_keeps_only_so_many_models(void **state)
{
	struct dlsi_model_file onnx = {"model.onnx", read_frame(ONNX)};
	struct dlsi_inference *inference;
	struct dlsi_loaded *loaded;

	(void)state;
	draw_pictures();
	loaded = begin(0, &inference);
	for (uint8_t i = 0; i < DLSI_MODELS_LOADED + 3; i++) {
		struct dlsi_model_files files = {.id.bytes = {i % (DLSI_MODELS_LOADED + 2)}, .at = &onnx, .count = 1};
		struct dls_task task;

		begin_task(&task);
		dlsi_inference_run(inference, &files, &task);
		dlsi_task_fini(&task);
	}
	dlsi_frame_unref(onnx.bytes); /* the models have their own references */
	dlsi_inference_destroy(inference);
	dlsi_loaded_destroy(loaded);
}

static void count_release(void *arg, const void *data)
{
	(void)data;
	++*(unsigned *)arg;
}

/* Models whose files are together larger than they may be: the one in use stays, whatever it has, and the others while
 * there is room. */
static void test_keeps_only_so_many_bytes_of_models(void **state)
{
	enum { MODELS = 3 };
	struct dlsi_frame *onnx = read_frame(ONNX);
	const size_t size = dlsi_frame_size(onnx);
	const struct {
		uint64_t most_bytes;
		unsigned kept;
	} cases[] = {{1, 1}, {2 * size - 1, 1}, {2 * size, 2}, {MODELS * size, MODELS}, {0, MODELS}};

	(void)state;
	draw_pictures();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_inference *inference;
		struct dlsi_loaded *loaded;
		struct dlsi_inference_report report;
		unsigned released = 0, unloaded = 0;

		loaded = begin(cases[i].most_bytes, &inference);
		for (uint8_t j = 0; j < MODELS; j++) {
			struct dlsi_model_file file = {.name = "model.onnx"};
			struct dlsi_model_files files = {.id.bytes = {j}, .at = &file, .count = 1};
			struct dls_task task;

			file.bytes =
				dlsi_frame_wrap(unit_alloc(), dlsi_frame_data(onnx), size, count_release, &released);
			begin_task(&task);
			report = dlsi_inference_run(inference, &files, &task);
			assert_true(report.load_ns > 0);
			for (unsigned k = 0; k < report.unloaded_count; k++, unloaded++)
				assert_int_equal(report.unloaded[k].bytes[0], unloaded); /* the one used first */
			report = dlsi_inference_run(inference, &files, &task);
			assert_true(report.load_ns == 0 && report.unloaded_count == 0);
			dlsi_task_fini(&task);
			dlsi_frame_unref(file.bytes);
		}
		assert_int_equal(unloaded, released);
		assert_int_equal(MODELS - released, cases[i].kept);
		dlsi_inference_destroy(inference);
		dlsi_loaded_destroy(loaded);
		assert_int_equal(released, MODELS);
	}
	dlsi_frame_unref(onnx);
}

/* The files of whoever comes first are kept until the last one is gone, and those of others not at all. */
static void test_devices_share_a_model(void **state)
{
	struct dlsi_frame *onnx = read_frame(ONNX);
	struct dlsi_inference *inferences[2];
	struct dlsi_loaded *loaded = begin(0, &inferences[0]);
	unsigned released[2] = {0, 0};

	(void)state;
	draw_pictures();
	assert_int_equal(dlsi_inference_create(unit_alloc(), loaded, 0, 0, &inferences[1], NULL), 0);
	for (int i = 0; i < 3; i++) {
		struct dlsi_model_file file = {.name = "model.onnx"};
		struct dlsi_model_files files = {.at = &file, .count = 1};
		struct dls_task task;

		file.bytes = dlsi_frame_wrap(
			unit_alloc(), dlsi_frame_data(onnx), dlsi_frame_size(onnx), count_release, &released[i > 0]);
		begin_task(&task);
		dlsi_inference_run(inferences[i > 0], &files, &task);
		assert_int_equal(dlsi_task_is_complete(&task), 1);
		dlsi_task_fini(&task);
		dlsi_frame_unref(file.bytes);
		assert_int_equal(released[0], 0);
		assert_int_equal(released[1], i);
		if (i == 1)
			dlsi_inference_destroy(inferences[0]);
	}
	dlsi_inference_destroy(inferences[1]);
	assert_int_equal(released[0], 1);
	dlsi_loaded_destroy(loaded);
	dlsi_frame_unref(onnx);
}

static void test_a_cancelled_task_is_not_run(void **state)
{
	const struct dls_error missing = {.code = DLS_ECANCELLED, .text = "not run"};
	struct dlsi_model_file onnx = {"model.onnx", read_frame(ONNX)};
	struct dlsi_model_files files = {.at = &onnx, .count = 1};
	struct dlsi_inference *inference;
	struct dlsi_loaded *loaded;
	struct dlsi_buffer page;
	struct dls_task task;
	uint32_t failed;

	(void)state;
	draw_pictures();
	begin_task(&task);
	atomic_store(&task.cancelled, true);
	loaded = begin(0, &inference);
	dlsi_inference_run(inference, &files, &task);
	dlsi_buffer_init(&page, unit_alloc());
	assert_int_equal(dlsi_task_finish(&task, &missing, &page, &failed), 0);
	assert_error(&page, 0, DLS_ECANCELLED, "not run");
	dlsi_buffer_fini(&page);
	dlsi_task_fini(&task);
	dlsi_inference_destroy(inference);
	dlsi_loaded_destroy(loaded);
	dlsi_frame_unref(onnx.bytes);
}

UNIT_MAIN(test_the_best_classes_of_each_good_item, test_whole_outputs_with_softmax,
	test_a_model_without_description_wants_its_own_tensors, test_a_model_that_cannot_be_loaded_fails_all,
	test_results_are_as_large_as_their_items_make_them, test_an_item_has_as_many_rows_as_the_file_leaves_open,
	test_keeps_only_so_many_models, test_keeps_only_so_many_bytes_of_models, test_devices_share_a_model,
	test_a_cancelled_task_is_not_run)
