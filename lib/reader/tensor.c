#include "reader/tensor.h"

#include "base/shape.h"
#include "graph/type.h"
#include "reader/external.h"
#include "reader/scan.h"
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

/* Elements narrower than their field keep its low bytes. */
static int copy_typed(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const char *what,
	struct dlsi_value *value, struct dls_error *err)
{
	size_t wanted = dlsi_value_count(value), bytes = dls_dtype_bytes(value->dtype), count, element;
	const uint8_t *from = typed_data(proto, value->dtype, &count, &element);
	uint8_t *to;

	if (count != wanted)
		return dlsi_fail(err, DLS_EFORMAT, "%s holds %zu elements, its shape %s needs %zu", what, count,
			dlsi_shape_text(value->dtype, value->rank, value->dims).text, wanted);
	to = dlsi_arena_take(&graph->arena, count, bytes);
	if (!to)
		return dlsi_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * bytes, from + i * element, bytes);
	value->data = to;
	return 0;
}

static int point_at_raw(const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx, const char *what,
	struct dlsi_value *value, struct dls_error *err)
{
	struct dlsi_scan_place place;

	memcpy(&place, proto->raw_data.data, sizeof place);
	if (place.length != dlsi_value_bytes(value))
		return dlsi_fail(err, DLS_EFORMAT, "%s holds %zu bytes, its shape %s needs %zu", what,
			(size_t)place.length, dlsi_shape_text(value->dtype, value->rank, value->dims).text,
			dlsi_value_bytes(value));
	value->data = (const uint8_t *)onnx->file + place.offset;
	return 0;
}

static int point_outside(const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx, const char *what,
	struct dlsi_value *value, struct dls_error *err)
{
	const uint8_t *data;
	int rc = dlsi_external_find(onnx, proto, dlsi_value_bytes(value), &data, err);

	if (rc)
		return rc == DLS_ENOMEM ? rc : dlsi_fail_in(err, rc, "%s", what);
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
	if (proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return point_outside(proto, onnx, what, constant, err);
	return proto->has_raw_data ? point_at_raw(proto, onnx, what, constant, err)
				   : copy_typed(graph, proto, what, constant, err);
}
