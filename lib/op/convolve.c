#include "op/convolve.h"

#include "base/shape.h"
#include "graph/work.h"
#include <string.h>

/* ---- shapes */

/* Whether the channels fit; the output's. */
static bool match_channels(const struct dlsi_value *input, const struct dlsi_value *weights, int64_t groups, bool back,
	int64_t *channels_out)
{
	int64_t channels = input->dims[1];

	if (weights->rank != input->rank || groups < 1 || weights->dims[0] % groups != 0)
		return false;
	if (back)
		return channels == weights->dims[0] && !__builtin_mul_overflow(weights->dims[1], groups, channels_out);
	*channels_out = weights->dims[0];
	return channels % groups == 0 && channels / groups == weights->dims[1];
}

int dlsi_convolution_infer(const struct dlsi_graph *graph, struct dlsi_node *node,
	const struct dlsi_convolution_inputs *inputs, int64_t dims_out[DLS_TENSOR_RANK], struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	const struct dlsi_value *weights = dlsi_node_input(graph, node, inputs->weights);
	const struct dlsi_value *bias = dlsi_node_input(graph, node, inputs->bias);
	int64_t groups = dlsi_node_int(node, "group", 1);
	int rc;

	dims_out[0] = input->dims[0];
	if (!match_channels(input, weights, groups, inputs->back, &dims_out[1]))
		return dlsi_node_fail(node, err, DLS_EFORMAT,
			"has weights %s in %lld groups that do not fit its input %s",
			dlsi_shape_text(weights->dtype, weights->rank, weights->dims).text, (long long)groups,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	if (bias && (bias->rank != 1 || bias->dims[0] != dims_out[1]))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has a bias %s for %lld channels",
			dlsi_shape_text(bias->dtype, bias->rank, bias->dims).text, (long long)dims_out[1]);
	node->conv.groups = groups;
	rc = (inputs->back ? dlsi_window_infer_back : dlsi_window_infer)(
		node, input, &weights->dims[2], &node->conv.window, &dims_out[2], err);
	if (rc == 0 && memcmp(node->conv.window.kernel, &weights->dims[2],
			       node->conv.window.rank * sizeof *weights->dims) != 0)
		rc = dlsi_node_fail(node, err, DLS_EFORMAT, "has a kernel_shape that its weights %s do not have",
			dlsi_shape_text(weights->dtype, weights->rank, weights->dims).text);
	return rc;
}

double dlsi_convolution_steps(
	const struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_convolution_inputs *inputs)
{
	const struct dlsi_value *weights = dlsi_node_input(graph, node, inputs->weights);
	const struct dlsi_value *swept = inputs->back ? dlsi_node_input(graph, node, 0) : dlsi_node_output(graph, node);
	double channels = weights->dims[0] ? (double)weights->dims[0] : 1;

	return dlsi_value_extent(swept) * dlsi_value_extent(weights) / channels;
}

/* ---- evaluation */

struct dlsi_convolution dlsi_convolution_of(const struct dlsi_node *node, enum dls_dtype dtype,
	const struct dlsi_view *places, const struct dlsi_view *image)
{
	struct dlsi_convolution convolution = {
		.dtype = dtype,
		.items = places->dims[0],
		.groups = node->conv.groups,
		.place_channels = places->dims[1],
		.image_channels = image->dims[1],
	};

	dlsi_slide_init(&convolution.slide, &node->conv.window, &image->dims[2], &places->dims[2]);
	return convolution;
}

void dlsi_convolution_begin(const struct dlsi_view *target, const struct dlsi_view *bias)
{
	size_t bytes = dls_dtype_bytes(target->dtype), planes = (size_t)(target->dims[0] * target->dims[1]);
	size_t pixels = planes ? dlsi_view_count(target) / planes : 0;
	char *at = target->data;

	if (!bias || !bias->data) {
		if (planes && pixels)
			memset(at, 0, dlsi_view_bytes(target));
		return;
	}
	for (size_t p = 0; p < planes; p++)
		for (size_t i = 0; i < pixels; i++, at += bytes)
			memcpy(at, (const char *)bias->data + p % (size_t)target->dims[1] * bytes, bytes);
}

/* target[i] += factor * source[i] */
typedef void multiply_add(
	void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count, const void *by);

#define MULTIPLY_ADD(type)                                                                                             \
	static void multiply_add_##type(                                                                               \
		void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count, const void *by)         \
	{                                                                                                              \
		type *restrict target = to;                                                                            \
		const type *restrict source = from;                                                                    \
		const type factor = *(const type *)by;                                                                 \
                                                                                                                       \
		if (to_step == 1 && from_step == 1)                                                                    \
			for (int64_t i = 0; i < count; i++)                                                            \
				target[i] += factor * source[i];                                                       \
		else                                                                                                   \
			for (int64_t i = 0; i < count; i++)                                                            \
				target[i * to_step] = (type)(target[i * to_step] + factor * source[i * from_step]);    \
	}

MULTIPLY_ADD(float)
MULTIPLY_ADD(double)
MULTIPLY_ADD(uint8_t)
MULTIPLY_ADD(uint16_t)
MULTIPLY_ADD(uint32_t)
MULTIPLY_ADD(uint64_t)

