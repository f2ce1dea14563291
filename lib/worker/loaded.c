#include "worker/loaded.h"

#include "model/folder.h"
#include <pthread.h>
#include <string.h>

struct dlsi_loaded {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	pthread_mutex_t mutex;
	struct dlsi_list models; /* that somebody has taken */
};

struct dlsi_frame *dlsi_model_file_find(const struct dlsi_model_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->at[i].name, name) == 0)
			return files->at[i].bytes;
	return NULL;
}

int dlsi_loaded_create(const struct dlsi_alloc *alloc, const struct dlsi_device_ops *device, const char *folder,
	struct dlsi_loaded **loaded_out, struct dls_error *err)
{
	struct dlsi_loaded *loaded = dlsi_calloc(alloc, 1, sizeof *loaded);
	int rc;

	if (!loaded)
		return dlsi_fail_memory(err);
	rc = dlsi_device_create(alloc, device, folder, &loaded->device, err);
	if (rc) {
		dlsi_free(alloc, loaded);
		return rc;
	}
	loaded->alloc = alloc;
	pthread_mutex_init(&loaded->mutex, NULL);
	dlsi_list_init(&loaded->models);
	*loaded_out = loaded;
	return 0;
}

void dlsi_loaded_destroy(struct dlsi_loaded *loaded)
{
	if (!loaded)
		return;
	pthread_mutex_destroy(&loaded->mutex);
	dlsi_device_destroy(loaded->device);
	dlsi_free(loaded->alloc, loaded);
}

static void destroy(const struct dlsi_alloc *alloc, struct dlsi_loaded_model *model)
{
	dlsi_model_destroy(model->model);
	while (model->file_count)
		dlsi_frame_unref(model->files[--model->file_count]);
	dlsi_free(alloc, model->files);
	dlsi_free(alloc, model->shapes);
	dlsi_free(alloc, model);
}

static int hold_files(const struct dlsi_alloc *alloc, struct dlsi_loaded_model *model,
	const struct dlsi_model_files *files, struct dls_error *err)
{
	model->files = dlsi_calloc(alloc, files->count, sizeof *model->files);
	if (!model->files)
		return dlsi_fail_memory(err);
	for (; model->file_count < files->count; model->file_count++) {
		model->files[model->file_count] = dlsi_frame_ref(files->at[model->file_count].bytes);
		model->bytes += dlsi_frame_size(model->files[model->file_count]);
	}
	return 0;
}

static int find_data(void *arg, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	struct dlsi_frame *frame = dlsi_model_file_find(arg, name);

	if (!frame)
		return dlsi_fail(
			err, DLS_ENOTFOUND, "its data are in the file '%s', which did not come with the model", name);
	*data_out = dlsi_frame_data(frame);
	*length_out = dlsi_frame_size(frame);
	return 0;
}

static int load(const struct dlsi_loaded *loaded, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dlsi_loaded_model **model_out, struct dls_error *err)
{
	const struct dlsi_frame *file = dlsi_model_file_find(files, DLSI_MODEL_ONNX);
	struct dlsi_onnx onnx = {.file = dlsi_frame_data(file),
		.length = dlsi_frame_size(file),
		.shapes = shapes,
		.shape_count = shapes ? DLSI_ROW_FIELDS : 0,
		.find = find_data,
		.find_arg = (void *)files};
	struct dlsi_loaded_model *model = dlsi_calloc(loaded->alloc, 1, sizeof *model);
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	model->id = files->id;
	rc = hold_files(loaded->alloc, model, files, err);
	if (rc == 0)
		rc = dlsi_model_load(loaded->alloc, loaded->device, DLSI_MODEL_ONNX, &onnx, &model->model, err);
	if (rc == 0 && shapes) {
		model->shapes = dlsi_onnx_shapes_copy(loaded->alloc, shapes, dlsi_model_input_count(model->model));
		rc = model->shapes ? 0 : dlsi_fail_memory(err);
	}
	if (rc)
		destroy(loaded->alloc, model);
	else
		*model_out = model;
	return rc;
}

static bool has(const struct dlsi_loaded_model *model, const struct dlsi_onnx_shape *shapes)
{
	if (!model->shapes || !shapes)
		return model->shapes == shapes;
	return dlsi_onnx_shapes_equal(model->shapes, shapes, dlsi_model_input_count(model->model));
}

static struct dlsi_loaded_model *find(
	struct dlsi_loaded *loaded, const struct dlsi_hash *id, const struct dlsi_onnx_shape *shapes)
{
	dlsi_list_each (node, &loaded->models) {
		struct dlsi_loaded_model *model = dlsi_list_entry(node, struct dlsi_loaded_model, node);

		if (dlsi_hash_equal(&model->id, id) && has(model, shapes))
			return model;
	}
	return NULL;
}

int dlsi_loaded_take(struct dlsi_loaded *loaded, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dlsi_loaded_model **model_out, struct dls_error *err)
{
	struct dlsi_loaded_model *model;
	int rc = 0;

	pthread_mutex_lock(&loaded->mutex);
	model = find(loaded, &files->id, shapes);
	if (!model) {
		rc = load(loaded, files, shapes, &model, err);
		if (rc == 0)
			dlsi_list_append(&loaded->models, &model->node);
	}
	if (rc == 0) {
		model->takers++;
		*model_out = model;
	}
	pthread_mutex_unlock(&loaded->mutex);
	return rc;
}

void dlsi_loaded_give(struct dlsi_loaded *loaded, struct dlsi_loaded_model *model)
{
	bool last;

	if (!model)
		return;
	pthread_mutex_lock(&loaded->mutex);
	last = --model->takers == 0;
	if (last)
		dlsi_list_remove(&model->node);
	pthread_mutex_unlock(&loaded->mutex);
	if (last)
		destroy(loaded->alloc, model);
}
