/* Pooling: the largest, the mean or a norm of each window. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/cast.h"
#include "op/list.h"
#include "op/window.h"

#define V DLSI_OP_SINCE

enum { PLACE_STEPS = 64, POWER_STEPS = 32 };

/* ---- inference */

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]};
	int rc = dlsi_window_infer(node, input, NULL, &node->pool.window, &dims[2], err);

	if (rc == 0)
		rc = dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
	return rc ? rc : dlsi_node_set_output_at(graph, node, 1, DLS_INT64, input->rank, dims, err);
}

static int infer_max_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	node->pool.column_major = dlsi_node_int(node, "storage_order", 0);
	return infer(graph, node, err);
}

static int infer_average_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	node->pool.count_padding = dlsi_node_int(node, "count_include_pad", 0);
	return infer(graph, node, err);
}

static int read_power(struct dlsi_node *node, struct dls_error *err)
{
	node->pool.power = dlsi_node_int(node, "p", 2);
	return node->pool.power > 0 ? 0
				    : dlsi_node_fail(node, err, DLS_EFORMAT, "has the norm %lld; 1 is the least",
					      (long long)node->pool.power);
}

static int infer_lp_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc = read_power(node, err);

	return rc ? rc : infer(graph, node, err);
}

static int infer_global_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]};
	struct dlsi_window window = {.rank = 1, .kernel = {1}, .strides = {1}, .dilations = {1}};

	if (input->rank < 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s, which has no channels",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	for (uint32_t i = 2; i < input->rank; i++) {
		window.kernel[0] *= input->dims[i];
		dims[i] = 1;
	}
	node->pool.window = window;
	node->pool.global = true;
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static int infer_global_lp_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int rc = read_power(node, err);

	return rc ? rc : infer_global_pool(graph, node, err);
}

static const char *max_pool_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->output_count > 1 ? "numbers the elements of the whole batch" : NULL;
}

/* Each place looks at its whole window; a power takes longer. */
static double window_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	double positions = 1;

	for (uint32_t i = 0; i < node->pool.window.rank; i++)
		positions *= (double)node->pool.window.kernel[i];
	return dlsi_value_extent(dlsi_node_output(graph, node)) * (PLACE_STEPS + positions);
}

static double power_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->pool.power > 2 ? POWER_STEPS * window_steps(graph, node) : window_steps(graph, node);
}

/* ---- evaluation: plane by plane, in double, which holds all that is pooled exactly */

struct pooled {
	double value;
	int64_t index; /* in the plane, of the largest; -1: none yet */
	int64_t power;
};

/* One row of a window. */
typedef void pool_row(struct pooled *pooled, const double *plane, int64_t first, int64_t step, int64_t count);

struct pooling {
	struct dlsi_slide slide;
	const struct dlsi_node *node;
	pool_row *row;
	double start;
};

/* A NaN is larger than everything, so that it stays. */
static void max_row(struct pooled *pooled, const double *plane, int64_t first, int64_t step, int64_t count)
{
	for (int64_t i = first; count-- > 0; i += step) {
		if (pooled->index >= 0 && !(plane[i] > pooled->value) && !(isnan(plane[i]) && !isnan(pooled->value)))
			continue;
		pooled->value = plane[i];
		pooled->index = i;
	}
}

static void sum_row(struct pooled *pooled, const double *plane, int64_t first, int64_t step, int64_t count)
{
	for (int64_t i = first; count-- > 0; i += step)
		pooled->value += plane[i];
}

static void norm_row(struct pooled *pooled, const double *plane, int64_t first, int64_t step, int64_t count)
{
	for (int64_t i = first; count-- > 0; i += step) {
		double size = fabs(plane[i]);

		pooled->value += pooled->power == 1   ? size
				 : pooled->power == 2 ? size * size
						      : pow(size, (double)pooled->power);
	}
}

/* How many positions an average counts: those over the image, or over its padding too; but never what ceil_mode lets
 * stick out behind that. */
static int64_t count_positions(const struct pooling *pooling, const int64_t place[3], const int64_t seen[3])
{
	const struct dlsi_slide *slide = &pooling->slide;
	int64_t product = 1;

	for (uint32_t d = 0; d < DLSI_SPATIAL_RANK; d++) {
		int64_t left =
			slide->image[d] + slide->pads_before[d] + slide->pads_after[d] - place[d] * slide->strides[d];
		int64_t counted = (left + slide->dilations[d] - 1) / slide->dilations[d];

		counted = counted < slide->kernel[d] ? counted : slide->kernel[d];
		product *= pooling->node->pool.count_padding ? counted : seen[d];
	}
	return product;
}

