/* ONNX's element types, by the numbers that files have for them. */
#ifndef DLSI_TYPE_H
#define DLSI_TYPE_H

#include <dlsched/tensor.h>

/* The library's element type for ONNX's, 0 if it has none. Floats of 16 bits are computed with as float32. */
enum dls_dtype dlsi_onnx_dtype(int64_t onnx_type);

/* ONNX's name of its type, for errors. Never NULL. */
const char *dlsi_onnx_dtype_name(int64_t onnx_type);

#endif
