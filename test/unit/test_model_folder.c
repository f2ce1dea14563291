/* A model folder is taken whole or refused with one sentence that names what is wrong with it. */
#include "base/json.h"
#include "model/folder.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FASHION "examples/fashion"

static void test_opens_the_clothing_model(void **state)
{
	struct dlsi_model_folder folder;

	(void)state;
	assert_int_equal(dlsi_model_folder_open(&folder, unit_alloc(), FASHION, NULL), 0);
	assert_int_equal(folder.labels.count, 10);
	assert_string_equal(folder.labels.names[9], "Ankle boot");
	assert_int_equal(folder.plan.max_batch, 256);
	assert_true(folder.plan.batchable);
	assert_int_equal(folder.plan.outputs[0].rank, 1);
	assert_int_equal(folder.plan.outputs[0].count, 10);
	assert_int_equal(folder.plan.inputs[0].bytes, 28 * 28 * 4);
	dlsi_model_folder_close(&folder);
}

static void test_describes_it(void **state)
{
	struct dlsi_model_folder folder;
	cJSON *json, *input, *dims;
	char *text;

	(void)state;
	assert_int_equal(dlsi_model_folder_open(&folder, unit_alloc(), FASHION, NULL), 0);
	text = dlsi_model_folder_describe(&folder, unit_alloc());
	assert_int_equal(dlsi_json_parse("it", text, strlen(text), 10000, &json, NULL), 0);
	input = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "inputs"), 0);
	dims = cJSON_GetObjectItem(input, "dims");
	assert_string_equal(cJSON_GetObjectItem(input, "name")->valuestring, "input");
	assert_string_equal(cJSON_GetObjectItem(input, "dtype")->valuestring, "float32");
	assert_string_equal(cJSON_GetObjectItem(input, "kind")->valuestring, "image");
	assert_true(cJSON_IsNull(cJSON_GetArrayItem(dims, 0)));
	assert_int_equal(cJSON_GetArrayItem(dims, 2)->valueint, 28);
	assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "operators"), "Conv")->valueint > 0);
	assert_true(cJSON_GetObjectItem(json, "parameters")->valueint > 10000);
	assert_int_equal(cJSON_GetObjectItem(json, "max_batch")->valueint, 256);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "batchable")));
	cJSON_Delete(json);
	dlsi_free(unit_alloc(), text);
	dlsi_model_folder_close(&folder);
}

/* ---- folders with something wrong */

static void copy_file(const char *folder, const char *name)
{
	char *from = dlsi_file_join(unit_alloc(), FASHION, name), *to = dlsi_file_join(unit_alloc(), folder, name);
	uint8_t *data;
	size_t length;

	assert_int_equal(dlsi_file_read(unit_alloc(), from, 1 << 24, &data, &length, NULL), 0);
	assert_int_equal(dlsi_file_write(unit_alloc(), to, 0600, data, length, NULL), 0);
	dlsi_free(unit_alloc(), data);
	dlsi_free(unit_alloc(), from);
	dlsi_free(unit_alloc(), to);
}

/* A copy of the clothing model's folder, in which `name` has this text instead, or is not there (NULL). */
static const char *folder_with(const char *name, const char *text)
{
	static const char *const names[] = {DLSI_MODEL_ONNX, DLSI_MODEL_JSON, DLSI_MODEL_LABELS};
	const char *folder = unit_folder();
	char *path = dlsi_file_join(unit_alloc(), folder, name);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		copy_file(folder, names[i]);
	if (text)
		assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, text, strlen(text), NULL), 0);
	else
		assert_int_equal(unlink(path), 0);
	dlsi_free(unit_alloc(), path);
	return folder;
}

static void assert_refused(const char *folder, int code, const char *sentence)
{
	struct dlsi_model_folder opened;
	struct dls_error err;

	assert_int_equal(dlsi_model_folder_open(&opened, unit_alloc(), folder, &err), code);
	if (!strstr(err.text, sentence))
		fail_msg("\"%s\" does not say \"%s\"", err.text, sentence);
}

