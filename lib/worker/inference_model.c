#include "worker/inference_model.h"

#include "base/limits.h"
#include "media/npy.h"
#include "model/folder.h"
#include "model/shapes.h"
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

/* The bytes of the file of this name, NULL if there is none. */
static struct dlsi_frame *find_file(const struct dlsi_model_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->at[i].name, name) == 0)
			return files->at[i].bytes;
	return NULL;
}

static int find_data(void *arg, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	struct dlsi_frame *frame = find_file(arg, name);

	if (!frame)
		return dlsi_fail(
			err, DLS_ENOTFOUND, "its data are in the file '%s', which did not come with the model", name);
	*data_out = dlsi_frame_data(frame);
	*length_out = dlsi_frame_size(frame);
	return 0;
}

static int hold_files(struct dlsi_inference_model *model, const struct dlsi_model_files *files, struct dls_error *err)
{
	model->files = dlsi_calloc(model->alloc, files->count, sizeof *model->files);
	if (!model->files)
		return dlsi_fail_memory(err);
	for (; model->file_count < files->count; model->file_count++) {
		model->files[model->file_count] = dlsi_frame_ref(files->at[model->file_count].bytes);
		model->bytes += dlsi_frame_size(model->files[model->file_count]);
	}
	return 0;
}

static int load_onnx(struct dlsi_inference_model *model, struct dlsi_device *device,
	const struct dlsi_model_files *files, const struct dlsi_onnx_shape *shapes, struct dls_error *err)
{
	const struct dlsi_frame *file = find_file(files, DLSI_MODEL_ONNX);
	struct dlsi_onnx onnx = {.file = dlsi_frame_data(file),
		.length = dlsi_frame_size(file),
		.shapes = shapes,
		.shape_count = shapes ? DLSI_ROW_FIELDS : 0,
		.find = find_data,
		.find_arg = (void *)files};

	return dlsi_model_load(model->alloc, device, DLSI_MODEL_ONNX, &onnx, &model->model, err);
}

/* Loads it once more if model.json says what the file leaves open. */
static int load_described(struct dlsi_inference_model *model, struct dlsi_device *device,
	const struct dlsi_model_files *files, struct dls_error *err)
{
	struct dlsi_onnx_shape shapes[DLSI_ROW_FIELDS];
	size_t inputs = dlsi_model_input_count(model->model);

	if (inputs > DLSI_ROW_FIELDS)
		return dlsi_fail(err, DLS_ELIMIT, "the model has %zu inputs; it may have %d", inputs, DLSI_ROW_FIELDS);
	model->by_items =
		!dlsi_model_shapes_described(&model->description, dlsi_model_input(model->model, 0), inputs, shapes);
	if (model->by_items)
		return 0;
	dlsi_model_destroy(model->model);
	model->model = NULL;
	return load_onnx(model, device, files, shapes, err);
}

static int load(struct dlsi_inference_model *model, struct dlsi_device *device, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dls_error *err)
{
	const struct dlsi_frame *json = find_file(files, DLSI_MODEL_JSON);
	int rc = json ? dlsi_description_parse(
				&model->description, DLSI_MODEL_JSON, dlsi_frame_data(json), dlsi_frame_size(json), err)
		      : 0;

	if (rc == 0)
		rc = load_onnx(model, device, files, shapes, err);
	if (rc == 0 && dlsi_model_unsized(model->model))
		rc = load_described(model, device, files, err);
	return rc;
}

static int note_shapes(struct dlsi_inference_model *model, const struct dlsi_onnx_shape *shapes, struct dls_error *err)
{
	size_t inputs = dlsi_model_input_count(model->model);

	model->by_items = true;
	model->shapes = dlsi_calloc(model->alloc, inputs, sizeof *shapes);
	if (!model->shapes)
		return dlsi_fail_memory(err);
	memcpy(model->shapes, shapes, inputs * sizeof *shapes);
	return 0;
}

int dlsi_inference_model_create(const struct dlsi_alloc *alloc, struct dlsi_device *device,
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
	rc = hold_files(model, files, err);
	if (rc == 0)
		rc = load(model, device, files, shapes, err);
	if (rc == 0 && shapes)
		rc = note_shapes(model, shapes, err);
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
	dlsi_model_destroy(model->model);
	dlsi_description_fini(&model->description);
	while (model->file_count)
		dlsi_frame_unref(model->files[--model->file_count]);
	dlsi_free(model->alloc, model->files);
	dlsi_free(model->alloc, model);
}

bool dlsi_inference_model_has(const struct dlsi_inference_model *model, const struct dlsi_onnx_shape *shapes)
{
	size_t inputs = dlsi_model_input_count(model->model);

	return model->shapes && memcmp(model->shapes, shapes, inputs * sizeof *shapes) == 0;
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
