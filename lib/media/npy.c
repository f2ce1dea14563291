#include "media/npy.h"

#include "base/limits.h"
#include "base/shape.h"
#include <inttypes.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";

enum { MAGIC_BYTES = sizeof magic - 1, ALIGNMENT = 64, DESCR_BYTES = 16 };

/* numpy's names of the types, without the first character, the byte order. */
static const struct {
	char name[3];
	enum dls_dtype dtype;
} types[] = {
	{"f4", DLS_FLOAT32},
	{"f8", DLS_FLOAT64},
	{"i1", DLS_INT8},
	{"u1", DLS_UINT8},
	{"i2", DLS_INT16},
	{"u2", DLS_UINT16},
	{"i4", DLS_INT32},
	{"u4", DLS_UINT32},
	{"i8", DLS_INT64},
	{"u8", DLS_UINT64},
	{"b1", DLS_BOOL},
};

enum { TYPES = sizeof types / sizeof *types };

/* What is read of the dict, piece by piece; the three flags say which members were there. */
struct header {
	const char *at;
	const char *end;
	char descr[DESCR_BYTES];
	bool fortran_order;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
	bool has_descr, has_order, has_shape;
	struct dls_error *err;
};

static int damaged(struct header *header)
{
	return dlsi_fail(header->err, DLS_EFORMAT,
		"the .npy header is not the dict of descr, fortran_order and shape that numpy writes; save the array "
		"again with numpy.save");
}

static void skip_spaces(struct header *header)
{
	while (header->at < header->end && strchr(" \t\n", *header->at) && *header->at)
		header->at++;
}

/* True, and past it, if `text` comes next. */
static bool accept(struct header *header, const char *text)
{
	size_t length = strlen(text);

	skip_spaces(header);
	if ((size_t)(header->end - header->at) < length || memcmp(header->at, text, length) != 0)
		return false;
	header->at += length;
	return true;
}

/* A quoted string without escapes, cut to the room there is. */
static int read_string(struct header *header, char *text, size_t room)
{
	const char *close;
	size_t length;
	char quote;

	if (accept(header, "'"))
		quote = '\'';
	else if (accept(header, "\""))
		quote = '"';
	else
		return damaged(header);
	close = memchr(header->at, quote, (size_t)(header->end - header->at));
	if (!close)
		return damaged(header);
	length = (size_t)(close - header->at);
	if (length >= room)
		length = room - 1;
	memcpy(text, header->at, length);
	text[length] = '\0';
	header->at = close + 1;
	return 0;
}

static int read_dimension(struct header *header, int64_t *dim_out)
{
	int64_t dim = 0;
	bool digits = false;

	skip_spaces(header);
	for (; header->at < header->end && *header->at >= '0' && *header->at <= '9'; header->at++) {
		if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, *header->at - '0', &dim))
			return dlsi_fail(header->err, DLS_ELIMIT, "a dimension in the .npy header is above 2^63");
		digits = true;
	}
	if (!digits)
		return damaged(header);
	*dim_out = dim;
	return 0;
}

/* A tuple: "()", "(3,)", "(3, 4)". */
static int read_shape(struct header *header)
{
	int rc;

	if (!accept(header, "("))
		return damaged(header);
	while (!accept(header, ")")) {
		if (header->rank == DLS_TENSOR_RANK)
			return dlsi_fail(header->err, DLS_ELIMIT,
				"the .npy array has more than %d dimensions; reshape it before it is saved",
				DLS_TENSOR_RANK);
		rc = read_dimension(header, &header->dims[header->rank]);
		if (rc)
			return rc;
		header->rank++;
		if (!accept(header, ",")) {
			if (!accept(header, ")"))
				return damaged(header);
			break;
		}
	}
	header->has_shape = true;
	return 0;
}

static int read_descr(struct header *header)
{
	if (accept(header, "["))
		return dlsi_fail(header->err, DLS_EUNSUPPORTED,
			"the .npy array has structured elements; save each field as an array of its own");
	header->has_descr = true;
	return read_string(header, header->descr, sizeof header->descr);
}

static int read_order(struct header *header)
{
	header->has_order = true;
	header->fortran_order = accept(header, "True");
	return header->fortran_order || accept(header, "False") ? 0 : damaged(header);
}

static int read_member(struct header *header)
{
	char key[16];
	int rc = read_string(header, key, sizeof key);

	if (rc)
		return rc;
	if (!accept(header, ":"))
		return damaged(header);
	if (strcmp(key, "descr") == 0 && !header->has_descr)
		return read_descr(header);
	if (strcmp(key, "fortran_order") == 0 && !header->has_order)
		return read_order(header);
	if (strcmp(key, "shape") == 0 && !header->has_shape)
		return read_shape(header);
	return damaged(header);
}

static int read_dict(struct header *header)
{
	int rc;

	if (!accept(header, "{"))
		return damaged(header);
	while (!accept(header, "}")) {
		rc = read_member(header);
		if (rc)
			return rc;
		if (!accept(header, ",")) {
			if (!accept(header, "}"))
				return damaged(header);
			break;
		}
	}
	skip_spaces(header);
	if (header->at < header->end || !header->has_descr || !header->has_order || !header->has_shape)
		return damaged(header);
	return 0;
}