static void test_names_what_is_missing(void **state)
{
	(void)state;
	assert_refused("examples/nothing", DLS_ENOTFOUND, "examples/nothing/model.onnx");
	assert_refused(FASHION "/model.json", DLS_EFORMAT, "examples/fashion/model.json: not a whole ONNX file");
	assert_refused("/dev/null", DLS_EINVAL, "/dev/null");
	assert_refused(folder_with(DLSI_MODEL_ONNX, NULL), DLS_ENOTFOUND, "/model.onnx");
}

static void test_names_a_bad_graph(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_ONNX, ""), DLS_EFORMAT, "/model.onnx: ");
}

static void test_names_a_graph_that_is_none(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_ONNX, "hello, this is not a model"), DLS_EFORMAT, "/model.onnx: ");
}

static void test_names_the_unknown_key(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_JSON, "{\"max_bach\": 3}"), DLS_EINVAL, "\"max_batch\"");
}

static void test_names_the_unknown_input(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_JSON, "{\"inputs\": {\"inptu\": {\"kind\": \"tensor\"}}}"), DLS_EINVAL,
		"\"input\"");
}

static void test_names_both_shapes_if_a_photo_cannot_become_the_input(void **state)
{
	const char *folder = folder_with(DLSI_MODEL_JSON, "{\"inputs\": {\"input\": {\"kind\": \"image\", \"resize\": "
							  "{\"exact\": [28, 28]}, \"colour\": \"rgb\"}}}");

	(void)state;
	assert_refused(folder, DLS_EINVAL, "float32 [1, 1, 28, 28]");
	assert_refused(folder, DLS_EINVAL, "float32 [1, 3, 28, 28]");
}

static void test_classes_need_as_many_labels(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_LABELS, "shirt\ncoat\n"), DLS_EINVAL,
		"labels.txt has 2 lines; the output \"output\" has 10 classes");
}

static void test_classes_need_labels(void **state)
{
	(void)state;
	assert_refused(folder_with(DLSI_MODEL_LABELS, NULL), DLS_ENOTFOUND,
		"labels.txt is missing; it needs a line for each of the 10 classes");
}

static void test_there_cannot_be_more_best_than_classes(void **state)
{
	(void)state;
	assert_refused(
		folder_with(DLSI_MODEL_JSON, "{\"outputs\": {\"output\": {\"kind\": \"classes\", \"top\": 11}}}"),
		DLS_EINVAL, "asks for the best 11 of the output \"output\", which has 10 classes");
}

static void test_without_description_it_takes_tensors(void **state)
{
	struct dlsi_model_folder folder;
	const char *path = folder_with(DLSI_MODEL_JSON, NULL);

	(void)state;
	assert_int_equal(dlsi_model_folder_open(&folder, unit_alloc(), path, NULL), 0);
	assert_int_equal(folder.plan.inputs[0].how->kind, DLSI_INPUT_TENSOR);
	assert_int_equal(folder.plan.outputs[0].how->kind, DLSI_OUTPUT_TENSOR);
	dlsi_model_folder_close(&folder);
}

static void test_a_file_alone_takes_tensors(void **state)
{
	struct dlsi_model_folder folder;

	(void)state;
	assert_int_equal(dlsi_model_folder_open(&folder, unit_alloc(), FASHION "/model.onnx", NULL), 0);
	assert_int_equal(folder.plan.inputs[0].how->kind, DLSI_INPUT_TENSOR);
	assert_int_equal(folder.plan.outputs[0].how->kind, DLSI_OUTPUT_TENSOR);
	assert_int_equal(folder.labels.count, 0);
	dlsi_model_folder_close(&folder);
}

static void test_survives_exhausted_memory(void **state)
{
	struct dlsi_model_folder folder;
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		rc = dlsi_model_folder_open(&folder, unit_alloc_failing_at(++n), FASHION, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	} while (rc);
	assert_true(n > 10);
	dlsi_model_folder_close(&folder);
}

UNIT_MAIN(test_opens_the_clothing_model, test_describes_it, test_names_what_is_missing, test_names_a_bad_graph,
	test_names_a_graph_that_is_none, test_names_the_unknown_key, test_names_the_unknown_input,
	test_names_both_shapes_if_a_photo_cannot_become_the_input, test_classes_need_as_many_labels,
	test_classes_need_labels, test_there_cannot_be_more_best_than_classes,
	test_without_description_it_takes_tensors, test_a_file_alone_takes_tensors, test_survives_exhausted_memory)
