#include "kernel/lrn.h"

#include "kernel/code.h"
#include "kernel/isa.h"
#include "kernel/parallel.h"

/* Pixels whose squares stay in the first cache for some hundred channels. */
enum { STRIP = 16 };

#define WINDOW_MOST (INT64_C(1) << 20)

struct work {
	const struct dlsi_kernel_lrn *lrn;
	const struct dlsi_kernel_code *code;
	struct dlsi_kernel_image image;
	int64_t strips;
	ptrdiff_t scratch_floats; /* of a thread */
	const float *source;
	float *target, *scratch;
};

bool dlsi_lrn_supported(const struct dlsi_kernel_lrn *lrn)
{
	if (lrn->channels_last && lrn->channels % lrn->block)
		return false;
	return (lrn->block == 1 || lrn->block == 8 || lrn->block == 16) && lrn->batch >= 0 && lrn->channels > 0 &&
	       lrn->pixels > 0 && lrn->size > 0 && lrn->size <= WINDOW_MOST && lrn->bias > 0;
}

/* Floats for the squares of a strip: whole cache lines, so that threads do not meet. */
static int64_t scratch_floats(const struct dlsi_kernel_lrn *lrn)
{
	return (dlsi_kernel_blocks(lrn->block, lrn->channels) * lrn->block + lrn->size - 1 + DLSI_BLOCK_MOST) * STRIP;
}

size_t dlsi_lrn_scratch_bytes(const struct dlsi_kernel_lrn *lrn, int threads)
{
	return (size_t)scratch_floats(lrn) * (size_t)threads * sizeof(float);
}

static void normalise_strip(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_lrn *lrn = work->lrn;
	const int64_t item = index / work->strips, pixel = index % work->strips * STRIP;
	const int64_t left = lrn->pixels - pixel, first = item * work->image.item + pixel * work->image.pixel;
	const struct dlsi_lrn_strip strip = {
		.source = work->source + first,
		.target = work->target + first,
		.step = work->image.block,
		.pixel = work->image.pixel,
		.channels = lrn->channels,
		.pixels = left < STRIP ? left : STRIP,
		.size = lrn->size,
		.alpha = lrn->alpha / (float)lrn->size,
		.beta = lrn->beta,
		.bias = lrn->bias,
		.squares = work->scratch + thread * work->scratch_floats,
	};

	if (lrn->block == 1)
		work->code->lrn_dense(&strip);
	else
		work->code->lrn_blocked(&strip);
}

void dlsi_lrn_run(const struct dlsi_kernel_lrn *lrn, const float *source, float *target, void *scratch, int threads)
{
	const int64_t strips = (lrn->pixels + STRIP - 1) / STRIP;
	struct work work = {
		.lrn = lrn,
		.code = dlsi_kernel_code(lrn->isa, lrn->block == 1 ? dlsi_isa_block(lrn->isa) : lrn->block),
		.image = dlsi_kernel_image(lrn->channels_last, lrn->block, lrn->channels, lrn->pixels),
		.strips = strips,
		.scratch_floats = scratch_floats(lrn),
		.source = source,
		.target = target,
		.scratch = scratch,
	};

	dlsi_parallel(threads, lrn->batch * strips, normalise_strip, &work);
}
