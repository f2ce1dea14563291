#include "graph/order.h"

#include "graph/op.h"
#include <string.h>

#define NO_NODE UINT32_MAX

enum state { NEW, OPEN, DONE };

struct order {
	const struct dlsi_graph *graph;
	uint32_t *producers;   /* by value: the node that computes it, or NO_NODE */
	unsigned char *states; /* by node */
	uint32_t *next;        /* by node: its input to look at next */
	uint32_t *stack;
	uint32_t *sorted;
	uint32_t sorted_count;
};

static uint32_t producer_of(const struct order *order, uint32_t value)
{
	return value == DLSI_NO_VALUE ? NO_NODE : order->producers[value];
}

/* Sorts the node in behind all it depends on. The stack is our own: a chain of a million nodes must not use up the
 * thread's. */
static int visit(struct order *order, uint32_t start, struct dls_error *err)
{
	uint32_t depth = 0;

	if (order->states[start] == NEW)
		order->stack[depth++] = start;
	while (depth) {
		uint32_t top = order->stack[depth - 1], producer;
		const struct dlsi_node *node = &order->graph->nodes[top];

		order->states[top] = OPEN;
		if (order->next[top] == node->input_count) {
			order->states[top] = DONE;
			order->sorted[order->sorted_count++] = top;
			depth--;
			continue;
		}
		producer = producer_of(order, node->inputs[order->next[top]++]);
		if (producer != NO_NODE && order->states[producer] == OPEN)
			return dlsi_node_fail(
				node, err, DLS_EFORMAT, "depends on its own output: the graph has a cycle");
		if (producer != NO_NODE && order->states[producer] == NEW)
			order->stack[depth++] = producer;
	}
	return 0;
}

/* Which nodes the outputs depend on: `next` is used up by now and becomes that mark. */
static void mark_needed(struct order *order)
{
	const struct dlsi_graph *graph = order->graph;

	for (uint32_t i = 0; i < graph->node_count; i++)
		order->next[i] = 0;
	for (uint32_t i = 0; i < graph->output_count; i++)
		if (producer_of(order, graph->outputs[i]) != NO_NODE)
			order->next[producer_of(order, graph->outputs[i])] = 1;
	for (uint32_t i = order->sorted_count; i-- > 0;) {
		const struct dlsi_node *node = &graph->nodes[order->sorted[i]];

		for (uint32_t k = 0; order->next[order->sorted[i]] && k < node->input_count; k++)
			if (producer_of(order, node->inputs[k]) != NO_NODE)
				order->next[producer_of(order, node->inputs[k])] = 1;
	}
}

int dlsi_graph_order(struct dlsi_graph *graph, struct dls_error *err)
{
	uint32_t count = graph->node_count, kept = 0;
	struct dlsi_arena scratch;
	struct order order = {.graph = graph};
	struct dlsi_node *nodes;
	int rc = 0;

	dlsi_arena_init(&scratch, graph->arena.alloc);
	nodes = dlsi_arena_take(&scratch, count, sizeof *nodes);
	order.producers = dlsi_arena_take(&scratch, graph->value_count, sizeof *order.producers);
	order.states = dlsi_arena_take(&scratch, count, sizeof *order.states);
	order.next = dlsi_arena_take(&scratch, count, sizeof *order.next);
	order.stack = dlsi_arena_take(&scratch, count, sizeof *order.stack);
	order.sorted = dlsi_arena_take(&scratch, count, sizeof *order.sorted);
	if (!nodes || !order.producers || !order.states || !order.next || !order.stack || !order.sorted) {
		rc = dlsi_fail_memory(err);
		goto out;
	}
	for (uint32_t i = 0; i < graph->value_count; i++)
		order.producers[i] = NO_NODE;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < graph->nodes[i].output_count; k++)
			if (graph->nodes[i].outputs[k] != DLSI_NO_VALUE)
				order.producers[graph->nodes[i].outputs[k]] = i;
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = visit(&order, i, err);
	if (rc)
		goto out;
	mark_needed(&order);
	for (uint32_t i = 0; i < count; i++)
		if (order.next[order.sorted[i]])
			nodes[kept++] = graph->nodes[order.sorted[i]];
	if (kept)
		memcpy(graph->nodes, nodes, kept * sizeof *nodes);
	graph->node_count = kept;
out:
	dlsi_arena_fini(&scratch);
	return rc;
}
