#include "media/prepare.h"

#include "base/limits.h"
#include "base/shape.h"
#include "media/framing.h"
#include "media/npy.h"
#include "media/photo.h"
#include "reader/tensor_file.h"
#include <math.h>
#include <string.h>

/* Samples where they lie, whole or a part of a picture. */
struct samples {
	const uint8_t *at;
	size_t stride; /* from row to row */
	size_t step;   /* from pixel to pixel */
	uint32_t width, height;
	uint32_t channels;
};

static struct samples show(const struct dlsi_image *image, const struct dlsi_region *region)
{
	size_t stride = (size_t)image->width * image->channels;

	return (struct samples){.at = image->pixels + region->top * stride + (size_t)region->left * image->channels,
		.stride = stride,
		.step = image->channels,
		.width = region->width,
		.height = region->height,
		.channels = image->channels};
}

/* The shape of a picture in the plan's layout, as text; sizes that are not known yet are -1. */
static struct dlsi_shape_text picture_shape(const struct dlsi_prepare *plan, int64_t height, int64_t width)
{
	int64_t channels = plan->how->colour == DLSI_COLOUR_GREY ? 1 : 3;
	int64_t nchw[] = {1, channels, height, width}, nhwc[] = {1, height, width, channels};
	const int64_t *dims = plan->how->layout == DLSI_LAYOUT_NCHW ? nchw : nhwc;

	return dlsi_shape_text(plan->dtype, plan->rank == 4 ? 4 : 3, plan->rank == 4 ? dims : dims + 1);
}

static int64_t known(uint32_t side)
{
	return side ? (int64_t)side : -1;
}

/* Whether the input has the shape of a picture that model.json describes; takes its size from it. */
static bool take_picture(struct dlsi_prepare *plan)
{
	const int64_t *dims = plan->dims + (plan->rank == 4);
	bool nchw = plan->how->layout == DLSI_LAYOUT_NCHW;
	uint32_t height, width;

	plan->channels = plan->how->colour == DLSI_COLOUR_GREY ? 1 : 3;
	dlsi_framing_size(plan->how, &height, &width);
	if (plan->rank != 3 && (plan->rank != 4 || plan->dims[0] != 1))
		return false;
	if (dims[nchw ? 0 : 2] != plan->channels || dims[nchw ? 1 : 0] > UINT32_MAX || dims[nchw ? 2 : 1] > UINT32_MAX)
		return false;
	plan->height = (uint32_t)dims[nchw ? 1 : 0];
	plan->width = (uint32_t)dims[nchw ? 2 : 1];
	return (!height || height == plan->height) && (!width || width == plan->width);
}

/* What each sample of a photo becomes. */
static int make_values(struct dlsi_prepare *plan, struct dls_error *err)
{
	const struct dlsi_input_description *how = plan->how;

	for (uint32_t c = 0; c < plan->channels; c++)
		for (int sample = 0; sample < 256; sample++) {
			float value = (float)((sample * how->scale - how->mean[c]) / how->std[c]);

			if (!isfinite(value))
				return dlsi_fail(err, DLS_EINVAL,
					"scale, mean and std in model.json make a number of a sample of the input "
					"\"%s\" that float32 cannot hold",
					plan->name);
			if (plan->dtype == DLS_UINT8 && value != (float)sample)
				return dlsi_fail(err, DLS_EINVAL,
					"the input \"%s\" is uint8 and takes samples as they are; remove scale, mean "
					"and std from model.json",
					plan->name);
			plan->values[c][sample] = value;
		}
	return 0;
}

static int init_image(struct dlsi_prepare *plan, struct dls_error *err)
{
	const struct dlsi_input_description *how = plan->how;
	uint32_t height, width;

	if (plan->dtype != DLS_FLOAT32 && plan->dtype != DLS_UINT8)
		return dlsi_fail(err, DLS_EINVAL,
			"the input \"%s\" is %s; photos become float32 or uint8 only: describe it as kind tensor",
			plan->name, dls_dtype_name(plan->dtype));
	if (!take_picture(plan)) {
		dlsi_framing_size(how, &height, &width);
		return dlsi_fail(err, DLS_EINVAL,
			"the input \"%s\" is %s, and a photo becomes %s by model.json; change its colour, layout, "
			"resize "
			"or crop",
			plan->name, dlsi_shape_text(plan->dtype, plan->rank, plan->dims).text,
			picture_shape(plan, known(height), known(width)).text);
	}
	return make_values(plan, err);
}

int dlsi_prepare_init(struct dlsi_prepare *plan, const char *name, const struct dlsi_input_description *how,
	enum dls_dtype dtype, uint32_t rank, const int64_t *dims, struct dls_error *err)
{
	struct dlsi_prepare made = {.name = name, .how = how, .dtype = dtype, .rank = rank};
	int rc = 0;

