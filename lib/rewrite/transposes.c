/* Transposes one after another become one, also with operators between them that go element by element: those then see
 * the elements in the order that they have before the first one. */
#include "op/list.h"
#include "rewrite/rewrite.h"
#include <string.h>

static const struct dlsi_op *const unary[] = {&dlsi_op_abs, &dlsi_op_cast, &dlsi_op_ceil, &dlsi_op_clip, &dlsi_op_elu,
	&dlsi_op_erf, &dlsi_op_exp, &dlsi_op_floor, &dlsi_op_gelu, &dlsi_op_hard_sigmoid, &dlsi_op_hard_swish,
	&dlsi_op_identity, &dlsi_op_leaky_relu, &dlsi_op_log, &dlsi_op_mish, &dlsi_op_neg, &dlsi_op_reciprocal,
	&dlsi_op_relu, &dlsi_op_round, &dlsi_op_selu, &dlsi_op_sigmoid, &dlsi_op_softplus, &dlsi_op_sqrt,
	&dlsi_op_swish, &dlsi_op_tanh};
static const struct dlsi_op *const binary[] = {
	&dlsi_op_add, &dlsi_op_div, &dlsi_op_max, &dlsi_op_min, &dlsi_op_mul, &dlsi_op_pow, &dlsi_op_sub};

#define IS_ONE_OF(list, op) is_one_of((list), sizeof(list) / sizeof *(list), (op))

static bool is_one_of(const struct dlsi_op *const *list, size_t count, const struct dlsi_op *op)
{
	while (count > 0 && list[count - 1] != op)
		count--;
	return count > 0;
}

static bool is_binary(const struct dlsi_node *node)
{
	return node->input_count == 2 && IS_ONE_OF(binary, node->op);
}

/* The input on which the way up goes on; -1 if the node does not go element by element. */
static int side_of(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	if (is_binary(node))
		return dlsi_node_input(graph, node, 0)->data ? 1 : 0;
	return IS_ONE_OF(unary, node->op) ? 0 : -1;
}

static bool is_like(const struct dlsi_node *a, const struct dlsi_node *b, uint32_t rank)
{
	return a && a->op == b->op && memcmp(a->permutation, b->permutation, rank * sizeof *a->permutation) == 0;
}

/* The Transpose from which the value comes through element-wise operators, whose results nobody else takes; or NULL. */
static struct dlsi_node *climb(const struct dlsi_graph *graph, const struct dlsi_uses *uses, uint32_t value)
{
	for (;;) {
		struct dlsi_node *node = dlsi_uses_producer(uses, graph, value);
		int side;

		if (!node || node->op == &dlsi_op_transpose)
			return node;
		side = side_of(graph, node);
		if (side < 0 || uses->counts[value] != 1)
			return NULL;
		value = node->inputs[side];
	}
}

/* Whether all on the way down from `first` to the value can do without it: the other side of an operator is a constant,
 * or transposed alike. */
static bool can_do_without(
	const struct dlsi_graph *graph, const struct dlsi_uses *uses, uint32_t value, const struct dlsi_node *first)
{
	uint32_t rank = dlsi_node_output(graph, first)->rank;

	for (struct dlsi_node *node = dlsi_uses_producer(uses, graph, value); node != first;
		node = dlsi_uses_producer(uses, graph, value)) {
		int side = side_of(graph, node);

		if (dlsi_node_output(graph, node)->rank != rank)
			return false;
		if (is_binary(node)) {
			uint32_t other = node->inputs[!side];

			if (!graph->values[other].data &&
				(uses->counts[other] != 1 ||
					!is_like(dlsi_uses_producer(uses, graph, other), first, rank)))
				return false;
		}
		value = node->inputs[side];
	}
	return uses->counts[value] == 1;
}

/* ---- doing without */

/* The dimensions from before a Transpose with this order. */
static void turn_back_dims(const uint32_t *order, uint32_t rank, const int64_t *dims, int64_t *dims_out)
{
	for (uint32_t i = 0; i < rank; i++)
		dims_out[order[i]] = dims[i];
}

