/* Operators of two inputs, element by element, which are broadcast to one another; and those of any number of inputs
 * that do the same again and again. A row is one expression of the elements `x` and `y`, their type `type` and a
 * `flag`. */
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* left [operator] right into `out`, which may be `left` itself where that has the result's shape. */
typedef void kernel(const struct dlsi_node *node, const struct dlsi_view *out, const struct dlsi_view *left,
	const struct dlsi_view *right);

#define CASE(dtype, element, target, expression)                                                                       \
	case dtype:                                                                                                    \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {                         \
			typedef element type;                                                                          \
			const int64_t length = walk.count, x_step = walk.steps[1], y_step = walk.steps[2];             \
			target *to = (target *)out->data + walk.offsets[0];                                            \
			const type *xs = (const type *)left->data + walk.offsets[1];                                   \
			const type *ys = (const type *)right->data + walk.offsets[2];                                  \
                                                                                                                       \
			for (int64_t i = 0; i < length; i++) {                                                         \
				const type x = xs[i * x_step], y = ys[i * y_step];                                     \
                                                                                                                       \
				to[i] = (target)(expression);                                                          \
			}                                                                                              \
		}                                                                                                      \
		break;

#define KERNEL(name, LIST, parameter, target, expression)                                                              \
	static void run_##name(const struct dlsi_node *node, const struct dlsi_view *out,                              \
		const struct dlsi_view *left, const struct dlsi_view *right)                                           \
	{                                                                                                              \
		struct dlsi_walk walk;                                                                                 \
		const bool flag = (parameter);                                                                         \
                                                                                                                       \
		(void)node, (void)flag;                                                                                \
		dlsi_walk_broadcast(&walk, out, (const struct dlsi_view *[]){left, right}, 2);                         \
		switch (left->dtype) {                                                                                 \
			LIST(CASE, target, expression)                                                                 \
		default:                                                                                               \
			break;                                                                                         \
		}                                                                                                      \
	}

#define ROW(name_, onnx, versions, LIST, most, infer_, attributes_, steps_)                                            \
	const struct dlsi_op dlsi_op_##name_ = {.name = (onnx),                                                        \
		DLSI_OP_ALL(versions),                                                                                 \
		.inputs_least = (most) == 2 ? 2 : 1,                                                                   \
		.inputs_most = (most),                                                                                 \
		.outputs_most = 1,                                                                                     \
		.attributes = (attributes_),                                                                           \
		.types = DLSI_TYPES(LIST),                                                                             \
		.infer = (infer_),                                                                                     \
		.mixes = dlsi_op_mixes_elements,                                                                       \
		.eval = eval_##name_,                                                                                  \
		.steps = (steps_)};

#define EVAL(name)                                                                                                     \
	static int eval_##name(const struct dlsi_node *node, const struct dlsi_view *inputs,                           \
		const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)

#define BINARY_ROW(name, onnx, versions, LIST, infer, attributes, parameter, target, expression)                       \
	KERNEL(name, LIST, parameter, target, expression)                                                              \
	EVAL(name)                                                                                                     \
	{                                                                                                              \
		(void)alloc, (void)err;                                                                                \
		run_##name(node, &outputs[0], &inputs[0], &inputs[1]);                                                 \
		return 0;                                                                                              \
	}                                                                                                              \
	ROW(name, onnx, versions, LIST, 2, infer, attributes, NULL)

#define BINARY(name, onnx, versions, LIST, expression)                                                                 \
	BINARY_ROW(name, onnx, versions, LIST, dlsi_op_infer_broadcast, none, false, type, expression)
#define COMPARISON(name, onnx, versions, LIST, expression)                                                             \
	BINARY_ROW(name, onnx, versions, LIST, infer_comparison, none, false, uint8_t, expression)

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute direction[] = {{"direction", DLSI_ATTRIBUTE_STRING}, {0}};
static const struct dlsi_op_attribute fmod_attribute[] = {{"fmod", DLSI_ATTRIBUTE_INT}, {0}};

static int infer_comparison(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc = dlsi_op_infer_broadcast(graph, node, err);

	if (rc == 0)
		dlsi_node_output(graph, node)->dtype = DLS_BOOL;
	return rc;
}

/* ---- division of integers */

#define FIND_ZERO(dtype, type, ...)                                                                                    \
	case dtype:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			if (((const type *)view->data)[i] == 0)                                                        \
				return true;                                                                           \
		break;

