#include "kernel/pool.h"

#include "kernel/code.h"
#include "kernel/parallel.h"

struct work {
	const struct dlsi_kernel_pool *pool;
	const struct dlsi_kernel_code *code;
	int64_t blocks;
	struct dlsi_kernel_image from, to;
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
	       (!pool->channels_last || pool->channels % pool->block == 0) && dlsi_kernel_axis_valid(&pool->height) &&
	       dlsi_kernel_axis_valid(&pool->width) && sees_all(&pool->height) && sees_all(&pool->width);
}

/* One row of the target. */
static void pool_row(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_axis *height = &work->pool->height, *width = &work->pool->width;
	const int64_t item = index / height->target, y = index % height->target;
	const struct dlsi_kernel_span span = dlsi_kernel_span(height, y);
	float *target = work->target + item * work->to.item + y * width->target * work->to.pixel;
	struct dlsi_pool_row row = {
		.source = work->source + item * work->from.item + span.first * width->source * work->from.pixel,
		.rows = span.end - span.first,
		.source_width = width->source,
		.count = width->target,
		.kernel = width->kernel,
		.stride = width->stride,
		.pad = width->pad,
		.pixel = work->from.pixel,
	};

	(void)thread;
	for (int64_t block = 0; block < work->blocks; block++) {
		work->code->max_pool_row(&row, target);
		row.source += work->from.block;
		target += work->to.block;
	}
}

void dlsi_max_pool_run(const struct dlsi_kernel_pool *pool, const float *source, float *target, int threads)
{
	struct work work = {
		.pool = pool,
		.code = dlsi_kernel_code(pool->isa, pool->block),
		.blocks = dlsi_kernel_blocks(pool->block, pool->channels),
		.from = dlsi_kernel_image(
			pool->channels_last, pool->block, pool->channels, pool->height.source * pool->width.source),
		.to = dlsi_kernel_image(
			pool->channels_last, pool->block, pool->channels, pool->height.target * pool->width.target),
		.source = source,
		.target = target,
	};

	dlsi_parallel(threads, pool->batch * pool->height.target, pool_row, &work);
}
