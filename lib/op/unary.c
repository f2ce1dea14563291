/* Operators of one input, element by element. A row is one expression of the element `x`, its type `type`, and two
 * parameters `a` and `b`. */
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* The type of the parameters. */
#define PARAMETER(type) __typeof__(_Generic((type)0, float : 0.0F, default : 0.0))

#define CASE(dtype, element, first, second, target, expression)                                                        \
	case dtype: {                                                                                                  \
		typedef element type;                                                                                  \
		const type *from = inputs[0].data;                                                                     \
		target *to = outputs[0].data;                                                                          \
		const PARAMETER(type) a = (PARAMETER(type))(first), b = (PARAMETER(type))(second);                     \
                                                                                                                       \
		(void)a, (void)b;                                                                                      \
		for (size_t i = 0; i < count; i++) {                                                                   \
			const type x = from[i];                                                                        \
                                                                                                                       \
			to[i] = (target)(expression);                                                                  \
		}                                                                                                      \
		break;                                                                                                 \
	}

/* The row dlsi_op_name and its eval; all but the names and versions of a plain one may be said. */
#define UNARY_ROW(name_, onnx, versions, LIST, infer_, attributes_, first, second, target, expression)                 \
	static int eval_##name_(const struct dlsi_node *node, const struct dlsi_view *inputs,                          \
		const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)                \
	{                                                                                                              \
		size_t count = dlsi_view_count(&outputs[0]);                                                           \
                                                                                                                       \
		(void)node, (void)alloc, (void)err;                                                                    \
		switch (inputs[0].dtype) {                                                                             \
			LIST(CASE, first, second, target, expression)                                                  \
		default:                                                                                               \
			break;                                                                                         \
		}                                                                                                      \
		return 0;                                                                                              \
	}                                                                                                              \
	const struct dlsi_op dlsi_op_##name_ = {.name = (onnx),                                                        \
		DLSI_OP_ALL(versions),                                                                                 \
		.inputs_least = 1,                                                                                     \
		.inputs_most = 1,                                                                                      \
		.outputs_most = 1,                                                                                     \
		.attributes = (attributes_),                                                                           \
		.types = DLSI_TYPES(LIST),                                                                             \
		.infer = (infer_),                                                                                     \
		.mixes = dlsi_op_mixes_weights,                                                                        \
		.eval = eval_##name_,                                                                                  \
		.steps = dlsi_op_steps_slow};

#define UNARY(name, onnx, versions, LIST, expression)                                                                  \
	UNARY_ROW(name, onnx, versions, LIST, dlsi_op_infer_same, none, 0, 0, type, expression)
