/* Parts and repetitions of a tensor: Slice, Expand, Tile, Pad, CenterCropPad. */
#include "base/limits.h"
#include "base/shape.h"
#include "graph/work.h"
#include "op/cast.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* ---- Slice */

struct range {
	int64_t start, step, count;
};

static int64_t clip(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* Out of `dim` elements, as Python's slices have it. Steps longer than any tensor are as good as those. */
static struct range cut(int64_t start, int64_t end, int64_t step, int64_t dim)
{
	struct range range = {.step = clip(step, -(int64_t)DLSI_VALUE_BYTES, (int64_t)DLSI_VALUE_BYTES)};

	start = start < 0 ? start + dim : start;
	end = end < 0 ? end + dim : end;
	if (step > 0) {
		range.start = clip(start, 0, dim);
		end = clip(end, range.start, dim);
		range.count = (end - range.start + range.step - 1) / range.step;
	} else {
		range.start = clip(start, -1, dim - 1);
		end = clip(end, -1, range.start);
		range.count = (range.start - end - range.step - 1) / -range.step;
	}
	return range;
}

/* What a Slice has: attributes at first, later inputs. */
struct bounds {
	int64_t starts[DLS_TENSOR_RANK], ends[DLS_TENSOR_RANK], steps[DLS_TENSOR_RANK];
	uint32_t axes[DLS_TENSOR_RANK];
	uint32_t count;
};

static int read_bounds(
	struct dlsi_graph *graph, const struct dlsi_node *node, struct bounds *bounds, struct dls_error *err)
{
	uint32_t rank = dlsi_node_input(graph, node, 0)->rank, ends, axes, steps = DLSI_OP_ABSENT;
	int rc = dlsi_node_ints(graph, node, 1, "starts", bounds->starts, DLS_TENSOR_RANK, &bounds->count, err);

	if (rc == 0)
		rc = dlsi_node_ints(graph, node, 2, "ends", bounds->ends, DLS_TENSOR_RANK, &ends, err);
	if (rc == 0)
		rc = dlsi_node_axes(graph, node, 3, rank, bounds->axes, &axes, err);
	if (rc == 0 && dlsi_node_input(graph, node, 4))
		rc = dlsi_node_constant_ints(graph, node, 4, bounds->steps, DLS_TENSOR_RANK, &steps, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < DLS_TENSOR_RANK; i++) {
		bounds->axes[i] = axes == DLSI_OP_ABSENT ? i : bounds->axes[i];
		bounds->steps[i] = steps == DLSI_OP_ABSENT ? 1 : bounds->steps[i];
	}
	if (bounds->count == DLSI_OP_ABSENT || bounds->count != ends || bounds->count > rank ||
		(axes != DLSI_OP_ABSENT && axes != bounds->count) ||
		(steps != DLSI_OP_ABSENT && steps != bounds->count))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has starts, ends, axes and steps that do not fit");
	return 0;
}

static int infer_slice(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];
	struct bounds bounds;
	int rc = read_bounds(graph, node, &bounds, err);

	if (rc)
		return rc;
	memcpy(dims, input->dims, sizeof dims);
	node->slice.cuts_rows = false;
	for (uint32_t i = 0; i < input->rank; i++) {
		node->slice.starts[i] = 0;
		node->slice.steps[i] = 1;
	}
	for (uint32_t i = 0; i < bounds.count; i++) {
		uint32_t axis = bounds.axes[i];
		struct range range;

		if (bounds.steps[i] == 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has a step of 0");
		if (axis == 0 && (bounds.starts[i] != 0 || bounds.ends[i] < INT32_MAX || bounds.steps[i] != 1))
			node->slice.cuts_rows = true;
		range = cut(bounds.starts[i], bounds.ends[i], bounds.steps[i], input->dims[axis]);
		node->slice.starts[axis] = range.start;
		node->slice.steps[axis] = range.step;
		dims[axis] = range.count;
	}
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static const char *slice_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->slice.cuts_rows ? "takes some rows of the batch" : NULL;
}

static int eval_slice(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_walk walk = {.rank = outputs[0].rank, .operands = 2};
	int64_t strides[DLS_TENSOR_RANK];

	(void)alloc, (void)err;
	memcpy(walk.dims, outputs[0].dims, sizeof walk.dims);
	dlsi_strides(walk.rank, outputs[0].dims, walk.strides[0]);
	dlsi_strides(walk.rank, inputs[0].dims, strides);
	if (dlsi_view_count(&outputs[0]) == 0)
		return 0;
	for (uint32_t i = 0; i < walk.rank; i++) {
		walk.strides[1][i] = walk.dims[i] == 1 ? 0 : strides[i] * node->slice.steps[i];
		walk.offsets[1] += strides[i] * node->slice.starts[i];
	}
	dlsi_walk_copy(&walk, outputs[0].data, inputs[0].data, dls_dtype_bytes(outputs[0].dtype));
	return 0;
}

/* ---- Expand */

static int infer_expand(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	struct dlsi_value shape = {.dtype = input->dtype};
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank;
	int rc = dlsi_node_constant_ints(graph, node, 1, shape.dims, DLS_TENSOR_RANK, &shape.rank, err);

	if (rc)
		return rc;
	if (!dlsi_op_broadcast(input, &shape, &rank, dims))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "cannot repeat %s to be %s",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text,
			dlsi_shape_text(0, shape.rank, shape.dims).text);
	return dlsi_node_set_output(graph, node, input->dtype, rank, dims, err);
}

