#include "model/files.h"

#include "base/buffer.h"
#include "base/limits.h"
#include "media/idx.h"
#include "media/npy.h"
#include "model/shapes.h"
#include "reader/tensor_file.h"
#include <inttypes.h>
#include <string.h>

enum { DATA_AT = (sizeof(struct dls_tensor) + 63) / 64 * 64 }; /* behind the tensor that describes it, in one block */

/* The bytes of a file and the tensor that they hold: in place, or in memory of its own. */
struct content {
	const struct dlsi_alloc *alloc;
	uint8_t *bytes;
	size_t length;
	struct dls_tensor tensor;
	void *copy;
};

static void drop(struct content *content)
{
	dlsi_free(content->alloc, content->copy);
	dlsi_free(content->alloc, content->bytes);
}

static void take_array(struct content *content, const struct dlsi_array *array)
{
	content->tensor = (struct dls_tensor){.size = sizeof content->tensor,
		.dtype = array->dtype,
		.rank = array->rank,
		.data = content->bytes + array->offset,
		.bytes = (size_t)array->bytes};
	memcpy(content->tensor.dims, array->dims, sizeof array->dims);
}

static int take_npy(struct content *content, struct dls_error *err)
{
	struct dlsi_array array;
	int rc = dlsi_npy_parse(content->bytes, content->length, &array, err);

	if (rc == 0)
		take_array(content, &array);
	return rc;
}

static int take_onnx(struct content *content, struct dls_error *err)
{
	int rc = dlsi_tensor_file_read(content->alloc, content->bytes, content->length, &content->tensor, err);

	if (rc == 0)
		content->copy = (void *)(uintptr_t)content->tensor.data;
	return rc;
}

/* Appends the bytes of the tensor, behind room for its description. */
static void append(struct dlsi_buffer *block, const void *data, size_t bytes)
{
	if (!block->length)
		dlsi_buffer_extend(block, DATA_AT);
	if (bytes)
		dlsi_buffer_append(block, data, bytes);
}

/* Makes the block the tensor that `like` describes. */
static int close_block(
	struct dlsi_buffer *block, const struct dls_tensor *like, struct dls_tensor **tensor_out, struct dls_error *err)
{
	struct dls_tensor *tensor;
	size_t length;

	if (block->failed) {
		dlsi_buffer_fini(block);
		return dlsi_fail_memory(err);
	}
	tensor = (struct dls_tensor *)dlsi_buffer_take(block, &length);
	*tensor = *like;
	tensor->data = (const uint8_t *)tensor + DATA_AT;
	tensor->bytes = length - DATA_AT;
	*tensor_out = tensor;
	return 0;
}

int dlsi_tensor_read_file(
	const struct dlsi_alloc *alloc, const char *path, struct dls_tensor **tensor_out, struct dls_error *err)
{
	struct content content = {.alloc = alloc};
	struct dlsi_buffer block;
	int rc = dlsi_file_read(alloc, path, DLSI_TENSOR_FILE_BYTES, &content.bytes, &content.length, err);

	if (rc)
		return rc;
	rc = dlsi_npy_recognise(content.bytes, content.length) ? take_npy(&content, err) : take_onnx(&content, err);
	if (rc && rc != DLS_ENOMEM)
		dlsi_fail_in(err, rc, "%s", path);
	if (rc == 0) {
		dlsi_buffer_init(&block, alloc);
		append(&block, content.tensor.data, content.tensor.bytes);
		rc = close_block(&block, &content.tensor, tensor_out, err);
	}
	drop(&content);
	return rc;
}

/* ---- inputs of a model */

/* The batch that grows file by file. */
struct rows {
	const struct dlsi_model_folder *folder;
	uint32_t input;
	const struct dlsi_prepare *plan; /* NULL: sizes are open, and the first item says them */
	struct dlsi_prepare own;
	const char *unbatchable; /* why there may be one only; NULL: as many as a run takes */
	struct dlsi_buffer block;
	int64_t count;
};

static int check_room(const struct rows *rows, int64_t more, struct dls_error *err)
{
	if (rows->unbatchable && more > 1 - rows->count)
		return dlsi_fail(err, DLS_EINVAL, "this is more than one item, and %s", rows->unbatchable);
	if (more > DLSI_TASK_ITEMS - rows->count)
		return dlsi_fail(err, DLS_ELIMIT, "this is more than the %d items of one run", DLSI_TASK_ITEMS);
	return 0;
}

/* Finds the sizes by the first item, a tensor or (NULL) a photo. */
static int make_plan(struct rows *rows, const struct dls_tensor *tensor, struct dls_error *err)
{
	const struct dlsi_graph *graph = rows->folder->graph;
	const struct dlsi_prepare *input = &rows->folder->plan.inputs[rows->input];
	struct dlsi_model_port port = dlsi_model_port_of(&graph->values[graph->inputs[rows->input]]);
	struct dlsi_onnx_shape shape;
	int rc = tensor ? dlsi_model_shape_of_item(
				  &port, input->how, tensor->dtype, tensor->rank, tensor->dims, &shape, err)
			: dlsi_model_shape_of_photo(&port, input->how, &shape, err);

	if (rc)
		return rc;
	if (!rows->unbatchable)
		shape.dims[0] = 1;
	rc = dlsi_prepare_init(&rows->own, input->name, input->how, input->dtype, shape.rank, shape.dims, err);
	if (rc == 0)
		rows->plan = &rows->own;
	return rc;
}

