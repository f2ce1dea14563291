/* Also the arithmetic of dtypes and shapes that <dlsched/tensor.h> promises. */
#include "base/tensor.h"

#include "base/export.h"
#include "base/shape.h"

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

int dlsi_tensor_check(const struct dls_tensor *tensor, const char *what, struct dls_error *err)
{
	size_t bytes;

	if (!tensor)
		return dlsi_fail(err, DLS_EINVAL, "%s is NULL", what);
	if (tensor->size != sizeof *tensor)
		return dlsi_fail(err, DLS_EINVAL, "%s has size %zu; begin with DLS_TENSOR_INIT", what, tensor->size);
	if (dls_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims, &bytes))
		return dlsi_fail(err, DLS_EINVAL,
			"%s has type %d and rank %u: a type, rank or dimension does not exist", what,
			(int)tensor->dtype, tensor->rank);
	if (tensor->bytes != bytes)
		return dlsi_fail(err, DLS_EINVAL, "%s is %s and needs %zu bytes, not %zu", what,
			dlsi_shape_text(tensor->dtype, tensor->rank, tensor->dims).text, bytes, tensor->bytes);
	if (bytes && !tensor->data)
		return dlsi_fail(err, DLS_EINVAL, "%s has no data", what);
	return 0;
}

void dlsi_tensors_release(const struct dls_tensor *tensors, uint32_t count)
{
	for (uint32_t i = 0; tensors && i < count; i++)
		if (tensors[i].size == sizeof *tensors && tensors[i].release)
			tensors[i].release(tensors[i].release_arg, tensors[i].data);
}
