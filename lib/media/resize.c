#include "media/resize.h"

#include <math.h>
#include <stdbool.h>

/* Weights are fixed-point numbers: what is left of 32 bits beside a sample and the sign and head room of a sum. */
enum { PRECISION = 32 - 8 - 2, HALF = 1 << (PRECISION - 1) };

/* Rows are worked on in blocks of bytes, for the compiler to keep their sums in vector registers. */
enum { BLOCK = 16 };

/* Which pixels of the original make one pixel of the result: `count` from `first` on, each with its weight. */
struct tap {
	uint32_t first;
	uint32_t count;
};

/* The taps of a run of result pixels along one axis; those of pixel i have their weights at weights + i * most. */
struct taps {
	struct tap *at;
	int32_t *weights;
	uint32_t most;
};

/* Rows of samples, of which row y is in place y % count. */
struct rows {
	const uint8_t *data;
	size_t stride;
	uint32_t count;
};

struct work {
	const struct dlsi_image *image;
	struct taps columns, rows;
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

static void taps_fini(struct taps *taps, const struct dlsi_alloc *alloc)
{
	dlsi_free(alloc, taps->weights);
	dlsi_free(alloc, taps->at);
}

static int taps_init(struct taps *taps, const struct dlsi_alloc *alloc, uint32_t count, uint32_t most)
{
	taps->most = most;
	taps->at = dlsi_calloc(alloc, count, sizeof *taps->at);
	taps->weights = dlsi_calloc(alloc, (size_t)count * most, sizeof *taps->weights);
	return taps->at && taps->weights ? 0 : DLS_ENOMEM;
}

/* Steps from pixel to pixel instead of multiplying, because Pillow does and the rounding of the sum decides which of
 * two neighbours is the nearest. */
static int take_nearest(
	struct taps *taps, const struct dlsi_alloc *alloc, uint32_t in, uint32_t out, uint32_t from, uint32_t count)
{
	double scale = (double)in / out, place = scale * 0.5;
	int rc = taps_init(taps, alloc, count, 1);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < from + count; i++, place += scale) {
		if (i < from)
			continue;
		taps->at[i - from] = (struct tap){.first = place < in ? (uint32_t)place : in - 1, .count = 1};
		taps->weights[i - from] = 1 << PRECISION;
	}
	return 0;
}

/* The weights of one tap, in floating point, then scaled to a sum of one. */
static void weigh(
	struct tap *tap, int32_t *weights, double *exact, enum dlsi_filter filter, double centre, double scale)
{
	double sum = 0;

	for (uint32_t i = 0; i < tap->count; i++) {
		exact[i] = filters[filter].weight((i + tap->first - centre + 0.5) * (1 / scale));
		sum += exact[i];
	}
	for (uint32_t i = 0; i < tap->count; i++) {
		double weight = (sum != 0 ? exact[i] / sum : exact[i]) * (1 << PRECISION);

		weights[i] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
	}
}

/* Fills the taps of the result pixels [from, from + count) of an axis that goes from `in` pixels to `out`. */
static int take_weighted(struct taps *taps, const struct dlsi_alloc *alloc, enum dlsi_filter filter, uint32_t in,
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
		struct tap *tap = &taps->at[i];

		tap->first = first > 0 ? (uint32_t)first : 0;
		tap->count = (end < in ? (uint32_t)end : in) - tap->first;
		weigh(tap, taps->weights + (size_t)i * taps->most, exact, filter, centre, scale);
	}
	dlsi_free(alloc, exact);
	return 0;
}

static int take(struct taps *taps, const struct dlsi_alloc *alloc, enum dlsi_filter filter, uint32_t in, uint32_t out,
	uint32_t from, uint32_t count)
{
	if (filter == DLSI_FILTER_NEAREST)
		return take_nearest(taps, alloc, in, out, from, count);
	return take_weighted(taps, alloc, filter, in, out, from, count);
}

static uint8_t clip(int32_t sum)
{
	if (sum < 0)
		return 0;
	sum >>= PRECISION;
	return sum > 255 ? 255 : (uint8_t)sum;
}

static void narrow_grey(const struct taps *columns, const uint8_t *row, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++) {
		const int32_t *weights = columns->weights + (size_t)x * columns->most;
		const uint8_t *pixel = row + columns->at[x].first;
		int32_t sum = HALF;

		for (uint32_t i = 0; i < columns->at[x].count; i++)
			sum += weights[i] * pixel[i];
		*out++ = clip(sum);
	}
}

