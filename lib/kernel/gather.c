#include "kernel/gather.h"

#include "kernel/code.h"
#include "kernel/parallel.h"

enum { CHUNK_FLOATS = 2048 }; /* of the target: what stays in the first cache, as the lines of the source do */

struct work {
	const struct dlsi_kernel_gather *gather;
	struct dlsi_kernel_image from, to;
	int64_t chunk_pixels, chunks;
	const float *source;
	float *target;
};

typedef float four __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float))));

/* Four channels of some pixels, which are stored at once. */
static void move_four(
	const struct work *work, const ptrdiff_t *offsets, int64_t pixels, const float *source, float *target)
{
	const ptrdiff_t a = offsets[0], b = offsets[1], c = offsets[2], d = offsets[3];
	const int64_t from = work->from.pixel, to = work->to.pixel;

	for (; pixels > 0; pixels--, source += from, target += to)
		*(four *)target = (four){source[a], source[b], source[c], source[d]};
}

static void move_one(const struct work *work, ptrdiff_t offset, int64_t pixels, const float *source, float *target)
{
	for (int64_t pixel = 0; pixel < pixels; pixel++)
		target[pixel * work->to.pixel] = source[pixel * work->from.pixel + offset];
}

/* The channels that fill up the last block. */
static void clear(const struct work *work, int first, int64_t pixels, float *target)
{
	for (int64_t pixel = 0; pixel < pixels; pixel++)
		for (int lane = first; lane < work->gather->block; lane++)
			target[pixel * work->to.pixel + lane] = 0;
}

/* A block of the target's channels, which are `lanes`, for some pixels. */
static void move_block(
	const struct work *work, const int64_t *channels, int lanes, int64_t pixels, const float *source, float *target)
{
	const int block = work->gather->block, shift = block == 16 ? 4 : 3; /* a division takes longer than the rest */
	ptrdiff_t offsets[DLSI_BLOCK_MOST];
	int lane = 0;

	for (int i = 0; i < lanes; i++)
		offsets[i] = (channels[i] >> shift) * work->from.block + (channels[i] & (block - 1));
	for (; lane + 4 <= lanes; lane += 4)
		move_four(work, offsets + lane, pixels, source, target + lane);
	for (; lane < lanes; lane++)
		move_one(work, offsets[lane], pixels, source, target + lane);
	if (lanes < block && !work->gather->channels_last)
		clear(work, lanes, pixels, target);
}

static void move_chunk(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_gather *gather = work->gather;
	const int64_t item = index / work->chunks, first = index % work->chunks * work->chunk_pixels;
	const int64_t left = gather->pixels - first, pixels = left < work->chunk_pixels ? left : work->chunk_pixels;
	const float *source = work->source + item * work->from.item + first * work->from.pixel;
	float *target = work->target + item * work->to.item + first * work->to.pixel;

	(void)thread;
	for (int64_t channel = 0; channel < gather->target_channels; channel += gather->block) {
		const int64_t lanes = gather->target_channels - channel;

		move_block(work, gather->channels + channel, (int)(lanes < gather->block ? lanes : gather->block),
			pixels, source, target);
		target += work->to.block;
	}
}

void dlsi_gather_run(const struct dlsi_kernel_gather *gather, const float *source, float *target, int threads)
{
	struct work work = {
		.gather = gather,
		.from = dlsi_kernel_image(
			gather->channels_last, gather->block, gather->source_channels, gather->pixels),
		.to = dlsi_kernel_image(gather->channels_last, gather->block, gather->target_channels, gather->pixels),
		.chunk_pixels = CHUNK_FLOATS / gather->target_channels + 1,
		.source = source,
		.target = target,
	};

	work.chunks = (gather->pixels + work.chunk_pixels - 1) / work.chunk_pixels;
	dlsi_parallel(threads, gather->batch * work.chunks, move_chunk, &work);
}
