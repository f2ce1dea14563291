#include "worker/inference_model.h"

#include "base/limits.h"
#include "media/npy.h"
#include "model/folder.h"
#include "model/shapes.h"
#include "reader/tensor_file.h"
#include <string.h>

static int make_plan(struct dlsi_inference_model *model, struct dls_error *err)
{
	const struct dlsi_model *on_device = model->model;
	struct dlsi_model_ports ports = {.inputs = dlsi_model_input(on_device, 0),
		.outputs = dlsi_model_output(on_device, 0),
		.input_count = dlsi_model_input_count(on_device),
		.output_count = dlsi_model_output_count(on_device),
		.batchable = !dlsi_model_unbatchable(on_device)};

	return dlsi_model_plan_init(&model->plan, model->alloc, &model->description, &ports, err);
}

static int make_tensors(struct dlsi_inference_model *model, struct dls_error *err)
{
	size_t inputs = model->plan.input_count, outputs = model->plan.output_count, best = 1;

	for (size_t i = 0; i < outputs; i++)
		best += 2 * (size_t)model->plan.outputs[i].how->top;
	model->best = dlsi_calloc(model->alloc, best, sizeof *model->best);
	model->inputs = dlsi_calloc(model->alloc, inputs, sizeof *model->inputs);
	model->outputs = dlsi_calloc(model->alloc, outputs, sizeof *model->outputs);
	if (!model->best || !model->inputs || !model->outputs)
		return dlsi_fail_memory(err);
	for (size_t i = 0; i < inputs; i++) {
		const struct dlsi_prepare *plan = &model->plan.inputs[i];

		model->inputs[i] =
			(struct dls_tensor){.size = sizeof *model->inputs, .dtype = plan->dtype, .rank = plan->rank};
		memcpy(model->inputs[i].dims, plan->dims, sizeof plan->dims);
	}
	for (size_t i = 0; i < outputs; i++)
		model->outputs[i].size = sizeof *model->outputs;
	return 0;
}

static int take(struct dlsi_inference_model *model, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dls_error *err)
{
	int rc = dlsi_loaded_take(model->loaded, files, shapes, &model->shared, err);

	return rc ? rc : dlsi_model_share(model->shared->model, &model->model, err);
}

static void give(struct dlsi_inference_model *model)
{
	dlsi_model_destroy(model->model);
	dlsi_loaded_give(model->loaded, model->shared);
	model->model = NULL;
	model->shared = NULL;
}

/* Takes another one if model.json says what the file leaves open. */
static int take_described(
	struct dlsi_inference_model *model, const struct dlsi_model_files *files, struct dls_error *err)
{
	struct dlsi_onnx_shape shapes[DLSI_ROW_FIELDS];
	size_t inputs = dlsi_model_input_count(model->model);

	if (inputs > DLSI_ROW_FIELDS)
		return dlsi_fail(err, DLS_ELIMIT, "the model has %zu inputs; it may have %d", inputs, DLSI_ROW_FIELDS);
	model->by_items =
		!dlsi_model_shapes_described(&model->description, dlsi_model_input(model->model, 0), inputs, shapes);
	if (model->by_items)
		return 0;
	give(model);
	return take(model, files, shapes, err);
}

/* Whether an item may have any number of rows: the model mixes them, so that they are no items by themselves. */
static bool has_open_rows(const struct dlsi_model *model)
{
	for (size_t i = 0; dlsi_model_unbatchable(model) && i < dlsi_model_input_count(model); i++)
		if (dlsi_model_input(model, i)->open & 1)
			return true;
	return false;
}

static int load(struct dlsi_inference_model *model, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dls_error *err)
{
	const struct dlsi_frame *json = dlsi_model_file_find(files, DLSI_MODEL_JSON);
	int rc = json ? dlsi_description_parse(
				&model->description, DLSI_MODEL_JSON, dlsi_frame_data(json), dlsi_frame_size(json), err)
		      : 0;

	if (rc == 0)
		rc = take(model, files, shapes, err);
	if (rc == 0 && dlsi_model_unsized(model->model))
		rc = take_described(model, files, err);
	if (rc == 0 && !dlsi_model_unsized(model->model))
		model->by_items = has_open_rows(model->model);
	return rc;
}