static int eval_expand(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_walk walk = {.rank = outputs[0].rank, .operands = 2};

	(void)node, (void)alloc, (void)err;
	memcpy(walk.dims, outputs[0].dims, sizeof walk.dims);
	dlsi_strides(walk.rank, walk.dims, walk.strides[0]);
	dlsi_strides_broadcast(&inputs[0], walk.rank, walk.dims, walk.strides[1]);
	dlsi_walk_copy(&walk, outputs[0].data, inputs[0].data, dls_dtype_bytes(outputs[0].dtype));
	return 0;
}

/* ---- Tile */

static int infer_tile(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t repeats[DLS_TENSOR_RANK], dims[DLS_TENSOR_RANK];
	uint32_t count;
	int rc = dlsi_node_constant_ints(graph, node, 1, repeats, DLS_TENSOR_RANK, &count, err);

	if (rc)
		return rc;
	if (count != input->rank)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "repeats %u axes, its input has %u", count, input->rank);
	for (uint32_t i = 0; i < count; i++)
		if (__builtin_mul_overflow(input->dims[i], repeats[i], &dims[i]))
			dims[i] = INT64_MAX; /* which is refused as too large */
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static const char *tile_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_output(graph, node)->dims[0] == dlsi_node_input(graph, node, 0)->dims[0] ? NULL
												  : "repeats the batch";
}

static int64_t map_tile(const struct dlsi_node *node, uint32_t axis, int64_t index, int64_t dim)
{
	(void)node, (void)axis;
	return index % dim;
}

static int eval_tile(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	static const uint64_t nothing;

	return dlsi_mapped_eval(node, &inputs[0], &outputs[0], map_tile, &nothing, alloc, err);
}

/* ---- Pad */

/* Pads of `count` axes, those of the front first. */
static int set_pads(
	struct dlsi_node *node, const int64_t *pads, const uint32_t *axes, uint32_t count, struct dls_error *err)
{
	memset(&node->pad, 0, sizeof node->pad);
	for (uint32_t i = 0; i < count; i++) {
		int64_t before = pads[i], after = pads[count + i], most = (int64_t)DLSI_VALUE_BYTES;

		if (before < -most || before > most || after < -most || after > most)
			return dlsi_node_fail(node, err, DLS_ELIMIT, "pads by %lld and %lld, more than any memory",
				(long long)before, (long long)after);
		node->pad.before[axes[i]] = before;
		node->pad.after[axes[i]] = after;
	}
	return 0;
}

static int read_pads(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t pads[2 * DLS_TENSOR_RANK];
	uint32_t axes[DLS_TENSOR_RANK], count, axis_count;
	int rc = dlsi_node_ints(graph, node, 1, "pads", pads, 2 * DLS_TENSOR_RANK, &count, err);

	if (rc == 0)
		rc = dlsi_node_axes(graph, node, 3, input->rank, axes, &axis_count, err);
	if (rc)
		return rc;
	if (axis_count == DLSI_OP_ABSENT)
		for (axis_count = 0; axis_count < input->rank; axis_count++)
			axes[axis_count] = axis_count;
	if (count != 2 * axis_count)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u pads for %u axes",
			count == DLSI_OP_ABSENT ? 0 : count, axis_count);
	return set_pads(node, pads, axes, axis_count, err);
}

static int infer_padded(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];

	for (uint32_t i = 0; i < input->rank; i++) {
		int64_t before = node->pad.before[i], after = node->pad.after[i];
		int64_t kept = input->dims[i] + (before < 0 ? before : 0) + (after < 0 ? after : 0);

		dims[i] = input->dims[i] + before + after;
		if (node->pad.mode != 'c' && kept <= 0 && dims[i] > 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "repeats elements of axis %u, which has none", i);
	}
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static int infer_pad(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
	const char *mode = dlsi_node_string(node, "mode", "constant");
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *value = dlsi_node_input(graph, node, 2);
	int i = 0, rc = read_pads(graph, node, err);

	if (rc)
		return rc;
	while (modes[i] && strcmp(modes[i], mode) != 0)
		i++;
	if (!modes[i])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the mode '%s', which ONNX does not know", mode);
	if (value && (value->dtype != input->dtype || dlsi_value_count(value) != 1))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "pads with %s, which is not one %s",
			dlsi_shape_text(value->dtype, value->rank, value->dims).text, dls_dtype_name(input->dtype));
	node->pad.mode = mode[0];
	return infer_padded(graph, node, err);
}

static const char *pad_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->pad.before[0] || node->pad.after[0] ? "pads axis 0, the batch"
							 : dlsi_op_mixes_weights(graph, node);
}