	if (dls_tensor_bytes(dtype, rank, dims, &made.bytes) || !made.bytes)
		return dlsi_fail(err, DLS_EINVAL, "the input \"%s\" has the shape %s, which no item can have", name,
			dlsi_shape_text(dtype, rank, dims).text);
	memcpy(made.dims, dims, rank * sizeof *dims);
	if (how->kind == DLSI_INPUT_IMAGE)
		rc = init_image(&made, err);
	if (rc == 0)
		*plan = made;
	return rc;
}

/* How far apart the plan's elements lie from channel to channel, row to row and pixel to pixel. */
struct steps {
	size_t channel, row, pixel;
};

static struct steps find_steps(const struct dlsi_prepare *plan)
{
	size_t width = plan->width, height = plan->height, channels = plan->channels;

	if (plan->how->layout == DLSI_LAYOUT_NCHW)
		return (struct steps){.channel = height * width, .row = width, .pixel = 1};
	return (struct steps){.channel = 1, .row = width * channels, .pixel = channels};
}

static void write_floats(
	const float *values, const uint8_t *samples, size_t step, uint32_t count, float *out, size_t out_step)
{
	for (uint32_t x = 0; x < count; x++)
		out[x * out_step] = values[samples[x * step]];
}

static void write_bytes(const uint8_t *samples, size_t step, uint32_t count, uint8_t *out, size_t out_step)
{
	for (uint32_t x = 0; x < count; x++)
		out[x * out_step] = samples[x * step];
}

/* Writes the samples into the picture, with the top left one in the given place. */
static void write_samples(
	const struct dlsi_prepare *plan, const struct samples *samples, uint32_t left, uint32_t top, void *out)
{
	struct steps steps = find_steps(plan);

	for (uint32_t c = 0; c < plan->channels; c++) {
		uint32_t from = samples->channels == 1 ? 0 : plan->how->colour == DLSI_COLOUR_BGR ? 2 - c : c;

		for (uint32_t y = 0; y < samples->height; y++) {
			const uint8_t *row = samples->at + y * samples->stride + from;
			size_t at = c * steps.channel + (top + y) * steps.row + left * steps.pixel;

			if (plan->dtype == DLS_FLOAT32)
				write_floats(plan->values[c], row, samples->step, samples->width, (float *)out + at,
					steps.pixel);
			else
				write_bytes(row, samples->step, samples->width, (uint8_t *)out + at, steps.pixel);
		}
	}
}

/* Fills the picture with the padding: one sample, which is every pixel. */
static void write_padding(const struct dlsi_prepare *plan, void *out)
{
	uint8_t pad = (uint8_t)plan->how->pad;
	struct samples samples = {.at = &pad, .width = plan->width, .height = plan->height, .channels = 1};

	write_samples(plan, &samples, 0, 0, out);
}

/* From pixels to the item. */
static int prepare_image(const struct dlsi_prepare *plan, struct dlsi_image *image, void *out, struct dls_error *err)
{
	struct dlsi_image resized;
	struct dlsi_framing framing;
	struct samples samples;
	int rc = dlsi_framing_init(&framing, plan->how, image->width, image->height, err);

	if (rc)
		return rc;
	if (framing.full_width != plan->width || framing.full_height != plan->height)
		return dlsi_fail(err, DLS_EINVAL,
			"the input \"%s\" is %s, and this photo becomes %s; let model.json resize or crop it",
			plan->name, dlsi_shape_text(plan->dtype, plan->rank, plan->dims).text,
			picture_shape(plan, framing.full_height, framing.full_width).text);
	if (plan->how->colour == DLSI_COLOUR_GREY)
		dlsi_image_make_grey(image);
	if (framing.region.width < plan->width || framing.region.height < plan->height)
		write_padding(plan, out);
	if (framing.width == image->width && framing.height == image->height) {
		samples = show(image, &framing.region);
		write_samples(plan, &samples, framing.left, framing.top, out);
		return 0;
	}
	rc = dlsi_resize(image, plan->how->filter, framing.width, framing.height, &framing.region, &resized, err);
	if (rc)
		return rc;
	samples = show(&resized, &(struct dlsi_region){.width = resized.width, .height = resized.height});
	write_samples(plan, &samples, framing.left, framing.top, out);
	dlsi_image_fini(&resized);
	return 0;
}

/* Past leading dimensions of 1. */
static void strip(const int64_t **dims, uint32_t *rank)
{
	while (*rank && **dims == 1) {
		++*dims;
		--*rank;
	}
}

