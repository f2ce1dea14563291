#include "op/window.h"

#include "base/shape.h"
#include <string.h>

enum { SIZE_MOST = INT32_MAX }; /* of a kernel, stride, dilation or pad: so no product of two overflows */

/* Reads a list of `count` sizes from `least` on; `otherwise` fills it when the attribute is left out. */
static int read_sizes(const struct dlsi_node *node, const char *name, uint32_t count, int64_t least, int64_t otherwise,
	int64_t *sizes_out, struct dls_error *err)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	if (attribute && attribute->count != count)
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "has %u %s; its input needs %u", attribute->count, name, count);
	for (uint32_t i = 0; i < count; i++) {
		sizes_out[i] = attribute ? attribute->ints[i] : otherwise;
		if (sizes_out[i] < least || sizes_out[i] > SIZE_MOST)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has %lld among its %s; %lld is the least",
				(long long)sizes_out[i], name, (long long)least);
	}
	return 0;
}

static int64_t extent(const struct dlsi_window *window, uint32_t i)
{
	return (window->kernel[i] - 1) * window->dilations[i] + 1;
}

/* ONNX's SAME: the output has ceil(input / stride) places; an odd pixel of padding goes to the upper or lower end. */
static void pad_same(struct dlsi_window *window, const int64_t *input, bool upper)
{
	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t stride = window->strides[i], places = (input[i] + stride - 1) / stride;
		int64_t total = (places - 1) * stride + extent(window, i) - input[i];

		total = total > 0 ? total : 0;
		window->pads_before[i] = upper ? total / 2 : total - total / 2;
		window->pads_after[i] = total - window->pads_before[i];
	}
}

static int read_pads(
	const struct dlsi_node *node, const int64_t *input, struct dlsi_window *window, struct dls_error *err)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, "auto_pad");
	const char *mode = attribute && *attribute->s ? attribute->s : "NOTSET";
	int64_t pads[2 * DLSI_SPATIAL_RANK] = {0};
	int rc = 0;

	if (strcmp(mode, "SAME_UPPER") == 0 || strcmp(mode, "SAME_LOWER") == 0) {
		pad_same(window, input, strcmp(mode, "SAME_UPPER") == 0);
		return 0;
	}
	if (strcmp(mode, "NOTSET") == 0)
		rc = read_sizes(node, "pads", 2 * window->rank, 0, 0, pads, err);
	else if (strcmp(mode, "VALID") != 0)
		rc = dlsi_node_fail(node, err, DLS_EFORMAT, "has the unknown auto_pad '%s'", mode);
	for (uint32_t i = 0; rc == 0 && i < window->rank; i++) {
		window->pads_before[i] = pads[i];
		window->pads_after[i] = pads[window->rank + i];
	}
	return rc;
}

/* How many places the window has; with ceil_mode also one that sticks out at the end, if it begins inside. */
static int count_places(const struct dlsi_node *node, const struct dlsi_window *window, const int64_t *input, bool ceil,
	int64_t *spatial_out, struct dls_error *err)
{
	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t stride = window->strides[i];
		int64_t room = input[i] + window->pads_before[i] + window->pads_after[i] - extent(window, i);

		room += ceil ? stride - 1 : 0;
		if (room < 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT,
				"has a window of %lld, larger than its padded input of %lld",
				(long long)extent(window, i),
				(long long)(input[i] + window->pads_before[i] + window->pads_after[i]));
		spatial_out[i] = room / stride + 1;
		if (ceil && (spatial_out[i] - 1) * stride >= input[i] + window->pads_before[i])
			spatial_out[i]--;
	}
	return 0;
}