/* Integers wrap around, signed ones like unsigned ones. */
static multiply_add *multiply_add_of(enum dls_dtype dtype)
{
	if (dtype == DLS_FLOAT32)
		return multiply_add_float;
	if (dtype == DLS_FLOAT64)
		return multiply_add_double;
	switch (dls_dtype_bytes(dtype)) {
	case 1:
		return multiply_add_uint8_t;
	case 2:
		return multiply_add_uint16_t;
	case 4:
		return multiply_add_uint32_t;
	default:
		return multiply_add_uint64_t;
	}
}

struct work {
	const struct dlsi_slide *slide;
	multiply_add *multiply_add;
	size_t bytes; /* of an element */
	bool back;
};

/* One position of the kernel over one channel of the places and one of the image. */
static void slide_position(
	const struct work *work, char *places, char *image, const int64_t position[3], const void *weight)
{
	const struct dlsi_slide *slide = work->slide;
	int64_t first[3], end[3], pixel[3], stride = slide->strides[2];

	for (uint32_t d = 0; d < 3; d++) {
		dlsi_slide_range(slide, d, position[d], &first[d], &end[d]);
		pixel[d] = dlsi_slide_pixel(slide, d, position[d]);
	}
	if (first[2] == end[2])
		return;
	for (int64_t z = first[0]; z < end[0]; z++) {
		for (int64_t y = first[1]; y < end[1]; y++) {
			int64_t row =
				(pixel[0] + z * slide->strides[0]) * slide->image[1] + pixel[1] + y * slide->strides[1];
			int64_t under = row * slide->image[2] + pixel[2] + first[2] * stride;
			int64_t place = (z * slide->places[1] + y) * slide->places[2] + first[2];
			char *to = places + (size_t)place * work->bytes;
			char *from = image + (size_t)under * work->bytes;

			if (work->back)
				work->multiply_add(from, stride, to, 1, end[2] - first[2], weight);
			else
				work->multiply_add(to, 1, from, stride, end[2] - first[2], weight);
		}
	}
}

static void slide_kernel(const struct work *work, char *places, char *image, const char *weights)
{
	const int64_t *kernel = work->slide->kernel;
	int64_t at[3];

	for (at[0] = 0; at[0] < kernel[0]; at[0]++)
		for (at[1] = 0; at[1] < kernel[1]; at[1]++)
			for (at[2] = 0; at[2] < kernel[2]; at[2]++, weights += work->bytes)
				slide_position(work, places, image, at, weights);
}

static void convolve(
	const struct dlsi_convolution *convolution, char *places, char *image, const char *weights, bool back)
{
	const struct dlsi_slide *slide = &convolution->slide;
	struct work work = {.slide = slide,
		.multiply_add = multiply_add_of(convolution->dtype),
		.bytes = dls_dtype_bytes(convolution->dtype),
		.back = back};
	size_t place_bytes = (size_t)dlsi_slide_places(slide) * work.bytes;
	size_t image_bytes = (size_t)dlsi_slide_pixels(slide) * work.bytes;
	size_t kernel_bytes = (size_t)dlsi_slide_positions(slide) * work.bytes;
	int64_t in_group = convolution->place_channels / convolution->groups;
	int64_t seen = convolution->image_channels / convolution->groups;

	for (int64_t item = 0; item < convolution->items; item++) {
		for (int64_t p = 0; p < convolution->place_channels; p++) {
			size_t place = (size_t)(item * convolution->place_channels + p);
			size_t pixel = (size_t)(item * convolution->image_channels + p / in_group * seen);

			for (int64_t c = 0; c < seen; c++)
				slide_kernel(&work, places + place * place_bytes,
					image + (pixel + (size_t)c) * image_bytes,
					weights + (size_t)(p * seen + c) * kernel_bytes);
		}
	}
}

void dlsi_convolve(const struct dlsi_convolution *convolution, void *places, const void *image, const void *weights)
{
	convolve(convolution, places, (void *)image, weights, false);
}

void dlsi_convolve_back(
	const struct dlsi_convolution *convolution, void *image, const void *places, const void *weights)
{
	convolve(convolution, (void *)places, image, weights, true);
}

/* The one of any type. */
static const void *one(enum dls_dtype dtype)
{
	static const float float_one = 1;
	static const double double_one = 1;
	static const uint64_t integer = 1; /* little-endian: the first bytes are the same of any width */

	return dtype == DLS_FLOAT32   ? (const void *)&float_one
	       : dtype == DLS_FLOAT64 ? (const void *)&double_one
				      : &integer;
}

void dlsi_convolve_columns(enum dls_dtype dtype, const struct dlsi_slide *slide, void *image, const void *columns)
{
	struct work work = {
		.slide = slide, .multiply_add = multiply_add_of(dtype), .bytes = dls_dtype_bytes(dtype), .back = true};
	size_t bytes = (size_t)dlsi_slide_places(slide) * work.bytes;
	char *column = (char *)columns;
	int64_t at[3];

	for (at[0] = 0; at[0] < slide->kernel[0]; at[0]++)
		for (at[1] = 0; at[1] < slide->kernel[1]; at[1]++)
			for (at[2] = 0; at[2] < slide->kernel[2]; at[2]++, column += bytes)
				slide_position(&work, column, image, at, one(dtype));
}
