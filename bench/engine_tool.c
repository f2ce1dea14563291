/* Times one model at one batch size, for bench/engine.py: one JSON line.
 *
 *   engine_tool MODEL.onnx BATCH SECONDS
 *
 * `seconds` is the median time of a run, `first_seconds` that of the first one, which
 * makes the plan. */
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "device/device.h"
#include "device/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 100000 };

static struct dls_tensor make_tensor(const struct dlsi_model_port *port, int64_t batch)
{
	struct dls_tensor tensor = {.size = sizeof tensor, .dtype = port->dtype, .rank = port->rank};
	float *data;

	memcpy(tensor.dims, port->dims, sizeof port->dims);
	tensor.dims[0] = batch;
	dls_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims, &tensor.bytes);
	data = aligned_alloc(64, (tensor.bytes + 63) / 64 * 64);
	for (size_t i = 0; i < tensor.bytes / sizeof *data; i++)
		data[i] = (float)(i % 255) / 255;
	tensor.data = data;
	return tensor;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double seconds_now(void)
{
	return (double)dlsi_clock_monotonic_ns() / 1e9;
}

static int measure(struct dlsi_model *model, int64_t batch, double seconds, struct dls_error *err)
{
	struct dls_tensor in = make_tensor(dlsi_model_input(model, 0), batch);
	struct dls_tensor out = make_tensor(dlsi_model_output(model, 0), batch);
	double *times = calloc(RUNS_MOST, sizeof *times), begin = seconds_now(), first;
	int runs = 0, rc = dlsi_model_run(model, batch, &in, &out, err);

	first = seconds_now() - begin;
	begin = seconds_now();
	while (rc == 0 && runs < RUNS_MOST && (runs < 3 || seconds_now() - begin < seconds)) {
		double start = seconds_now();

		rc = dlsi_model_run(model, batch, &in, &out, err);
		times[runs++] = seconds_now() - start;
	}
	if (rc == 0) {
		qsort(times, (size_t)runs, sizeof *times, compare);
		printf("{\"seconds\": %.6f, \"first_seconds\": %.4f, \"runs\": %d}\n", times[runs / 2], first, runs);
	}
	free((void *)in.data);
	free((void *)out.data);
	free(times);
	return rc;
}

int main(int argc, char **argv)
{
	struct dlsi_device *device = NULL;
	struct dlsi_model *model = NULL;
	struct dlsi_file_map file = {0};
	struct dls_error err = {0};
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: engine_tool MODEL.onnx BATCH SECONDS\n");
		return 2;
	}
	rc = dlsi_file_map(argv[1], DLSI_MODEL_FILE_BYTES, &file, &err);
	if (rc == 0)
		rc = dlsi_device_create(&dlsi_alloc_libc, &dlsi_device_onednn, &device, &err);
	if (rc == 0)
		rc = dlsi_model_load(&dlsi_alloc_libc, device, argv[1], file.data, file.length, &model, &err);
	if (rc == 0)
		rc = measure(model, atoll(argv[2]), atof(argv[3]), &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_file_unmap(&file);
	return rc ? dls_error_exit_code(rc) : 0;
}
