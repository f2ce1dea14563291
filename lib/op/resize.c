#include "op/resize.h"

#include "base/limits.h"
#include "graph/work.h"
#include "op/cast.h"
#include <math.h>
#include <string.h>

/* ---- reading */

enum {
	NUMBERS = 2 * DLS_TENSOR_RANK,
	TAPS_MOST = 1 << 26 /* of an axis: weights that are kept */
};

/* The numbers of a constant input; *count_out is 0 if there are none. */
static int read_numbers(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, double *numbers_out,
	uint32_t *count_out, struct dls_error *err)
{
	const struct dlsi_value *value = dlsi_node_input(graph, node, i);
	uint64_t aligned[NUMBERS];

	*count_out = 0;
	if (!value || dlsi_value_count(value) == 0)
		return 0;
	if (!value->data)
		return dlsi_node_refuse_variable(node, value, err);
	if (dlsi_value_count(value) > NUMBERS)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %zu numbers from '%s'; %d are the most",
			dlsi_value_count(value), value->name, NUMBERS);
	memcpy(aligned, value->data, dlsi_value_bytes(value));
	dlsi_cast(DLS_FLOAT64, numbers_out, value->dtype, aligned, dlsi_value_count(value));
	*count_out = (uint32_t)dlsi_value_count(value);
	return 0;
}

/* Which word an attribute is, of a list that ends with NULL. */
static int read_word(const struct dlsi_node *node, const char *name, const char *const *words, const char *otherwise,
	int *word_out, struct dls_error *err)
{
	const char *word = dlsi_node_string(node, name, otherwise);

	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], word) == 0) {
			*word_out = i;
			return 0;
		}
	}
	return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "has '%s' as its %s, which is not known", word, name);
}

static int read_modes(const struct dlsi_node *node, struct dlsi_resize *resize, struct dls_error *err)
{
	static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", NULL};
	static const char *const places[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
		"align_corners", "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn", NULL};
	static const char *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
	bool old = node->version < 11;
	int mode = 0, place = 0, round = 0;
	int rc = read_word(node, "mode", modes, "nearest", &mode, err);

	if (rc == 0)
		rc = read_word(
			node, "coordinate_transformation_mode", places, old ? "asymmetric" : "half_pixel", &place, err);
	if (rc == 0)
		rc = read_word(node, "nearest_mode", rounds, "round_prefer_floor", &round, err);
	if (rc)
		return rc;
	resize->mode = mode == 3 ? DLSI_RESIZE_LINEAR : (enum dlsi_resize_mode)mode;
	resize->place = (enum dlsi_resize_place)place;
	resize->round = old ? DLSI_ROUND_OLD : (enum dlsi_resize_round)round;
	resize->antialias = dlsi_node_int(node, "antialias", 0);
	resize->exclude_outside = dlsi_node_int(node, "exclude_outside", 0);
	resize->cubic = dlsi_node_float(node, "cubic_coeff_a", -0.75F);
	resize->extrapolation = dlsi_node_float(node, "extrapolation_value", 0);
	return 0;
}

/* What inputs and attributes say, for the axes that they are about. */
struct told {
	uint32_t axes[DLS_TENSOR_RANK];
	uint32_t axis_count, scale_count, size_count, region_count;
	double scales[NUMBERS], sizes[NUMBERS], regions[NUMBERS];
};

static int read_told(
	const struct dlsi_graph *graph, const struct dlsi_node *node, struct told *told, struct dls_error *err)
{
	const struct dlsi_attribute *scales = dlsi_node_attribute(node, "scales");
	bool old = node->version < 11;
	int rc = dlsi_node_axes(
		graph, node, DLSI_OP_ABSENT, dlsi_node_input(graph, node, 0)->rank, told->axes, &told->axis_count, err);

	if (rc == 0)
		rc = read_numbers(graph, node, old ? 1 : 2, told->scales, &told->scale_count, err);
	if (rc == 0)
		rc = read_numbers(graph, node, old ? DLSI_OP_ABSENT : 3, told->sizes, &told->size_count, err);
	if (rc == 0)
		rc = read_numbers(graph, node, old ? DLSI_OP_ABSENT : 1, told->regions, &told->region_count, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; scales && i < scales->count && i < NUMBERS; i++)
		told->scales[told->scale_count++] = scales->floats[i];
	if (told->axis_count == DLSI_OP_ABSENT)
		for (told->axis_count = 0; told->axis_count < dlsi_node_input(graph, node, 0)->rank; told->axis_count++)
			told->axes[told->axis_count] = told->axis_count;
	return 0;
}

