#include "reader/tensor.h"

#include "base/shape.h"
#include "graph/type.h"
#include "reader/external.h"
#include "reader/half.h"
#include "reader/scan.h"
#include <stdbool.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw data of ONNX is used in place, and is little-endian");

/* The field that holds elements of this type when there is no raw data, and the bytes of one element there. */
static const void *typed_data(
	const Onnx__TensorProto *proto, enum dls_dtype dtype, size_t *count_out, size_t *element_out)
{
	switch (dtype) {
	case DLS_FLOAT32:
		*count_out = proto->n_float_data;
		*element_out = sizeof *proto->float_data;
		return proto->float_data;
	case DLS_FLOAT64:
		*count_out = proto->n_double_data;
		*element_out = sizeof *proto->double_data;
		return proto->double_data;
	case DLS_INT64:
		*count_out = proto->n_int64_data;
		*element_out = sizeof *proto->int64_data;
		return proto->int64_data;
	case DLS_UINT32:
	case DLS_UINT64:
		*count_out = proto->n_uint64_data;
		*element_out = sizeof *proto->uint64_data;
		return proto->uint64_data;
	default:
		*count_out = proto->n_int32_data;
		*element_out = sizeof *proto->int32_data;
		return proto->int32_data;
	}
}

typedef void widening(const void *from, size_t stride, size_t count, float *to);

/* How elements become what the value has, NULL if as they are. */
static widening *find_widening(const Onnx__TensorProto *proto)
{
	return proto->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16    ? dlsi_half_widen
	       : proto->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ? dlsi_bfloat_widen
									     : NULL;
}

static int copy_widened(struct dlsi_graph *graph, widening *widen, const void *from, size_t stride,
	struct dlsi_value *value, struct dls_error *err)
{
	size_t count = dlsi_value_count(value);
	float *to = dlsi_arena_take(&graph->arena, count, sizeof *to);

	if (!to)
		return dlsi_fail_memory(err);
	widen(from, stride, count, to);
	value->data = to;
	return 0;
}

/* Elements narrower than their field are its low bytes. */
static int copy_typed(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const char *what,
	struct dlsi_value *value, struct dls_error *err)
{
	widening *widen = find_widening(proto);
	size_t wanted = dlsi_value_count(value), bytes = dls_dtype_bytes(value->dtype), count, element;
	const uint8_t *from = typed_data(proto, widen ? DLS_UINT16 : value->dtype, &count, &element);
	uint8_t *to;

	if (count != wanted)
		return dlsi_fail(err, DLS_EFORMAT, "%s holds %zu elements, its shape %s needs %zu", what, count,
			dlsi_shape_text(value->dtype, value->rank, value->dims).text, wanted);
	if (widen)
		return copy_widened(graph, widen, from, element, value, err);
	to = dlsi_arena_take(&graph->arena, count, bytes);
	if (!to)
		return dlsi_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * bytes, from + i * element, bytes);
	value->data = to;
	return 0;
}

static int find_raw(const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx, const struct dlsi_value *value,
	size_t bytes, const uint8_t **data_out, struct dls_error *err)
{
	struct dlsi_scan_place place;

	memcpy(&place, proto->raw_data.data, sizeof place);
	if (place.length != bytes)
		return dlsi_fail(err, DLS_EFORMAT, "it holds %zu bytes, its shape %s needs %zu", (size_t)place.length,
			dlsi_shape_text(value->dtype, value->rank, value->dims).text, bytes);
	*data_out = (const uint8_t *)onnx->file + place.offset;
	return 0;
}

/* Data that are as in memory, in this file or in another. */
static int point_at(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx,
	const char *what, struct dlsi_value *value, struct dls_error *err)
{
	bool external = proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	widening *widen = find_widening(proto);
	size_t bytes = widen ? dlsi_value_count(value) * sizeof(uint16_t) : dlsi_value_bytes(value);
	const uint8_t *data;
	int rc = external ? dlsi_external_find(onnx, proto, bytes, &data, err)
			  : find_raw(proto, onnx, value, bytes, &data, err);

	if (rc)
		return rc == DLS_ENOMEM ? rc : dlsi_fail_in(err, rc, "%s", what);
	if (widen)
		return copy_widened(graph, widen, data, sizeof(uint16_t), value, err);
	value->data = data;
	return 0;
}

int dlsi_tensor_read(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx,
	const char *what, uint32_t value, struct dls_error *err)
{
	struct dlsi_value *constant = &graph->values[value];
	size_t bytes;

	constant->dtype = dlsi_onnx_dtype(proto->data_type);
	if (!constant->dtype)
		return dlsi_fail(err, DLS_EUNSUPPORTED, "%s has elements of %s, which is not supported", what,
			dlsi_onnx_dtype_name(proto->data_type));
	if (proto->n_dims > DLS_TENSOR_RANK)
		return dlsi_fail(err, DLS_EUNSUPPORTED, "%s has %zu dimensions, more than the %d supported", what,
			proto->n_dims, DLS_TENSOR_RANK);
	constant->rank = (uint32_t)proto->n_dims;
	for (uint32_t i = 0; i < constant->rank; i++)
		constant->dims[i] = proto->dims[i];
	if (dls_tensor_bytes(constant->dtype, constant->rank, constant->dims, &bytes))
		return dlsi_fail(err, DLS_EFORMAT, "%s has the impossible shape %s", what,
			dlsi_shape_text(constant->dtype, constant->rank, constant->dims).text);
	if (proto->has_raw_data || proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return point_at(graph, proto, onnx, what, constant, err);
	return copy_typed(graph, proto, what, constant, err);
}
