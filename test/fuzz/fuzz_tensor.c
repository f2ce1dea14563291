/* Any bytes as a file that holds one tensor of ONNX: what is accepted has all its elements. */
#include "reader/tensor_file.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct dls_tensor tensor;
	struct dls_error err;
	volatile unsigned sum = 0; /* so that every byte is read */
	size_t bytes;

	dlsi_tensor_file_recognise(data, length);
	if (dlsi_tensor_file_read(&dlsi_alloc_libc, data, length, &tensor, &err))
		return 0;
	if (dls_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims, &bytes) || bytes != tensor.bytes)
		abort();
	for (size_t i = 0; i < bytes; i++)
		sum += ((const unsigned char *)tensor.data)[i];
	(void)sum;
	free((void *)(uintptr_t)tensor.data);
	return 0;
}