static bool is_own(const struct dlsi_prepare *plan, const struct dls_tensor *tensor)
{
	const int64_t *mine = plan->dims, *its = tensor->dims;
	uint32_t my_rank = plan->rank, its_rank = tensor->rank;

	strip(&mine, &my_rank);
	strip(&its, &its_rank);
	return tensor->dtype == plan->dtype && my_rank == its_rank && memcmp(mine, its, my_rank * sizeof *mine) == 0;
}

static int refuse_tensor(const struct dlsi_prepare *plan, const struct dls_tensor *tensor, struct dls_error *err)
{
	return dlsi_fail(err, DLS_EINVAL, "the input \"%s\" is %s, and this item is %s%s", plan->name,
		dlsi_shape_text(plan->dtype, plan->rank, plan->dims).text,
		dlsi_shape_text(tensor->dtype, tensor->rank, tensor->dims).text,
		plan->how->kind == DLSI_INPUT_IMAGE ? "; give pixels as uint8 [height, width] or [height, width, 3]"
						    : "");
}

/* A tensor of uint8 as pixels: two dimensions, or three of which the last one are channels. */
static int prepare_pixels(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc,
	const struct dls_tensor *tensor, void *out, struct dls_error *err)
{
	const int64_t *dims = tensor->dims;
	struct dlsi_image image;
	uint32_t rank = tensor->rank, channels = 1;
	int rc;

	while (rank > 3 && *dims == 1) {
		dims++;
		rank--;
	}
	if (rank == 3 && (dims[2] == 1 || dims[2] == 3)) {
		channels = (uint32_t)dims[2];
	} else if (rank == 3 && *dims == 1) {
		dims++;
	} else if (rank != 2) {
		return refuse_tensor(plan, tensor, err);
	}
	if (dims[0] > DLSI_IMAGE_SIDE || dims[1] > DLSI_IMAGE_SIDE)
		return refuse_tensor(plan, tensor, err);
	rc = dlsi_image_init(&image, alloc, (uint32_t)dims[1], (uint32_t)dims[0], channels, err);
	if (rc)
		return rc;
	memcpy(image.pixels, tensor->data, tensor->bytes);
	rc = prepare_image(plan, &image, out, err);
	dlsi_image_fini(&image);
	return rc;
}

int dlsi_prepare_tensor(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc,
	const struct dls_tensor *tensor, void *out, struct dls_error *err)
{
	size_t bytes;

	if (dls_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims, &bytes) || bytes != tensor->bytes)
		return dlsi_fail(err, DLS_EINVAL, "the tensor for the input \"%s\" is %s and has %zu bytes", plan->name,
			dlsi_shape_text(tensor->dtype, tensor->rank, tensor->dims).text, tensor->bytes);
	if (plan->how->kind == DLSI_INPUT_IMAGE && tensor->dtype == DLS_UINT8)
		return prepare_pixels(plan, alloc, tensor, out, err);
	if (!is_own(plan, tensor))
		return refuse_tensor(plan, tensor, err);
	memcpy(out, tensor->data, bytes);
	return 0;
}

static int prepare_npy(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc, const uint8_t *data,
	size_t length, void *out, struct dls_error *err)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct dlsi_array array;
	int rc = dlsi_npy_parse(data, length, &array, err);

	if (rc)
		return rc;
	tensor.dtype = array.dtype;
	tensor.rank = array.rank;
	memcpy(tensor.dims, array.dims, sizeof tensor.dims);
	tensor.data = data + array.offset;
	tensor.bytes = (size_t)array.bytes;
	return dlsi_prepare_tensor(plan, alloc, &tensor, out, err);
}

static int prepare_onnx(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc, const void *data,
	size_t length, void *out, struct dls_error *err)
{
	struct dls_tensor tensor;
	int rc = dlsi_tensor_file_read(alloc, data, length, &tensor, err);

	if (rc)
		return rc;
	rc = dlsi_prepare_tensor(plan, alloc, &tensor, out, err);
	dlsi_free(alloc, (void *)(uintptr_t)tensor.data);
	return rc;
}

int dlsi_prepare_file(const struct dlsi_prepare *plan, const struct dlsi_alloc *alloc, const void *data, size_t length,
	void *out, struct dls_error *err)
{
	struct dlsi_image image;
	int rc;

	if (dlsi_npy_recognise(data, length))
		return prepare_npy(plan, alloc, data, length, out, err);
	if (dlsi_tensor_file_recognise(data, length))
		return prepare_onnx(plan, alloc, data, length, out, err);
	if (plan->how->kind != DLSI_INPUT_IMAGE)
		return dlsi_fail(err, DLS_EINVAL,
			"the input \"%s\" takes tensors, .npy and .pb files; for photos, describe it as kind image in "
			"model.json",
			plan->name);
	rc = dlsi_photo_decode(alloc, data, length, &image, err);
	if (rc)
		return rc;
	rc = prepare_image(plan, &image, out, err);
	dlsi_image_fini(&image);
	return rc;
}