static bool has_zero(const struct dlsi_view *view)
{
	size_t count = dlsi_view_count(view);

	switch (view->dtype) {
		DLSI_INTEGERS(FIND_ZERO, 0)
	default:
		break;
	}
	return false;
}

/* The least number divided by -1 is not in its type: it wraps around. */
static int64_t quotient(int64_t x, int64_t y)
{
	return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t remainder_of(int64_t x, int64_t y, bool truncates)
{
	int64_t rest = y == -1 ? 0 : x % y;

	return !truncates && rest && (rest < 0) != (y < 0) ? rest + y : rest;
}

static double floored_remainder(double x, double y)
{
	double rest = fmod(x, y);

	if (rest == 0)
		return copysign(0, y);
	return (rest < 0) != (y < 0) ? rest + y : rest;
}

#define QUOTIENT(x, y)                                                                                                 \
	_Generic((x), float                                                                                            \
		 : (x) / (y), double                                                                                   \
		 : (x) / (y), uint64_t                                                                                 \
		 : (uint64_t)(x) / (uint64_t)(y), default                                                              \
		 : quotient((int64_t)(x), (int64_t)(y)))
#define REMAINDER(x, y)                                                                                                \
	_Generic((x), float                                                                                            \
		 : flag ? fmod((x), (y)) : floored_remainder((x), (y)), double                                         \
		 : flag ? fmod((x), (y)) : floored_remainder((x), (y)), uint64_t                                       \
		 : (uint64_t)(x) % (uint64_t)(y), default                                                              \
		 : remainder_of((int64_t)(x), (int64_t)(y), flag))

KERNEL(div, DLSI_NUMBERS, false, type, QUOTIENT(x, y))
KERNEL(mod, DLSI_NUMBERS, dlsi_node_int(node, "fmod", 0), type, REMAINDER(x, y))

static int divide(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	kernel *run, struct dls_error *err)
{
	if (dlsi_view_count(&outputs[0]) && has_zero(&inputs[1]))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "divides an integer by zero");
	run(node, &outputs[0], &inputs[0], &inputs[1]);
	return 0;
}

EVAL(div)
{
	(void)alloc;
	return divide(node, inputs, outputs, run_div, err);
}

EVAL(mod)
{
	(void)alloc;
	return divide(node, inputs, outputs, run_mod, err);
}

ROW(div, "Div", V(1) | V(6) | V(7) | V(13) | V(14), DLSI_NUMBERS, 2, dlsi_op_infer_broadcast, none, NULL)
ROW(mod, "Mod", V(10) | V(13) | V(28), DLSI_NUMBERS, 2, dlsi_op_infer_broadcast, fmod_attribute, dlsi_op_steps_slow)

/* ---- shifts */

static bool is_left(const struct dlsi_node *node)
{
	return strcmp(dlsi_node_string(node, "direction", ""), "LEFT") == 0;
}

static int infer_shift(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const char *way = dlsi_node_string(node, "direction", "");

	if (!is_left(node) && strcmp(way, "RIGHT") != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the unknown direction '%s'", way);
	return dlsi_op_infer_broadcast(graph, node, err);
}

/* By less than 0 or by all bits and more: only the bits that come in are left. */
#define SHIFTED(x, y)                                                                                                  \
	((uint64_t)(y) >= 8 * sizeof(type) ? (flag || (x) > 0 || (x) == 0 ? 0 : (uint64_t)-1)                          \
		: flag                     ? (uint64_t)(x) << (y)                                                      \
					   : _Generic((x), uint64_t                                                    \
                                  : (uint64_t)(x) >> (y), default                                  \
                                  : (uint64_t)((int64_t)(x) >> (y))))

BINARY_ROW(
	bit_shift, "BitShift", V(11) | V(28), DLSI_INTEGERS, infer_shift, direction, is_left(node), type, SHIFTED(x, y))

/* ---- slopes */

static int infer_prelu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *output = dlsi_node_output(graph, node);
	int rc = dlsi_op_infer_broadcast(graph, node, err);

	if (rc == 0 && !dlsi_value_same_shape(output, input))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has slopes that do not fit its input");
	return rc;
}

