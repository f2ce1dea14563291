/* Elements by their indices: Gather, GatherElements, GatherND. */
#include "base/shape.h"
#include "op/indices.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* ---- Gather */

static int infer_gather(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	int64_t dims[2 * DLS_TENSOR_RANK];
	uint32_t rank = 0;
	int rc = dlsi_node_require_indices(graph, node, 1, err);

	if (rc == 0)
		rc = dlsi_node_axis(node, 0, data->rank, &node->axis, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < data->rank; i++) {
		for (uint32_t k = 0; i == node->axis && k < indices->rank; k++)
			dims[rank++] = indices->dims[k];
		if (i != node->axis)
			dims[rank++] = data->dims[i];
	}
	if (rank > DLS_TENSOR_RANK)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "makes %u dimensions; %d are the most", rank, DLS_TENSOR_RANK);
	return dlsi_node_set_output(graph, node, data->dtype, rank, dims, err);
}

/* The batch is either what is looked up in or what is looked up. */
static const char *gather_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);

	if (data->batched && indices->batched)
		return "looks up every item's indices in all items";
	if (data->batched)
		return node->axis == 0 ? "picks items of the batch" : NULL;
	return node->axis == 0 ? NULL : "puts the batch in another place than the first";
}

static int eval_gather(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *data = &inputs[0];
	struct dlsi_view from = {.dtype = data->dtype, .rank = 3, .dims = {1, data->dims[node->axis], 1}}, to;
	const int64_t *maps[3] = {NULL};
	static const uint64_t nothing;
	int64_t *indices;
	int rc = dlsi_indices_take(node, &inputs[1], from.dims[1], alloc, &indices, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < data->rank; i++)
		if (i != node->axis)
			from.dims[i < node->axis ? 0 : 2] *= data->dims[i];
	from.data = data->data;
	to = from;
	to.dims[1] = (int64_t)dlsi_view_count(&inputs[1]);
	to.data = outputs[0].data;
	maps[1] = indices;
	dlsi_mapped_copy(&to, &from, maps, &nothing);
	dlsi_free(alloc, indices);
	return 0;
}

/* ---- GatherElements */

static int infer_gather_elements(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	int rc = dlsi_indices_check_elements(graph, node, &node->axis, err);

	return rc ? rc : dlsi_node_set_output(graph, node, data->dtype, indices->rank, indices->dims, err);
}

static const char *gather_elements_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);

	if (!data->batched)
		return node->axis == 0 ? NULL : "looks up every item's indices in other rows";
	if (node->axis == 0)
		return "picks items of the batch";
	return indices->batched && indices->dims[0] == data->dims[0] ? NULL : "takes some rows of the batch";
}

static int eval_gather_elements(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *data = &inputs[0], *indices = &inputs[1];
	struct dlsi_walk walk = {.rank = data->rank, .operands = 2};
	size_t bytes = dls_dtype_bytes(data->dtype);
	int64_t stride, *places;
	int rc = dlsi_indices_take(node, indices, data->dims[node->axis], alloc, &places, err);

	if (rc)
		return rc;
	memcpy(walk.dims, indices->dims, sizeof walk.dims);
	dlsi_strides(walk.rank, indices->dims, walk.strides[0]);
	dlsi_strides(walk.rank, data->dims, walk.strides[1]);
	stride = walk.strides[1][node->axis];
	walk.strides[1][node->axis] = 0;
	for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {
		for (int64_t i = 0; i < walk.count; i++) {
			int64_t to = walk.offsets[0] + i * walk.steps[0];
			int64_t from = walk.offsets[1] + i * walk.steps[1] + places[to] * stride;

			memcpy((uint8_t *)outputs[0].data + (size_t)to * bytes,
				(const uint8_t *)data->data + (size_t)from * bytes, bytes);
		}
	}
	dlsi_free(alloc, places);
	return 0;
}

/* ---- GatherND */

static int infer_gather_nd(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	int64_t batch = dlsi_node_int(node, "batch_dims", 0), dims[2 * DLS_TENSOR_RANK], length;
	uint32_t rank = 0;
	int rc = dlsi_node_require_indices(graph, node, 1, err);

	if (rc)
		return rc;
	length = indices->rank ? indices->dims[indices->rank - 1] : -1;
	if (length < 0 || batch < 0 || batch >= indices->rank || batch > data->rank || length > data->rank - batch)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "looks up %s in %s, which do not fit",
			dlsi_shape_text(indices->dtype, indices->rank, indices->dims).text,
			dlsi_shape_text(data->dtype, data->rank, data->dims).text);
	for (uint32_t i = 0; i < batch; i++)
		if (indices->dims[i] != data->dims[i])
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has %lld rows of indices for %lld of data",
				(long long)indices->dims[i], (long long)data->dims[i]);
	for (uint32_t i = 0; i + 1 < indices->rank; i++)
		dims[rank++] = indices->dims[i];
	for (uint32_t i = (uint32_t)(batch + length); i < data->rank; i++)
		dims[rank++] = data->dims[i];
	if (rank > DLS_TENSOR_RANK)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "makes %u dimensions; %d are the most", rank, DLS_TENSOR_RANK);
	return dlsi_node_set_output(graph, node, data->dtype, rank, dims, err);
}

static const char *gather_nd_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);

	if (!indices->batched || indices->rank < 2)
		return "looks up the same places for all items";
	return data->batched == (dlsi_node_int(node, "batch_dims", 0) > 0)
		       ? NULL
		       : "looks up every item's indices in other items";
}

static int eval_gather_nd(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *data = &inputs[0], *indices = &inputs[1];
	uint32_t batch = (uint32_t)dlsi_node_int(node, "batch_dims", 0);
	struct dlsi_view part = {.dtype = data->dtype, .rank = data->rank - batch};
	uint32_t length = (uint32_t)indices->dims[indices->rank - 1];
	size_t parts = 1, tuples = 1, bytes = dls_dtype_bytes(data->dtype);
	uint8_t *to = outputs[0].data;

	(void)alloc;
	memcpy(part.dims, data->dims + batch, part.rank * sizeof *part.dims);
	for (uint32_t i = 0; i + 1 < indices->rank; i++)
		*(i < batch ? &parts : &tuples) *= (size_t)indices->dims[i];
	for (uint32_t i = length; i < part.rank; i++)
		bytes *= (size_t)part.dims[i];
	for (size_t i = 0; i < parts * tuples; i++, to += bytes) {
		size_t begin = i / tuples * dlsi_view_bytes(&part), block;
		int rc = dlsi_indices_find(node, indices, i, &part, &block, err);

		if (rc)
			return rc;
		if (bytes)
			memcpy(to, (const uint8_t *)data->data + begin + block * bytes, bytes);
	}
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute axis[] = {{"axis", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute batch_dims[] = {{"batch_dims", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_gather = {
	.name = "Gather",
	DLSI_OP_ALL(V(1) | V(11) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_gather,
	.mixes = gather_mixes,
	.eval = eval_gather,
	.moves = 1,
};

const struct dlsi_op dlsi_op_gather_elements = {
	.name = "GatherElements",
	DLSI_OP_ALL(V(11) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axis,
	.infer = infer_gather_elements,
	.mixes = gather_elements_mixes,
	.eval = eval_gather_elements,
	.moves = 1,
};

const struct dlsi_op dlsi_op_gather_nd = {
	.name = "GatherND",
	DLSI_OP_ALL(V(11) | V(12) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = batch_dims,
	.infer = infer_gather_nd,
	.mixes = gather_nd_mixes,
	.eval = eval_gather_nd,
	.moves = 1,
};
