/* Pooling of regions that are an input: RoiAlign and MaxRoiPool. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/cast.h"
#include "op/element.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

enum {
	OUTPUT_MOST = 1 << 16,  /* bins along a side */
	SAMPLES_MOST = 1 << 13, /* along a side of a bin, of which a region has as many as pixels */
	SAMPLE_STEPS = 16
};

/* ---- inference */

static int infer(
	struct dlsi_graph *graph, struct dlsi_node *node, const int64_t *bins, int64_t columns, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0), *regions = dlsi_node_input(graph, node, 1);

	if (input->rank != 4 || regions->rank != 2 || regions->dims[1] != columns)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes regions %s of %s",
			dlsi_shape_text(regions->dtype, regions->rank, regions->dims).text,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	for (int i = 0; i < 2; i++)
		if (bins[i] < 1 || bins[i] > OUTPUT_MOST)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has an output of %lld x %lld pixels",
				(long long)bins[0], (long long)bins[1]);
	return dlsi_node_set_output(
		graph, node, input->dtype, 4, (int64_t[]){regions->dims[0], input->dims[1], bins[0], bins[1]}, err);
}

static int infer_roi_align(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *regions = dlsi_node_input(graph, node, 1), *items = dlsi_node_input(graph, node, 2);
	const char *coordinates = dlsi_node_string(
		node, "coordinate_transformation_mode", node->version < 16 ? "output_half_pixel" : "half_pixel");
	const char *mode = dlsi_node_string(node, "mode", "avg");
	int64_t bins[] = {dlsi_node_int(node, "output_height", 1), dlsi_node_int(node, "output_width", 1)};
	int64_t samples = dlsi_node_int(node, "sampling_ratio", 0);
	int rc = dlsi_node_require_indices(graph, node, 2, err);

	if (rc)
		return rc;
	if (items->rank != 1 || items->dims[0] != regions->dims[0])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes items %s for regions %s",
			dlsi_shape_text(items->dtype, items->rank, items->dims).text,
			dlsi_shape_text(regions->dtype, regions->rank, regions->dims).text);
	node->region.largest = strcmp(mode, "max") == 0;
	node->region.half_pixel = strcmp(coordinates, "half_pixel") == 0;
	node->region.samples = samples;
	node->region.scale = dlsi_node_float(node, "spatial_scale", 1);
	if ((!node->region.largest && strcmp(mode, "avg") != 0) || samples < 0 || samples > SAMPLES_MOST ||
		(!node->region.half_pixel && strcmp(coordinates, "output_half_pixel") != 0))
		return dlsi_node_fail(node, err, DLS_EFORMAT,
			"has the mode '%s', coordinates '%s' and a sampling_ratio of %lld", mode, coordinates,
			(long long)samples);
	return infer(graph, node, bins, 4, err);
}

static int infer_max_roi_pool(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_attribute *bins = dlsi_node_attribute(node, "pooled_shape");

	if (!bins || bins->count != 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "lacks a pooled_shape of two sides");
	node->region.scale = dlsi_node_float(node, "spatial_scale", 1);
	return infer(graph, node, bins->ints, 5, err);
}

static const char *mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "takes regions of all items of the batch";
}

/* The largest of every second number, from `first` on, of a constant of float32 or float64 at any alignment. */
static double largest(const struct dlsi_value *value, size_t first)
{
	double found = 0, wide;
	float narrow;

	for (size_t i = first; i < dlsi_value_count(value); i += 2) {
		if (value->dtype == DLS_FLOAT32) {
			memcpy(&narrow, (const char *)value->data + i * sizeof narrow, sizeof narrow);
			wide = (double)narrow;
		} else {
			memcpy(&wide, (const char *)value->data + i * sizeof wide, sizeof wide);
		}
		found = fmax(found, fabs(wide));
	}
	return found;
}

/* Samples of a bin along a dimension of the output: as many as the pixels of a region where nothing else is said. */
static double most_samples(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t dimension)
{
	const struct dlsi_value *regions = dlsi_node_input(graph, node, 1);
	double bins = (double)dlsi_node_output(graph, node)->dims[dimension];

	if (node->region.samples)
		return (double)node->region.samples;
	if (!regions->data)
		return SAMPLES_MOST;
	return fmin(SAMPLES_MOST, 2 * largest(regions, dimension == 2) * fabs((double)node->region.scale) / bins + 1);
}

static double roi_align_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return SAMPLE_STEPS * dlsi_value_extent(dlsi_node_output(graph, node)) * most_samples(graph, node, 2) *
	       most_samples(graph, node, 3);
}

/* A bin may be the whole picture. */
static double max_roi_pool_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return (double)input->dims[2] * (double)input->dims[3] * dlsi_value_extent(dlsi_node_output(graph, node));
}

/* ---- evaluation, in double */

struct image {
	const double *pixels; /* of one channel */
	int64_t height, width;
};

