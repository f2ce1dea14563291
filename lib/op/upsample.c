/* Resize and Upsample. */
#include "op/cast.h"
#include "op/list.h"
#include "op/resize.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_resize(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];
	int rc = dlsi_resize_read(graph, node, &node->resize, err);

	for (uint32_t i = 0; rc == 0 && i < input->rank; i++)
		dims[i] = node->resize->axes[i].out;
	return rc ? rc : dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

/* Whether rows become as many as a number says that is none of the batch, however many they are. */
static bool is_sized(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *sizes = node->version < 11 ? NULL : dlsi_node_input(graph, node, 3);

	return sizes && dlsi_value_count(sizes) && !sizes->sizes && dlsi_graph_rows_open(graph) &&
	       dlsi_node_lists_first(node, dlsi_node_output(graph, node)->rank);
}

static const char *resize_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	if (!dlsi_node_input(graph, node, 0)->batched)
		return "is the same for all items";
	return node->resize->axes[0].same && !is_sized(graph, node) ? NULL : "resizes axis 0, the batch";
}

static int64_t map_nearest(const struct dlsi_node *node, uint32_t axis, int64_t index, int64_t dim)
{
	(void)dim;
	return node->resize->axes[axis].same ? index : dlsi_resize_nearest(node->resize, axis, index);
}

static int eval_nearest(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	uint64_t outside;

	dlsi_cast(output->dtype, &outside, DLS_FLOAT32, &node->resize->extrapolation, 1);
	return dlsi_mapped_eval(node, input, output, map_nearest, &outside, alloc, err);
}

/* ---- by weights, one axis after another, in float32 or float64 */

/* One element of the output's axis: `inner` numbers, of which each is a sum over the taps. */
#define BLEND(dtype, type)                                                                                             \
	static void blend_##type(type *to, const type *from, size_t inner, const struct dlsi_resize_taps *taps,        \
		size_t element, float extrapolation)                                                                   \
	{                                                                                                              \
		const int64_t *indices = taps->indices + element * (size_t)taps->count;                                \
		const double *weights = taps->weights + element * (size_t)taps->count;                                 \
                                                                                                                       \
		for (size_t i = 0; i < inner; i++)                                                                     \
			to[i] = indices[0] < 0 ? (type)extrapolation : 0;                                              \
		for (int64_t k = 0; indices[0] >= 0 && k < taps->count; k++) {                                         \
			const type *source = from + (size_t)indices[k] * inner;                                        \
			type weight = (type)weights[k];                                                                \
                                                                                                                       \
			for (size_t i = 0; i < inner; i++)                                                             \
				to[i] += weight * source[i];                                                           \
		}                                                                                                      \
	}

BLEND(DLS_FLOAT32, float)
BLEND(DLS_FLOAT64, double)

/* From one view to another, which differ in this axis; both of one floating type. */
static int blend_axis(const struct dlsi_resize *resize, uint32_t axis, const struct dlsi_view *from,
	const struct dlsi_view *to, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_resize_taps taps = {0};
	size_t outer = 1, inner = 1, in = (size_t)from->dims[axis], out = (size_t)to->dims[axis];
	int rc = dlsi_resize_taps(resize, axis, alloc, &taps, err);

	for (uint32_t i = 0; i < from->rank; i++)
		*(i < axis ? &outer : &inner) *= i == axis ? 1 : (size_t)from->dims[i];
	for (size_t i = 0; rc == 0 && i < outer * out; i++) {
		size_t read = i / out * in * inner, written = i * inner;

		if (from->dtype == DLS_FLOAT32)
			blend_float((float *)to->data + written, (const float *)from->data + read, inner, &taps,
				i % out, resize->extrapolation);
		else
			blend_double((double *)to->data + written, (const double *)from->data + read, inner, &taps,
				i % out, resize->extrapolation);
	}
	dlsi_resize_taps_free(alloc, &taps);
	return rc;
}

static int take_view(struct dlsi_view *view, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	view->data = dlsi_malloc(alloc, dlsi_view_bytes(view) + 1);
	return view->data ? 0 : dlsi_fail_memory(err);
}

