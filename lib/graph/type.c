#include "graph/type.h"

static const struct {
	const char *name;
	enum dls_dtype dtype;
} types[] = {
	{"no type", 0},
	{"float32", DLS_FLOAT32},
	{"uint8", DLS_UINT8},
	{"int8", DLS_INT8},
	{"uint16", DLS_UINT16},
	{"int16", DLS_INT16},
	{"int32", DLS_INT32},
	{"int64", DLS_INT64},
	{"string", 0},
	{"bool", DLS_BOOL},
	{"float16", DLS_FLOAT32},
	{"float64", DLS_FLOAT64},
	{"uint32", DLS_UINT32},
	{"uint64", DLS_UINT64},
	{"complex64", 0},
	{"complex128", 0},
	{"bfloat16", DLS_FLOAT32},
};

enum { TYPES = sizeof types / sizeof *types };

enum dls_dtype dlsi_onnx_dtype(int64_t onnx_type)
{
	return onnx_type >= 0 && onnx_type < TYPES ? types[onnx_type].dtype : 0;
}

const char *dlsi_onnx_dtype_name(int64_t onnx_type)
{
	return onnx_type >= 0 && onnx_type < TYPES ? types[onnx_type].name : "a type of a newer ONNX";
}
