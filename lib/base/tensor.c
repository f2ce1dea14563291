/* The arithmetic of dtypes and shapes that <dlsched/tensor.h> promises. */
#include "base/error.h"
#include "base/export.h"
#include <dlsched/tensor.h>

DLS_EXPORT size_t dls_dtype_bytes(enum dls_dtype dtype)
{
	switch (dtype) {
#define CASE(name, value, bytes, spelling)                                                                             \
	case name:                                                                                                     \
		return bytes;
		DLS_DTYPE_TABLE(CASE)
#undef CASE
	}
	return 0;
}

DLS_EXPORT const char *dls_dtype_name(enum dls_dtype dtype)
{
	switch (dtype) {
#define CASE(name, value, bytes, spelling)                                                                             \
	case name:                                                                                                     \
		return spelling;
		DLS_DTYPE_TABLE(CASE)
#undef CASE
	}
	return NULL;
}

DLS_EXPORT int dls_tensor_bytes(enum dls_dtype dtype, uint32_t rank, const int64_t *dims, size_t *bytes_out)
{
	size_t bytes = dls_dtype_bytes(dtype);

	if (!bytes || rank > DLS_TENSOR_RANK)
		return DLS_EINVAL;
	for (uint32_t i = 0; i < rank; i++)
		if (dims[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes))
			return DLS_EINVAL;
	*bytes_out = bytes;
	return 0;
}