static int find_type(const struct header *header, enum dls_dtype *dtype_out)
{
	const char *descr = header->descr;

	for (size_t i = 0; i < TYPES; i++) {
		if (!*descr || !strchr("<>|", *descr) || strcmp(descr + 1, types[i].name) != 0)
			continue;
		if (*descr == '>' && dls_dtype_bytes(types[i].dtype) > 1)
			return dlsi_fail(header->err, DLS_EUNSUPPORTED,
				"the .npy elements (%s) are big-endian; save the array with .astype('<%s')", descr,
				types[i].name);
		*dtype_out = types[i].dtype;
		return 0;
	}
	return dlsi_fail(header->err, DLS_EUNSUPPORTED,
		"the .npy elements have the type %s, which no model input has; save the array with .astype('<f4') or "
		"another of f4 f8 i1 u1 i2 u2 i4 u4 i8 u8 b1",
		descr);
}

/* Where the dict lies, from the fixed bytes before it. */
static int find_dict(const uint8_t *data, size_t length, size_t *from_out, size_t *end_out, struct dls_error *err)
{
	size_t from = MAGIC_BYTES + 2 + 2, dict;

	if (!dlsi_npy_recognise(data, length))
		return dlsi_fail(err, DLS_EFORMAT,
			"not an .npy file: it does not begin with \\x93NUMPY as numpy.save writes it");
	if (length < from + 2)
		return dlsi_fail(err, DLS_EFORMAT, "the .npy file is cut short inside its header");
	if (data[MAGIC_BYTES] < 1 || data[MAGIC_BYTES] > 3)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"the .npy file has format version %d; versions 1 to 3 are known", data[MAGIC_BYTES]);
	dict = (size_t)data[MAGIC_BYTES + 2] | (size_t)data[MAGIC_BYTES + 3] << 8;
	if (data[MAGIC_BYTES] > 1) {
		dict |= (size_t)data[MAGIC_BYTES + 4] << 16 | (size_t)data[MAGIC_BYTES + 5] << 24;
		from += 2;
	}
	if (dict > DLSI_NPY_HEADER_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "the .npy header announces %zu bytes; the limit is %d", dict,
			DLSI_NPY_HEADER_BYTES);
	if (dict > length - from)
		return dlsi_fail(err, DLS_EFORMAT, "the .npy file is cut short inside its header");
	*from_out = from;
	*end_out = from + dict;
	return 0;
}

bool dlsi_npy_recognise(const void *data, size_t length)
{
	return length >= MAGIC_BYTES && memcmp(data, magic, MAGIC_BYTES) == 0;
}

int dlsi_npy_parse(const void *data, size_t length, struct dlsi_array *array_out, struct dls_error *err)
{
	struct header header = {.err = err};
	enum dls_dtype dtype = 0;
	size_t from = 0, end = 0, bytes;
	int rc = find_dict(data, length, &from, &end, err);

	if (rc)
		return rc;
	header.at = (const char *)data + from;
	header.end = (const char *)data + end;
	rc = read_dict(&header);
	if (rc == 0)
		rc = find_type(&header, &dtype);
	if (rc)
		return rc;
	if (header.fortran_order)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"the .npy array is in Fortran order; save it with numpy.ascontiguousarray first");
	if (dls_tensor_bytes(dtype, header.rank, header.dims, &bytes))
		return dlsi_fail(err, DLS_ELIMIT, "the .npy array %s is larger than any file",
			dlsi_shape_text(dtype, header.rank, header.dims).text);
	if (bytes > length - end)
		return dlsi_fail(err, DLS_EFORMAT,
			"the .npy file is cut short: the array %s needs %zu bytes and %zu follow the header",
			dlsi_shape_text(dtype, header.rank, header.dims).text, bytes, length - end);
	*array_out = (struct dlsi_array){.dtype = dtype, .rank = header.rank, .offset = end, .bytes = bytes};
	memcpy(array_out->dims, header.dims, sizeof header.dims);
	return 0;
}

void dlsi_npy_append_header(struct dlsi_buffer *buffer, enum dls_dtype dtype, uint32_t rank, const int64_t *dims)
{
	const char *name = "";
	size_t start = buffer->length, length;

	for (size_t i = 0; i < TYPES; i++)
		if (types[i].dtype == dtype)
			name = types[i].name;
	dlsi_buffer_append(buffer, magic, MAGIC_BYTES);
	dlsi_buffer_append(buffer, "\1\0\0\0", 4);
	dlsi_buffer_printf(buffer, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
		dls_dtype_bytes(dtype) > 1 ? '<' : '|', name);
	for (uint32_t i = 0; i < rank; i++)
		dlsi_buffer_printf(buffer, "%" PRId64 "%s", dims[i], i + 1 < rank ? ", " : rank == 1 ? "," : "");
	dlsi_buffer_append(buffer, "), }", 4);
	while (!buffer->failed && (buffer->length - start + 1) % ALIGNMENT)
		dlsi_buffer_append(buffer, " ", 1);
	dlsi_buffer_append(buffer, "\n", 1);
	if (buffer->failed)
		return;
	length = buffer->length - start - MAGIC_BYTES - 4;
	buffer->data[start + MAGIC_BYTES + 2] = (uint8_t)length;
	buffer->data[start + MAGIC_BYTES + 3] = (uint8_t)(length >> 8);
}
