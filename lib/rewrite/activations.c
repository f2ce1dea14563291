/* Activations that a model spells out as products and sums become the operators that they are: Swish, HardSwish, Gelu.
 */
#include "op/list.h"
#include "rewrite/match.h"
#include "rewrite/rewrite.h"

/* A product of two values and a number; any of the factors may be missing. */
struct product {
	uint32_t values[2];
	uint32_t count;
	double number;
};

/* Takes the value into the product, and in its place what it is the product or quotient of if nobody else takes that.
 * False if there are more than two values. The way down is short: at most two values have at most one number each. */
static bool take(const struct dlsi_match *match, uint32_t value, bool inner, int depth, struct product *product)
{
	const struct dlsi_node *node = dlsi_match_producer(match, value);
	double number;

	if (dlsi_match_number(match, value, &number)) {
		product->number *= number;
		return true;
	}
	if (depth > 0 && node && (!inner || dlsi_match_is_only(match, value)) && dlsi_clamp_is_none(&node->fused)) {
		if (node->op == &dlsi_op_mul)
			return take(match, node->inputs[0], true, depth - 1, product) &&
			       take(match, node->inputs[1], true, depth - 1, product);
		if (node->op == &dlsi_op_div && dlsi_match_number(match, node->inputs[1], &number)) {
			product->number /= number;
			return take(match, node->inputs[0], true, depth - 1, product);
		}
	}
	if (product->count == 2)
		return false;
	product->values[product->count++] = value;
	return true;
}

/* The product that the node makes, its value `i` first. */
static bool read_product(const struct dlsi_match *match, uint32_t value, bool inner, struct product *product)
{
	*product = (struct product){.number = 1};
	return take(match, value, inner, 3, product);
}

/* Whether the value is x times a number, which is given; x itself is once x. */
static bool is_multiple(const struct dlsi_match *match, uint32_t value, uint32_t x, double *number)
{
	struct product product;

	*number = 1;
	if (value == x)
		return true;
	if (!read_product(match, value, true, &product) || product.count != 1 || product.values[0] != x)
		return false;
	*number = product.number;
	return true;
}

/* ---- what x is multiplied by */

/* sigmoid(alpha * x) */
static bool is_sigmoid(const struct dlsi_match *match, uint32_t value, uint32_t x, double *alpha)
{
	const struct dlsi_node *node = dlsi_match_only(match, value, &dlsi_op_sigmoid);

	return node && is_multiple(match, node->inputs[0], x, alpha);
}

/* 1 + f(inside) for this operator; inside is given. */
static bool is_one_plus(const struct dlsi_match *match, uint32_t value, const struct dlsi_op *f, uint32_t *inside)
{
	const struct dlsi_node *sum = dlsi_match_only(match, value, &dlsi_op_add), *node;
	uint32_t other;
	double number;

	if (!sum || !dlsi_match_sum(match, sum, &other, &number) || !dlsi_is_about(number, 1))
		return false;
	node = dlsi_match_only(match, other, f);
	if (node)
		*inside = node->inputs[0];
	return node != NULL;
}

/* 1 + erf(x / sqrt(2)) */
static bool is_one_plus_erf(const struct dlsi_match *match, uint32_t value, uint32_t x)
{
	uint32_t inside;
	double number;

	return is_one_plus(match, value, &dlsi_op_erf, &inside) && is_multiple(match, inside, x, &number) &&
	       dlsi_is_about(number, M_SQRT1_2);
}

/* x cubed */
static bool is_cube(const struct dlsi_match *match, uint32_t value, uint32_t x)
{
	const struct dlsi_node *node = dlsi_match_only(match, value, &dlsi_op_pow);
	double number;

	return node && node->inputs[0] == x && dlsi_match_number(match, node->inputs[1], &number) && number == 3;
}

