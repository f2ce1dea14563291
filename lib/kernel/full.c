#include "kernel/full.h"

#include "kernel/code.h"
#include "kernel/parallel.h"
#include <string.h>

enum {
	ROWS = 60,  /* that go through the weights together; a multiple of every variant's rows */
	DEPTH = 384 /* inputs at a time: as much of a panel as stays in the first cache */
};

struct work {
	const struct dlsi_kernel_full *full;
	const struct dlsi_kernel_code *code;
	int64_t width; /* of a panel */
	const float *source, *packed, *bias;
	float *target, *scratch;
};

static int64_t panel_width(const struct dlsi_kernel_full *full)
{
	return DLSI_TILE_WIDTH * full->block;
}

static int64_t panel_count(const struct dlsi_kernel_full *full)
{
	return (full->outputs + panel_width(full) - 1) / panel_width(full);
}

bool dlsi_full_supported(const struct dlsi_kernel_full *full)
{
	return (full->block == 8 || full->block == 16) && full->rows >= 0 && full->inputs > 0 && full->outputs > 0;
}

size_t dlsi_full_weights_bytes(const struct dlsi_kernel_full *full)
{
	return (size_t)(panel_count(full) * panel_width(full) * full->inputs) * sizeof(float);
}

struct packing {
	const struct dlsi_kernel_full *full;
	const float *weights;
	int64_t output_stride, input_stride;
	float *packed;
};

static void pack_panel(void *arg, int64_t panel, int thread)
{
	const struct packing *packing = arg;
	const struct dlsi_kernel_full *full = packing->full;
	const int64_t width = panel_width(full), left = full->outputs - panel * width;
	float *row = packing->packed + panel * full->inputs * width;

	(void)thread;
	for (int64_t input = 0; input < full->inputs; input++, row += width) {
		const float *from =
			packing->weights + panel * width * packing->output_stride + input * packing->input_stride;

		for (int64_t i = 0; i < width; i++)
			row[i] = i < left ? from[i * packing->output_stride] : 0;
	}
}

void dlsi_full_pack(const struct dlsi_kernel_full *full, const float *weights, int64_t output_stride,
	int64_t input_stride, float *packed, int threads)
{
	struct packing packing = {full, weights, output_stride, input_stride, packed};

	dlsi_parallel(threads, panel_count(full), pack_panel, &packing);
}

/* A thread's sums: the rows of one panel. */
size_t dlsi_full_scratch_bytes(const struct dlsi_kernel_full *full, int threads)
{
	return (size_t)(threads * ROWS * panel_width(full)) * sizeof(float);
}

static void store(const struct work *work, int64_t first, int64_t rows, int64_t panel, const float *sums)
{
	const int64_t outputs = work->full->outputs, column = panel * work->width, left = outputs - column;
	const size_t bytes = (size_t)(left < work->width ? left : work->width) * sizeof *sums;

	for (int64_t row = 0; row < rows; row++)
		memcpy(work->target + (first + row) * outputs + column, sums + row * work->width, bytes);
}

/* Some rows of one panel, a part of the inputs after the other; the sums so far are the addend of the next part. */
static void multiply_rows(
	const struct work *work, int64_t first, int64_t rows, int64_t panel, const float *bias, float *sums)
{
	static const float zeros[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST];
	static const ptrdiff_t start[] = {0};
	const struct dlsi_kernel_full *full = work->full;
	const int64_t inputs = full->inputs;

	for (int64_t done = 0; done < inputs; done += DEPTH) {
		const bool last = done + DEPTH >= inputs;
		struct dlsi_tile tile = {
			.source = work->source + first * inputs + done,
			.source_row = inputs,
			.offsets = start,
			.slices = 1,
			.depth = last ? inputs - done : DEPTH,
			.panel = work->packed + (panel * inputs + done) * work->width,
			.next = work->packed,
			.bias = done ? zeros : bias,
			.addend = done ? sums : NULL,
			.target = sums,
			.target_row = work->width,
			.target_block = full->block,
			.low = last ? full->clamp.low : -INFINITY,
			.high = last ? full->clamp.high : INFINITY,
		};

		dlsi_tile_rows(work->code, DLSI_TILE_WIDTH, rows, &tile);
	}
}

/* The one row of a batch of one. */
static void multiply_row(const struct work *work, int64_t panel, const float *bias, float *sums)
{
	const struct dlsi_kernel_full *full = work->full;

	work->code->full_row(work->source, work->packed + panel * full->inputs * work->width, full->inputs, sums);
	for (int64_t i = 0; i < work->width; i++) {
		const float sum = sums[i] + bias[i], raised = sum < full->clamp.low ? full->clamp.low : sum;

		sums[i] = raised > full->clamp.high ? full->clamp.high : raised; /* NaN stays NaN */
	}
}

static void multiply_panel(void *arg, int64_t panel, int thread)
{
	const struct work *work = arg;
	const struct dlsi_kernel_full *full = work->full;
	const int64_t left = full->outputs - panel * work->width;
	float *sums = work->scratch + thread * ROWS * work->width;
	float bias[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST] = {0};

	if (work->bias)
		memcpy(bias, work->bias + panel * work->width,
			(size_t)(left < work->width ? left : work->width) * sizeof *bias);
	for (int64_t first = 0; first < full->rows; first += ROWS) {
		const int64_t rows = full->rows - first < ROWS ? full->rows - first : ROWS;

		if (full->rows == 1)
			multiply_row(work, panel, bias, sums);
		else
			multiply_rows(work, first, rows, panel, bias, sums);
		store(work, first, rows, panel, sums);
	}
}

void dlsi_full_run(const struct dlsi_kernel_full *full, const float *source, const float *packed, const float *bias,
	float *target, void *scratch, int threads)
{
	struct work work = {.full = full,
		.code = dlsi_kernel_code(full->isa, full->block),
		.width = panel_width(full),
		.source = source,
		.packed = packed,
		.bias = bias,
		.target = target,
		.scratch = scratch};

	if (full->rows)
		dlsi_parallel(threads, panel_count(full), multiply_panel, &work);
}