/* A region in pixels: bins of a size, which begin at a corner. */
struct region {
	double top, left;     /* of the first bin */
	double height, width; /* of each bin */
	int64_t bins[2];
	int64_t samples[2]; /* in each bin */
	bool largest;
};

typedef double pool_bin(const struct image *image, const struct region *region, int64_t y, int64_t x);

/* Errors: DLS_EFORMAT. `item_out` is the item that region `i` lies in. */
typedef int read_region(const struct dlsi_node *node, const struct dlsi_view *inputs, const double *regions, int64_t i,
	struct region *region, int64_t *item_out, struct dls_error *err);

static int eval(const struct dlsi_node *node, read_region *read, pool_bin *pool, const struct dlsi_view *inputs,
	const struct dlsi_view *output, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	int64_t items = inputs[0].dims[0], channels = inputs[0].dims[1], count = inputs[1].dims[0], item;
	struct image image = {.height = inputs[0].dims[2], .width = inputs[0].dims[3]};
	size_t pixels = dlsi_view_count(&inputs[0]), bins = dlsi_view_count(output);
	size_t corners = dlsi_view_count(&inputs[1]);
	double *all = dlsi_calloc(alloc, pixels + corners + bins + 1, sizeof *all), *regions, *bin;
	int rc = all ? 0 : dlsi_fail_memory(err);

	if (rc)
		return rc;
	regions = all + pixels;
	bin = regions + corners;
	dlsi_cast(DLS_FLOAT64, all, inputs[0].dtype, inputs[0].data, pixels);
	dlsi_cast(DLS_FLOAT64, regions, inputs[1].dtype, inputs[1].data, corners);
	for (int64_t i = 0; rc == 0 && i < count; i++) {
		struct region region = {.bins = {output->dims[2], output->dims[3]}, .largest = node->region.largest};

		rc = read(node, inputs, regions, i, &region, &item, err);
		if (rc == 0 && (item < 0 || item >= items))
			rc = dlsi_node_fail(node, err, DLS_EFORMAT, "has a region of item %lld, where there are %lld",
				(long long)item, (long long)items);
		for (int64_t c = 0; rc == 0 && c < channels; c++) {
			image.pixels = all + (item * channels + c) * image.height * image.width;
			for (int64_t y = 0; y < region.bins[0]; y++)
				for (int64_t x = 0; x < region.bins[1]; x++)
					*bin++ = pool(&image, &region, y, x);
		}
	}
	if (rc == 0)
		dlsi_cast(output->dtype, output->data, DLS_FLOAT64, bin - bins, bins);
	dlsi_free(alloc, all);
	return rc;
}

/* ---- RoiAlign */

static int count_samples(const struct dlsi_node *node, double side, int64_t *samples_out, struct dls_error *err)
{
	double samples = node->region.samples ? (double)node->region.samples : ceil(side);

	if (!(samples <= SAMPLES_MOST))
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "has a region whose bins are more than %d pixels wide", SAMPLES_MOST);
	*samples_out = samples > 0 ? (int64_t)samples : 0;
	return 0;
}

static int read_aligned(const struct dlsi_node *node, const struct dlsi_view *inputs, const double *regions, int64_t i,
	struct region *region, int64_t *item_out, struct dls_error *err)
{
	const double *corners = regions + i * 4;
	double scale = (double)node->region.scale, offset = node->region.half_pixel ? 0.5 : 0;
	double width = (corners[2] - corners[0]) * scale, height = (corners[3] - corners[1]) * scale;
	int rc;

	if (!node->region.half_pixel) {
		width = width > 1 ? width : 1;
		height = height > 1 ? height : 1;
	}
	*item_out = dlsi_view_int(&inputs[2], (size_t)i);
	region->left = corners[0] * scale - offset;
	region->top = corners[1] * scale - offset;
	region->height = height / (double)region->bins[0];
	region->width = width / (double)region->bins[1];
	rc = count_samples(node, region->height, &region->samples[0], err);
	return rc ? rc : count_samples(node, region->width, &region->samples[1], err);
}

/* The two pixels on either side of a place, and how much the second one counts. False: outside of the image. */
static bool surround(double at, int64_t size, int64_t pixels_out[2], double *second_out)
{
	if (!(at >= -1 && at <= (double)size) || size == 0)
		return false;
	at = at > 0 ? at : 0;
	pixels_out[0] = (int64_t)at < size - 1 ? (int64_t)at : size - 1;
	pixels_out[1] = pixels_out[0] < size - 1 ? pixels_out[0] + 1 : size - 1;
	*second_out = pixels_out[0] < size - 1 ? at - (double)pixels_out[0] : 0;
	return true;
}