/* A size for axis 0 cuts or pads the rows, however many there are. */
static const char *center_crop_pad_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_graph_rows_open(graph) && dlsi_node_lists_first(node, dlsi_node_output(graph, node)->rank)
		       ? "cuts or pads axis 0, the batch"
		       : pad_mixes(graph, node);
}

static int64_t map_pad(const struct dlsi_node *node, uint32_t axis, int64_t index, int64_t dim)
{
	int64_t before = node->pad.before[axis], after = node->pad.after[axis];
	int64_t first = before < 0 ? -before : 0, count = dim - first + (after < 0 ? after : 0);
	int64_t at = index - before - first, period;

	if (at >= 0 && at < count)
		return first + at;
	if (node->pad.mode == 'c')
		return -1;
	if (node->pad.mode == 'e')
		return first + clip(at, 0, count - 1);
	period = node->pad.mode == 'w' ? count : count > 1 ? 2 * (count - 1) : 1;
	at = at % period < 0 ? at % period + period : at % period;
	return first + (at < count ? at : period - at);
}

static int eval_pad(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	float attribute = dlsi_node_float(node, "value", 0);
	const void *given = node->input_count > 2 ? inputs[2].data : NULL;
	uint64_t value;

	if (given)
		memcpy(&value, given, dls_dtype_bytes(inputs[2].dtype));
	else
		dlsi_cast(outputs[0].dtype, &value, DLS_FLOAT32, &attribute, 1);
	return dlsi_mapped_eval(node, &inputs[0], &outputs[0], map_pad, &value, alloc, err);
}

/* Pads or cuts each axis so that the middle stays in the middle; of an odd rest there is more behind. */
static int infer_center_crop_pad(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t shape[DLS_TENSOR_RANK], pads[2 * DLS_TENSOR_RANK];
	uint32_t axes[DLS_TENSOR_RANK], count, axis_count;
	int rc = dlsi_node_constant_ints(graph, node, 1, shape, DLS_TENSOR_RANK, &count, err);

	if (rc == 0)
		rc = dlsi_node_axes(graph, node, DLSI_OP_ABSENT, input->rank, axes, &axis_count, err);
	if (rc)
		return rc;
	if (axis_count == DLSI_OP_ABSENT)
		for (axis_count = 0; axis_count < input->rank; axis_count++)
			axes[axis_count] = axis_count;
	if (count != axis_count)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u sizes for %u axes", count, axis_count);
	for (uint32_t i = 0; i < count; i++) {
		int64_t more = clip(shape[i], -1, INT64_MAX) - input->dims[axes[i]];

		pads[i] = more / 2;
		pads[count + i] = more - more / 2;
	}
	rc = set_pads(node, pads, axes, count, err);
	node->pad.mode = 'c';
	return rc ? rc : infer_padded(graph, node, err);
}

/* ---- rows of the table */

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute axes_only[] = {{"axes", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute pad[] = {
	{"mode", DLSI_ATTRIBUTE_STRING}, {"pads", DLSI_ATTRIBUTE_INTS}, {"value", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute slice[] = {
	{"axes", DLSI_ATTRIBUTE_INTS}, {"ends", DLSI_ATTRIBUTE_INTS}, {"starts", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_center_crop_pad = {
	.name = "CenterCropPad",
	DLSI_OP_ALL(V(18)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = axes_only,
	.infer = infer_center_crop_pad,
	.mixes = center_crop_pad_mixes,
	.eval = eval_pad,
	.steps = dlsi_op_steps_slow,
};

const struct dlsi_op dlsi_op_expand = {
	.name = "Expand",
	DLSI_OP_ALL(V(8) | V(13)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_expand,
	.mixes = dlsi_op_mixes_elements,
	.eval = eval_expand,
	.moves = 1,
	.shape_input = 1,
};

const struct dlsi_op dlsi_op_pad = {
	.name = "Pad",
	.defined = V(1) | V(2) | V(11) | V(13) | V(18) | V(19) | V(21) | V(23) | V(24) | V(25),
	.known = V(2) | V(11) | V(13) | V(18) | V(19) | V(21) | V(23) | V(24) | V(25),
	.inputs_least = 1,
	.inputs_most = 4,
	.outputs_most = 1,
	.attributes = pad,
	.infer = infer_pad,
	.mixes = pad_mixes,
	.eval = eval_pad,
	.steps = dlsi_op_steps_slow,
};

const struct dlsi_op dlsi_op_slice = {
	.name = "Slice",
	DLSI_OP_ALL(V(1) | V(10) | V(11) | V(13)),
	.inputs_least = 1,
	.inputs_most = 5,
	.outputs_most = 1,
	.attributes = slice,
	.infer = infer_slice,
	.mixes = slice_mixes,
	.eval = eval_slice,
	.moves = 1,
};

const struct dlsi_op dlsi_op_tile = {
	.name = "Tile",
	.defined = V(1) | V(6) | V(13),
	.known = V(6) | V(13),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = none,
	.infer = infer_tile,
	.mixes = tile_mixes,
	.eval = eval_tile,
	.moves = 1,
};
