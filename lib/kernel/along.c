#include "kernel/along.h"

#include "kernel/code.h"
#include "kernel/parallel.h"
#include <math.h>

enum {
	STRIP = 64, /* columns that one part of the work does at least, where there are as many */
	ROWS = 16,  /* rows that one part of the work does */
	TURNED = 64 /* short rows that are turned into columns at once */
};

struct work {
	const struct dlsi_kernel_along *along;
	const struct dlsi_kernel_code *code;
	enum dlsi_reduction reduction;
	enum dlsi_arg arg;
	bool log;
	const float *source;
	float *target;
	int64_t *places;
	int64_t strips; /* of columns */
};

/* Some columns: where they begin in the source and in what is reduced, and how many they are. */
struct columns {
	int64_t source, target, width;
};

static const struct dlsi_kernel_code *code_of(enum dlsi_isa isa)
{
	return dlsi_kernel_code(isa, dlsi_isa_block(isa));
}

bool dlsi_along_supported(const struct dlsi_kernel_along *along)
{
	return along->outer > 0 && along->count > 0 && along->count < INT32_MAX &&
	       (along->inner == 1 || along->inner >= dlsi_isa_block(along->isa));
}

/* The last strip takes the columns that are left over, so that none is shorter than a vector. */
static struct columns find_columns(const struct work *work, int64_t index)
{
	const struct dlsi_kernel_along *along = work->along;
	const int64_t outer = index / work->strips, strip = index % work->strips;

	return (struct columns){.source = outer * along->count * along->inner + strip * STRIP,
		.target = outer * along->inner + strip * STRIP,
		.width = strip + 1 < work->strips ? STRIP : along->inner - strip * STRIP};
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Calls `rows` for the parts where the axis is the last one, `columns` where others are behind it. */
static void share_out(struct work *work, dlsi_parallel_part *rows, dlsi_parallel_part *columns, int threads)
{
	const struct dlsi_kernel_along *along = work->along;

	work->code = code_of(along->isa);
	work->strips = along->inner < STRIP ? 1 : along->inner / STRIP;
	if (along->inner == 1)
		dlsi_parallel(threads, (along->outer + ROWS - 1) / ROWS, rows, work);
	else
		dlsi_parallel(threads, along->outer * work->strips, columns, work);
}

/* ---- reductions */

static void finish(const struct work *work, float *target, int64_t width)
{
	if (work->reduction == DLSI_REDUCE_MEAN)
		for (int64_t i = 0; i < width; i++)
			target[i] /= (float)work->along->count;
}

static void reduce_rows(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const int64_t count = work->along->count, end = smaller((index + 1) * ROWS, work->along->outer);

	(void)thread;
	for (int64_t row = index * ROWS; row < end; row++)
		work->target[row] = work->code->reduce_row(work->reduction, work->source + row * count, count, 0);
	finish(work, work->target + index * ROWS, end - index * ROWS);
}

static void reduce_columns(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct columns at = find_columns(work, index);

	(void)thread;
	work->code->reduce_columns(work->reduction, work->source + at.source, work->along->count, work->along->inner,
		at.width, work->target + at.target);
	finish(work, work->target + at.target, at.width);
}

void dlsi_along_reduce(const struct dlsi_kernel_along *along, enum dlsi_reduction reduction, const float *source,
	float *target, int threads)
{
	struct work work = {.along = along, .reduction = reduction, .source = source, .target = target};

	share_out(&work, reduce_rows, reduce_columns, threads);
}

/* ---- places */

static void arg_rows(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const int64_t count = work->along->count, end = smaller((index + 1) * ROWS, work->along->outer);

	(void)thread;
	for (int64_t row = index * ROWS; row < end; row++)
		work->places[row] = work->code->arg_row(work->arg, work->source + row * count, count);
}

static void arg_columns(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct columns at = find_columns(work, index);

	(void)thread;
	work->code->arg_columns(work->arg, work->source + at.source, work->along->count, work->along->inner, at.width,
		work->places + at.target);
}

void dlsi_along_arg(
	const struct dlsi_kernel_along *along, enum dlsi_arg arg, const float *source, int64_t *target, int threads)
{
	struct work work = {.along = along, .arg = arg, .source = source, .places = target};

	share_out(&work, arg_rows, arg_columns, threads);
}

/* ---- Softmax */

static void softmax_columns(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const struct columns at = find_columns(work, index);

	(void)thread;
	work->code->softmax_columns(work->log, work->source + at.source, work->along->count, work->along->inner,
		at.width, work->target + at.source);
}

/* Rows too short for vectors, as columns of a copy. */
static void softmax_short_rows(void *arg, int64_t index, int thread)
{
	const struct work *work = arg;
	const int64_t count = work->along->count, first = index * TURNED;
	const int64_t rows = smaller(TURNED, work->along->outer - first);
	float source[DLSI_ALONG_SHORT * TURNED] = {0}, target[DLSI_ALONG_SHORT * TURNED];

	(void)thread;
	for (int64_t row = 0; row < rows; row++)
		for (int64_t i = 0; i < count; i++)
			source[i * TURNED + row] = work->source[(first + row) * count + i];
	work->code->softmax_columns(work->log, source, count, TURNED, TURNED, target);
	for (int64_t row = 0; row < rows; row++)
		for (int64_t i = 0; i < count; i++)
			work->target[(first + row) * count + i] = target[i * TURNED + row];
}

void dlsi_along_softmax(
	const struct dlsi_kernel_along *along, bool log, const float *source, float *target, int threads)
{
	struct work work = {.along = along, .log = log, .source = source, .target = target};

	if (along->inner > 1) {
		share_out(&work, NULL, softmax_columns, threads);
		return;
	}
	work.code = code_of(along->isa);
	dlsi_parallel(threads, (along->outer + TURNED - 1) / TURNED, softmax_short_rows, &work);
}

/* ---- standardising */

struct standardising {
	const struct dlsi_kernel_rows *rows;
	const struct dlsi_kernel_code *code;
	const float *source;
	float *target;
};

static void standardise_rows(void *arg, int64_t index, int thread)
{
	const struct standardising *work = arg;
	const struct dlsi_kernel_rows *rows = work->rows;
	const int64_t length = rows->length, end = smaller((index + 1) * ROWS, rows->rows);

	(void)thread;
	for (int64_t row = index * ROWS; row < end; row++) {
		const float *source = work->source + row * length;
		const int64_t turn = rows->period ? row % rows->period : 0;
		struct dlsi_line line = {.count = length,
			.step = !rows->period,
			.scale = rows->scale + turn,
			.shift = rows->shift ? rows->shift + turn : NULL};

		if (!rows->rms)
			line.mean = work->code->reduce_row(DLSI_REDUCE_SUM, source, length, 0) / (float)length;
		line.factor = work->code->reduce_row(DLSI_REDUCE_SQUARES, source, length, line.mean) / (float)length;
		line.factor = 1 / sqrtf(line.factor + rows->epsilon);
		work->code->standardise(&line, source, work->target + row * length);
	}
}

void dlsi_rows_run(const struct dlsi_kernel_rows *rows, const float *source, float *target, int threads)
{
	struct standardising work = {.rows = rows, .code = code_of(rows->isa), .source = source, .target = target};

	dlsi_parallel(threads, (rows->rows + ROWS - 1) / ROWS, standardise_rows, &work);
}