/* What a place adds to the sum; of the largest, each of the four pixels counts by itself, with its weight. */
static double sample(const struct image *image, double y, double x, bool largest)
{
	int64_t rows[2], columns[2];
	double lower, right, best = -INFINITY, sum = 0;

	if (!surround(y, image->height, rows, &lower) || !surround(x, image->width, columns, &right))
		return 0;
	for (int i = 0; i < 4; i++) {
		double weight = (i / 2 ? lower : 1 - lower) * (i % 2 ? right : 1 - right);
		double part = weight * image->pixels[rows[i / 2] * image->width + columns[i % 2]];

		sum += part;
		best = DLSI_GREATER(part, best);
	}
	return largest ? best : sum;
}

static double align_bin(const struct image *image, const struct region *region, int64_t y, int64_t x)
{
	int64_t count = region->samples[0] * region->samples[1];
	double sum = 0, best = -INFINITY;

	for (int64_t i = 0; i < region->samples[0]; i++) {
		double row =
			region->top + region->height * ((double)y + ((double)i + 0.5) / (double)region->samples[0]);

		for (int64_t k = 0; k < region->samples[1]; k++) {
			double column = region->left +
					region->width * ((double)x + ((double)k + 0.5) / (double)region->samples[1]);
			double part = sample(image, row, column, region->largest);

			sum += part;
			best = DLSI_GREATER(part, best);
		}
	}
	if (region->largest)
		return count ? best : 0;
	return sum / (double)(count ? count : 1);
}

static int eval_roi_align(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return eval(node, read_aligned, align_bin, inputs, &outputs[0], alloc, err);
}

/* ---- MaxRoiPool: regions of whole pixels, both ends included */

static int read_whole(const struct dlsi_node *node, const struct dlsi_view *inputs, const double *regions, int64_t i,
	struct region *region, int64_t *item_out, struct dls_error *err)
{
	const double *corners = regions + i * 5;
	double scale = (double)node->region.scale, height, width;

	(void)inputs;
	for (int k = 0; k < 5; k++)
		if (!(fabs(corners[k]) < INT32_MAX) || !(fabs(corners[k] * scale) < INT32_MAX))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has a region at %g", corners[k]);
	*item_out = (int64_t)corners[0];
	region->left = round(corners[1] * scale);
	region->top = round(corners[2] * scale);
	width = round(corners[3] * scale) - region->left + 1;
	height = round(corners[4] * scale) - region->top + 1;
	region->height = (height > 1 ? height : 1) / (double)region->bins[0];
	region->width = (width > 1 ? width : 1) / (double)region->bins[1];
	return 0;
}

/* The pixels of bin `i` along a side. */
static void cut(double start, double side, int64_t i, int64_t size, int64_t *first_out, int64_t *end_out)
{
	double first = floor((double)i * side) + start, end = ceil((double)(i + 1) * side) + start;

	*first_out = first < 0 ? 0 : first > (double)size ? size : (int64_t)first;
	*end_out = end < 0 ? 0 : end > (double)size ? size : (int64_t)end;
}

/* 0 where the bin is outside of the image. */
static double largest_bin(const struct image *image, const struct region *region, int64_t y, int64_t x)
{
	int64_t top, bottom, left, right;
	double best = -INFINITY;

	cut(region->top, region->height, y, image->height, &top, &bottom);
	cut(region->left, region->width, x, image->width, &left, &right);
	for (int64_t row = top; row < bottom; row++)
		for (int64_t column = left; column < right; column++)
			best = DLSI_GREATER(image->pixels[row * image->width + column], best);
	return top < bottom && left < right ? best : 0;
}

static int eval_max_roi_pool(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return eval(node, read_whole, largest_bin, inputs, &outputs[0], alloc, err);
}

/* ---- rows of the table */

static const struct dlsi_op_attribute roi_align[] = {{"coordinate_transformation_mode", DLSI_ATTRIBUTE_STRING},
	{"mode", DLSI_ATTRIBUTE_STRING}, {"output_height", DLSI_ATTRIBUTE_INT}, {"output_width", DLSI_ATTRIBUTE_INT},
	{"sampling_ratio", DLSI_ATTRIBUTE_INT}, {"spatial_scale", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute max_roi_pool[] = {
	{"pooled_shape", DLSI_ATTRIBUTE_INTS}, {"spatial_scale", DLSI_ATTRIBUTE_FLOAT}, {0}};

const struct dlsi_op dlsi_op_max_roi_pool = {
	.name = "MaxRoiPool",
	DLSI_OP_ALL(V(1) | V(22)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = max_roi_pool,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_max_roi_pool,
	.mixes = mixes,
	.eval = eval_max_roi_pool,
	.steps = max_roi_pool_steps,
};

const struct dlsi_op dlsi_op_roi_align = {
	.name = "RoiAlign",
	DLSI_OP_ALL(V(10) | V(16) | V(22)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = roi_align,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.typed = 2,
	.infer = infer_roi_align,
	.mixes = mixes,
	.eval = eval_roi_align,
	.steps = roi_align_steps,
};
