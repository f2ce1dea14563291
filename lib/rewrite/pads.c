/* What a Pad puts around pictures becomes the padding of the windows that see it. */
#include "op/list.h"
#include "op/window.h"
#include "rewrite/rewrite.h"
#include <float.h>
#include <string.h>

/* The number that a Pad of float32 puts in; NaN if that is known only in a run. */
static float read_number(const struct dlsi_graph *graph, const struct dlsi_node *pad)
{
	const struct dlsi_value *value = dlsi_node_input(graph, pad, 2);
	float number = dlsi_node_float(pad, "value", 0);

	if (value && !value->data)
		return NAN;
	if (value)
		memcpy(&number, value->data, sizeof number);
	return number;
}

/* A number that no element of the value is below. */
static float lower_bound(const struct dlsi_graph *graph, const struct dlsi_uses *uses, uint32_t value)
{
	const struct dlsi_node *node = dlsi_uses_producer(uses, graph, value);
	float low = -INFINITY;

	if (node && (node->op == &dlsi_op_relu || node->op == &dlsi_op_clip) && dlsi_clamp_is_known(&node->clamp))
		low = node->clamp.low;
	else if (node)
		low = node->fused.low;
	return low < -FLT_MAX ? -FLT_MAX : low;
}

/* The window of `node` with the pad's rows and columns as its own. False if there are others, or if a window might see
 * nothing else. */
static bool widen(const struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_node *pad,
	struct dlsi_window *window)
{
	const int64_t *image = &dlsi_node_input(graph, pad, 0)->dims[2];
	const int64_t *places = &dlsi_node_output(graph, node)->dims[2];

	if (pad->pad.mode != 'c' || pad->pad.before[0] || pad->pad.after[0] || pad->pad.before[1] || pad->pad.after[1])
		return false;
	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t extent = (window->kernel[i] - 1) * window->dilations[i] + 1;
		int64_t before = pad->pad.before[2 + i], after = pad->pad.after[2 + i];

		window->pads_before[i] += before;
		window->pads_after[i] += after;
		if (before < 0 || after < 0 || window->pads_before[i] >= extent || window->pads_after[i] >= extent ||
			(places[i] - 1) * window->strides[i] - window->pads_before[i] >= image[i])
			return false;
	}
	return true;
}

static bool is_dense(const struct dlsi_window *window)
{
	for (uint32_t i = 0; i < window->rank; i++)
		if (window->dilations[i] != 1)
			return false;
	return true;
}

/* Whether the node takes the number for padding of its own. What its windows see of it an average must count. */
static bool takes(const struct dlsi_graph *graph, const struct dlsi_uses *uses, struct dlsi_node *node,
	const struct dlsi_node *pad, float number)
{
	if (node->op == &dlsi_op_max_pool)
		return node->output_count == 1 && is_dense(&node->pool.window) &&
		       number <= lower_bound(graph, uses, pad->inputs[0]);
	if (node->op == &dlsi_op_average_pool)
		return number == 0 && (node->pool.count_padding || !dlsi_window_has_pads(&node->pool.window));
	return number == 0;
}

int dlsi_rewrite_pads(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i], *pad;
		struct dlsi_window *own = node->op == &dlsi_op_conv ? &node->conv.window : &node->pool.window, window;

		if (node->op != &dlsi_op_conv && node->op != &dlsi_op_max_pool && node->op != &dlsi_op_average_pool)
			continue;
		pad = dlsi_uses_producer(uses, graph, node->inputs[0]);
		if (!pad || pad->op != &dlsi_op_pad || dlsi_node_input(graph, node, 0)->dtype != DLS_FLOAT32)
			continue;
		window = *own;
		if (!takes(graph, uses, node, pad, read_number(graph, pad)) || !widen(graph, node, pad, &window))
			continue;
		*own = window;
		if (node->op == &dlsi_op_average_pool)
			node->pool.count_padding = true;
		node->inputs[0] = pad->inputs[0];
	}
	return 0;
}
