#include "reader/tensor_file.h"

#include "reader/protobuf.h"
#include "reader/scan.h"
#include "reader/tensor.h"
#include <string.h>

enum {
	DIMENSION = 1 << 3,      /* the tag of `dims`, one by one ... */
	DIMENSIONS = 1 << 3 | 2, /* ... or packed */
	DATA_TYPE = 2 << 3,      /* the tag of `data_type` */
	DATA_TYPES = 32,         /* above those that ONNX has */
	VARINT_BYTES = 10
};

/* The bytes of the varint that begins at `at`; 0 if it does not end. */
static size_t varint_bytes(const uint8_t *data, size_t length, size_t at)
{
	for (size_t i = 0; i < VARINT_BYTES && at + i < length; i++)
		if (data[at + i] < 0x80)
			return i + 1;
	return 0;
}

bool dlsi_tensor_file_recognise(const void *data, size_t length)
{
	const uint8_t *bytes = data;
	size_t at = 0, step;

	while (at < length && bytes[at] == DIMENSION) {
		step = varint_bytes(bytes, length, at + 1);
		if (!step)
			return false;
		at += 1 + step;
	}
	if (at + 1 < length && bytes[at] == DIMENSIONS && bytes[at + 1] < 0x80)
		at += 2 + (size_t)bytes[at + 1];
	return at + 1 < length && bytes[at] == DATA_TYPE && bytes[at + 1] > 0 && bytes[at + 1] < DATA_TYPES;
}

static int copy_out(const struct dlsi_alloc *alloc, const struct dlsi_value *value, struct dls_tensor *tensor_out,
	struct dls_error *err)
{
	struct dls_tensor tensor = {
		.size = sizeof tensor, .dtype = value->dtype, .rank = value->rank, .bytes = dlsi_value_bytes(value)};

	memcpy(tensor.dims, value->dims, sizeof tensor.dims);
	if (tensor.bytes) {
		void *copy = dlsi_malloc(alloc, tensor.bytes);

		if (!copy)
			return dlsi_fail_memory(err);
		tensor.data = memcpy(copy, value->data, tensor.bytes);
	}
	*tensor_out = tensor;
	return 0;
}

/* Makes the tensor a value of the graph, which has none, and copies it. */
static int read_into(
	struct dlsi_graph *graph, const void *data, size_t length, struct dls_tensor *tensor_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = graph->arena.alloc;
	const struct dlsi_onnx file = {.file = data, .length = length};
	Onnx__TensorProto *proto = NULL;
	struct dlsi_protobuf protobuf;
	struct dlsi_buffer copy;
	int rc;

	dlsi_protobuf_init(&protobuf, alloc);
	dlsi_buffer_init(&copy, alloc);
	rc = dlsi_scan_tensor(data, length, &copy, err);
	if (rc == 0) {
		proto = onnx__tensor_proto__unpack(&protobuf.allocator, copy.length, copy.data);
		if (!proto)
			rc = protobuf.exhausted
				     ? dlsi_fail_memory(err)
				     : dlsi_fail(err, DLS_EFORMAT, "not a tensor of ONNX: protobuf cannot read it");
	}
	if (rc == 0 && dlsi_graph_add_value(graph, "") == DLSI_NO_VALUE)
		rc = dlsi_fail_memory(err);
	if (rc == 0)
		rc = dlsi_tensor_read(graph, proto, &file, "the tensor", 0, err);
	if (rc == 0)
		rc = copy_out(alloc, &graph->values[0], tensor_out, err);
	onnx__tensor_proto__free_unpacked(proto, &protobuf.allocator);
	dlsi_buffer_fini(&copy);
	return rc;
}

int dlsi_tensor_file_read(const struct dlsi_alloc *alloc, const void *data, size_t length,
	struct dls_tensor *tensor_out, struct dls_error *err)
{
	struct dlsi_graph *graph = dlsi_calloc(alloc, 1, sizeof *graph);
	int rc;

	if (!graph)
		return dlsi_fail_memory(err);
	dlsi_arena_init(&graph->arena, alloc);
	rc = read_into(graph, data, length, tensor_out, err);
	dlsi_graph_destroy(graph);
	return rc;
}