/* Whether the tensor is any number of the input's rows, as they are. */
static bool are_rows(const struct rows *rows, const struct dls_tensor *tensor)
{
	const struct dlsi_prepare *plan = rows->plan;

	return !rows->unbatchable && tensor->dtype == plan->dtype && tensor->rank == plan->rank &&
	       memcmp(tensor->dims + 1, plan->dims + 1, (plan->rank - 1) * sizeof *plan->dims) == 0;
}

/* One row, from a tensor or (NULL) from the file itself. */
static int add_row(
	struct rows *rows, const struct content *content, const struct dls_tensor *tensor, struct dls_error *err)
{
	uint8_t *row;
	int rc = check_room(rows, 1, err);

	if (rc == 0 && !rows->plan)
		rc = make_plan(rows, tensor, err);
	if (rc)
		return rc;
	append(&rows->block, NULL, 0);
	row = dlsi_buffer_extend(&rows->block, rows->plan->bytes);
	rows->count++;
	if (!row)
		return dlsi_fail_memory(err);
	return tensor ? dlsi_prepare_tensor(rows->plan, content->alloc, tensor, row, err)
		      : dlsi_prepare_file(rows->plan, content->alloc, content->bytes, content->length, row, err);
}

/* An idx file: its items are the slices along the first axis. */
static int add_items(struct rows *rows, struct content *content, struct dls_error *err)
{
	struct dlsi_array array;
	struct dls_tensor item = DLS_TENSOR_INIT;
	uint64_t count, bytes;
	int rc = dlsi_idx_parse(content->bytes, content->length, &array, err);

	if (rc)
		return rc;
	dlsi_array_items(&array, &count, &bytes);
	item.dtype = array.dtype;
	item.rank = array.rank ? array.rank - 1 : 0;
	memcpy(item.dims, array.dims + 1, item.rank * sizeof *item.dims);
	item.bytes = (size_t)bytes;
	for (uint64_t i = 0; rc == 0 && i < count; i++) {
		item.data = content->bytes + array.offset + i * bytes;
		rc = add_row(rows, content, &item, err);
	}
	return rc;
}

static int add_content(struct rows *rows, struct content *content, struct dls_error *err)
{
	int rc;

	if (dlsi_idx_recognise(content->bytes, content->length))
		return add_items(rows, content, err);
	if (dlsi_npy_recognise(content->bytes, content->length))
		rc = take_npy(content, err);
	else if (dlsi_tensor_file_recognise(content->bytes, content->length))
		rc = take_onnx(content, err);
	else
		return add_row(rows, content, NULL, err);
	if (rc == 0 && !rows->plan)
		rc = make_plan(rows, &content->tensor, err);
	if (rc)
		return rc;
	if (!are_rows(rows, &content->tensor))
		return add_row(rows, content, &content->tensor, err);
	rc = check_room(rows, content->tensor.dims[0], err);
	if (rc)
		return rc;
	append(&rows->block, content->tensor.data, content->tensor.bytes);
	rows->count += content->tensor.dims[0];
	return 0;
}

static int add_file(struct rows *rows, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	struct content content = {.alloc = alloc};
	int rc = dlsi_file_read(alloc, path, DLSI_TENSOR_FILE_BYTES, &content.bytes, &content.length, err);

	if (rc)
		return rc;
	rc = add_content(rows, &content, err);
	drop(&content);
	return rc && rc != DLS_ENOMEM ? dlsi_fail_in(err, rc, "%s", path) : rc;
}

/* Whether one item may have any number of rows: the model mixes them, so that they are no items by themselves. */
static bool has_open_rows(const struct dlsi_model_folder *folder, uint32_t input)
{
	const struct dlsi_graph *graph = folder->graph;

	return graph->unbatchable && graph->values[graph->inputs[input]].open & 1;
}

int dlsi_model_folder_read(const struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, uint32_t input,
	const char *const *paths, uint32_t count, struct dls_tensor **tensor_out, struct dls_error *err)
{
	struct rows rows = {.folder = folder, .input = input, .unbatchable = folder->graph->unbatchable};
	struct dls_tensor like = DLS_TENSOR_INIT;
	const struct dlsi_prepare *how;
	int rc = 0;

	if (input >= folder->plan.input_count)
		return dlsi_fail(err, DLS_EINVAL, "the model has %zu inputs, and none of number %" PRIu32,
			folder->plan.input_count, input);
	how = &folder->plan.inputs[input];
	if (folder->plan.unsized && (!how->rank || how->dims[0] != 1))
		rows.unbatchable = "the input has no first dimension that could be the batch";
	if (!folder->plan.unsized && !has_open_rows(folder, input))
		rows.plan = how;
	if (count < 1 || count > DLSI_TASK_ITEMS)
		return dlsi_fail(err, DLS_EINVAL, "the input \"%s\" is made of 1 to %d files, not %" PRIu32, how->name,
			DLSI_TASK_ITEMS, count);
	dlsi_buffer_init(&rows.block, alloc);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = add_file(&rows, alloc, paths[i], err);
	if (rc == 0 && !rows.plan)
		rc = dlsi_fail(err, DLS_EINVAL, "there are no items for the input \"%s\"", how->name);
	if (rc) {
		dlsi_buffer_fini(&rows.block);
		return rc;
	}
	like.dtype = rows.plan->dtype;
	like.rank = rows.plan->rank;
	memcpy(like.dims, rows.plan->dims, sizeof like.dims);
	if (!rows.unbatchable)
		like.dims[0] = rows.count;
	return close_block(&rows.block, &like, tensor_out, err);
}
