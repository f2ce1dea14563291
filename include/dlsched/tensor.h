/* Tensors: how values go in and come out, everywhere in the library.
 *
 * Row-major and dense: the last dimension changes fastest and there are no strides. A tensor of rank 0 is one value. */
#ifndef DLSCHED_TENSOR_H
#define DLSCHED_TENSOR_H

#include <dlsched/sized.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* name, value (on the wire too), bytes of one element, the spelling in JSON and numpy */
#define DLS_DTYPE_TABLE(X)                                                                                             \
	X(DLS_FLOAT32, 1, 4, "float32")                                                                                \
	X(DLS_FLOAT64, 2, 8, "float64")                                                                                \
	X(DLS_INT8, 3, 1, "int8")                                                                                      \
	X(DLS_UINT8, 4, 1, "uint8")                                                                                    \
	X(DLS_INT16, 5, 2, "int16")                                                                                    \
	X(DLS_UINT16, 6, 2, "uint16")                                                                                  \
	X(DLS_INT32, 7, 4, "int32")                                                                                    \
	X(DLS_UINT32, 8, 4, "uint32")                                                                                  \
	X(DLS_INT64, 9, 8, "int64")                                                                                    \
	X(DLS_UINT64, 10, 8, "uint64")                                                                                 \
	X(DLS_BOOL, 11, 1, "bool")

enum dls_dtype {
#define DLS_DTYPE_VALUE(name, value, bytes, spelling) name = value,
	DLS_DTYPE_TABLE(DLS_DTYPE_VALUE)
#undef DLS_DTYPE_VALUE
};

#define DLS_TENSOR_RANK 8

struct dls_tensor {
	size_t size; /* sizeof(struct dls_tensor) of the program's build */
	enum dls_dtype dtype;
	uint32_t rank; /* 0 to DLS_TENSOR_RANK */
	int64_t dims[DLS_TENSOR_RANK];
	const void *data;
	size_t bytes; /* of data: the product of dims times the element's bytes */

	/* Called once, from any thread, when the library is done with data; must not block and must not call the
	 * library. NULL if nothing is to be done. */
	void (*release)(void *release_arg, const void *data);
	void *release_arg;
};

#define DLS_TENSOR_INIT DLS_SIZED(struct dls_tensor)

/* Bytes of one element, 0 for a type that does not exist; its spelling ("float32"), or NULL. */
size_t dls_dtype_bytes(enum dls_dtype dtype);
const char *dls_dtype_name(enum dls_dtype dtype);

/* Bytes that a dense tensor of this shape needs. Returns 0, or DLS_EINVAL: an unknown type, a rank above the limit, a
 * negative dimension, or a product that does not fit. */
int dls_tensor_bytes(enum dls_dtype dtype, uint32_t rank, const int64_t *dims, size_t *bytes_out);

#ifdef __cplusplus
}
#endif
#endif