static struct pooled pool_place(const struct pooling *pooling, const double *plane, const int64_t place[3])
{
	const struct dlsi_slide *slide = &pooling->slide;
	struct pooled pooled = {pooling->start, -1, pooling->node->pool.power};
	int64_t first[3], end[3], seen[3];

	for (uint32_t d = 0; d < DLSI_SPATIAL_RANK; d++) {
		int64_t pixel = place[d] * slide->strides[d] - slide->pads_before[d];

		dlsi_slide_sight(slide, d, place[d], &first[d], &end[d]);
		seen[d] = end[d] - first[d];
		first[d] = pixel + first[d] * slide->dilations[d];
		end[d] = pixel + end[d] * slide->dilations[d];
	}
	for (int64_t z = first[0]; z < end[0]; z += slide->dilations[0])
		for (int64_t y = first[1]; y < end[1]; y += slide->dilations[1])
			pooling->row(&pooled, plane, (z * slide->image[1] + y) * slide->image[2] + first[2],
				slide->dilations[2], seen[2]);
	if (pooling->row == sum_row)
		pooled.value /= (double)count_positions(pooling, place, seen);
	else if (pooling->row == norm_row && pooled.power > 1)
		pooled.value = pooled.power == 2 ? sqrt(pooled.value) : pow(pooled.value, 1 / (double)pooled.power);
	return pooled;
}

/* Counts the pixel along the first dimension first. */
static int64_t to_column_major(const struct dlsi_slide *slide, int64_t index)
{
	int64_t width = slide->image[2], height = slide->image[1], depth = slide->image[0];
	int64_t x = index % width, y = index / width % height, z = index / width / height;

	return index < 0 ? index : z + depth * (y + height * x);
}

/* `indices` may be NULL; `before` elements lie before the plane. */
static void pool_plane(
	const struct pooling *pooling, const double *plane, int64_t before, double *target, int64_t *indices)
{
	const struct dlsi_slide *slide = &pooling->slide;
	int64_t place[3];

	for (place[0] = 0; place[0] < slide->places[0]; place[0]++) {
		for (place[1] = 0; place[1] < slide->places[1]; place[1]++) {
			for (place[2] = 0; place[2] < slide->places[2]; place[2]++) {
				struct pooled pooled = pool_place(pooling, plane, place);

				*target++ = pooled.value;
				if (!indices)
					continue;
				if (pooling->node->pool.column_major)
					pooled.index = to_column_major(slide, pooled.index);
				*indices++ = pooled.index < 0 ? -1 : before + pooled.index;
			}
		}
	}
}

static void describe(struct pooling *pooling, const struct dlsi_view *input, const struct dlsi_view *output)
{
	static const int64_t one[] = {1};
	const struct dlsi_window *window = &pooling->node->pool.window;
	bool global = pooling->node->pool.global;

	dlsi_slide_init(
		&pooling->slide, window, global ? window->kernel : &input->dims[2], global ? one : &output->dims[2]);
}

static int eval(struct pooling *pooling, const struct dlsi_view *input, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *output = &outputs[0];
	int64_t *indices = pooling->node->output_count > 1 ? outputs[1].data : NULL;
	size_t planes = (size_t)(input->dims[0] * input->dims[1]), bytes = dls_dtype_bytes(input->dtype);
	size_t pixels, places;
	double *plane, *target;

	describe(pooling, input, output);
	pixels = (size_t)dlsi_slide_pixels(&pooling->slide);
	places = (size_t)dlsi_slide_places(&pooling->slide);
	plane = dlsi_calloc(alloc, pixels + places + 1, sizeof *plane);
	if (!plane)
		return dlsi_fail_memory(err);
	target = plane + pixels;
	for (size_t p = 0; p < planes; p++) {
		dlsi_cast(DLS_FLOAT64, plane, input->dtype, (const char *)input->data + p * pixels * bytes, pixels);
		pool_plane(pooling, plane, (int64_t)(p * pixels), target, indices ? indices + p * places : NULL);
		dlsi_cast(input->dtype, (char *)output->data + p * places * bytes, DLS_FLOAT64, target, places);
	}
	dlsi_free(alloc, plane);
	return 0;
}

