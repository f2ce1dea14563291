/* Any bytes as an .npy file: an array that is accepted lies inside them. */
#include "media/npy.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct dlsi_array array;
	struct dls_error err;

	if (dlsi_npy_parse(data, length, &array, &err) == 0 && array.bytes > length - array.offset)
		abort();
	return 0;
}