/* A constant, broadcast to `rank` dimensions, as it is before that Transpose; one number stays as it is. */
static int turn_back_constant(struct dlsi_graph *graph, const uint32_t *order, uint32_t rank, uint32_t *value)
{
	const struct dlsi_value *from = &graph->values[*value];
	struct dlsi_view input = {.dtype = from->dtype, .rank = rank}, output = input;
	size_t count = dlsi_value_count(from), bytes = dls_dtype_bytes(from->dtype);
	struct dlsi_node transpose = {.op = &dlsi_op_transpose};
	uint32_t turned;

	if (count == 1)
		return 0;
	for (uint32_t i = 0; i < rank; i++) {
		input.dims[i] = i + from->rank < rank ? 1 : from->dims[i + from->rank - rank];
		transpose.permutation[order[i]] = i;
	}
	turn_back_dims(order, rank, input.dims, output.dims);
	input.data = dlsi_arena_take(&graph->arena, count, bytes);
	output.data = dlsi_arena_take(&graph->arena, count, bytes);
	turned = dlsi_graph_add_value(graph, from->name);
	if (!input.data || !output.data || turned == DLSI_NO_VALUE)
		return DLS_ENOMEM;
	from = &graph->values[*value];
	memcpy(input.data, from->data, count * bytes);
	dlsi_op_transpose.eval(&transpose, &input, &output, NULL, NULL);
	graph->values[turned] = *from;
	graph->values[turned].rank = rank;
	graph->values[turned].data = output.data;
	memcpy(graph->values[turned].dims, output.dims, sizeof output.dims);
	*value = turned;
	return 0;
}

/* The other side of a node with two. */
static int turn_back_other(
	struct dlsi_graph *graph, const struct dlsi_uses *uses, const uint32_t *order, uint32_t rank, uint32_t *other)
{
	struct dlsi_node *node;

	if (graph->values[*other].data)
		return turn_back_constant(graph, order, rank, other);
	node = dlsi_uses_producer(uses, graph, *other);
	*other = node->inputs[0];
	dlsi_node_drop(node);
	return 0;
}

/* All on the way up from the value to `first`, which goes. */
static int turn_back(struct dlsi_graph *graph, const struct dlsi_uses *uses, uint32_t value, struct dlsi_node *first)
{
	uint32_t rank = dlsi_node_output(graph, first)->rank;
	const uint32_t *order = first->permutation;
	struct dlsi_node *node;
	int rc = 0;

	do {
		struct dlsi_value *result = &graph->values[value];
		int64_t dims[DLS_TENSOR_RANK];
		int side;

		node = dlsi_uses_producer(uses, graph, value);
		side = side_of(graph, node);
		turn_back_dims(order, rank, result->dims, dims);
		memcpy(result->dims, dims, rank * sizeof *dims);
		if (is_binary(node))
			rc = turn_back_other(graph, uses, order, rank, &node->inputs[!side]);
		value = node->inputs[side];
		if (dlsi_uses_producer(uses, graph, value) == first) {
			node->inputs[side] = first->inputs[0];
			dlsi_node_drop(first);
			return rc;
		}
	} while (rc == 0);
	return rc;
}

/* `node` does what `first` and then `node` did. */
static void compose(struct dlsi_node *node, const struct dlsi_node *first, uint32_t rank)
{
	for (uint32_t i = 0; i < rank; i++)
		node->permutation[i] = first->permutation[node->permutation[i]];
}

int dlsi_rewrite_transposes(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i], *first;

		if (node->op != &dlsi_op_transpose || node->input_count == 0)
			continue;
		first = climb(graph, uses, node->inputs[0]);
		if (!first)
			continue;
		if (first == dlsi_uses_producer(uses, graph, node->inputs[0])) {
			node->inputs[0] = first->inputs[0];
			uses->counts[first->inputs[0]]++;
		} else if (!can_do_without(graph, uses, node->inputs[0], first)) {
			continue;
		} else if (turn_back(graph, uses, node->inputs[0], first)) {
			return DLS_ENOMEM;
		}
		compose(node, first, dlsi_node_output(graph, node)->rank);
	}
	return 0;
}
