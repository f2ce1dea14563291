/* Runs an ONNX file on raw tensors, for tests that compare the outputs with another implementation's:
 *
 *   model_tool MODEL BATCH INPUT... -- OUTPUT...
 *
 * Files hold the dense bytes of one tensor each, in the model's order. Exit codes and errors are those of the library;
 * `model_tool MODEL` prints what the model takes and gives. */
#include "base/file.h"
#include "base/limits.h"
#include "base/shape.h"
#include "device/device.h"
#include "device/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 64 };

static int print_ports(const struct dlsi_model *model)
{
	const char *reason = dlsi_model_unbatchable(model);

	for (size_t i = 0; i < dlsi_model_input_count(model) + dlsi_model_output_count(model); i++) {
		bool input = i < dlsi_model_input_count(model);
		const struct dlsi_model_port *port =
			input ? dlsi_model_input(model, i)
			      : dlsi_model_output(model, i - dlsi_model_input_count(model));

		printf("%s %s %s\n", input ? "input" : "output", port->name,
			dlsi_shape_text(port->dtype, port->rank, port->dims).text);
	}
	printf("%s%s\n", reason ? "one by one: " : "batchable", reason ? reason : "");
	return 0;
}

/* The tensor that the port takes, with dims[0] = batch where it is 1 in a batchable model. */
static void shape(
	const struct dlsi_model *model, const struct dlsi_model_port *port, int64_t batch, struct dls_tensor *tensor)
{
	*tensor = (struct dls_tensor){.size = sizeof *tensor, .dtype = port->dtype, .rank = port->rank};
	memcpy(tensor->dims, port->dims, sizeof port->dims);
	if (!dlsi_model_unbatchable(model))
		tensor->dims[0] = batch;
	dls_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims, &tensor->bytes);
}

static int run(struct dlsi_model *model, int64_t batch, char **files, int count, struct dls_error *err)
{
	size_t inputs = dlsi_model_input_count(model), outputs = dlsi_model_output_count(model);
	struct dls_tensor in[PORTS] = {0}, out[PORTS] = {0};
	struct dlsi_file_map maps[PORTS] = {0};
	int rc = 0;

	if (inputs > PORTS || outputs > PORTS || (size_t)count != inputs + 1 + outputs)
		return dlsi_fail(err, DLS_EINVAL, "the model takes %zu inputs and gives %zu outputs", inputs, outputs);
	for (size_t i = 0; rc == 0 && i < inputs; i++) {
		shape(model, dlsi_model_input(model, i), batch, &in[i]);
		rc = dlsi_file_map(files[i], UINT64_MAX, &maps[i], err);
		in[i].data = maps[i].data;
		in[i].bytes = maps[i].length;
	}
	for (size_t i = 0; rc == 0 && i < outputs; i++) {
		shape(model, dlsi_model_output(model, i), batch, &out[i]);
		out[i].data = malloc(out[i].bytes);
	}
	if (rc == 0)
		rc = dlsi_model_run(model, batch, in, out, err);
	for (size_t i = 0; i < outputs; i++) {
		if (rc == 0)
			rc = dlsi_file_write(&dlsi_alloc_libc, files[inputs + 1 + i], out[i].data, out[i].bytes, err);
		free((void *)out[i].data);
	}
	for (size_t i = 0; i < inputs; i++)
		dlsi_file_unmap(&maps[i]);
	return rc;
}

int main(int argc, char **argv)
{
	struct dlsi_device *device = NULL;
	struct dlsi_model *model = NULL;
	struct dlsi_file_map file = {0};
	struct dls_error err = {0};
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: model_tool MODEL [BATCH INPUT... -- OUTPUT...]\n");
		return 2;
	}
	rc = dlsi_file_map(argv[1], DLSI_MODEL_FILE_BYTES, &file, &err);
	if (rc == 0)
		rc = dlsi_device_create(&dlsi_alloc_libc, &dlsi_device_onednn, &device, &err);
	if (rc == 0)
		rc = dlsi_model_load(&dlsi_alloc_libc, device, argv[1], file.data, file.length, &model, &err);
	if (rc == 0)
		rc = argc == 2 ? print_ports(model) : run(model, atoll(argv[2]), argv + 3, argc - 3, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_file_unmap(&file);
	return rc ? dls_error_exit_code(rc) : 0;
}
