/* A convolution of bytes as products of matrices: the channels of weights times what their taps see, place by place. An
 * item's image is copied as integers of 16 bits, with its padding, so that every tap sees something. */
#include "kernel/integer_tile.h"
#include "kernel/parallel.h"
#include <string.h>

enum {
	CHUNK_BYTES = 128 << 10, /* of panels that all channels go through one after another: part of a second cache */
	PADDED_TIMES = 4,        /* so many times the image's pixels it may have with its padding, */
	PADDED_MORE = 4096       /* and some more */
};

struct work {
	const struct dlsi_integer_conv *conv;
	const struct dlsi_convolution *convolution;
	const struct dlsi_kernel_code *code;
	int64_t width, depth, pairs, places; /* places: of a target's channel */
	int64_t padded[DLSI_SPATIAL_RANK];   /* the image with its padding, as far as a tap sees it */
	int64_t plane;                       /* its pixels */
	int64_t group_channels, tiles;       /* of the target in a group, and tiles of them */
	int64_t panels, chunk, chunks;       /* chunk: panels in one */

	const struct dlsi_bytes *source;
	const struct dlsi_integer_target *target;
	const int32_t *packed;
	int64_t item;
	ptrdiff_t *offsets, *taps; /* in the padded image: of the places, to whole panels; of the taps of a group */
	int32_t *own;              /* of each thread: a chunk, then a tile's sums */
	int16_t *image;
};

static int64_t divide_up(int64_t number, int64_t by)
{
	return (number + by - 1) / by;
}

static int64_t padded(const struct dlsi_slide *slide, int d)
{
	return (slide->places[d] - 1) * slide->strides[d] + (slide->kernel[d] - 1) * slide->dilations[d] + 1;
}

bool dlsi_integer_conv_supported(const struct dlsi_integer_conv *conv)
{
	const struct dlsi_slide *slide = &conv->convolution.slide;
	double pixels = 1;

	for (int d = 0; d < DLSI_SPATIAL_RANK; d++)
		pixels *= (double)(slide->places[d] - 1) * (double)slide->strides[d] +
			  (double)(slide->kernel[d] - 1) * (double)slide->dilations[d] + 1;
	return pixels <= PADDED_TIMES * (double)dlsi_slide_pixels(slide) + PADDED_MORE;
}

static struct work begin(const struct dlsi_integer_conv *conv, int threads)
{
	const struct dlsi_convolution *convolution = &conv->convolution;
	struct work work = {.conv = conv,
		.convolution = convolution,
		.code = dlsi_kernel_code(conv->isa, conv->block),
		.width = dlsi_integer_width(conv->block),
		.places = dlsi_slide_places(&convolution->slide),
		.plane = 1,
		.group_channels = convolution->place_channels / convolution->groups};
	int64_t most;

	work.depth = convolution->image_channels / convolution->groups * dlsi_slide_positions(&convolution->slide);
	work.pairs = dlsi_integer_pairs(work.depth);
	work.tiles = divide_up(work.group_channels, work.code->tile_rows);
	for (int d = 0; d < DLSI_SPATIAL_RANK; d++) {
		work.padded[d] = padded(&convolution->slide, d);
		work.plane *= work.padded[d];
	}
	work.panels = divide_up(work.places, work.width);
	most = divide_up(work.panels * convolution->groups, threads); /* each thread has something */
	work.chunk = CHUNK_BYTES / (work.pairs * work.width * (int64_t)sizeof(int32_t));
	work.chunk = work.chunk < most ? work.chunk : most;
	work.chunk = work.chunk < work.panels ? work.chunk : work.panels;
	work.chunk = work.chunk > 1 ? work.chunk : 1;
	work.chunks = divide_up(work.panels, work.chunk);
	return work;
}

/* ---- weights */

static int64_t group_size(const struct work *work)
{
	return dlsi_integer_rows_size(work->code, work->group_channels, work->depth);
}

size_t dlsi_integer_conv_weights_bytes(const struct dlsi_integer_conv *conv)
{
	const struct work work = begin(conv, 1);

	return (size_t)(conv->convolution.groups * group_size(&work)) * sizeof(int32_t);
}

static int64_t rows_in(const struct work *work, int64_t tile)
{
	const int64_t left = work->group_channels - tile * work->code->tile_rows;

	return left < work->code->tile_rows ? left : work->code->tile_rows;
}

void dlsi_integer_conv_pack(const struct dlsi_integer_conv *conv, const struct dlsi_bytes *weights, int32_t *packed)
{
	const struct work work = begin(conv, 1);
	const int64_t rows = work.code->tile_rows;

	for (int64_t group = 0; group < conv->convolution.groups; group++)
		for (int64_t tile = 0; tile < work.tiles; tile++, packed += rows * work.pairs)
			dlsi_integer_pack_rows(work.code, weights, group * work.group_channels + tile * rows,
				rows_in(&work, tile), work.depth, packed);
}

/* ---- the image */

/* Dimension `d`: the pixels of the image that are seen, [first, end), and where the first of them is in the padded one.
 */
static int64_t seen(const struct work *work, int d, int64_t *first_out, int64_t *end_out)
{
	const struct dlsi_slide *slide = &work->convolution->slide;
	const int64_t before = slide->pads_before[d], end = work->padded[d] - before;

	*first_out = before < 0 ? -before : 0;
	*end_out = end < slide->image[d] ? end : slide->image[d];
	return before < 0 ? 0 : before;
}