static int check_told(
	const struct dlsi_node *node, const struct dlsi_resize *resize, const struct told *told, struct dls_error *err)
{
	uint32_t count = told->size_count ? told->size_count : told->scale_count;
	bool sized = told->size_count;

	if (count != told->axis_count ||
		(resize->place == DLSI_PLACE_CROP && told->region_count != 2 * told->axis_count))
		return dlsi_node_fail(node, err, DLS_EFORMAT,
			"has %u scales, %u sizes and %u numbers of regions for %u axes", told->scale_count,
			told->size_count, told->region_count, told->axis_count);
	for (uint32_t i = 0; i < count; i++)
		if (sized ? !(told->sizes[i] >= 0 && told->sizes[i] < (double)DLSI_VALUE_BYTES)
			  : !(told->scales[i] > 0 && told->scales[i] < (double)DLSI_VALUE_BYTES))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the impossible %s %g",
				sized ? "size" : "scale", sized ? told->sizes[i] : told->scales[i]);
	return 0;
}

/* All axes get the scale of the one that grows most, or least. */
static void keep_aspect_ratio(struct dlsi_resize *resize, const struct told *told, bool larger)
{
	const struct dlsi_resize_axis *chosen = NULL;
	double numerator, denominator;

	for (uint32_t i = 0; i < told->axis_count; i++) {
		const struct dlsi_resize_axis *axis = &resize->axes[told->axes[i]];

		if (!chosen ||
			(axis->numerator * chosen->denominator > chosen->numerator * axis->denominator) == larger)
			chosen = axis;
	}
	numerator = chosen ? chosen->numerator : 1;
	denominator = chosen ? chosen->denominator : 1;
	for (uint32_t i = 0; i < told->axis_count; i++) {
		struct dlsi_resize_axis *axis = &resize->axes[told->axes[i]];

		axis->numerator = numerator;
		axis->denominator = denominator;
		axis->out = (int64_t)floor((double)axis->in * numerator / denominator + 0.5);
	}
}

/* ONNX multiplies in single precision. */
static void set_scale(const struct dlsi_resize *resize, struct dlsi_resize_axis *axis, double scale)
{
	float region = resize->place == DLSI_PLACE_CROP ? (float)(axis->end - axis->begin) : 1;
	float out = floorf((float)axis->in * region * (float)scale);

	axis->numerator = scale;
	axis->denominator = 1;
	axis->out = out < (float)DLSI_VALUE_BYTES ? out > 0 ? (int64_t)out : 0 : INT64_MAX;
}

static void set_axes(struct dlsi_resize *resize, const struct told *told)
{
	for (uint32_t i = 0; i < told->axis_count; i++) {
		struct dlsi_resize_axis *axis = &resize->axes[told->axes[i]];

		if (resize->place == DLSI_PLACE_CROP) {
			axis->begin = told->regions[i];
			axis->end = told->regions[told->axis_count + i];
		}
		if (told->size_count) {
			axis->out = (int64_t)told->sizes[i];
			axis->numerator = (double)axis->out;
			axis->denominator = (double)axis->in;
		} else {
			set_scale(resize, axis, told->scales[i]);
		}
	}
}

/* By how much places of the input lie closer together than those of the output, where it is smoothed. */
static double stretch_of(const struct dlsi_resize *resize, const struct dlsi_resize_axis *axis)
{
	double scale = axis->numerator / axis->denominator;

	return resize->antialias && scale < 1 ? scale : 1;
}

