/* Any bytes as an ONNX file, with any bytes as the data beside it: what is accepted has shapes, an order, and constants
 * inside the files; rewriting keeps that; and what is small runs, also as a batch. A run may fail, with an error. Sizes
 * that are open become those that the last byte says. */
#include "device/device.h"
#include "device/model.h"
#include "graph/op.h"
#include "graph/work.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <stdlib.h>
#include <string.h>

enum { PORTS = 16, NODES = 64, RUN_BYTES = 1 << 20, ALIGNMENT = 64 };

static const double RUN_WORK = 1e7;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

struct bytes {
	const uint8_t *data;
	size_t length;
};

static int find(void *arg, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	const struct bytes *bytes = arg;

	if (*name == '.')
		return dlsi_fail(err, DLS_ENOTFOUND, "there is no such file");
	*data_out = bytes->data;
	*length_out = bytes->length;
	return 0;
}

static void check(const struct dlsi_graph *graph)
{
	volatile unsigned char sink = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (!dlsi_node_output(graph, &graph->nodes[i])->dtype)
			abort();
		for (uint32_t k = 0; k < graph->nodes[i].input_count; k++) {
			const struct dlsi_value *value = dlsi_node_input(graph, &graph->nodes[i], k);

			if (value && value->data && dlsi_value_bytes(value))
				sink = ((const unsigned char *)value->data)[dlsi_value_bytes(value) - 1];
		}
	}
	(void)sink;
}

/* So that a run takes milliseconds. */
static bool is_small(const struct dlsi_graph *graph)
{
	double bytes = 0, work = 0;

	for (uint32_t i = 0; i < graph->value_count; i++)
		if (graph->values[i].dtype)
			bytes += (double)dlsi_value_bytes(&graph->values[i]);
	for (uint32_t i = 0; i < graph->node_count; i++)
		work += dlsi_node_steps(graph, &graph->nodes[i]);
	return bytes <= RUN_BYTES && work <= RUN_WORK && graph->node_count <= NODES && graph->input_count <= PORTS &&
	       graph->output_count <= PORTS;
}

/* ---- runs */

/* Small numbers, which are indices and shapes too. */
static void fill(struct dls_tensor *tensor)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)tensor->data;
	size_t element = dls_dtype_bytes(tensor->dtype);

	memset(bytes, 0, tensor->bytes);
	for (size_t i = 0; i < tensor->bytes / element; i++) {
		float number = (float)(i % 7) - 3;

		if (tensor->dtype == DLS_FLOAT32)
			memcpy(bytes + i * element, &number, sizeof number);
		else
			bytes[i * element] = i % 3;
	}
}

static struct dls_tensor make(const struct dlsi_model *model, const struct dlsi_model_port *port, int64_t batch)
{
	struct dls_tensor tensor = {.size = sizeof tensor, .dtype = port->dtype, .rank = port->rank};

	memcpy(tensor.dims, port->dims, sizeof port->dims);
	if (!dlsi_model_unbatchable(model))
		tensor.dims[0] = batch;
	if (dls_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims, &tensor.bytes))
		abort();
	tensor.data = aligned_alloc(ALIGNMENT, (tensor.bytes / ALIGNMENT + 1) * ALIGNMENT);
	if (!tensor.data)
		abort();
	fill(&tensor);
	return tensor;
}

static void run(struct dlsi_model *model, int64_t batch)
{
	size_t inputs = dlsi_model_input_count(model), outputs = dlsi_model_output_count(model);
	struct dls_tensor in[PORTS], out[PORTS];
	struct dls_error err;

	for (size_t i = 0; i < inputs; i++)
		in[i] = make(model, dlsi_model_input(model, i), batch);
	for (size_t i = 0; i < outputs; i++)
		out[i] = make(model, dlsi_model_output(model, i), batch);
	dlsi_model_run(model, batch, in, out, &err);
	for (size_t i = 0; i < inputs; i++)
		free((void *)(uintptr_t)in[i].data);
	for (size_t i = 0; i < outputs; i++)
		free((void *)(uintptr_t)out[i].data);
}

static void load_and_run(const struct dlsi_onnx *onnx)
{
	static struct dlsi_device *device; /* for the whole process */
	struct dlsi_model *model;
	struct dls_error err;

	if (!device && dlsi_device_create(&dlsi_alloc_libc, &dlsi_device_onednn, NULL, &device, &err))
		abort();
	if (dlsi_model_load(&dlsi_alloc_libc, device, "it", onnx, &model, &err))
		return;
	run(model, 1);
	if (!dlsi_model_unbatchable(model))
		run(model, 3);
	dlsi_model_destroy(model);
}

/* Returns whether there are so few inputs. */
static bool find_shapes(const struct dlsi_graph *graph, int64_t size, struct dlsi_onnx_shape *shapes_out)
{
	if (graph->input_count > PORTS)
		return false;
	for (uint32_t i = 0; i < graph->input_count; i++) {
		const struct dlsi_value *input = &graph->values[graph->inputs[i]];

		shapes_out[i] = (struct dlsi_onnx_shape){.rank = input->rank};
		for (uint32_t k = 0; k < input->rank; k++)
			shapes_out[i].dims[k] = input->dims[k] < 0 ? size : input->dims[k];
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct dlsi_onnx_shape shapes[PORTS];
	struct bytes beside = {data, length};
	struct dlsi_onnx onnx = {.file = data, .length = length, .find = find, .find_arg = &beside};
	struct dlsi_graph *graph;
	struct dls_error err;
	bool small;

	if (dlsi_graph_load(&dlsi_alloc_libc, &onnx, &graph, &err))
		return 0;
	if (graph->unsized) {
		bool few = find_shapes(graph, data[length - 1] % 16, shapes);

		dlsi_graph_destroy(graph);
		onnx.shapes = shapes;
		onnx.shape_count = PORTS;
		if (!few || dlsi_graph_load(&dlsi_alloc_libc, &onnx, &graph, &err))
			return 0;
	}
	check(graph);
	small = is_small(graph);
	if (dlsi_graph_rewrite(graph, &err))
		abort();
	check(graph);
	dlsi_graph_destroy(graph);
	if (small)
		load_and_run(&onnx);
	return 0;
}
