/* Files as inputs of a model: items of any form, one behind the other, as many as a run takes. */
#include "base/limits.h"
#include "media/npy.h"
#include "model/files.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

#define FASHION "examples/fashion"
#define PICTURE "test/fuzz/corpus/image/grey.png"
#define DIGIT   "test/models/data/mnist/test_data_set_0/input_0.pb"

enum { PIXELS = 28 * 28 };

static char folder[128];

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const struct dlsi_buffer *bytes)
{
	assert_int_equal(dlsi_file_write(unit_alloc(), path_of(name), 0600, bytes->data, bytes->length, NULL), 0);
}

/* `items` of float32 with these dimensions behind the first; element k is k. */
static void write_npy(const char *name, int64_t items, uint32_t rank, const int64_t *dims)
{
	int64_t all[DLS_TENSOR_RANK] = {items};
	struct dlsi_buffer bytes;
	int64_t count = items;

	memcpy(all + 1, dims, rank * sizeof *dims);
	for (uint32_t i = 0; i < rank; i++)
		count *= dims[i];
	dlsi_buffer_init(&bytes, unit_alloc());
	dlsi_npy_append_header(&bytes, DLS_FLOAT32, rank + 1, all);
	for (int64_t i = 0; i < count; i++) {
		float element = (float)i;

		dlsi_buffer_append(&bytes, &element, sizeof element);
	}
	write_file(name, &bytes);
	dlsi_buffer_fini(&bytes);
}

/* Grey pictures of 28 x 28, each of one shade, 10 times its number. */
static void write_idx(const char *name, unsigned items)
{
	const uint8_t header[] = {0, 0, 8, 3, 0, 0, (uint8_t)(items >> 8), (uint8_t)items, 0, 0, 0, 28, 0, 0, 0, 28};
	struct dlsi_buffer bytes;

	dlsi_buffer_init(&bytes, unit_alloc());
	dlsi_buffer_append(&bytes, header, sizeof header);
	for (unsigned i = 0; i < items; i++)
		memset(dlsi_buffer_extend(&bytes, PIXELS), (int)(10 * i), PIXELS);
	write_file(name, &bytes);
	dlsi_buffer_fini(&bytes);
}

static struct dlsi_model_folder open_model(const char *path)
{
	struct dlsi_model_folder model;
	struct dls_error err;

	snprintf(folder, sizeof folder, "%s", unit_folder());
	if (dlsi_model_folder_open(&model, unit_alloc(), path, &err))
		fail_msg("%s", err.text);
	return model;
}

static struct dls_tensor *read_all(const struct dlsi_model_folder *model, const char *const *paths, uint32_t count)
{
	struct dls_tensor *tensor = NULL;
	struct dls_error err;

	if (dlsi_model_folder_read(model, unit_alloc(), 0, paths, count, &tensor, &err))
		fail_msg("%s", err.text);
	return tensor;
}

static void test_forms_one_behind_the_other(void **state)
{
	static const int64_t item[] = {1, 28, 28};
	struct dlsi_model_folder model = open_model(FASHION);
	char npy[256], idx[256];
	const char *const paths[] = {PICTURE, npy, DIGIT, idx};
	struct dls_tensor *tensor;
	const float *elements;

	(void)state;
	write_npy("three.npy", 3, 3, item);
	snprintf(npy, sizeof npy, "%s", path_of("three.npy"));
	write_idx("two.idx", 2);
	snprintf(idx, sizeof idx, "%s", path_of("two.idx"));
	tensor = read_all(&model, paths, 4);
	assert_int_equal(tensor->dtype, DLS_FLOAT32);
	assert_int_equal(tensor->rank, 4);
	assert_int_equal(tensor->dims[0], 1 + 3 + 1 + 2);
	assert_int_equal(tensor->bytes, 7 * PIXELS * sizeof(float));
	elements = tensor->data;
	assert_true(elements[PIXELS] == 0 && elements[PIXELS + 1] == 1);  /* as they are in the file */
	assert_true(elements[4 * PIXELS - 1] == (float)(3 * PIXELS - 1)); /* all three of them */
	assert_true(elements[5 * PIXELS] < elements[6 * PIXELS]);         /* black before a shade */
	assert_true(elements[6 * PIXELS] == elements[7 * PIXELS - 1]);    /* all of one shade */
	dlsi_free(unit_alloc(), tensor);
	dlsi_model_folder_close(&model);
}

