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

		if (room < 0)
			return dlsi_node_fail(node, err, DLS_EFORMAT,
				"has a window of %lld, larger than its padded input of %lld",
				(long long)extent(window, i), (long long)(room + extent(window, i)));
		spatial_out[i] = (room + (ceil ? stride - 1 : 0)) / stride + 1;
		if (ceil && (spatial_out[i] - 1) * stride >= input[i] + window->pads_before[i])
			spatial_out[i]--;
	}
	return 0;
}

int dlsi_window_infer(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err)
{
	struct dlsi_window window = {.rank = input->rank - 2};
	int rc;

	if (input->rank < 3 || window.rank > DLSI_SPATIAL_RANK)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "takes %s; 1 to %d spatial dimensions are supported",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text, DLSI_SPATIAL_RANK);
	if (kernel && !dlsi_node_attribute(node, "kernel_shape"))
		memcpy(window.kernel, kernel, window.rank * sizeof *kernel);
	else if ((rc = read_sizes(node, "kernel_shape", window.rank, 1, 0, window.kernel, err)))
		return rc;
	rc = read_sizes(node, "strides", window.rank, 1, 1, window.strides, err);
	if (rc == 0)
		rc = read_sizes(node, "dilations", window.rank, 1, 1, window.dilations, err);
	for (uint32_t i = 0; rc == 0 && i < window.rank; i++)
		if (window.kernel[i] > SIZE_MOST) /* of weights that are empty */
			rc = dlsi_node_fail(
				node, err, DLS_EFORMAT, "has a kernel of %lld", (long long)window.kernel[i]);
	if (rc == 0)
		rc = read_pads(node, &input->dims[2], &window, err);
	if (rc == 0)
		rc = count_places(
			node, &window, &input->dims[2], dlsi_node_int(node, "ceil_mode", 0), spatial_out, err);
	if (rc == 0)
		*window_out = window;
	return rc;
}
