/* From windows back to the image: MaxUnpool and Col2Im. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/convolve.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

/* ---- MaxUnpool: node->pool.window is that of the pooling; the indices are of the image that it reaches, whatever
 * output_shape says */

static int infer_max_unpool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]}, given[DLS_TENSOR_RANK];
	uint32_t count;
	int rc = dlsi_window_infer_back(node, input, NULL, &node->pool.window, &dims[2], err);

	if (rc)
		return rc;
	if (indices->dtype != DLS_INT64 || indices->rank != input->rank ||
		memcmp(indices->dims, input->dims, input->rank * sizeof *input->dims) != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has indices %s for %s",
			dlsi_shape_text(indices->dtype, indices->rank, indices->dims).text,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	rc = dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
	if (rc || !dlsi_node_input(graph, node, 2))
		return rc;
	rc = dlsi_node_constant_ints(graph, node, 2, given, DLS_TENSOR_RANK, &count, err);
	if (rc)
		return rc;
	if (count != input->rank || given[0] != dims[0] || given[1] != dims[1])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the output_shape %s for %s",
			dlsi_shape_text(0, count, given).text,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, given, err);
}

static const char *max_unpool_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "takes numbers of elements of the whole batch";
}

/* Where element `index` of an image of these dimensions is in one of other ones; -1: in none. */
static int64_t move_index(int64_t index, uint32_t rank, const int64_t *from, const int64_t *to)
{
	int64_t moved = 0, step = 1;

	for (uint32_t i = rank; i-- > 0;) {
		if (from[i] < 1 || index % from[i] >= to[i])
			return -1;
		moved += index % from[i] * step;
		index /= from[i];
		step *= to[i];
	}
	return index == 0 ? moved : -1;
}

static int eval_max_unpool(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_window *window = &node->pool.window;
	const int64_t *indices = inputs[1].data;
	size_t bytes = dls_dtype_bytes(inputs[0].dtype), count = dlsi_view_count(&inputs[0]);
	int64_t reached[DLS_TENSOR_RANK] = {inputs[0].dims[0], inputs[0].dims[1]};

	(void)alloc;
	for (uint32_t i = 0; i < window->rank; i++)
		reached[2 + i] = (inputs[0].dims[2 + i] - 1) * window->strides[i] + window->kernel[i] -
				 window->pads_before[i] - window->pads_after[i];
	if (dlsi_view_bytes(&outputs[0]))
		memset(outputs[0].data, 0, dlsi_view_bytes(&outputs[0]));
	for (size_t i = 0; i < count; i++) {
		int64_t at = indices[i] < 0 ? -1 : move_index(indices[i], inputs[0].rank, reached, outputs[0].dims);

		if (at < 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the index %lld, outside of its output",
				(long long)indices[i]);
		memcpy((char *)outputs[0].data + (size_t)at * bytes, (const char *)inputs[0].data + i * bytes, bytes);
	}
	return 0;
}

/* ---- Col2Im: [items, channels * kernel..., places...] to [items, channels, image...] */

static int infer_col2im(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	struct dlsi_value image = {.dtype = input->dtype, .dims = {input->dims[0]}};
	int64_t kernel[DLS_TENSOR_RANK], places[DLSI_SPATIAL_RANK], positions = 1, all = 1;
	uint32_t rank, kernel_rank;
	int rc = dlsi_node_constant_ints(graph, node, 1, &image.dims[2], DLS_TENSOR_RANK - 2, &rank, err);

	if (rc == 0)
		rc = dlsi_node_constant_ints(graph, node, 2, kernel, DLS_TENSOR_RANK, &kernel_rank, err);
	if (rc)
		return rc;
	image.rank = rank + 2;
	rc = dlsi_node_set_output(graph, node, input->dtype, rank, &image.dims[2], err); /* that its size is possible */
	if (rc)
		return rc;
	if (kernel_rank != rank || input->rank != 3)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "makes an image %s out of %s by blocks %s",
			dlsi_shape_text(0, rank, &image.dims[2]).text,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text,
			dlsi_shape_text(0, kernel_rank, kernel).text);
	rc = dlsi_window_infer(node, &image, kernel, &node->pool.window, places, err);
	for (uint32_t i = 0; rc == 0 && i < rank; i++)
		if (__builtin_mul_overflow(positions, kernel[i], &positions) ||
			__builtin_mul_overflow(all, places[i], &all))
			rc = dlsi_node_fail(node, err, DLS_ELIMIT, "has blocks larger than any memory");
	if (rc)
		return rc;
	if (input->dims[1] % positions != 0 || input->dims[2] != all)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s in the place of %lld blocks of %lld",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, (long long)all,
			(long long)positions);
	image.dims[1] = input->dims[1] / positions;
	return dlsi_node_set_output(graph, node, input->dtype, image.rank, image.dims, err);
}

static int eval_col2im(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *image = &outputs[0];
	const struct dlsi_window *window = &node->pool.window;
	size_t bytes = dls_dtype_bytes(image->dtype), planes = (size_t)(image->dims[0] * image->dims[1]);
	size_t columns = planes ? dlsi_view_count(&inputs[0]) / planes * bytes : 0;
	size_t pixels = planes ? dlsi_view_count(image) / planes * bytes : 0;
	int64_t places[DLSI_SPATIAL_RANK];
	struct dlsi_slide slide;

	(void)alloc, (void)err;
	for (uint32_t i = 0; i < window->rank; i++)
		places[i] = (image->dims[2 + i] + window->pads_before[i] + window->pads_after[i] -
				    (window->kernel[i] - 1) * window->dilations[i] - 1) /
				    window->strides[i] +
			    1;
	dlsi_slide_init(&slide, window, &image->dims[2], places);
	dlsi_convolution_begin(image, NULL);
	for (size_t p = 0; p < planes; p++)
		dlsi_convolve_columns(image->dtype, &slide, (char *)image->data + p * pixels,
			(const char *)inputs[0].data + p * columns);
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute max_unpool[] = {
	{"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute col2im[] = {
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_col2im = {
	.name = "Col2Im",
	DLSI_OP_ALL(V(18)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = col2im,
	.types = DLSI_TYPES(DLSI_NUMBERS),
	.typed = 1,
	.infer = infer_col2im,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_col2im,
	.steps = dlsi_op_steps_slow,
};

const struct dlsi_op dlsi_op_max_unpool = {
	.name = "MaxUnpool",
	DLSI_OP_ALL(V(9) | V(11) | V(22)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = max_unpool,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.typed = 1,
	.infer = infer_max_unpool,
	.mixes = max_unpool_mixes,
	.eval = eval_max_unpool,
	.steps = dlsi_op_steps_slow,
};