static void assert_refused(
	const struct dlsi_model_folder *model, const char *const *paths, uint32_t count, int code, const char *says)
{
	struct dls_tensor *tensor = NULL;
	struct dls_error err = {0};

	assert_int_equal(dlsi_model_folder_read(model, unit_alloc(), 0, paths, count, &tensor, &err), code);
	assert_null(tensor);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

/* Bytes that could be a number of items if they were float32. */
static void test_rows_of_another_type(void **state)
{
	static const int64_t dims[] = {2, 1, 28, 28};
	struct dlsi_model_folder model = open_model(FASHION);
	const char *path = path_of("wrong.npy");
	struct dlsi_buffer bytes;

	(void)state;
	dlsi_buffer_init(&bytes, unit_alloc());
	dlsi_npy_append_header(&bytes, DLS_FLOAT64, 4, dims);
	memset(dlsi_buffer_extend(&bytes, 2 * PIXELS * sizeof(double)), 0, 2 * PIXELS * sizeof(double));
	write_file("wrong.npy", &bytes);
	dlsi_buffer_fini(&bytes);
	assert_refused(&model, &path, 1, DLS_EINVAL, "this item is float64 [2, 1, 28, 28]");
	dlsi_model_folder_close(&model);
}

static void test_more_items_than_a_run_takes(void **state)
{
	static const int64_t item[] = {1, 28, 28};
	struct dlsi_model_folder model = open_model(FASHION);
	const char *paths[] = {path_of("all.npy"), PICTURE};
	struct dls_tensor *tensor;

	(void)state;
	write_npy("all.npy", DLSI_TASK_ITEMS, 3, item);
	tensor = read_all(&model, paths, 1);
	assert_int_equal(tensor->dims[0], DLSI_TASK_ITEMS);
	dlsi_free(unit_alloc(), tensor);
	assert_refused(&model, paths, 2, DLS_ELIMIT, "more than the 4096 items of one run");
	write_npy("all.npy", DLSI_TASK_ITEMS + 1, 3, item);
	assert_refused(&model, paths, 1, DLS_ELIMIT, "all.npy: this is more than the 4096 items");
	assert_refused(&model, paths, 0, DLS_EINVAL, "1 to 4096 files, not 0");
	dlsi_model_folder_close(&model);
}

/* One that is not batched takes one item, whichever way two come. */
static void test_items_that_run_one_by_one(void **state)
{
	static const int64_t rest[] = {28};
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file;
	struct dlsi_model_folder model;
	struct dls_tensor *tensor;
	const char *twice[2];
	char onnx[256], npy[256];

	(void)state;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	unit_onnx(&file, &rng, "in x 28 28\nnode Relu x > y\nout y\n");
	write_file("net.onnx", &file);
	dlsi_buffer_fini(&file);
	snprintf(onnx, sizeof onnx, "%s", path_of("net.onnx"));
	model = open_model(onnx);
	write_npy("x.npy", 28, 1, rest);
	snprintf(npy, sizeof npy, "%s", path_of("x.npy"));
	twice[0] = twice[1] = npy;
	tensor = read_all(&model, twice, 1);
	assert_true(tensor->rank == 2 && tensor->dims[0] == 28 && tensor->bytes == PIXELS * sizeof(float));
	dlsi_free(unit_alloc(), tensor);
	assert_refused(&model, twice, 2, DLS_EINVAL, "x.npy: this is more than one item, and the input 'x'");
	dlsi_model_folder_close(&model);
}

/* What mixes its rows takes any number of them as its one item, where the file leaves that open. */
static void test_an_item_of_any_number_of_rows(void **state)
{
	static const int64_t two[] = {2}, three[] = {3};
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file;
	struct dlsi_model_folder model;
	struct dls_tensor *tensor;
	const char *paths[2];
	char onnx[256], npy[256];

	(void)state;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	unit_onnx(&file, &rng, "in x ? 2\nnode ReduceMax x > y axes:I=0\nout y\n");
	write_file("net.onnx", &file);
	dlsi_buffer_fini(&file);
	snprintf(onnx, sizeof onnx, "%s", path_of("net.onnx"));
	model = open_model(onnx);
	snprintf(npy, sizeof npy, "%s", path_of("x.npy"));
	paths[0] = paths[1] = npy;
	for (int64_t rows = 1; rows < 6; rows++) {
		write_npy("x.npy", rows, 1, two);
		tensor = read_all(&model, paths, 1);
		assert_true(tensor->rank == 2 && tensor->dims[0] == rows && tensor->dims[1] == 2);
		assert_int_equal(tensor->bytes, (size_t)rows * 2 * sizeof(float));
		dlsi_free(unit_alloc(), tensor);
	}
	write_npy("x.npy", 2, 0, two);
	tensor = read_all(&model, paths, 1);
	assert_true(tensor->rank == 2 && tensor->dims[0] == 1 && tensor->dims[1] == 2);
	dlsi_free(unit_alloc(), tensor);
	assert_refused(
		&model, paths, 2, DLS_EINVAL, "x.npy: this is more than one item, and node 'node_y' (ReduceMax)");
	write_npy("x.npy", 2, 1, three);
	assert_refused(&model, paths, 1, DLS_EINVAL, "this item is float32 [2, 3]");
	write_npy("x.npy", 0, 1, two);
	assert_refused(&model, paths, 1, DLS_EINVAL, "float32 [0, 2], which no item can have");
	dlsi_model_folder_close(&model);
}

static void test_memory_runs_out(void **state)
{
	static const int64_t item[] = {1, 28, 28};
	struct dlsi_model_folder model = open_model(FASHION);
	const char *const paths[] = {path_of("two.npy"), DIGIT, PICTURE};
	struct dls_tensor *tensor = NULL;
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	write_npy("two.npy", 2, 3, item);
	for (n = 1; rc; n++) {
		rc = dlsi_model_folder_read(&model, unit_alloc_failing_at(n), 0, paths, 3, &tensor, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		assert_true(rc == 0 || !tensor);
	}
	assert_true(n > 5);
	dlsi_free(unit_alloc(), tensor);
	tensor = NULL;
	rc = DLS_ENOMEM;
	for (n = 1; rc; n++) {
		rc = dlsi_tensor_read_file(unit_alloc_failing_at(n), DIGIT, &tensor, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		assert_true(rc == 0 || !tensor);
	}
	assert_true(n > 3);
	assert_int_equal(tensor->bytes, PIXELS * sizeof(float));
	dlsi_free(unit_alloc(), tensor);
	dlsi_model_folder_close(&model);
}

UNIT_MAIN(test_forms_one_behind_the_other, test_rows_of_another_type, test_more_items_than_a_run_takes,
	test_items_that_run_one_by_one, test_an_item_of_any_number_of_rows, test_memory_runs_out)
