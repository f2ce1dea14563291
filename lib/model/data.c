#include "model/data.h"

#include "base/file.h"
#include <string.h>

enum { FILES_MOST = DLSI_BUNDLE_FILES - 3 }; /* with model.onnx, model.json and labels.txt */

int dlsi_model_data_init(
	struct dlsi_model_data *data, const struct dlsi_alloc *alloc, const char *onnx_path, struct dls_error *err)
{
	const char *slash = strrchr(onnx_path, '/');

	*data = (struct dlsi_model_data){.alloc = alloc, .folder = dlsi_strdup(alloc, slash ? onnx_path : ".")};
	if (!data->folder)
		return dlsi_fail_memory(err);
	if (slash)
		data->folder[slash == onnx_path ? 1 : slash - onnx_path] = '\0';
	return 0;
}

void dlsi_model_data_fini(struct dlsi_model_data *data)
{
	for (size_t i = 0; i < data->count; i++)
		dlsi_free(data->alloc, data->files[i].bytes);
	dlsi_free(data->alloc, data->files);
	dlsi_free(data->alloc, data->folder);
}

static int read_file(struct dlsi_model_data *data, const char *name, struct dls_error *err)
{
	struct dlsi_model_data_file *file = &data->files[data->count];
	int rc = dlsi_file_read_inside(
		data->alloc, data->folder, name, DLSI_MODEL_FILE_BYTES, &file->bytes, &file->length, err);

	if (rc)
		return rc == DLS_ENOMEM ? rc : dlsi_fail_in(err, rc, "its data are in the file '%s'", name);
	memcpy(file->name, name, strlen(name) + 1);
	data->count++;
	return 0;
}

static int add(struct dlsi_model_data *data, const char *name, struct dls_error *err)
{
	struct dlsi_model_data_file *grown;

	if (!dlsi_file_is_plain_name(name, strlen(name)))
		return dlsi_fail(err, DLS_EINVAL,
			"its data are in '%s', which is no file beside the model; its name may have A-Z a-z 0-9 . _ - "
			"only",
			name);
	if (strcmp(name, DLSI_MODEL_ONNX) == 0 || strcmp(name, DLSI_MODEL_JSON) == 0 ||
		strcmp(name, DLSI_MODEL_LABELS) == 0)
		return dlsi_fail(err, DLS_EINVAL,
			"its data are in '%s', which is the name of another part of a model; give that file another",
			name);
	if (data->count == FILES_MOST)
		return dlsi_fail(err, DLS_ELIMIT, "its data are in the file '%s', and %d such files are the most", name,
			FILES_MOST);
	grown = dlsi_realloc(data->alloc, data->files, (data->count + 1) * sizeof *grown);
	if (!grown)
		return dlsi_fail_memory(err);
	data->files = grown;
	return read_file(data, name, err);
}

int dlsi_model_data_find(
	void *data, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	struct dlsi_model_data *known = data;
	size_t i = 0;
	int rc = 0;

	while (i < known->count && strcmp(known->files[i].name, name) != 0)
		i++;
	if (i == known->count)
		rc = add(known, name, err);
	if (rc)
		return rc;
	*data_out = known->files[i].bytes;
	*length_out = known->files[i].length;
	return 0;
}