/* Where the taps of an element begin; as many as lie before its place lie behind it. */
static int64_t first_tap(const struct dlsi_resize *resize, const struct dlsi_resize_axis *axis)
{
	double support = resize->mode == DLSI_RESIZE_CUBIC ? 2 : 1;

	return axis->out ? (int64_t)floor(-support / stretch_of(resize, axis)) + 1 : 0; /* scales without pixels: any */
}

static double count_taps(const struct dlsi_resize *resize, const struct dlsi_resize_axis *axis)
{
	return 2 - 2 * (double)first_tap(resize, axis);
}

/* Of what follows from the axes. */
static int finish_axes(
	const struct dlsi_node *node, struct dlsi_resize *resize, const struct dlsi_value *input, struct dls_error *err)
{
	for (uint32_t i = 0; i < input->rank; i++) {
		struct dlsi_resize_axis *axis = &resize->axes[i];
		bool whole = axis->begin == 0 && axis->end == 1;
		double scale = axis->numerator / axis->denominator;

		axis->same = axis->in == axis->out && axis->numerator == axis->denominator &&
			     (whole || resize->place != DLSI_PLACE_CROP);
		if (!axis->same && axis->out > 0 &&
			(axis->in == 0 || !(scale * (double)axis->in >= 0.5) || !isfinite(axis->begin) ||
				!isfinite(axis->end)))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "makes %lld of %lld elements by the scale %g",
				(long long)axis->out, (long long)axis->in, scale);
		if (!axis->same && resize->mode != DLSI_RESIZE_NEAREST &&
			(double)axis->out * count_taps(resize, axis) > TAPS_MOST)
			return dlsi_node_fail(node, err, DLS_ELIMIT,
				"weighs %g elements for each of %lld, which no memory can hold",
				count_taps(resize, axis), (long long)axis->out);
	}
	return 0;
}

int dlsi_resize_read(struct dlsi_graph *graph, const struct dlsi_node *node, const struct dlsi_resize **resize_out,
	struct dls_error *err)
{
	static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	struct dlsi_resize *resize = dlsi_arena_take(&graph->arena, 1, sizeof *resize);
	struct told told;
	int policy = 0, rc = resize ? read_modes(node, resize, err) : dlsi_fail_memory(err);

	if (rc == 0)
		rc = read_word(node, "keep_aspect_ratio_policy", policies, "stretch", &policy, err);
	if (rc == 0)
		rc = read_told(graph, node, &told, err);
	if (rc == 0)
		rc = check_told(node, resize, &told, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < input->rank; i++)
		resize->axes[i] = (struct dlsi_resize_axis){
			.in = input->dims[i], .out = input->dims[i], .numerator = 1, .denominator = 1, .end = 1};
	set_axes(resize, &told);
	if (policy && told.size_count)
		keep_aspect_ratio(resize, &told, policy == 2);
	*resize_out = resize;
	return finish_axes(node, resize, input, err);
}

/* ---- places */

double dlsi_resize_place(const struct dlsi_resize *resize, uint32_t i, int64_t index)
{
	const struct dlsi_resize_axis *axis = &resize->axes[i];
	double in = (double)axis->in, x = (double)index;
	double length = in * axis->numerator / axis->denominator; /* which may be fractional */
	double half = (x + 0.5) * axis->denominator / axis->numerator - 0.5, place;

	switch (resize->place) {
	case DLSI_PLACE_HALF_PIXEL_SYMMETRIC:
		return in / 2 * (1 - (double)axis->out / length) + half;
	case DLSI_PLACE_PYTORCH_HALF_PIXEL:
		return axis->out > 1 ? half : 0;
	case DLSI_PLACE_ALIGN_CORNERS:
		return length == 1 ? 0 : x * (in - 1) / (length - 1);
	case DLSI_PLACE_ASYMMETRIC:
		return x * axis->denominator / axis->numerator;
	case DLSI_PLACE_TF_HALF_PIXEL:
		return half + 0.5;
	case DLSI_PLACE_CROP:
		place = axis->out > 1 ? axis->begin * (in - 1) + x * (axis->end - axis->begin) * (in - 1) / (length - 1)
				      : 0.5 * (axis->begin + axis->end) * (in - 1);
		return place < 0 || place > in - 1 ? (double)NAN : place;
	default:
		return half;
	}
}

