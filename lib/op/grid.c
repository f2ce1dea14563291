/* GridSample: pictures, of one to three dimensions, looked at in the places that a grid lists. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

enum {
	TAPS = 4, /* pixels along a dimension that one place can depend on */
	PLACE_STEPS = 4
};

struct sampling {
	char mode;    /* the first letter of nearest, linear or cubic */
	char padding; /* of zeros, border or reflection */
	bool corners; /* -1 and 1 are the middles of the outermost pixels, not their outer edges */
};

/* Since operator set 20 what was bilinear and bicubic is linear and cubic. False for a name that is unknown. */
static bool read_sampling(const struct dlsi_node *node, struct sampling *sampling)
{
	bool old = node->version < 20;
	const char *mode = dlsi_node_string(node, "mode", old ? "bilinear" : "linear");
	const char *padding = dlsi_node_string(node, "padding_mode", "zeros");

	if (old && strncmp(mode, "bi", 2) == 0)
		mode += 2;
	*sampling = (struct sampling){mode[0], padding[0], dlsi_node_int(node, "align_corners", 0) != 0};
	return (strcmp(mode, "nearest") == 0 || strcmp(mode, "linear") == 0 || strcmp(mode, "cubic") == 0) &&
	       (strcmp(padding, "zeros") == 0 || strcmp(padding, "border") == 0 || strcmp(padding, "reflection") == 0);
}

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *grid = dlsi_node_input(graph, node, 1);
	int64_t dims[DLS_TENSOR_RANK] = {input->dims[0], input->dims[1]};
	struct sampling sampling;

	if (!read_sampling(node, &sampling))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the mode '%s' and the padding_mode '%s'",
			dlsi_node_string(node, "mode", ""), dlsi_node_string(node, "padding_mode", ""));
	if (input->rank < 3 || input->rank > 2 + DLSI_SPATIAL_RANK || grid->rank != input->rank ||
		grid->dims[0] != input->dims[0] || grid->dims[grid->rank - 1] != (int64_t)input->rank - 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "looks at %s in the places %s",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text,
			dlsi_shape_text(grid->dtype, grid->rank, grid->dims).text);
	for (uint32_t i = 2; i < input->rank; i++) {
		dims[i] = grid->dims[i - 1];
		if (input->dims[i] == 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "looks at pictures without pixels");
	}
	return dlsi_node_set_output(graph, node, input->dtype, input->rank, dims, err);
}

static const char *mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return dlsi_node_input(graph, node, 0)->batched && dlsi_node_input(graph, node, 1)->batched
		       ? NULL
		       : "looks at all items in the places of one";
}

static double grid_sample_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	double steps = PLACE_STEPS * dlsi_value_extent(dlsi_node_output(graph, node));

	for (uint32_t i = 2; i < dlsi_node_input(graph, node, 0)->rank; i++)
		steps *= TAPS;
	return steps;
}

/* ---- one dimension */

struct taps {
	int64_t count;
	int64_t pixels[TAPS];
	double weights[TAPS];
};

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* Mirrored at both borders until it is between them. */
static double reflect(double x, double low, double high)
{
	double range = high - low, beyond = x < low ? low - x : x - high, rest;
	bool even;

	if (x >= low && x <= high)
		return x;
	if (range <= 0)
		return low;
	rest = fmod(beyond, range);
	even = fmod(floor(beyond / range), 2) == 0;
	return (x < low) == even ? low + rest : high - rest;
}

