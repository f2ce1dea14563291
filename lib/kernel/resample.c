#include "kernel/resample.h"

#include "kernel/code.h"
#include "kernel/parallel.h"

enum {
	ROWS = 16,      /* rows that one part of the work makes */
	CACHE_LINE = 16 /* floats */
};

struct work {
	const struct dlsi_kernel_resample *resample;
	const struct dlsi_kernel_code *code;
	int64_t parts; /* of a picture */
	const float *source;
	float *target, *scratch;
};

/* Whole cache lines, so that threads do not meet. */
static int64_t scratch_floats(const struct dlsi_kernel_resample *resample)
{
	return (resample->columns.source * resample->pixel + CACHE_LINE) / CACHE_LINE * CACHE_LINE;
}

size_t dlsi_resample_scratch_bytes(const struct dlsi_kernel_resample *resample, int threads)
{
	return (size_t)scratch_floats(resample) * (size_t)threads * sizeof(float);
}

static void make_rows(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_taps *rows = &work->resample->rows, *columns = &work->resample->columns;
	const int64_t plane = index / work->parts, first = index % work->parts * ROWS, pixel = work->resample->pixel;
	const int64_t end = first + ROWS < rows->target ? first + ROWS : rows->target;
	const float *source = work->source + plane * rows->source * columns->source * pixel;
	float *target = work->target + (plane * rows->target + first) * columns->target * pixel;
	float *mixed = work->scratch + thread * scratch_floats(work->resample);

	for (int64_t row = first; row < end; row++) {
		const int32_t *indices = rows->indices + row * rows->count;
		const float *weights = rows->weights + row * rows->count, *picked = mixed;

		if (rows->count == 1 && *weights == 1)
			picked = source + *indices * columns->source * pixel;
		else
			work->code->mix_rows(indices, weights, rows->count, source, columns->source * pixel, mixed);
		work->code->mix_columns(columns, pixel, picked, target);
		target += columns->target * pixel;
	}
}

void dlsi_resample_run(
	const struct dlsi_kernel_resample *resample, const float *source, float *target, void *scratch, int threads)
{
	struct work work = {
		.resample = resample,
		.code = dlsi_kernel_code(resample->isa, dlsi_isa_block(resample->isa)),
		.parts = (resample->rows.target + ROWS - 1) / ROWS,
		.source = source,
		.target = target,
		.scratch = scratch,
	};

	dlsi_parallel(threads, resample->planes * work.parts, make_rows, &work);
}