#define UNARY_ALPHA(name, onnx, versions, default, expression)                                                         \
	UNARY_ROW(name, onnx, versions, DLSI_FLOATS, dlsi_op_infer_same, alpha,                                        \
		dlsi_node_float(node, "alpha", (default)), 0, type, expression)

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute alpha[] = {{"alpha", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute alpha_beta[] = {
	{"alpha", DLSI_ATTRIBUTE_FLOAT}, {"beta", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute alpha_gamma[] = {
	{"alpha", DLSI_ATTRIBUTE_FLOAT}, {"gamma", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute bias_lambd[] = {
	{"bias", DLSI_ATTRIBUTE_FLOAT}, {"lambd", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute infinities[] = {
	{"detect_negative", DLSI_ATTRIBUTE_INT}, {"detect_positive", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute approximate[] = {{"approximate", DLSI_ATTRIBUTE_STRING}, {0}};

static int infer_predicate(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return dlsi_node_set_output(graph, node, DLS_BOOL, input->rank, input->dims, err);
}

static int infer_relu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	bool is_float = dlsi_node_input(graph, node, 0)->dtype == DLS_FLOAT32;

	node->clamp = is_float ? (struct dlsi_clamp){0, INFINITY} : DLSI_CLAMP_UNKNOWN;
	return dlsi_op_infer_same(graph, node, err);
}

static bool is_tanh(const struct dlsi_node *node)
{
	return strcmp(dlsi_node_string(node, "approximate", "none"), "tanh") == 0;
}

static int infer_gelu(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const char *kind = dlsi_node_string(node, "approximate", "none");

	if (!is_tanh(node) && strcmp(kind, "none") != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the unknown approximation '%s'", kind);
	return dlsi_op_infer_same(graph, node, err);
}

/* log(1 + exp(x)) without overflow. */
#define SOFTPLUS(x)    ((x) > 0 ? (x) + log1p(exp(-(x))) : log1p(exp(x)))
#define UNIT(x)        ((x) < 0 ? 0 : (x) > 1 ? 1 : (x))
#define GELU_ERF(x)    ((x) / 2 * (1 + erf((x) * (type)M_SQRT1_2)))
#define GELU_TANH(x)   ((x) / 2 * (1 + tanh((type)(M_2_SQRTPI * M_SQRT1_2) * ((x) + (type)0.044715 * (x) * (x) * (x)))))
#define IS_INFINITE(x) (isinf(x) && ((x) > 0 ? a != 0 : b != 0))
#define SIGN(x)        ((x) > 0 ? (type)1 : (x) == 0 || (x) != (x) ? (x) : (type)-1)
#define SHRUNK(x)      ((x) < -b ? (x) + a : (x) > b ? (x)-a : 0)
#define SELU_ALPHA     1.67326319217681884765625F
#define SELU_GAMMA     1.05070102214813232421875F

UNARY(abs, "Abs", V(1) | V(6) | V(13), DLSI_NUMBERS, DLSI_MAGNITUDE(x))
UNARY(acos, "Acos", V(7) | V(22), DLSI_FLOATS, acos(x))
UNARY(acosh, "Acosh", V(9) | V(22), DLSI_FLOATS, acosh(x))
UNARY(asin, "Asin", V(7) | V(22), DLSI_FLOATS, asin(x))
UNARY(asinh, "Asinh", V(9) | V(22), DLSI_FLOATS, asinh(x))
UNARY(atan, "Atan", V(7) | V(22), DLSI_FLOATS, atan(x))
UNARY(atanh, "Atanh", V(9) | V(22), DLSI_FLOATS, atanh(x))
UNARY(bitwise_not, "BitwiseNot", V(18), DLSI_INTEGERS, ~x)
UNARY(ceil, "Ceil", V(1) | V(6) | V(13), DLSI_FLOATS, ceil(x))
UNARY_ALPHA(celu, "Celu", V(12) | V(28), 1, x > 0 ? x : expm1(x / a) * a)
UNARY(cos, "Cos", V(7) | V(22), DLSI_FLOATS, cos(x))
UNARY(cosh, "Cosh", V(9) | V(22), DLSI_FLOATS, cosh(x))
UNARY_ALPHA(elu, "Elu", V(1) | V(6) | V(22), 1, x > 0 ? x : expm1(x) * a)
UNARY(erf, "Erf", V(9) | V(13), DLSI_FLOATS, erf(x))
UNARY(exp, "Exp", V(1) | V(6) | V(13), DLSI_FLOATS, exp(x))
UNARY(floor, "Floor", V(1) | V(6) | V(13), DLSI_FLOATS, floor(x))
UNARY_ROW(gelu, "Gelu", V(20), DLSI_FLOATS, infer_gelu, approximate, is_tanh(node), 0, type,
	a != 0 ? GELU_TANH(x) : GELU_ERF(x))
UNARY_ROW(hard_sigmoid, "HardSigmoid", V(1) | V(6) | V(22), DLSI_FLOATS, dlsi_op_infer_same, alpha_beta,
	dlsi_node_float(node, "alpha", 0.2F), dlsi_node_float(node, "beta", 0.5F), type, UNIT(b + a * x))
UNARY(hard_swish, "HardSwish", V(14) | V(22), DLSI_FLOATS, UNIT(x / 6 + (type)0.5) * x)
UNARY_ROW(is_inf, "IsInf", V(10) | V(20), DLSI_FLOATS, infer_predicate, infinities,
	dlsi_node_int(node, "detect_positive", 1), dlsi_node_int(node, "detect_negative", 1), uint8_t, IS_INFINITE(x))
UNARY_ROW(is_nan, "IsNaN", V(9) | V(13) | V(20), DLSI_FLOATS, infer_predicate, none, 0, 0, uint8_t, isnan(x))
UNARY_ALPHA(leaky_relu, "LeakyRelu", V(1) | V(6) | V(16), 0.01F, x > 0 ? x : x * a)
UNARY(log, "Log", V(1) | V(6) | V(13), DLSI_FLOATS, log(x))
UNARY(mish, "Mish", V(18) | V(22), DLSI_FLOATS, tanh(SOFTPLUS(x)) * x)
UNARY(neg, "Neg", V(1) | V(6) | V(13), DLSI_POSITIVE_OR_NOT, DLSI_CHOOSE(x, -x, 0 - (uint64_t)x))
UNARY(not, "Not", V(1), DLSI_BOOLS, !x)
UNARY(reciprocal, "Reciprocal", V(1) | V(6) | V(13), DLSI_FLOATS, 1 / x)
UNARY_ROW(relu, "Relu", V(1) | V(6) | V(13) | V(14), DLSI_POSITIVE_OR_NOT, infer_relu, none, 0, 0, type, x < 0 ? 0 : x)
UNARY(round, "Round", V(11) | V(22), DLSI_FLOATS, rint(x))
UNARY_ROW(selu, "Selu", V(1) | V(6) | V(22), DLSI_FLOATS, dlsi_op_infer_same, alpha_gamma,
	dlsi_node_float(node, "alpha", SELU_ALPHA), dlsi_node_float(node, "gamma", SELU_GAMMA), type,
	(x > 0 ? x : a * expm1(x)) * b)
UNARY_ROW(shrink, "Shrink", V(9), DLSI_NUMBERS, dlsi_op_infer_same, bias_lambd, dlsi_node_float(node, "bias", 0),
	dlsi_node_float(node, "lambd", 0.5F), type, DLSI_ELEMENT(type, SHRUNK(x)))
UNARY(sigmoid, "Sigmoid", V(1) | V(6) | V(13), DLSI_FLOATS, 1 / (1 + exp(-x)))
UNARY(sign, "Sign", V(9) | V(13), DLSI_NUMBERS, SIGN(x))
UNARY(sin, "Sin", V(7) | V(22), DLSI_FLOATS, sin(x))
UNARY(sinh, "Sinh", V(9) | V(22), DLSI_FLOATS, sinh(x))
UNARY(softplus, "Softplus", V(1) | V(22), DLSI_FLOATS, SOFTPLUS(x))
UNARY(softsign, "Softsign", V(1) | V(22), DLSI_FLOATS, x / (1 + fabs(x)))
UNARY(sqrt, "Sqrt", V(1) | V(6) | V(13), DLSI_FLOATS, sqrt(x))
UNARY_ALPHA(swish, "Swish", V(24), 1, x / (1 + exp(-a * x)))
UNARY(tan, "Tan", V(7) | V(22), DLSI_FLOATS, tan(x))
UNARY(tanh, "Tanh", V(1) | V(6) | V(13), DLSI_FLOATS, tanh(x))
UNARY_ALPHA(thresholded_relu, "ThresholdedRelu", V(10) | V(22), 1, x > a ? x : 0)