static double round_place(const struct dlsi_resize *resize, const struct dlsi_resize_axis *axis, double x)
{
	switch (resize->round) {
	case DLSI_ROUND_UP:
		return floor(x + 0.5);
	case DLSI_ROUND_FLOOR:
		return floor(x);
	case DLSI_ROUND_CEIL:
		return ceil(x);
	case DLSI_ROUND_OLD: /* before operator set 11 it was not said; this is what runtimes did */
		return axis->numerator < axis->denominator ? ceil(x) : floor(x);
	default:
		return ceil(x - 0.5);
	}
}

int64_t dlsi_resize_nearest(const struct dlsi_resize *resize, uint32_t i, int64_t index)
{
	const struct dlsi_resize_axis *axis = &resize->axes[i];
	double x = dlsi_resize_place(resize, i, index);

	if (isnan(x))
		return -1;
	x = round_place(resize, axis, x);
	return x <= 0 ? 0 : x >= (double)(axis->in - 1) ? axis->in - 1 : (int64_t)x;
}

/* ---- weights */

static double weigh(const struct dlsi_resize *resize, double distance)
{
	double x = fabs(distance), a = (double)resize->cubic;

	if (resize->mode == DLSI_RESIZE_LINEAR)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* The taps of one element, beginning `first` elements from the last one before its place. */
static void set_taps(const struct dlsi_resize *resize, const struct dlsi_resize_axis *axis, double place,
	double stretch, int64_t first, int64_t count, int64_t *indices, double *weights)
{
	double before = ceil(place) - 1, sum = 0;

	for (int64_t i = 0; i < count; i++) {
		double at = before + (double)(first + i);
		bool outside = at < 0 || at > (double)(axis->in - 1);

		weights[i] = resize->exclude_outside && outside ? 0 : weigh(resize, (at - place) * stretch);
		indices[i] = at < 0 ? 0 : at > (double)(axis->in - 1) ? axis->in - 1 : (int64_t)at;
		sum += weights[i];
	}
	for (int64_t i = 0; i < count && sum != 0; i++)
		weights[i] /= sum;
}

double dlsi_resize_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	struct dlsi_value value = *dlsi_node_input(graph, node, 0);
	double steps = 0;

	for (uint32_t i = 0; node->resize->mode != DLSI_RESIZE_NEAREST && i < value.rank; i++) {
		const struct dlsi_resize_axis *axis = &node->resize->axes[i];

		value.dims[i] = axis->out;
		steps += axis->same ? 0 : dlsi_value_extent(&value) * count_taps(node->resize, axis);
	}
	return steps;
}

int dlsi_resize_taps(const struct dlsi_resize *resize, uint32_t i, const struct dlsi_alloc *alloc,
	struct dlsi_resize_taps *taps, struct dls_error *err)
{
	const struct dlsi_resize_axis *axis = &resize->axes[i];
	double stretch = stretch_of(resize, axis);
	int64_t first = first_tap(resize, axis);

	taps->count = 2 - 2 * first;
	taps->indices = dlsi_calloc(alloc, (size_t)axis->out * (size_t)taps->count + 1, sizeof *taps->indices);
	taps->weights = dlsi_calloc(alloc, (size_t)axis->out * (size_t)taps->count + 1, sizeof *taps->weights);
	if (!taps->indices || !taps->weights)
		return dlsi_fail_memory(err);
	for (int64_t k = 0; k < axis->out; k++) {
		double place = dlsi_resize_place(resize, i, k);

		if (isnan(place))
			taps->indices[k * taps->count] = -1;
		else
			set_taps(resize, axis, place, stretch, first, taps->count, taps->indices + k * taps->count,
				taps->weights + k * taps->count);
	}
	return 0;
}

void dlsi_resize_taps_free(const struct dlsi_alloc *alloc, struct dlsi_resize_taps *taps)
{
	dlsi_free(alloc, taps->indices);
	dlsi_free(alloc, taps->weights);
}