/* One channel; its padding is 0, which is what its zero point becomes. */
static void widen(void *arg, int64_t channel, int thread)
{
	const struct work *work = arg;
	const struct dlsi_slide *slide = &work->convolution->slide;
	int16_t *plane = work->image + channel * work->plane;
	int64_t first[3], end[3], at[3], from = work->item * work->convolution->image_channels + channel;

	(void)thread;
	from *= dlsi_slide_pixels(slide);
	for (int d = 0; d < DLSI_SPATIAL_RANK; d++)
		at[d] = seen(work, d, &first[d], &end[d]);
	memset(plane, 0, (size_t)work->plane * sizeof *plane);
	for (int64_t z = first[0]; z < end[0]; z++) {
		for (int64_t y = first[1]; y < end[1]; y++) {
			const int64_t row = from + (z * slide->image[1] + y) * slide->image[2];
			int16_t *to = plane + ((at[0] + z - first[0]) * work->padded[1] + at[1] + y - first[1]) *
						      work->padded[2];

			work->code->integer_widen((const uint8_t *)work->source->data + row + first[2],
				end[2] - first[2], dlsi_bytes_flip(work->source), dlsi_bytes_zero(work->source, 0),
				to + at[2]);
		}
	}
}

static ptrdiff_t locate(const struct work *work, const int64_t at[3], const int64_t steps[3])
{
	return ((at[0] * steps[0] * work->padded[1]) + at[1] * steps[1]) * work->padded[2] + at[2] * steps[2];
}

/* The offsets of all positions of a box, each so many pixels from the last; returns the place behind the last. */
static ptrdiff_t *list(
	const struct work *work, const int64_t box[3], const int64_t steps[3], ptrdiff_t start, ptrdiff_t *offsets)
{
	int64_t at[3];

	for (at[0] = 0; at[0] < box[0]; at[0]++)
		for (at[1] = 0; at[1] < box[1]; at[1]++)
			for (at[2] = 0; at[2] < box[2]; at[2]++)
				*offsets++ = start + locate(work, at, steps);
	return offsets;
}

/* Places behind the last one, to a whole panel, are that one again. */
static void list_all(const struct work *work)
{
	const struct dlsi_slide *slide = &work->convolution->slide;
	ptrdiff_t *end = list(work, slide->places, slide->strides, 0, work->offsets), *tap = work->taps;

	for (const ptrdiff_t last = end[-1]; end < work->offsets + work->panels * work->width; end++)
		*end = last;
	for (ptrdiff_t channel = 0; tap < work->taps + work->depth; channel++)
		tap = list(work, slide->kernel, slide->dilations, channel * work->plane, tap);
}

/* ---- the product */

static int64_t own_size(const struct work *work)
{
	return (work->chunk * work->pairs + work->code->tile_rows) * work->width;
}

size_t dlsi_integer_conv_scratch_bytes(const struct dlsi_integer_conv *conv, int threads)
{
	const struct work work = begin(conv, threads);

	return (size_t)(work.panels * work.width + work.depth) * sizeof *work.offsets +
	       (size_t)(threads * own_size(&work)) * sizeof *work.own +
	       (size_t)(conv->convolution.image_channels * work.plane) * sizeof *work.image;
}

static void see_panels(const struct work *work, int64_t group, int64_t first, int64_t end, int32_t *pairs)
{
	const int64_t channels = work->convolution->image_channels / work->convolution->groups;
	struct dlsi_integer_places places = {
		.image = work->image + group * channels * work->plane, .taps = work->taps, .depth = work->depth};

	for (int64_t panel = first; panel < end; panel++, pairs += work->pairs * work->width) {
		places.offsets = work->offsets + panel * work->width;
		places.adjoin = (panel + 1) * work->width <= work->places &&
				places.offsets[work->width - 1] - places.offsets[0] == work->width - 1;
		work->code->integer_see(&places, pairs);
	}
}

/* All channels of a group at the places of a chunk. */
static void convolve_chunk(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const int64_t group = index / work->chunks, first = index % work->chunks * work->chunk;
	const int64_t end = first + work->chunk < work->panels ? first + work->chunk : work->panels;
	int32_t *pairs = work->own + thread * own_size(work);
	struct dlsi_integer_tile tile = {.pairs = work->pairs, .sums = pairs + work->chunk * work->pairs * work->width};
	struct dlsi_integer_part part = {.code = work->code,
		.target = work->target,
		.channels = true,
		.width = work->width,
		.start = work->item * work->convolution->place_channels * work->places,
		.row_elements = work->places};

	see_panels(work, group, first, end, pairs);
	for (int64_t t = 0; t < work->tiles; t++) {
		tile.left = work->packed + group * group_size(work) + t * work->code->tile_rows * work->pairs;
		tile.right = pairs;
		part.row = group * work->group_channels + t * work->code->tile_rows;
		part.rows = rows_in(work, t);
		for (int64_t panel = first; panel < end; panel++, tile.right += work->pairs * work->width) {
			part.column = panel * work->width;
			part.columns =
				work->places - part.column < work->width ? work->places - part.column : work->width;
			work->code->integer_tile((int)part.rows, &tile);
			dlsi_integer_finish(&part, tile.sums);
		}
	}
}

void dlsi_integer_conv_run(const struct dlsi_integer_conv *conv, const struct dlsi_bytes *source, const int32_t *packed,
	const struct dlsi_integer_target *target, void *scratch, int threads)
{
	struct work work = begin(conv, threads);

	work.source = source;
	work.packed = packed;
	work.target = target;
	work.offsets = scratch;
	work.taps = work.offsets + work.panels * work.width;
	work.own = (int32_t *)(work.taps + work.depth);
	work.image = (int16_t *)(work.own + threads * own_size(&work));
	list_all(&work);
	for (work.item = 0; work.item < conv->convolution.items; work.item++) {
		dlsi_parallel(threads, conv->convolution.image_channels, widen, &work);
		dlsi_parallel(threads, conv->convolution.groups * work.chunks, convolve_chunk, &work);
	}
}
