#include "media/idx.h"

#include "base/shape.h"
#include <string.h>

enum { MAGIC_BYTES = 4, DIMENSION_BYTES = 4 };

/* The library's type for an idx type byte, or 0. */
static enum dls_dtype find_type(uint8_t code)
{
	switch (code) {
	case 0x08:
		return DLS_UINT8;
	case 0x09:
		return DLS_INT8;
	case 0x0b:
		return DLS_INT16;
	case 0x0c:
		return DLS_INT32;
	case 0x0d:
		return DLS_FLOAT32;
	case 0x0e:
		return DLS_FLOAT64;
	default:
		return 0;
	}
}

bool dlsi_idx_recognise(const void *data, size_t length)
{
	const uint8_t *bytes = data;

	return length >= MAGIC_BYTES && bytes[0] == 0 && bytes[1] == 0 && find_type(bytes[2]) && bytes[3] >= 1 &&
	       bytes[3] <= DLS_TENSOR_RANK;
}

static int refuse_magic(const uint8_t *bytes, size_t length, struct dls_error *err)
{
	if (length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return dlsi_fail(err, DLS_EFORMAT, "not an idx file but a gzip file; unpack it with gunzip first");
	return dlsi_fail(err, DLS_EFORMAT,
		"not an idx file: it does not begin with two zero bytes, a type (08 09 0b 0c 0d 0e) and a rank from 1 "
		"to %d",
		DLS_TENSOR_RANK);
}

int dlsi_idx_parse(const void *data, size_t length, struct dlsi_array *array_out, struct dls_error *err)
{
	const uint8_t *bytes = data;
	struct dlsi_array array = {0};
	size_t size;

	if (!dlsi_idx_recognise(data, length))
		return refuse_magic(bytes, length, err);
	array.dtype = find_type(bytes[2]);
	array.rank = bytes[3];
	array.offset = MAGIC_BYTES + (uint64_t)array.rank * DIMENSION_BYTES;
	if (length < array.offset)
		return dlsi_fail(err, DLS_EFORMAT, "the idx file is cut short inside its header");
	for (uint32_t i = 0; i < array.rank; i++) {
		const uint8_t *dim = bytes + MAGIC_BYTES + i * DIMENSION_BYTES;

		array.dims[i] = (int64_t)dim[0] << 24 | dim[1] << 16 | dim[2] << 8 | dim[3];
	}
	if (dls_tensor_bytes(array.dtype, array.rank, array.dims, &size))
		return dlsi_fail(err, DLS_ELIMIT, "the idx array %s is larger than any file",
			dlsi_shape_text(array.dtype, array.rank, array.dims).text);
	if (size != length - array.offset)
		return dlsi_fail(err, DLS_EFORMAT,
			"the idx file is damaged: the array %s needs %zu bytes and %zu follow the header",
			dlsi_shape_text(array.dtype, array.rank, array.dims).text, size, length - (size_t)array.offset);
	if (dls_dtype_bytes(array.dtype) > 1)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"the idx elements are big-endian %s; convert the file to .npy, or to uint8 idx",
			dls_dtype_name(array.dtype));
	array.bytes = size;
	*array_out = array;
	return 0;
}
