#include "media/resize.h"

#include "media/blend.h"
#include <math.h>
#include <stdbool.h>

struct work {
	const struct dlsi_image *image;
	struct dlsi_taps columns, rows;
	uint8_t *scratch; /* rows with their columns done, as many as one result row needs; or one with its rows done */
};

static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

/* Keys' cubic convolution with a = -0.5. */
static double cubic(double x)
{
	const double a = -0.5;

	x = fabs(x);
	if (x < 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double sinc(double x)
{
	const double pi = 3.14159265358979323846;

	return x == 0 ? 1 : sin(x * pi) / (x * pi);
}

static double lanczos(double x)
{
	return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct {
	double (*weight)(double distance);
	double support; /* weights are 0 from this distance on */
} filters[] = {
	[DLSI_FILTER_BILINEAR] = {triangle, 1},
	[DLSI_FILTER_BICUBIC] = {cubic, 2},
	[DLSI_FILTER_LANCZOS] = {lanczos, 3},
};

static void taps_fini(struct dlsi_taps *taps, const struct dlsi_alloc *alloc)
{
	dlsi_free(alloc, taps->weights);
	dlsi_free(alloc, taps->at);
}

static int taps_init(struct dlsi_taps *taps, const struct dlsi_alloc *alloc, uint32_t count, uint32_t most)
{
	taps->most = most;
	taps->at = dlsi_calloc(alloc, count, sizeof *taps->at);
	taps->weights = dlsi_calloc(alloc, (size_t)count * most, sizeof *taps->weights);
	return taps->at && taps->weights ? 0 : DLS_ENOMEM;
}

/* Steps from pixel to pixel instead of multiplying, because Pillow does and the rounding of the sum decides which of
 * two neighbours is the nearest. */
static int take_nearest(struct dlsi_taps *taps, const struct dlsi_alloc *alloc, uint32_t in, uint32_t out,
	uint32_t from, uint32_t count)
{
	double scale = (double)in / out, place = scale * 0.5;
	int rc = taps_init(taps, alloc, count, 1);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < from + count; i++, place += scale) {
		if (i < from)
			continue;
		taps->at[i - from] = (struct dlsi_tap){.first = place < in ? (uint32_t)place : in - 1, .count = 1};
		taps->weights[i - from] = 1 << DLSI_BLEND_PRECISION;
	}
	return 0;
}

/* The weights of one tap, in floating point, then scaled to a sum of one. */
static void weigh(
	struct dlsi_tap *tap, int32_t *weights, double *exact, enum dlsi_filter filter, double centre, double scale)
{
	double sum = 0;

	for (uint32_t i = 0; i < tap->count; i++) {
		exact[i] = filters[filter].weight((i + tap->first - centre + 0.5) * (1 / scale));
		sum += exact[i];
	}
	for (uint32_t i = 0; i < tap->count; i++) {
		double weight = (sum != 0 ? exact[i] / sum : exact[i]) * (1 << DLSI_BLEND_PRECISION);

		weights[i] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
	}
}

/* Fills the taps of the result pixels [from, from + count) of an axis that goes from `in` pixels to `out`. */
static int take_weighted(struct dlsi_taps *taps, const struct dlsi_alloc *alloc, enum dlsi_filter filter, uint32_t in,
	uint32_t out, uint32_t from, uint32_t count)
{
	double step = (double)in / out, scale = step > 1 ? step : 1, support = filters[filter].support * scale;
	double *exact;
	int rc = taps_init(taps, alloc, count, (uint32_t)ceil(support) * 2 + 1);

	exact = dlsi_calloc(alloc, taps->most, sizeof *exact);
	if (rc || !exact) {
		dlsi_free(alloc, exact);
		return DLS_ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		double centre = (from + i + 0.5) * step;
		double first = centre - support + 0.5, end = centre + support + 0.5;
		struct dlsi_tap *tap = &taps->at[i];

		tap->first = first > 0 ? (uint32_t)first : 0;
		tap->count = (end < in ? (uint32_t)end : in) - tap->first;
		weigh(tap, taps->weights + (size_t)i * taps->most, exact, filter, centre, scale);
	}
	dlsi_free(alloc, exact);
	return 0;
}

static int take(struct dlsi_taps *taps, const struct dlsi_alloc *alloc, enum dlsi_filter filter, uint32_t in,
	uint32_t out, uint32_t from, uint32_t count)
{
	if (filter == DLSI_FILTER_NEAREST)
		return take_nearest(taps, alloc, in, out, from, count);
	return take_weighted(taps, alloc, filter, in, out, from, count);
}

static void run_columns_first(const struct work *work, struct dlsi_image *resized)
{
	const struct dlsi_image *image = work->image;
	size_t in_stride = (size_t)image->width * image->channels;
	size_t out_stride = (size_t)resized->width * image->channels;
	struct dlsi_blend_source narrowed = {work->scratch, out_stride, work->rows.most};
	uint32_t ready = 0; /* rows of the original below this one are narrowed or not needed any more */

	for (uint32_t y = 0; y < resized->height; y++) {
		const struct dlsi_tap *tap = &work->rows.at[y];

		if (ready < tap->first)
			ready = tap->first;
		for (; ready < tap->first + tap->count; ready++)
			dlsi_blend_columns(&work->columns, image->channels, image->pixels + ready * in_stride,
				resized->width, work->scratch + ready % narrowed.count * out_stride);
		dlsi_blend_rows(&narrowed, &work->rows, y, 0, out_stride, resized->pixels + y * out_stride);
	}
}

static void run_rows_first(const struct work *work, struct dlsi_image *resized)
{
	const struct dlsi_image *image = work->image;
	const struct dlsi_tap *last = &work->columns.at[resized->width - 1];
	size_t from = (size_t)work->columns.at[0].first * image->channels;
	size_t end = (size_t)(last->first + last->count) * image->channels;
	struct dlsi_blend_source rows = {image->pixels, (size_t)image->width * image->channels, image->height};

	for (uint32_t y = 0; y < resized->height; y++) {
		dlsi_blend_rows(&rows, &work->rows, y, from, end, work->scratch);
		dlsi_blend_columns(&work->columns, image->channels, work->scratch, resized->width,
			resized->pixels + (size_t)y * resized->width * image->channels);
	}
}

/* Pillow's rule. */
static bool begin_with_rows(const struct dlsi_image *image, uint32_t width, uint32_t height)
{
	int64_t fewer_columns = (int64_t)image->width - width, fewer_rows = (int64_t)image->height - height;

	return fewer_rows > 0 && fewer_rows > 2 * fewer_columns;
}

static size_t scratch_bytes(const struct work *work, const struct dlsi_image *resized, bool rows_first)
{
	size_t width = rows_first ? work->image->width : resized->width, rows = rows_first ? 1 : work->rows.most;

	return rows * width * work->image->channels + DLSI_BLEND_SLACK;
}

int dlsi_resize(const struct dlsi_image *image, enum dlsi_filter filter, uint32_t width, uint32_t height,
	const struct dlsi_region *region, struct dlsi_image *resized_out, struct dls_error *err)
{
	bool rows_first = begin_with_rows(image, width, height);
	const struct dlsi_alloc *alloc = image->alloc;
	struct work work = {.image = image};
	struct dlsi_image resized;
	int rc = dlsi_image_init(&resized, alloc, region->width, region->height, image->channels, err);

	if (rc)
		return rc;
	rc = take(&work.columns, alloc, filter, image->width, width, region->left, region->width);
	if (rc == 0)
		rc = take(&work.rows, alloc, filter, image->height, height, region->top, region->height);
	if (rc == 0) {
		work.scratch = dlsi_malloc(alloc, scratch_bytes(&work, &resized, rows_first));
		rc = work.scratch ? 0 : DLS_ENOMEM;
	}
	if (rc) {
		rc = dlsi_fail_memory(err);
		dlsi_image_fini(&resized);
	} else {
		if (rows_first)
			run_rows_first(&work, &resized);
		else
			run_columns_first(&work, &resized);
		*resized_out = resized;
	}
	dlsi_free(alloc, work.scratch);
	taps_fini(&work.rows, alloc);
	taps_fini(&work.columns, alloc);
	return rc;
}