BINARY_ROW(prelu, "PRelu", V(1) | V(6) | V(7) | V(9) | V(16), DLSI_NUMBERS, infer_prelu, none, false, type,
	x > 0 || x == 0 ? x : (type)DLSI_PRODUCT(x, y))

/* ---- the others */

BINARY(add, "Add", V(1) | V(6) | V(7) | V(13) | V(14), DLSI_NUMBERS, DLSI_SUM(x, y))
BINARY(and, "And", V(1) | V(7), DLSI_BOOLS, x &&y)
BINARY(bitwise_and, "BitwiseAnd", V(18), DLSI_INTEGERS, y &x)
BINARY(bitwise_or, "BitwiseOr", V(18), DLSI_INTEGERS, x | y)
BINARY(bitwise_xor, "BitwiseXor", V(18), DLSI_INTEGERS, x ^ y)
BINARY(mul, "Mul", V(1) | V(6) | V(7) | V(13) | V(14), DLSI_NUMBERS, DLSI_PRODUCT(x, y))
BINARY(or, "Or", V(1) | V(7), DLSI_BOOLS, x || y)
BINARY(sub, "Sub", V(1) | V(6) | V(7) | V(13) | V(14), DLSI_NUMBERS, DLSI_DIFFERENCE(x, y))
BINARY(xor, "Xor", V(1) | V(7), DLSI_BOOLS, !x != !y)
COMPARISON(equal, "Equal", V(1) | V(7) | V(11) | V(13) | V(19), DLSI_ALL_TYPES, x == y)
COMPARISON(greater, "Greater", V(1) | V(7) | V(9) | V(13), DLSI_NUMBERS, x > y)
COMPARISON(greater_or_equal, "GreaterOrEqual", V(12) | V(16), DLSI_NUMBERS, x >= y)
COMPARISON(less, "Less", V(1) | V(7) | V(9) | V(13), DLSI_NUMBERS, x < y)
COMPARISON(less_or_equal, "LessOrEqual", V(12) | V(16), DLSI_NUMBERS, x <= y)

/* ---- any number of inputs */

KERNEL(greatest, DLSI_NUMBERS, false, type, DLSI_GREATER(x, y))
KERNEL(smallest, DLSI_NUMBERS, false, type, DLSI_SMALLER(x, y))

static double all_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return (double)node->input_count * dlsi_value_extent(dlsi_node_output(graph, node));
}

static int accumulate(
	const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *output, kernel *run)
{
	struct dlsi_walk walk;

	dlsi_walk_broadcast(&walk, output, (const struct dlsi_view *[]){&inputs[0]}, 1);
	dlsi_walk_copy(&walk, output->data, inputs[0].data, dls_dtype_bytes(output->dtype));
	for (uint32_t i = 1; i < node->input_count; i++)
		run(node, output, output, &inputs[i]);
	return 0;
}

#define VARIADIC(name, onnx, versions, LIST, kernel_name)                                                              \
	EVAL(name)                                                                                                     \
	{                                                                                                              \
		(void)alloc, (void)err;                                                                                \
		return accumulate(node, inputs, &outputs[0], run_##kernel_name);                                       \
	}                                                                                                              \
	ROW(name, onnx, versions, LIST, DLSI_OP_ANY_NUMBER, dlsi_op_infer_broadcast, none, all_steps)

VARIADIC(max, "Max", V(1) | V(6) | V(8) | V(12) | V(13), DLSI_NUMBERS, greatest)
VARIADIC(min, "Min", V(1) | V(6) | V(8) | V(12) | V(13), DLSI_NUMBERS, smallest)
VARIADIC(sum, "Sum", V(1) | V(6) | V(8) | V(13), DLSI_FLOATS, add)

#define DIVIDE_ALL(dtype, type, ...)                                                                                   \
	case dtype:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			((type *)outputs[0].data)[i] /= (type)node->input_count;                                       \
		break;

EVAL(mean)
{
	size_t count = dlsi_view_count(&outputs[0]);

	(void)alloc, (void)err;
	accumulate(node, inputs, &outputs[0], run_add);
	switch (outputs[0].dtype) {
		DLSI_FLOATS(DIVIDE_ALL, 0)
	default:
		break;
	}
	return 0;
}

ROW(mean, "Mean", V(1) | V(6) | V(8) | V(13), DLSI_FLOATS, DLSI_OP_ANY_NUMBER, dlsi_op_infer_broadcast, none, all_steps)