/* Integers are rounded to the nearest that the type has. */
static void round_all(double *numbers, size_t count, enum dls_dtype dtype)
{
	bool natural = dtype == DLS_UINT8 || dtype == DLS_UINT16 || dtype == DLS_UINT32 || dtype == DLS_UINT64;
	int bits = 8 * (int)dls_dtype_bytes(dtype) - !natural;
	double low = natural ? 0 : -ldexp(1, bits), high = nextafter(ldexp(1, bits), 0);

	for (size_t i = 0; i < count; i++)
		numbers[i] = fmin(fmax(rint(numbers[i]), low), bits > 53 ? high : floor(high));
}

/* Passes `view`, whose memory it takes over and gives back, over all axes. */
static int blend_all(const struct dlsi_node *node, struct dlsi_view *view, const struct dlsi_view *output,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < view->rank; i++) {
		struct dlsi_view next = *view;

		if (node->resize->axes[i].same)
			continue;
		next.dims[i] = output->dims[i];
		rc = take_view(&next, alloc, err);
		if (rc == 0)
			rc = blend_axis(node->resize, i, view, &next, alloc, err);
		dlsi_free(alloc, view->data);
		view->data = next.data;
		view->dims[i] = next.dims[i];
	}
	return rc;
}

static int eval_resize(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_view view = inputs[0];
	bool exact = view.dtype == DLS_FLOAT32 || view.dtype == DLS_FLOAT64;
	int rc;

	if (node->resize->mode == DLSI_RESIZE_NEAREST)
		return eval_nearest(node, &inputs[0], &outputs[0], alloc, err);
	view.dtype = exact ? view.dtype : DLS_FLOAT64;
	rc = take_view(&view, alloc, err);
	if (rc)
		return rc;
	dlsi_cast(view.dtype, view.data, inputs[0].dtype, inputs[0].data, dlsi_view_count(&inputs[0]));
	rc = blend_all(node, &view, &outputs[0], alloc, err);
	if (rc == 0 && !exact)
		round_all(view.data, dlsi_view_count(&view), outputs[0].dtype);
	if (rc == 0)
		dlsi_cast(outputs[0].dtype, outputs[0].data, view.dtype, view.data, dlsi_view_count(&view));
	dlsi_free(alloc, view.data);
	return rc;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute resize[] = {{"antialias", DLSI_ATTRIBUTE_INT}, {"axes", DLSI_ATTRIBUTE_INTS},
	{"coordinate_transformation_mode", DLSI_ATTRIBUTE_STRING}, {"cubic_coeff_a", DLSI_ATTRIBUTE_FLOAT},
	{"exclude_outside", DLSI_ATTRIBUTE_INT}, {"extrapolation_value", DLSI_ATTRIBUTE_FLOAT},
	{"keep_aspect_ratio_policy", DLSI_ATTRIBUTE_STRING}, {"mode", DLSI_ATTRIBUTE_STRING},
	{"nearest_mode", DLSI_ATTRIBUTE_STRING}, {0}};
static const struct dlsi_op_attribute upsample[] = {
	{"mode", DLSI_ATTRIBUTE_STRING}, {"scales", DLSI_ATTRIBUTE_FLOATS}, {0}};

const struct dlsi_op dlsi_op_resize = {
	.name = "Resize",
	DLSI_OP_ALL(V(10) | V(11) | V(13) | V(18) | V(19)),
	.inputs_least = 1,
	.inputs_most = 4,
	.outputs_most = 1,
	.attributes = resize,
	.infer = infer_resize,
	.mixes = resize_mixes,
	.eval = eval_resize,
	.steps = dlsi_resize_steps,
	.shape_input = 3,
};

const struct dlsi_op dlsi_op_upsample = {
	.name = "Upsample",
	.defined = V(1) | V(7) | V(9) | V(10),
	.known = V(7) | V(9) | V(10),
	.inputs_least = 1,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = upsample,
	.infer = infer_resize,
	.mixes = resize_mixes,
	.eval = eval_resize,
	.steps = dlsi_resize_steps,
};
