/* The greatest and least elements along an axis: TopK, ArgMax, ArgMin. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/key.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* What lies before and behind an axis, and on it. */
struct lanes {
	size_t outer, count, inner;
};

static struct lanes lanes_of(const struct dlsi_view *view, uint32_t axis)
{
	struct lanes lanes = {1, (size_t)view->dims[axis], 1};

	for (uint32_t i = 0; i < view->rank; i++)
		if (i != axis)
			*(i < axis ? &lanes.outer : &lanes.inner) *= (size_t)view->dims[i];
	return lanes;
}

static const char *axis_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->axis == 0 ? "compares the items of the batch" : dlsi_op_mixes_weights(graph, node);
}

/* ---- TopK */

static int infer_top_k(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t k = dlsi_node_int(node, "k", 0), dims[DLS_TENSOR_RANK];
	uint32_t count = 1;
	int rc = dlsi_node_axis(node, -1, input->rank, &node->axis, err);

	if (rc == 0 && dlsi_node_input(graph, node, 1))
		rc = dlsi_node_constant_ints(graph, node, 1, &k, 1, &count, err);
	if (rc)
		return rc;
	memcpy(dims, input->dims, sizeof dims);
	if (count != 1 || k < 0 || k > dims[node->axis])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "wants the first %lld of %lld", (long long)k,
			(long long)dims[node->axis]);
	dims[node->axis] = k;
	rc = dlsi_node_set_output_at(graph, node, 1, DLS_INT64, input->rank, dims, err);
	return rc ? rc : dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static int eval_top_k(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct lanes lanes = lanes_of(&inputs[0], node->axis);
	size_t k = (size_t)outputs[0].dims[node->axis], bytes = dls_dtype_bytes(inputs[0].dtype);
	uint64_t *keys = dlsi_calloc(alloc, lanes.count + 1, sizeof *keys);
	struct dlsi_ranked *best = dlsi_calloc(alloc, k + 1, sizeof *best);
	uint64_t turn = dlsi_node_int(node, "largest", 1) ? UINT64_MAX : 0;
	int64_t *indices = node->output_count > 1 ? outputs[1].data : NULL;
	int rc = keys && best ? 0 : dlsi_fail_memory(err);

	for (size_t lane = 0; rc == 0 && lane < lanes.outer * lanes.inner; lane++) {
		size_t inner = lane % lanes.inner, outer = lane / lanes.inner;
		const uint8_t *from =
			(const uint8_t *)inputs[0].data + (outer * lanes.count * lanes.inner + inner) * bytes;

		dlsi_keys(inputs[0].dtype, from, lanes.inner, lanes.count, keys);
		for (size_t i = 0; i < lanes.count; i++)
			keys[i] ^= turn;
		dlsi_keys_best(keys, lanes.count, best, k);
		for (size_t i = 0; i < k; i++) {
			size_t place = (outer * k + i) * lanes.inner + inner;

			memcpy((uint8_t *)outputs[0].data + place * bytes, from + best[i].index * lanes.inner * bytes,
				bytes);
			if (indices)
				indices[place] = (int64_t)best[i].index;
		}
	}
	dlsi_free(alloc, keys);
	dlsi_free(alloc, best);
	return rc;
}

/* ---- ArgMax and ArgMin */

static int infer_arg(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	bool keeps = dlsi_node_int(node, "keepdims", 1);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = 0;
	int rc = dlsi_node_axis(node, 0, input->rank, &node->axis, err);

	if (rc)
		return rc;
	if (input->dims[node->axis] == 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "looks for one of no elements");
	for (uint32_t i = 0; i < input->rank; i++)
		if (i != node->axis || keeps)
			dims[rank++] = i == node->axis ? 1 : input->dims[i];
	return dlsi_node_set_output(graph, node, DLS_INT64, rank, dims, err);
}

/* The index of the greatest key along the axis; `turn` makes it the least. */
static int find_all(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	uint64_t turn, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct lanes lanes = lanes_of(input, node->axis);
	size_t bytes = dls_dtype_bytes(input->dtype) * lanes.inner;
	uint64_t *best = dlsi_calloc(alloc, 2 * lanes.inner + 1, sizeof *best), *keys = best + lanes.inner;
	const uint8_t *from = input->data;
	bool last = dlsi_node_int(node, "select_last_index", 0);

	if (!best)
		return dlsi_fail_memory(err);
	for (size_t outer = 0; outer < lanes.outer; outer++) {
		int64_t *found = (int64_t *)output->data + outer * lanes.inner;

		for (size_t k = 0; k < lanes.count; k++, from += bytes) {
			dlsi_keys(input->dtype, from, 1, lanes.inner, keys);
			for (size_t i = 0; i < lanes.inner; i++) {
				uint64_t key = keys[i] ^ turn;

				if (k == 0 || key > best[i] || (last && key == best[i])) {
					best[i] = key;
					found[i] = (int64_t)k;
				}
			}
		}
	}
	dlsi_free(alloc, best);
	return 0;
}

static int eval_arg_max(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return find_all(node, &inputs[0], &outputs[0], 0, alloc, err);
}

static int eval_arg_min(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return find_all(node, &inputs[0], &outputs[0], UINT64_MAX, alloc, err);
}

/* ---- rows of the table */

static const struct dlsi_op_attribute arg[] = {
	{"axis", DLSI_ATTRIBUTE_INT}, {"keepdims", DLSI_ATTRIBUTE_INT}, {"select_last_index", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute top_k[] = {{"axis", DLSI_ATTRIBUTE_INT}, {"k", DLSI_ATTRIBUTE_INT},
	{"largest", DLSI_ATTRIBUTE_INT}, {"sorted", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_arg_max = {
	.name = "ArgMax",
	DLSI_OP_ALL(V(1) | V(11) | V(12) | V(13)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = arg,
	.infer = infer_arg,
	.mixes = axis_mixes,
	.eval = eval_arg_max,
};

const struct dlsi_op dlsi_op_arg_min = {
	.name = "ArgMin",
	DLSI_OP_ALL(V(1) | V(11) | V(12) | V(13)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = arg,
	.infer = infer_arg,
	.mixes = axis_mixes,
	.eval = eval_arg_min,
};

const struct dlsi_op dlsi_op_top_k = {
	.name = "TopK",
	DLSI_OP_ALL(V(1) | V(10) | V(11) | V(24)),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = 2,
	.attributes = top_k,
	.infer = infer_top_k,
	.mixes = axis_mixes,
	.eval = eval_top_k,
	.steps = dlsi_op_steps_sort,
};