int dlsi_inference_model_create(const struct dlsi_alloc *alloc, struct dlsi_loaded *loaded,
	const struct dlsi_model_files *files, const struct dlsi_onnx_shape *shapes,
	struct dlsi_inference_model **model_out, struct dls_error *err)
{
	struct dlsi_inference_model *model = dlsi_calloc(alloc, 1, sizeof *model);
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	model->alloc = model->plan.alloc = alloc;
	model->id = files->id;
	dlsi_list_init(&model->node);
	dlsi_description_init(&model->description, alloc);
	dlsi_arena_init(&model->buffers, alloc);
	model->loaded = loaded;
	rc = load(model, files, shapes, err);
	if (rc == 0 && shapes) {
		model->by_items = true;
		model->shapes = dlsi_onnx_shapes_copy(alloc, shapes, dlsi_model_input_count(model->model));
		rc = model->shapes ? 0 : dlsi_fail_memory(err);
	}
	if (rc == 0 && !dlsi_model_unsized(model->model))
		rc = make_plan(model, err);
	if (rc == 0 && !dlsi_model_unsized(model->model))
		rc = make_tensors(model, err);
	if (rc)
		dlsi_inference_model_destroy(model);
	else
		*model_out = model;
	return rc;
}

void dlsi_inference_model_destroy(struct dlsi_inference_model *model)
{
	dlsi_list_remove(&model->node);
	dlsi_arena_fini(&model->buffers);
	dlsi_free(model->alloc, model->inputs);
	dlsi_free(model->alloc, model->outputs);
	dlsi_free(model->alloc, model->best);
	dlsi_free(model->alloc, model->shapes);
	dlsi_model_plan_fini(&model->plan);
	give(model);
	dlsi_description_fini(&model->description);
	dlsi_free(model->alloc, model);
}

bool dlsi_inference_model_has(const struct dlsi_inference_model *model, const struct dlsi_onnx_shape *shapes)
{
	size_t count = dlsi_model_input_count(model->model);

	if (model->shapes || dlsi_model_unsized(model->model))
		return model->shapes && dlsi_onnx_shapes_equal(model->shapes, shapes, count);
	for (size_t i = 0; i < count; i++) {
		const struct dlsi_model_port *port = dlsi_model_input(model->model, i);

		if (port->rank != shapes[i].rank ||
			memcmp(port->dims, shapes[i].dims, port->rank * sizeof *port->dims) != 0)
			return false;
	}
	return true;
}

static int shape_of_onnx(const struct dlsi_inference_model *model, const struct dlsi_model_port *port,
	const struct dlsi_input_description *how, const struct dls_tensor *file, struct dlsi_onnx_shape *shape_out,
	struct dls_error *err)
{
	struct dls_tensor item;
	int rc = dlsi_tensor_file_read(model->alloc, file->data, file->bytes, &item, err);

	if (rc)
		return rc;
	rc = dlsi_model_shape_of_item(port, how, item.dtype, item.rank, item.dims, shape_out, err);
	dlsi_free(model->alloc, (void *)(uintptr_t)item.data);
	return rc;
}

int dlsi_inference_model_shape(const struct dlsi_inference_model *model, size_t i, const struct dlsi_task_input *item,
	struct dlsi_onnx_shape *shape_out, struct dls_error *err)
{
	const struct dlsi_model_port *port = dlsi_model_input(model->model, i);
	const struct dlsi_input_description *how = dlsi_description_input(&model->description, port->name);
	const struct dls_tensor *tensor = item->tensor;
	struct dlsi_array array;
	int rc;