static void narrow_rgb(const struct taps *columns, const uint8_t *row, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++) {
		const int32_t *weights = columns->weights + (size_t)x * columns->most;
		const uint8_t *pixel = row + (size_t)columns->at[x].first * 3;
		int32_t red = HALF, green = HALF, blue = HALF;

		for (uint32_t i = 0; i < columns->at[x].count; i++, pixel += 3) {
			red += weights[i] * pixel[0];
			green += weights[i] * pixel[1];
			blue += weights[i] * pixel[2];
		}
		*out++ = clip(red);
		*out++ = clip(green);
		*out++ = clip(blue);
	}
}

static void narrow(const struct taps *columns, uint32_t channels, const uint8_t *row, uint32_t width, uint8_t *out)
{
	if (channels == 1)
		narrow_grey(columns, row, width, out);
	else
		narrow_rgb(columns, row, width, out);
}

/* `count` samples of one result row; inlined for each of the two counts. */
static inline void flatten_block(
	const struct rows *rows, const struct tap *tap, const int32_t *weights, size_t at, size_t count, uint8_t *out)
{
	int32_t sums[BLOCK];

	for (size_t j = 0; j < count; j++)
		sums[j] = HALF;
	for (uint32_t i = 0; i < tap->count; i++) {
		const uint8_t *row = rows->data + (tap->first + i) % rows->count * rows->stride + at;

		for (size_t j = 0; j < count; j++)
			sums[j] += weights[i] * row[j];
	}
	for (size_t j = 0; j < count; j++)
		out[at + j] = clip(sums[j]);
}

/* Makes the samples [from, end) of result row y. */
static void flatten(const struct rows *rows, const struct taps *taps, uint32_t y, size_t from, size_t end, uint8_t *out)
{
	const int32_t *weights = taps->weights + (size_t)y * taps->most;

	for (; end - from >= BLOCK; from += BLOCK)
		flatten_block(rows, &taps->at[y], weights, from, BLOCK, out);
	flatten_block(rows, &taps->at[y], weights, from, end - from, out);
}

static void run_columns_first(const struct work *work, struct dlsi_image *resized)
{
	const struct dlsi_image *image = work->image;
	size_t in_stride = (size_t)image->width * image->channels;
	size_t out_stride = (size_t)resized->width * image->channels;
	struct rows narrowed = {work->scratch, out_stride, work->rows.most};
	uint32_t ready = 0; /* rows of the original below this one are narrowed or not needed any more */

	for (uint32_t y = 0; y < resized->height; y++) {
		const struct tap *tap = &work->rows.at[y];

		if (ready < tap->first)
			ready = tap->first;
		for (; ready < tap->first + tap->count; ready++)
			narrow(&work->columns, image->channels, image->pixels + ready * in_stride, resized->width,
				work->scratch + ready % narrowed.count * out_stride);
		flatten(&narrowed, &work->rows, y, 0, out_stride, resized->pixels + y * out_stride);
	}
}

static void run_rows_first(const struct work *work, struct dlsi_image *resized)
{
	const struct dlsi_image *image = work->image;
	const struct tap *last = &work->columns.at[resized->width - 1];
	size_t from = (size_t)work->columns.at[0].first * image->channels;
	size_t end = (size_t)(last->first + last->count) * image->channels;
	struct rows rows = {image->pixels, (size_t)image->width * image->channels, image->height};

	for (uint32_t y = 0; y < resized->height; y++) {
		flatten(&rows, &work->rows, y, from, end, work->scratch);
		narrow(&work->columns, image->channels, work->scratch, resized->width,
			resized->pixels + (size_t)y * resized->width * image->channels);
	}
}

/* Pillow's rule. */
static bool begin_with_rows(const struct dlsi_image *image, uint32_t width, uint32_t height)
{
	int64_t fewer_columns = (int64_t)image->width - width, fewer_rows = (int64_t)image->height - height;

	return fewer_rows > 0 && fewer_rows > 2 * fewer_columns;
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
		work.scratch = rows_first ? dlsi_calloc(alloc, image->width, image->channels)
					  : dlsi_calloc(alloc, work.rows.most, (size_t)region->width * image->channels);
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
