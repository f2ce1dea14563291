/* Pow: whose exponents may be of another type than what is raised, which the result has the type of. */
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"

#define V             DLSI_OP_SINCE

#define BASES(X, ...) DLSI_FLOATS(X, __VA_ARGS__) X(DLS_INT32, int32_t, __VA_ARGS__) X(DLS_INT64, int64_t, __VA_ARGS__)

static int infer_pow(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *base = dlsi_node_input(graph, node, 0), *exponent = dlsi_node_input(graph, node, 1);

	if (!(DLSI_TYPES(BASES) & DLSI_OP_TYPE(base->dtype)) || exponent->dtype == DLS_BOOL)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "raises '%s' of %s to '%s' of %s", base->name,
			dls_dtype_name(base->dtype), exponent->name, dls_dtype_name(exponent->dtype));
	return dlsi_op_infer_broadcast(graph, node, err);
}

#define WIDEN(dtype, type, ...)                                                                                        \
	case dtype:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			numbers[i] = (double)((const type *)view->data)[i];                                            \
		break;

static void widen(const struct dlsi_view *view, double *numbers)
{
	size_t count = dlsi_view_count(view);

	switch (view->dtype) {
		DLSI_NUMBERS(WIDEN, 0)
	default:
		break;
	}
}

/* By squaring, wrapping around as products do. */
static int64_t raise_integer(int64_t base, uint64_t exponent)
{
	uint64_t result = 1, square = (uint64_t)base;

	for (; exponent; exponent >>= 1, square *= square)
		if (exponent & 1)
			result *= square;
	return (int64_t)result;
}

static int64_t raise_to_real(int64_t base, double exponent)
{
	double result;

	if (exponent >= 0 && exponent == floor(exponent) && exponent < 0x1p63)
		return raise_integer(base, (uint64_t)exponent);
	result = pow((double)base, exponent);
	return result > -0x1p63 && result < 0x1p63 ? (int64_t)result : 0;
}

/* Squares are what models mostly ask for. */
#define RAISED(x, y)                                                                                                   \
	_Generic((x), float                                                                                            \
		 : (y) == 2 ? (x) * (x) : powf((float)(x), (float)(y)), double                                         \
		 : (y) == 2 ? (x) * (x) : pow((double)(x), (y)), default                                               \
		 : raise_to_real((int64_t)(x), (y)))

#define CASE(dtype, type, ...)                                                                                         \
	case dtype:                                                                                                    \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {                         \
			const type *bases = (const type *)inputs[0].data + walk.offsets[1];                            \
			type *to = (type *)outputs[0].data + walk.offsets[0];                                          \
                                                                                                                       \
			for (int64_t i = 0; i < walk.count; i++) {                                                     \
				const type x = bases[i * walk.steps[1]];                                               \
				double y = exponents[walk.offsets[2] + i * walk.steps[2]];                             \
                                                                                                                       \
				to[i] = (type)RAISED(x, y);                                                            \
			}                                                                                              \
		}                                                                                                      \
		break;

static int eval_pow(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	double *exponents = dlsi_calloc(alloc, dlsi_view_count(&inputs[1]) + 1, sizeof *exponents);
	struct dlsi_walk walk;

	(void)node;
	if (!exponents)
		return dlsi_fail_memory(err);
	widen(&inputs[1], exponents);
	dlsi_walk_broadcast(&walk, &outputs[0], (const struct dlsi_view *[]){&inputs[0], &inputs[1]}, 2);
	switch (inputs[0].dtype) {
		BASES(CASE, 0)
	default:
		break;
	}
	dlsi_free(alloc, exponents);
	return 0;
}

static const struct dlsi_op_attribute none[] = {{0}};

const struct dlsi_op dlsi_op_pow = {
	.name = "Pow",
	DLSI_OP_ALL(V(1) | V(7) | V(12) | V(13) | V(15)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_pow,
	.mixes = dlsi_op_mixes_elements,
	.eval = eval_pow,
	.steps = dlsi_op_steps_slow,
};
