#include "kernel/pool.h"

#include "kernel/code.h"
#include "kernel/parallel.h"

struct work {
	const struct dlsi_kernel_pool *pool;
	const struct dlsi_kernel_code *code;
	int64_t blocks, source_pitch, target_pitch;
	const float *source;
	float *target;
};

/* No window of the axis lies in the padding altogether. */
static bool sees_all(const struct dlsi_kernel_axis *axis)
{
	const struct dlsi_kernel_span first = dlsi_kernel_span(axis, 0),
				      last = dlsi_kernel_span(axis, axis->target - 1);

	return first.first < first.end && last.first < last.end;
}

bool dlsi_max_pool_supported(const struct dlsi_kernel_pool *pool)
{
	return (pool->block == 8 || pool->block == 16) && pool->batch >= 0 && pool->channels > 0 &&
	       dlsi_kernel_axis_valid(&pool->height) && dlsi_kernel_axis_valid(&pool->width) &&
	       sees_all(&pool->height) && sees_all(&pool->width);
}

/* One block of one item. */
static void pool_block(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_axis *height = &work->pool->height, *width = &work->pool->width;
	const int64_t item = index / work->blocks, block = index % work->blocks, lanes = work->pool->block;
	const float *source = work->source + item * work->source_pitch + block * height->source * width->source * lanes;
	float *target = work->target + item * work->target_pitch + block * height->target * width->target * lanes;

	(void)thread;
	for (int64_t y = 0; y < height->target; y++) {
		const struct dlsi_kernel_span span = dlsi_kernel_span(height, y);
		const struct dlsi_pool_row row = {
			.source = source + span.first * width->source * lanes,
			.rows = span.end - span.first,
			.source_width = width->source,
			.count = width->target,
			.kernel = width->kernel,
			.stride = width->stride,
			.pad = width->pad,
		};

		work->code->max_pool_row(&row, target + y * width->target * lanes);
	}
}

void dlsi_max_pool_run(const struct dlsi_kernel_pool *pool, const float *source, float *target, int threads)
{
	const int64_t blocks = (pool->channels + pool->block - 1) / pool->block, channels = blocks * pool->block;
	struct work work = {
		.pool = pool,
		.code = dlsi_kernel_code(pool->isa, pool->block),
		.blocks = blocks,
		.source_pitch =
			pool->source_pitch ? pool->source_pitch : channels * pool->height.source * pool->width.source,
		.target_pitch =
			pool->target_pitch ? pool->target_pitch : channels * pool->height.target * pool->width.target,
		.source = source,
		.target = target,
	};

	dlsi_parallel(threads, pool->batch * blocks, pool_block, &work);
}