	if (!item->is_file)
		return dlsi_model_shape_of_item(port, how, tensor->dtype, tensor->rank, tensor->dims, shape_out, err);
	if (dlsi_tensor_file_recognise(tensor->data, tensor->bytes))
		return shape_of_onnx(model, port, how, tensor, shape_out, err);
	if (!dlsi_npy_recognise(tensor->data, tensor->bytes))
		return dlsi_model_shape_of_photo(port, how, shape_out, err);
	rc = dlsi_npy_parse(tensor->data, tensor->bytes, &array, err);
	return rc ? rc : dlsi_model_shape_of_item(port, how, array.dtype, array.rank, array.dims, shape_out, err);
}

uint32_t dlsi_inference_model_batch(const struct dlsi_inference_model *model)
{
	size_t item = 1;
	uint64_t fitting;

	for (size_t i = 0; i < model->plan.input_count; i++)
		item += model->plan.inputs[i].bytes;
	for (size_t i = 0; i < model->plan.output_count; i++)
		item += model->plan.outputs[i].bytes;
	fitting = DLSI_BATCH_BYTES / item;
	return fitting < model->plan.max_batch ? (fitting ? (uint32_t)fitting : 1) : model->plan.max_batch;
}

int dlsi_inference_model_reserve(struct dlsi_inference_model *model, uint32_t items, struct dls_error *err)
{
	bool good = true;

	if (items <= model->capacity)
		return 0;
	model->capacity = 0;
	dlsi_arena_fini(&model->buffers);
	for (size_t i = 0; i < model->plan.input_count && good; i++) {
		model->inputs[i].data = dlsi_arena_take(&model->buffers, items, model->plan.inputs[i].bytes);
		good = model->inputs[i].data != NULL;
	}
	for (size_t i = 0; i < model->plan.output_count && good; i++) {
		model->outputs[i].data = dlsi_arena_take(&model->buffers, items, model->plan.outputs[i].bytes);
		good = model->outputs[i].data != NULL;
	}
	if (!good)
		return dlsi_fail_memory(err);
	model->capacity = items;
	return 0;
}

void *dlsi_inference_model_input(struct dlsi_inference_model *model, size_t input, uint32_t place)
{
	return (uint8_t *)(uintptr_t)model->inputs[input].data + place * model->plan.inputs[input].bytes;
}

void *dlsi_inference_model_output(struct dlsi_inference_model *model, size_t output, uint32_t place)
{
	return (uint8_t *)(uintptr_t)model->outputs[output].data + place * model->plan.outputs[output].bytes;
}

void dlsi_inference_model_move(struct dlsi_inference_model *model, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < model->plan.input_count && from != to; i++)
		memcpy(dlsi_inference_model_input(model, i, to), dlsi_inference_model_input(model, i, from),
			model->plan.inputs[i].bytes);
}

int dlsi_inference_model_prepare(struct dlsi_inference_model *model, uint32_t items, struct dls_error *err)
{
	return dlsi_model_prepare(model->model, items, err);
}

int dlsi_inference_model_run(struct dlsi_inference_model *model, uint32_t first, uint32_t items, struct dls_error *err)
{
	struct dls_tensor inputs[DLSI_ROW_FIELDS], outputs[DLSI_ROW_FIELDS];
	int rc;

	for (size_t i = 0; i < model->plan.input_count; i++) {
		inputs[i] = model->inputs[i];
		if (model->plan.batchable)
			inputs[i].dims[0] = items;
		inputs[i].data = dlsi_inference_model_input(model, i, first);
		inputs[i].bytes = items * model->plan.inputs[i].bytes;
	}
	for (size_t i = 0; i < model->plan.output_count; i++) {
		outputs[i] = model->outputs[i];
		outputs[i].data = dlsi_inference_model_output(model, i, first);
		outputs[i].bytes = items * model->plan.outputs[i].bytes;
	}
	rc = dlsi_model_run(model->model, items, inputs, outputs, err);
	for (size_t i = 0; rc == 0 && i < model->plan.output_count; i++)
		memcpy(model->outputs[i].dims, outputs[i].dims, sizeof outputs[i].dims);
	return rc;
}
