/* Channels that change places between groups, which exporters spell out as a Reshape that parts the groups, a Transpose
 * and a Reshape back: one Gather of channels, which takes images as they lie. */
#include "op/list.h"
#include "rewrite/rewrite.h"
#include <string.h>

enum { CHANNELS = 1, GROUPS = 1, MEMBERS = 2 };

/* Whether only the axes of groups and members change places. */
static bool swaps(const struct dlsi_node *transpose, uint32_t rank)
{
	for (uint32_t i = 0; i < rank; i++)
		if (transpose->permutation[i] != (i == GROUPS ? MEMBERS : i == MEMBERS ? GROUPS : i))
			return false;
	return true;
}

/* Whether `parted` is `whole` with its channels as groups of members. */
static bool parts(const struct dlsi_value *whole, const struct dlsi_value *parted)
{
	return whole->rank > 2 && whole->rank < DLS_TENSOR_RANK && parted->rank == whole->rank + 1 &&
	       parted->batched == whole->batched && parted->dims[0] == whole->dims[0] &&
	       parted->dims[GROUPS] * parted->dims[MEMBERS] == whole->dims[CHANNELS] &&
	       memcmp(parted->dims + 3, whole->dims + 2, (whole->rank - 2) * sizeof *whole->dims) == 0;
}

/* The Reshape that parts the groups, if `last` ends such a change of places; else NULL. */
static const struct dlsi_node *find_first(
	const struct dlsi_graph *graph, const struct dlsi_uses *uses, const struct dlsi_node *last)
{
	const struct dlsi_node *transpose =
		last->op == &dlsi_op_reshape ? dlsi_uses_producer(uses, graph, last->inputs[0]) : NULL;
	const struct dlsi_node *first = transpose && transpose->op == &dlsi_op_transpose
						? dlsi_uses_producer(uses, graph, transpose->inputs[0])
						: NULL;
	const struct dlsi_value *whole, *parted;

	if (!first || first->op != &dlsi_op_reshape)
		return NULL;
	whole = dlsi_node_input(graph, first, 0);
	parted = dlsi_node_output(graph, first);
	return parts(whole, parted) && swaps(transpose, parted->rank) &&
			       dlsi_value_same_in_any_batch(whole, dlsi_node_output(graph, last))
		       ? first
		       : NULL;
}

/* The channels in their new order; DLSI_NO_VALUE when memory is exhausted. */
static uint32_t add_order(struct dlsi_graph *graph, const char *name, int64_t groups, int64_t members)
{
	int64_t *order = dlsi_arena_take(&graph->arena, (size_t)(groups * members), sizeof *order);
	const uint32_t number = order ? dlsi_graph_add_value(graph, name) : DLSI_NO_VALUE;
	struct dlsi_value *value = number == DLSI_NO_VALUE ? NULL : &graph->values[number];

	if (!value)
		return DLSI_NO_VALUE;
	for (int64_t i = 0; i < groups * members; i++)
		order[i] = i % groups * members + i / groups;
	value->dtype = DLS_INT64;
	value->rank = 1;
	value->dims[0] = groups * members;
	value->data = order;
	return number;
}

int dlsi_rewrite_shuffles(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	static const struct dlsi_attribute axis = {.name = "axis", .kind = DLSI_ATTRIBUTE_INT, .i = CHANNELS};

	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];
		const struct dlsi_node *first = find_first(graph, uses, node);
		const struct dlsi_value *parted = first ? dlsi_node_output(graph, first) : NULL;
		uint32_t order;

		if (!first)
			continue;
		order = add_order(graph, node->name, parted->dims[GROUPS], parted->dims[MEMBERS]);
		if (order == DLSI_NO_VALUE || dlsi_node_set_input(graph, node, 1, order) ||
			dlsi_node_set_attributes(graph, node, &axis, 1))
			return DLS_ENOMEM;
		node->op = &dlsi_op_gather;
		node->version = 1;
		node->inputs[0] = first->inputs[0];
		node->input_count = 2;
		node->axis = CHANNELS;
	}
	return 0;
}