static double weigh_cubic(double distance)
{
	const double a = -0.75, x = fabs(distance);

	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* The pixels and their weights for a place between -1 and 1, or beyond. What is no number is far outside. */
static struct taps find_taps(const struct sampling *sampling, double place, int64_t dim)
{
	const double far = 0x1p40, low = sampling->corners ? 0 : -0.5, high = (double)(dim - 1) - low;
	double x = sampling->corners ? (place + 1) / 2 * (double)(dim - 1) : ((place + 1) * (double)dim - 1) / 2;
	struct taps taps = {.count = sampling->mode == 'n' ? 1 : sampling->mode == 'l' ? 2 : 4};
	int64_t first;

	x = x > -far && x < far ? x : x >= far ? far : -far;
	x = sampling->mode == 'n' ? rint(x) : x;
	if (sampling->padding == 'b' && (x < low || x > high))
		x = clamp(x, 0, (double)(dim - 1));
	else if (sampling->padding == 'r')
		x = reflect(x, low, high);
	first = (int64_t)floor(x) - (taps.count == 4);
	for (int64_t i = 0; i < taps.count; i++) {
		double distance = x - (double)(first + i), pixel = (double)(first + i);

		taps.weights[i] = taps.count == 1 ? 1 : taps.count == 2 ? 1 - fabs(distance) : weigh_cubic(distance);
		if (sampling->padding == 'z' && (pixel < 0 || pixel > (double)(dim - 1)))
			taps.weights[i] = 0;
		if (sampling->padding == 'r')
			pixel = reflect(pixel, low, high);
		taps.pixels[i] = (int64_t)clamp(pixel, 0, (double)(dim - 1));
	}
	return taps;
}

/* ---- all of them */

/* A place in a picture of three dimensions, the first ones of 1 where it has less. */
static void find_place(const struct sampling *sampling, const struct dlsi_view *input, const double *places,
	struct taps taps[DLSI_SPATIAL_RANK])
{
	uint32_t spatial = input->rank - 2, missing = DLSI_SPATIAL_RANK - spatial;

	for (uint32_t i = 0; i < DLSI_SPATIAL_RANK; i++)
		taps[i] = i < missing ? (struct taps){.count = 1, .weights = {1}}
				      : find_taps(sampling, places[DLSI_SPATIAL_RANK - 1 - i],
						input->dims[2 + i - missing]);
}

#define SAMPLE(dtype, type, ...)                                                                                       \
	static type sample_##type(const type *picture, const struct taps *taps, int64_t height, int64_t width)         \
	{                                                                                                              \
		double sum = 0;                                                                                        \
                                                                                                                       \
		for (int64_t z = 0; z < taps[0].count; z++)                                                            \
			for (int64_t y = 0; y < taps[1].count; y++) {                                                  \
				const int64_t row = (taps[0].pixels[z] * height + taps[1].pixels[y]) * width;          \
				double part = 0;                                                                       \
                                                                                                                       \
				for (int64_t x = 0; x < taps[2].count; x++)                                            \
					if (taps[2].weights[x] != 0)                                                   \
						part += (double)picture[row + taps[2].pixels[x]] * taps[2].weights[x]; \
				if (taps[0].weights[z] * taps[1].weights[y] != 0)                                      \
					sum += part * taps[0].weights[z] * taps[1].weights[y];                         \
			}                                                                                              \
		return (type)sum;                                                                                      \
	}
DLSI_FLOATS(SAMPLE, 0)

#define SAMPLES(dtype, type, ...)                                                                                      \
	case dtype:                                                                                                    \
		for (int64_t i = 0; i < items * places; i++) {                                                         \
			const type *grid = (const type *)inputs[1].data + i * spatial;                                 \
			const type *picture = (const type *)inputs[0].data + i / places * channels * pixels;           \
			type *target = (type *)outputs[0].data + i / places * channels * places + i % places;          \
			double place[DLSI_SPATIAL_RANK] = {0};                                                         \
			struct taps taps[DLSI_SPATIAL_RANK];                                                           \
                                                                                                                       \
			for (int64_t k = 0; k < spatial; k++)                                                          \
				place[k] = (double)grid[k];                                                            \
			find_place(&sampling, &inputs[0], place, taps);                                                \
			for (int64_t c = 0; c < channels; c++)                                                         \
				target[c * places] = sample_##type(picture + c * pixels, taps, height, width);         \
		}                                                                                                      \
		break;

static int eval(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const uint32_t rank = inputs[0].rank;
	const int64_t spatial = rank - 2, items = inputs[0].dims[0], channels = inputs[0].dims[1];
	const int64_t width = inputs[0].dims[rank - 1], height = spatial > 1 ? inputs[0].dims[rank - 2] : 1;
	int64_t pixels = 1, places = 1;
	struct sampling sampling;

	(void)alloc, (void)err;
	read_sampling(node, &sampling);
	for (uint32_t i = 2; i < rank; i++) {
		pixels *= inputs[0].dims[i];
		places *= outputs[0].dims[i];
	}
	switch (inputs[0].dtype) {
		DLSI_FLOATS(SAMPLES, 0)
	default:
		break;
	}
	return 0;
}

static const struct dlsi_op_attribute attributes[] = {{"align_corners", DLSI_ATTRIBUTE_INT},
	{"mode", DLSI_ATTRIBUTE_STRING}, {"padding_mode", DLSI_ATTRIBUTE_STRING}, {0}};

const struct dlsi_op dlsi_op_grid_sample = {
	.name = "GridSample",
	DLSI_OP_ALL(V(16) | V(20) | V(22)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = attributes,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer,
	.mixes = mixes,
	.eval = eval,
	.steps = grid_sample_steps,
};