/* 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)) */
static bool is_one_plus_tanh(const struct dlsi_match *match, uint32_t value, uint32_t x)
{
	struct product product, cube;
	const struct dlsi_node *sum;
	uint32_t inside;

	if (!is_one_plus(match, value, &dlsi_op_tanh, &inside) || !read_product(match, inside, true, &product) ||
		product.count != 1 || !dlsi_is_about(product.number, M_2_SQRTPI * M_SQRT1_2))
		return false;
	sum = dlsi_match_only(match, product.values[0], &dlsi_op_add);
	if (!sum || (sum->inputs[0] != x && sum->inputs[1] != x))
		return false;
	return read_product(match, sum->inputs[sum->inputs[0] == x], true, &cube) && cube.count == 1 &&
	       dlsi_is_about(cube.number, 0.044715) && is_cube(match, cube.values[0], x);
}

/* hardsigmoid(x), or six times that: clip(x + 3, 0, 6) */
static bool is_hard_sigmoid(const struct dlsi_match *match, uint32_t value, uint32_t x, double *times)
{
	const struct dlsi_node *node = dlsi_match_only(match, value, &dlsi_op_hard_sigmoid), *sum;
	uint32_t other;
	double number;

	*times = 1;
	if (node)
		return node->inputs[0] == x && dlsi_is_about(dlsi_node_float(node, "alpha", 0.2F), 1.0 / 6) &&
		       dlsi_node_float(node, "beta", 0.5F) == 0.5F;
	*times = 6;
	node = dlsi_match_only(match, value, &dlsi_op_clip);
	if (!node || node->clamp.low != 0 || node->clamp.high != 6)
		return false;
	sum = dlsi_match_only(match, node->inputs[0], &dlsi_op_add);
	return sum && dlsi_match_sum(match, sum, &other, &number) && number == 3 && other == x;
}

/* ---- the whole */

static int make(struct dlsi_graph *graph, struct dlsi_node *node, const struct dlsi_op *op, uint32_t x,
	const struct dlsi_attribute *attribute)
{
	int rc = attribute ? dlsi_node_set_attributes(graph, node, attribute, 1) : 0;

	if (!attribute)
		node->attribute_count = 0;
	if (rc)
		return rc;
	node->op = op;
	node->inputs[0] = x;
	node->input_count = 1;
	return 0;
}

/* Whether x times the other value and the number is one of them; *done says so. */
static int match_with(
	struct dlsi_match *match, struct dlsi_node *node, uint32_t x, uint32_t other, double number, bool *done)
{
	struct dlsi_attribute attribute = {.name = "alpha", .kind = DLSI_ATTRIBUTE_FLOAT, .count = 1};
	double parameter;

	*done = true;
	if (number == 1 && is_sigmoid(match, other, x, &parameter)) {
		attribute.f = (float)parameter;
		return make(match->graph, node, &dlsi_op_swish, x, &attribute);
	}
	if (dlsi_is_about(number, 0.5) && is_one_plus_erf(match, other, x))
		return make(match->graph, node, &dlsi_op_gelu, x, NULL);
	if (dlsi_is_about(number, 0.5) && is_one_plus_tanh(match, other, x)) {
		attribute = (struct dlsi_attribute){
			.name = "approximate", .kind = DLSI_ATTRIBUTE_STRING, .count = 1, .s = "tanh"};
		return make(match->graph, node, &dlsi_op_gelu, x, &attribute);
	}
	if (is_hard_sigmoid(match, other, x, &parameter) && dlsi_is_about(number * parameter, 1))
		return make(match->graph, node, &dlsi_op_hard_swish, x, NULL);
	*done = false;
	return 0;
}

int dlsi_rewrite_activations(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	struct dlsi_match match = {graph, uses};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];
		struct product product;
		bool done;

		if ((node->op != &dlsi_op_mul && node->op != &dlsi_op_div) || !dlsi_clamp_is_none(&node->fused) ||
			dlsi_node_output(graph, node)->dtype != DLS_FLOAT32 ||
			!read_product(&match, node->outputs[0], false, &product) || product.count != 2 ||
			!dlsi_match_is_alike(&match, node, product.values[0], product.values[1]))
			continue;
		rc = match_with(&match, node, product.values[0], product.values[1], product.number, &done);
		if (rc == 0 && !done)
			rc = match_with(&match, node, product.values[1], product.values[0], product.number, &done);
	}
	return rc;
}
