#include "reader/scan.h"

#include "base/limits.h"
#include "onnx/onnx.pb-c.h"
#include <stdbool.h>
#include <string.h>

enum {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LENGTH = 2,
	WIRE_FIXED32 = 5,

	VARINT_BYTES = 10,   /* longest encoding of 64 bits */
	MESSAGE_PREFIX = 5,  /* bytes that a length takes in the copy, where it is known only at the end */
	FIELD_OVERHEAD = 64, /* of protobuf-c for one occurrence: its note of the field, a pointer, malloc's header */
	SMALL_FILE_BYTES = 1 << 24,
	FILE_MULTIPLE = 16,
	COPY_BYTES = 1 << 30 /* protobuf-c counts in int */
};

enum kind { VARINT, FIXED32, FIXED64, TEXT, BYTES, WEIGHTS, MESSAGE };

enum message {
	MODEL,
	OPERATOR_SET,
	GRAPH,
	NODE,
	ATTRIBUTE,
	TENSOR,
	SPARSE_TENSOR,
	VALUE_INFO,
	TYPE,
	TENSOR_TYPE,
	TENSOR_SHAPE,
	DIMENSION,
	STRING_ENTRY
};

struct field {
	uint8_t number;
	enum kind kind;
	bool repeated;
	enum message message;
};

struct layout {
	const char *name;
	size_t bytes;            /* of protobuf-c's structure */
	struct field fields[12]; /* those that are copied; number 0 ends them */
};

static const struct layout layouts[] = {
	[MODEL] = {"ModelProto", sizeof(Onnx__ModelProto),
		{{1, VARINT, false, 0}, {7, MESSAGE, false, GRAPH}, {8, MESSAGE, true, OPERATOR_SET}}},
	[OPERATOR_SET] = {"OperatorSetIdProto", sizeof(Onnx__OperatorSetIdProto),
		{{1, TEXT, false, 0}, {2, VARINT, false, 0}}},
	[GRAPH] = {"GraphProto", sizeof(Onnx__GraphProto),
		{{1, MESSAGE, true, NODE}, {5, MESSAGE, true, TENSOR}, {11, MESSAGE, true, VALUE_INFO},
			{12, MESSAGE, true, VALUE_INFO}, {15, MESSAGE, true, SPARSE_TENSOR}}},
	[NODE] = {"NodeProto", sizeof(Onnx__NodeProto),
		{{1, TEXT, true, 0}, {2, TEXT, true, 0}, {3, TEXT, false, 0}, {4, TEXT, false, 0},
			{5, MESSAGE, true, ATTRIBUTE}, {7, TEXT, false, 0}}},
	[ATTRIBUTE] = {"AttributeProto", sizeof(Onnx__AttributeProto),
		{{1, TEXT, false, 0}, {2, FIXED32, false, 0}, {3, VARINT, false, 0}, {4, BYTES, false, 0},
			{5, MESSAGE, false, TENSOR}, {6, MESSAGE, false, GRAPH}, {7, FIXED32, true, 0},
			{8, VARINT, true, 0}, {9, BYTES, true, 0}, {11, MESSAGE, true, GRAPH}, {20, VARINT, false, 0}}},
	[TENSOR] = {"TensorProto", sizeof(Onnx__TensorProto),
		{{1, VARINT, true, 0}, {2, VARINT, false, 0}, {4, FIXED32, true, 0}, {5, VARINT, true, 0},
			{7, VARINT, true, 0}, {8, TEXT, false, 0}, {9, WEIGHTS, false, 0}, {10, FIXED64, true, 0},
			{11, VARINT, true, 0}, {13, MESSAGE, true, STRING_ENTRY}, {14, VARINT, false, 0}}},
	/* Only that there is one, so that the reader can refuse it. */
	[SPARSE_TENSOR] = {"SparseTensorProto", sizeof(Onnx__SparseTensorProto), {{0}}},
	[VALUE_INFO] = {"ValueInfoProto", sizeof(Onnx__ValueInfoProto),
		{{1, TEXT, false, 0}, {2, MESSAGE, false, TYPE}}},
	[TYPE] = {"TypeProto", sizeof(Onnx__TypeProto), {{1, MESSAGE, false, TENSOR_TYPE}}},
	[TENSOR_TYPE] = {"TypeProto.Tensor", sizeof(Onnx__TypeProto__Tensor),
		{{1, VARINT, false, 0}, {2, MESSAGE, false, TENSOR_SHAPE}}},
	[TENSOR_SHAPE] = {"TensorShapeProto", sizeof(Onnx__TensorShapeProto), {{1, MESSAGE, true, DIMENSION}}},
	[DIMENSION] = {"TensorShapeProto.Dimension", sizeof(Onnx__TensorShapeProto__Dimension),
		{{1, VARINT, false, 0}, {2, TEXT, false, 0}}},
	[STRING_ENTRY] = {"StringStringEntryProto", sizeof(Onnx__StringStringEntryProto),
		{{1, TEXT, false, 0}, {2, TEXT, false, 0}}},
};