/* Kernel, strides and dilations. */
static int read_window(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window, struct dls_error *err)
{
	int rc = 0;

	window->rank = input->rank - 2;
	if (input->rank < 3 || window->rank > DLSI_SPATIAL_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes %s; 1 to %d spatial dimensions are supported",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, DLSI_SPATIAL_RANK);
	if (kernel && !dlsi_node_attribute(node, "kernel_shape"))
		memcpy(window->kernel, kernel, window->rank * sizeof *kernel);
	else
		rc = read_sizes(node, "kernel_shape", window->rank, 1, 0, window->kernel, err);
	if (rc == 0)
		rc = read_sizes(node, "strides", window->rank, 1, 1, window->strides, err);
	if (rc == 0)
		rc = read_sizes(node, "dilations", window->rank, 1, 1, window->dilations, err);
	for (uint32_t i = 0; rc == 0 && i < window->rank; i++)
		if (window->kernel[i] < 1 || window->kernel[i] > SIZE_MOST) /* of weights that are empty */
			rc = dlsi_node_fail(
				node, err, DLS_EFORMAT, "has a kernel of %lld", (long long)window->kernel[i]);
	return rc;
}

int dlsi_window_infer(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err)
{
	struct dlsi_window window = {0};
	bool ceil = dlsi_node_int(node, "ceil_mode", 0);
	int rc = read_window(node, input, kernel, &window, err);

	if (rc == 0)
		rc = read_pads(node, &input->dims[2], &window, err);
	if (rc == 0)
		rc = count_places(node, &window, &input->dims[2], ceil, spatial_out, err);
	if (rc == 0)
		*window_out = window;
	return rc;
}

/* ---- the way back */

/* The image that the window reaches without padding, plus output_padding. */
static int reach(const struct dlsi_node *node, const struct dlsi_window *window, const int64_t *places,
	int64_t *reached_out, struct dls_error *err)
{
	int64_t more[DLSI_SPATIAL_RANK];
	int rc = read_sizes(node, "output_padding", window->rank, 0, 0, more, err);

	for (uint32_t i = 0; rc == 0 && i < window->rank; i++) {
		if (__builtin_mul_overflow(places[i] - 1, window->strides[i], &reached_out[i]) ||
			__builtin_add_overflow(reached_out[i], extent(window, i) + more[i], &reached_out[i]))
			rc = dlsi_node_fail(node, err, DLS_ELIMIT, "has an output larger than any memory");
	}
	return rc;
}

/* Pads so that the image has these dimensions: what it has more than the window reaches stays empty at its end. */
static void pad_to(struct dlsi_window *window, const int64_t *reached, const int64_t *image, bool upper)
{
	for (uint32_t i = 0; i < window->rank; i++) {
		int64_t total = reached[i] > image[i] ? reached[i] - image[i] : 0;

		window->pads_before[i] = upper ? total / 2 : total - total / 2;
		window->pads_after[i] = total - window->pads_before[i];
	}
}

int dlsi_window_infer_back(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err)
{
	struct dlsi_window window = {0};
	const int64_t *places = &input->dims[2];
	const char *mode = dlsi_node_string(node, "auto_pad", "NOTSET");
	bool upper = strcmp(mode, "SAME_UPPER") == 0, same = upper || strcmp(mode, "SAME_LOWER") == 0;
	bool given = dlsi_node_attribute(node, "output_shape");
	int64_t reached[DLSI_SPATIAL_RANK];
	int rc = read_window(node, input, kernel, &window, err);

	if (rc == 0)
		rc = reach(node, &window, places, reached, err);
	if (rc == 0 && given)
		rc = read_sizes(node, "output_shape", window.rank, 0, 0, spatial_out, err);
	for (uint32_t i = 0; rc == 0 && same && !given && i < window.rank; i++)
		if (__builtin_mul_overflow(places[i], window.strides[i], &spatial_out[i]))
			rc = dlsi_node_fail(node, err, DLS_ELIMIT, "has an output larger than any memory");
	if (rc == 0 && (given || same))
		pad_to(&window, reached, spatial_out, upper);
	else if (rc == 0)
		rc = read_pads(node, places, &window, err);
	for (uint32_t i = 0; rc == 0 && !given && !same && i < window.rank; i++)
		spatial_out[i] = reached[i] - window.pads_before[i] - window.pads_after[i];
	if (rc == 0)
		*window_out = window;
	return rc;
}

/* ---- sliding */

void dlsi_slide_init(
	struct dlsi_slide *slide, const struct dlsi_window *window, const int64_t *image, const int64_t *places)
{
	for (uint32_t d = 0; d < DLSI_SPATIAL_RANK; d++) {
		bool missing = d + window->rank < DLSI_SPATIAL_RANK;
		uint32_t i = missing ? 0 : d + window->rank - DLSI_SPATIAL_RANK;

		slide->image[d] = missing ? 1 : image[i];
		slide->places[d] = missing ? 1 : places[i];
		slide->kernel[d] = missing ? 1 : window->kernel[i];
		slide->strides[d] = missing ? 1 : window->strides[i];
		slide->dilations[d] = missing ? 1 : window->dilations[i];
		slide->pads_before[d] = missing ? 0 : window->pads_before[i];
		slide->pads_after[d] = missing ? 0 : window->pads_after[i];
	}
}

static int64_t volume(const int64_t *sizes)
{
	return sizes[0] * sizes[1] * sizes[2];
}

int64_t dlsi_slide_pixels(const struct dlsi_slide *slide)
{
	return volume(slide->image);
}

int64_t dlsi_slide_places(const struct dlsi_slide *slide)
{
	return volume(slide->places);
}

int64_t dlsi_slide_positions(const struct dlsi_slide *slide)
{
	return volume(slide->kernel);
}

int64_t dlsi_slide_pixel(const struct dlsi_slide *slide, uint32_t d, int64_t k)
{
	return k * slide->dilations[d] - slide->pads_before[d];
}

void dlsi_slide_range(const struct dlsi_slide *slide, uint32_t d, int64_t k, int64_t *first_out, int64_t *end_out)
{
	int64_t stride = slide->strides[d], pixel = dlsi_slide_pixel(slide, d, k), image = slide->image[d];
	int64_t first = pixel < 0 ? (-pixel + stride - 1) / stride : 0;
	int64_t end = pixel < image ? (image - 1 - pixel) / stride + 1 : 0;

	end = end < slide->places[d] ? end : slide->places[d];
	*first_out = first;
	*end_out = end > first ? end : first;
}

void dlsi_slide_sight(const struct dlsi_slide *slide, uint32_t d, int64_t place, int64_t *first_out, int64_t *end_out)
{
	int64_t dilation = slide->dilations[d], pixel = place * slide->strides[d] - slide->pads_before[d];
	int64_t first = pixel < 0 ? (-pixel + dilation - 1) / dilation : 0;
	int64_t end = pixel < slide->image[d] ? (slide->image[d] - 1 - pixel) / dilation + 1 : 0;

	end = end < slide->kernel[d] ? end : slide->kernel[d];
	*first_out = first;
	*end_out = end > first ? end : first;
}

bool dlsi_window_has_pads(const struct dlsi_window *window)
{
	for (uint32_t i = 0; i < window->rank; i++)
		if (window->pads_before[i] || window->pads_after[i])
			return true;
	return false;
}
