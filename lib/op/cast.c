/* Cast and CastLike. */
#include "op/cast.h"

#include "graph/type.h"
#include "op/list.h"
#include <stdbool.h>
#include <string.h>

#define V DLSI_OP_SINCE

/* A conversion goes over one of three wide types, some elements at a time: so there are as many loops as types, not as
 * many as pairs of them. */
enum { CHUNK = 256 };

union wide {
	double floats[CHUNK];
	int64_t ints[CHUNK];
	uint64_t naturals[CHUNK];
};

enum kind { FLOATS, INTS, NATURALS };

#define TYPES(X)                                                                                                       \
	X(DLS_FLOAT32, float, floats, FLOATS)                                                                          \
	X(DLS_FLOAT64, double, floats, FLOATS)                                                                         \
	X(DLS_INT8, int8_t, ints, INTS)                                                                                \
	X(DLS_UINT8, uint8_t, ints, INTS)                                                                              \
	X(DLS_INT16, int16_t, ints, INTS)                                                                              \
	X(DLS_UINT16, uint16_t, ints, INTS)                                                                            \
	X(DLS_INT32, int32_t, ints, INTS)                                                                              \
	X(DLS_UINT32, uint32_t, ints, INTS)                                                                            \
	X(DLS_INT64, int64_t, ints, INTS)                                                                              \
	X(DLS_UINT64, uint64_t, naturals, NATURALS)                                                                    \
	X(DLS_BOOL, uint8_t, ints, INTS)

static enum kind load(union wide *to, enum dls_dtype dtype, const void *from, size_t first, size_t count)
{
	enum kind kind = INTS;

	switch (dtype) {
#define LOAD(value, type, member, its_kind)                                                                            \
	case value:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			to->member[i] = ((const type *)from)[first + i];                                               \
		kind = its_kind;                                                                                       \
		break;
		TYPES(LOAD)
#undef LOAD
	}
	return kind;
}

/* C leaves open what a float becomes that does not fit. */
static int64_t truncate(double x)
{
	if (x >= 0x1p63)
		return x < 0x1p64 ? (int64_t)(uint64_t)x : INT64_MAX;
	return x >= -0x1p63 ? (int64_t)x : x < 0 ? INT64_MIN : 0;
}

static void truncate_all(union wide *wide, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wide->ints[i] = truncate(wide->floats[i]);
}

static void store(enum dls_dtype dtype, void *to, size_t first, const union wide *from, enum kind kind, size_t count)
{
	switch (dtype) {
#define STORE(value, type, member, its_kind)                                                                           \
	case value: {                                                                                                  \
		type *target = (type *)to + first;                                                                     \
                                                                                                                       \
		for (size_t i = 0; kind == FLOATS && i < count; i++)                                                   \
			target[i] = (type)from->floats[i];                                                             \
		for (size_t i = 0; kind == INTS && i < count; i++)                                                     \
			target[i] = (type)from->ints[i];                                                               \
		for (size_t i = 0; kind == NATURALS && i < count; i++)                                                 \
			target[i] = (type)from->naturals[i];                                                           \
		break;                                                                                                 \
	}
		TYPES(STORE)
#undef STORE
	}
}

static void to_bool(union wide *wide, enum kind kind, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wide->ints[i] = kind == FLOATS ? wide->floats[i] != 0 : wide->ints[i] != 0;
}

void dlsi_cast(enum dls_dtype to_dtype, void *to, enum dls_dtype from_dtype, const void *from, size_t count)
{
	union wide wide;

	if (to_dtype == from_dtype) {
		if (count)
			memcpy(to, from, count * dls_dtype_bytes(to_dtype));
		return;
	}
	for (size_t first = 0; first < count; first += CHUNK) {
		size_t some = count - first < CHUNK ? count - first : CHUNK;
		enum kind kind = load(&wide, from_dtype, from, first, some);

		if (to_dtype == DLS_BOOL)
			to_bool(&wide, kind, some);
		else if (kind == FLOATS && to_dtype != DLS_FLOAT32 && to_dtype != DLS_FLOAT64)
			truncate_all(&wide, some);
		else {
			store(to_dtype, to, first, &wide, kind, some);
			continue;
		}
		store(to_dtype, to, first, &wide, INTS, some);
	}
}

void dlsi_cast_constant(enum dls_dtype to_dtype, void *to, const struct dlsi_value *constant)
{
	uint64_t aligned;

	memcpy(&aligned, constant->data, dls_dtype_bytes(constant->dtype));
	dlsi_cast(to_dtype, to, constant->dtype, &aligned, 1);
}

/* ---- the operators */

static int infer_cast(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t to = dlsi_node_int(node, "to", 0);
	enum dls_dtype dtype = dlsi_onnx_dtype(to);

	if (!dtype)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "casts to %s, which is not supported", dlsi_onnx_dtype_name(to));
	return dlsi_node_set_output(graph, node, dtype, input->rank, input->dims, err);
}

static int infer_cast_like(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return dlsi_node_set_output(graph, node, dlsi_node_input(graph, node, 1)->dtype, input->rank, input->dims, err);
}

static const char *cast_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_input(graph, node, 0)->batched ? NULL : "is the same for all items";
}

static int eval_cast(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)node, (void)alloc, (void)err;
	dlsi_cast(outputs[0].dtype, outputs[0].data, inputs[0].dtype, inputs[0].data, dlsi_view_count(&inputs[0]));
	return 0;
}

static const struct dlsi_op_attribute cast[] = {
	{"round_mode", DLSI_ATTRIBUTE_STRING}, {"saturate", DLSI_ATTRIBUTE_INT}, {"to", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute cast_like[] = {
	{"round_mode", DLSI_ATTRIBUTE_STRING}, {"saturate", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_cast = {
	.name = "Cast",
	.defined = V(1) | V(6) | V(9) | V(13) | V(19) | V(21) | V(23) | V(24) | V(25) | V(28),
	.known = V(6) | V(9) | V(13) | V(19) | V(21) | V(23) | V(24) | V(25) | V(28),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = cast,
	.infer = infer_cast,
	.mixes = cast_mixes,
	.eval = eval_cast,
	.moves = 1,
};

const struct dlsi_op dlsi_op_cast_like = {
	.name = "CastLike",
	DLSI_OP_ALL(V(15) | V(19) | V(21) | V(23) | V(24) | V(25)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = cast_like,
	.infer = infer_cast_like,
	.mixes = cast_mixes,
	.eval = eval_cast,
	.moves = 1,
};