struct scan {
	const char *what; /* it should be */
	const uint8_t *file;
	size_t at;
	struct dlsi_buffer *copy;
	size_t messages;
	size_t memory; /* that protobuf-c will need */
	size_t memory_limit;
	struct dls_error *err;
};

static int refuse(struct scan *scan, enum message message, unsigned field, const char *what)
{
	return dlsi_fail(scan->err, DLS_EFORMAT, "not a whole %s: field %u of %s at byte %zu %s", scan->what, field,
		layouts[message].name, scan->at, what);
}

static int charge(struct scan *scan, size_t bytes)
{
	scan->memory += bytes;
	if (scan->memory > scan->memory_limit || scan->copy->length > COPY_BYTES)
		return dlsi_fail(scan->err, DLS_ELIMIT,
			"its structure needs more than %zu MB of memory, too much for a file of this length",
			scan->memory_limit >> 20);
	return 0;
}

/* Reads a varint that ends before `end`. Returns false if it does not or is too long. */
static bool read_varint(struct scan *scan, size_t end, uint64_t *value_out)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_BYTES && scan->at < end; i++) {
		uint8_t byte = scan->file[scan->at++];

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*value_out = value;
			return true;
		}
	}
	return false;
}

static void write_varint(struct dlsi_buffer *copy, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES], length = 0;

	do {
		bytes[length++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	dlsi_buffer_append(copy, bytes, length);
}

static void write_tag(struct scan *scan, unsigned number, unsigned wire)
{
	write_varint(scan->copy, number << 3 | wire);
}

/* Reads the length of a field that ends before `end` and leaves `at` on its first byte. */
static int read_length(struct scan *scan, enum message message, unsigned number, size_t end, size_t *length_out)
{
	uint64_t length;

	if (!read_varint(scan, end, &length))
		return refuse(scan, message, number, "has a broken length");
	if (length > end - scan->at)
		return refuse(scan, message, number, "is longer than what is left (a truncated file?)");
	*length_out = (size_t)length;
	return 0;
}

/* Steps over a value that is no length-delimited one and leaves `at` behind it. */
static int step(struct scan *scan, enum message message, unsigned number, unsigned wire, size_t end)
{
	size_t bytes = wire == WIRE_FIXED32 ? 4 : 8;
	uint64_t ignored;

	if (wire == WIRE_VARINT) {
		if (!read_varint(scan, end, &ignored))
			return refuse(scan, message, number, "has a broken number");
		return 0;
	}
	if (wire != WIRE_FIXED32 && wire != WIRE_FIXED64)
		return refuse(scan, message, number, "has a wire type that ONNX does not use");
	if (bytes > end - scan->at)
		return refuse(scan, message, number, "is cut off (a truncated file?)");
	scan->at += bytes;
	return 0;
}

static int skip(struct scan *scan, enum message message, unsigned number, unsigned wire, size_t end)
{
	size_t length;
	int rc;

	if (wire != WIRE_LENGTH)
		return step(scan, message, number, wire, end);
	rc = read_length(scan, message, number, end, &length);
	if (rc == 0)
		scan->at += length;
	return rc;
}

static unsigned wire_of(enum kind kind)
{
	return kind == VARINT ? WIRE_VARINT : kind == FIXED32 ? WIRE_FIXED32 : WIRE_FIXED64;
}

static int copy_number(struct scan *scan, enum message message, const struct field *field, size_t end)
{
	size_t start = scan->at;
	int rc = step(scan, message, field->number, wire_of(field->kind), end);

	if (rc)
		return rc;
	write_tag(scan, field->number, wire_of(field->kind));
	dlsi_buffer_append(scan->copy, scan->file + start, scan->at - start);
	return charge(scan, FIELD_OVERHEAD + sizeof(uint64_t));
}

/* A packed run of numbers: one tag and length before them all. */
static int copy_packed(struct scan *scan, enum message message, const struct field *field, size_t end)
{
	size_t length, start, count = 0;
	int rc = read_length(scan, message, field->number, end, &length);

	if (rc)
		return rc;
	start = scan->at;
	while (scan->at < start + length) {
		rc = step(scan, message, field->number, wire_of(field->kind), start + length);
		if (rc)
			return rc;
		count++;
	}
	write_tag(scan, field->number, WIRE_LENGTH);
	write_varint(scan->copy, length);
	dlsi_buffer_append(scan->copy, scan->file + start, length);
	return charge(scan, FIELD_OVERHEAD + count * (field->kind == FIXED32 ? 4 : 8));
}

static int copy_bytes(struct scan *scan, enum message message, const struct field *field, size_t end)
{
	size_t length;
	int rc = read_length(scan, message, field->number, end, &length);

	if (rc)
		return rc;
	if (field->kind == TEXT && memchr(scan->file + scan->at, 0, length))
		return refuse(scan, message, field->number, "is a name with a zero byte in it");
	write_tag(scan, field->number, WIRE_LENGTH);
	if (field->kind == WEIGHTS) {
		struct dlsi_scan_place place = {.offset = scan->at, .length = length};

		write_varint(scan->copy, sizeof place);
		dlsi_buffer_append(scan->copy, &place, sizeof place);
		scan->at += length;
		return charge(scan, FIELD_OVERHEAD + sizeof place);
	}
	write_varint(scan->copy, length);
	dlsi_buffer_append(scan->copy, scan->file + scan->at, length);
	scan->at += length;
	return charge(scan, FIELD_OVERHEAD + length);
}

static int copy_fields(struct scan *scan, enum message message, size_t end, unsigned depth);

static int copy_message(struct scan *scan, enum message message, const struct field *field, size_t end, unsigned depth)
{
	static const uint8_t unknown_yet[MESSAGE_PREFIX];
	size_t length, prefix, written;
	int rc = read_length(scan, message, field->number, end, &length);

	if (rc)
		return rc;
	if (depth == DLSI_ONNX_DEPTH)
		return dlsi_fail(scan->err, DLS_ELIMIT, "its messages nest deeper than %d levels at byte %zu",
			DLSI_ONNX_DEPTH, scan->at);
	if (++scan->messages > DLSI_ONNX_MESSAGES)
		return dlsi_fail(scan->err, DLS_ELIMIT, "it has more than %d messages", DLSI_ONNX_MESSAGES);
	rc = charge(scan, FIELD_OVERHEAD + layouts[field->message].bytes);
	if (rc)
		return rc;
	write_tag(scan, field->number, WIRE_LENGTH);
	prefix = scan->copy->length;
	dlsi_buffer_append(scan->copy, unknown_yet, MESSAGE_PREFIX);
	rc = copy_fields(scan, field->message, scan->at + length, depth + 1);
	if (rc || scan->copy->failed)
		return rc;
	written = scan->copy->length - prefix - MESSAGE_PREFIX;
	for (unsigned i = 0; i < MESSAGE_PREFIX; i++)
		scan->copy->data[prefix + i] =
			(uint8_t)(written >> (7 * i) & 0x7f) | (i + 1 < MESSAGE_PREFIX ? 0x80 : 0);
	return 0;
}

static int copy_field(
	struct scan *scan, enum message message, const struct field *field, unsigned wire, size_t end, unsigned depth)
{
	if (field->kind >= TEXT && wire == WIRE_LENGTH)
		return field->kind == MESSAGE ? copy_message(scan, message, field, end, depth)
					      : copy_bytes(scan, message, field, end);
	if (field->kind < TEXT && wire == wire_of(field->kind))
		return copy_number(scan, message, field, end);
	if (field->kind < TEXT && wire == WIRE_LENGTH && field->repeated)
		return copy_packed(scan, message, field, end);
	return refuse(scan, message, field->number, "has another wire type than onnx.proto says");
}

static const struct field *find(enum message message, uint64_t number)
{
	for (const struct field *field = layouts[message].fields; field->number; field++)
		if (field->number == number)
			return field;
	return NULL;
}

/* A field that is not repeated comes once: protobuf would merge two, field by field. */
static int copy_fields(struct scan *scan, enum message message, size_t end, unsigned depth)
{
	uint32_t seen = 0;
	int rc = 0;

	while (rc == 0 && scan->at < end && !scan->copy->failed) {
		const struct field *field;
		uint64_t tag;

		if (!read_varint(scan, end, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
			return refuse(scan, message, 0, "is no field");
		field = find(message, tag >> 3);
		if (!field) {
			rc = skip(scan, message, (unsigned)(tag >> 3), tag & 7, end);
		} else if (!field->repeated && seen >> field->number & 1) {
			rc = refuse(scan, message, field->number, "comes twice");
		} else {
			seen |= 1U << field->number;
			rc = copy_field(scan, message, field, tag & 7, end, depth);
		}
	}
	return rc;
}

static int scan_file(
	const void *file, size_t length, struct scan *scan, enum message message, struct dlsi_buffer *copy_out)
{
	int rc;

	scan->file = file;
	scan->copy = copy_out;
	if (!length)
		return dlsi_fail(scan->err, DLS_EFORMAT, "the file is empty");
	scan->memory_limit =
		SMALL_FILE_BYTES + (length < SIZE_MAX / 2 / FILE_MULTIPLE ? FILE_MULTIPLE * length : SIZE_MAX / 2);
	rc = copy_fields(scan, message, length, 1);
	if (rc == 0 && copy_out->failed)
		rc = dlsi_fail_memory(scan->err);
	return rc;
}

int dlsi_scan(const void *file, size_t length, struct dlsi_buffer *copy_out, struct dls_error *err)
{
	struct scan scan = {.what = "ONNX file", .err = err};

	return scan_file(file, length, &scan, MODEL, copy_out);
}

int dlsi_scan_tensor(const void *file, size_t length, struct dlsi_buffer *copy_out, struct dls_error *err)
{
	struct scan scan = {.what = "tensor of ONNX", .err = err};

	return scan_file(file, length, &scan, TENSOR, copy_out);
}