/* Where a window sees nothing, the largest of the integers is the least that there is. */
static int eval_max_pool(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	enum dls_dtype dtype = inputs[0].dtype;
	double least = dtype == DLS_INT8 ? INT8_MIN : dtype == DLS_UINT8 ? 0 : -INFINITY;
	struct pooling pooling = {.node = node, .row = max_row, .start = least};

	return eval(&pooling, &inputs[0], outputs, alloc, err);
}

static int eval_average_pool(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct pooling pooling = {.node = node, .row = sum_row};

	return eval(&pooling, &inputs[0], outputs, alloc, err);
}

static int eval_lp_pool(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct pooling pooling = {.node = node, .row = norm_row};

	return eval(&pooling, &inputs[0], outputs, alloc, err);
}

/* ---- rows of the table */

static const struct dlsi_op_attribute none[] = {{0}};
static const struct dlsi_op_attribute global_lp[] = {{"p", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute average[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING},
	{"ceil_mode", DLSI_ATTRIBUTE_INT}, {"count_include_pad", DLSI_ATTRIBUTE_INT},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS},
	{"strides", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute lp[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING}, {"ceil_mode", DLSI_ATTRIBUTE_INT},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"p", DLSI_ATTRIBUTE_INT},
	{"pads", DLSI_ATTRIBUTE_INTS}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};
static const struct dlsi_op_attribute max[] = {{"auto_pad", DLSI_ATTRIBUTE_STRING}, {"ceil_mode", DLSI_ATTRIBUTE_INT},
	{"dilations", DLSI_ATTRIBUTE_INTS}, {"kernel_shape", DLSI_ATTRIBUTE_INTS}, {"pads", DLSI_ATTRIBUTE_INTS},
	{"storage_order", DLSI_ATTRIBUTE_INT}, {"strides", DLSI_ATTRIBUTE_INTS}, {0}};

enum {
	FLOATS = DLSI_OP_TYPE(DLS_FLOAT32) | DLSI_OP_TYPE(DLS_FLOAT64),
	BYTES = DLSI_OP_TYPE(DLS_INT8) | DLSI_OP_TYPE(DLS_UINT8)
};

const struct dlsi_op dlsi_op_average_pool = {
	.name = "AveragePool",
	DLSI_OP_ALL(V(1) | V(7) | V(10) | V(11) | V(19) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = average,
	.types = FLOATS,
	.infer = infer_average_pool,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_average_pool,
	.steps = window_steps,
};

const struct dlsi_op dlsi_op_global_average_pool = {
	.name = "GlobalAveragePool",
	DLSI_OP_ALL(V(1) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.types = FLOATS,
	.infer = infer_global_pool,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_average_pool,
	.steps = window_steps,
};

const struct dlsi_op dlsi_op_global_lp_pool = {
	.name = "GlobalLpPool",
	.defined = V(1) | V(2) | V(22),
	.known = V(2) | V(22),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = global_lp,
	.types = FLOATS,
	.infer = infer_global_lp_pool,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_lp_pool,
	.steps = power_steps,
};

const struct dlsi_op dlsi_op_global_max_pool = {
	.name = "GlobalMaxPool",
	DLSI_OP_ALL(V(1) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = none,
	.types = FLOATS,
	.infer = infer_global_pool,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_max_pool,
	.steps = window_steps,
};

const struct dlsi_op dlsi_op_lp_pool = {
	.name = "LpPool",
	.defined = V(1) | V(2) | V(11) | V(18) | V(22),
	.known = V(2) | V(11) | V(18) | V(22),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = lp,
	.types = FLOATS,
	.infer = infer_lp_pool,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_lp_pool,
	.steps = power_steps,
};

const struct dlsi_op dlsi_op_max_pool = {
	.name = "MaxPool",
	DLSI_OP_ALL(V(1) | V(8) | V(10) | V(11) | V(12) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 2,
	.attributes = max,
	.types = FLOATS | BYTES,
	.infer = infer_max_pool,
	.mixes = max_pool_mixes,
	.eval = eval_max_pool,
	.steps = window_steps,
};
