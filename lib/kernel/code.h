/* The inner loops of this room, which exist once per instruction set, behind one table. Everything above them is plain
 * C that is compiled once. A variant works on vectors as wide as a block of channels. */
#ifndef DLSI_KERNEL_CODE_H
#define DLSI_KERNEL_CODE_H

#include "kernel/along.h"
#include "kernel/isa.h"
#include "kernel/resample.h"
#include <stddef.h>
#include <stdint.h>

enum {
	DLSI_BLOCK_MOST = 16,  /* channels in a block */
	DLSI_TILE_WIDTH = 2,   /* blocks of channels that a tile computes at once */
	DLSI_LINE_FLOATS = 16, /* of a cache */
	DLSI_WINOGRAD_PATCH = 6
};

/* A product of matrices that is small enough for the registers: rows (pixels) times one or two blocks of columns
 * (target channels).
 *
 *   target[r][c] = clamp(bias[c] + addend[r][c] + sum over slices s and k < depth of
 *                        source[r * source_row + offsets[s] + k] * panel[(s * depth + k) * columns + c])
 *
 * Column c of block v of row r of the target and the addend is at r * target_row + v * target_block + c. */
struct dlsi_tile {
	const float *source;
	ptrdiff_t source_row;
	const ptrdiff_t *offsets;
	int64_t slices, depth;
	const float *panel;  /* weights */
	const float *next;   /* weights of a later tile, to fetch meanwhile: */
	int64_t lines;       /* with each slice so many cache lines of them */
	const float *bias;   /* one float per column */
	const float *addend; /* or NULL */
	float *target;
	ptrdiff_t target_row, target_block;
	float low, high;
};

#define DLSI_NEAR_BYTES (INT64_C(1) << 20) /* more weights come from further away than the second cache */

/* Floats from one pixel to the one below and beside it. */
struct dlsi_steps {
	ptrdiff_t row, pixel;
};

/* One row of a pooling's target, and the rows of the source that its windows see. */
struct dlsi_pool_row {
	const float *source;         /* of the first of the rows */
	int64_t rows;                /* those that are not padding */
	int64_t source_width, count; /* count: pixels of the target */
	int64_t kernel, stride, pad; /* across */
	int64_t pixel;               /* floats from one pixel to the next, here and in the target */
};

/* Pixels of one item: in blocks of channels from the pixel `source` on, or in dense layout. `step` is from one block to
 * the next, or from one channel to the next; `pixel` from one pixel to the next (dense: 1). */
struct dlsi_lrn_strip {
	const float *source;
	float *target;
	ptrdiff_t step, pixel;
	int64_t channels, pixels, size;
	float alpha, beta, bias; /* alpha: divided by the size */
	float *squares; /* (channels in whole blocks + size - 1) for each pixel, rounded up to a block of pixels */
};

/* target[i] = (source[i] - mean) * factor * scale[i * step] + shift[i * step], with step 0 or 1. */
struct dlsi_line {
	int64_t count, step;
	float mean, factor;
	const float *scale, *shift; /* shift may be NULL */
};

/* Two integers of 16 bits, of which the inner loops for bytes take their products. */
#define DLSI_PAIR(lower, upper) ((int32_t)((uint32_t)(uint16_t)(lower) | (uint32_t)(uint16_t)(upper) << 16))

/* Rows of pairs times a panel of two blocks of columns of pairs:
 *
 *   sums[r][c] = sum over k < pairs of left[k * tile_rows + r] . right[k * columns + c]
 *
 * where a . b is the product of the lower halves plus that of the upper ones. */
struct dlsi_integer_tile {
	const int32_t *left, *right;
	int64_t pairs;
	int32_t *sums;
};

/* As many places of a window as a panel has columns: place i, tap k sees image[offsets[i] + taps[k]]. */
struct dlsi_integer_places {
	const int16_t *image;
	const ptrdiff_t *offsets, *taps;
	int64_t depth; /* taps */
	bool adjoin;   /* offsets[i] is offsets[0] + i */
};

/* A row of sums as bytes: (sum + bias) * factors[c * step], rounded to the nearest (even) integer, plus `zero`, cut to
 * `low` and `high`; `low` for what is not a number. */
struct dlsi_integer_scale {
	const float *factors;
	int step; /* 0 or 1 */
	int32_t bias;
	float zero, low, high;
};

struct dlsi_kernel_code {
	int tile_rows; /* that fill the registers best */

	/* Computes a tile of 1 to tile_rows rows and 1 or 2 blocks of columns. */
	void (*tile)(int rows, int blocks, const struct dlsi_tile *tile);

	/* One row times a panel of two blocks of columns, without bias. */
	void (*full_row)(const float *source, const float *panel, int64_t depth, float *target);

	/* A patch of 6x6 pixels becomes 36 vectors that are `plane` floats apart. */
	void (*winograd_source)(const float *patch, struct dlsi_steps steps, float *target, ptrdiff_t plane);

	/* The way back: size x size pixels (4 or 2). The addend is laid out as the target, or NULL. */
	void (*winograd_target)(int size, const float *source, ptrdiff_t plane, const float *bias, const float *addend,
		float *target, struct dlsi_steps steps, const float clamp[2]);

	void (*max_pool_row)(const struct dlsi_pool_row *row, float *target);

	void (*lrn_blocked)(const struct dlsi_lrn_strip *strip);
	void (*lrn_dense)(const struct dlsi_lrn_strip *strip);

	/* `width` columns, at least a vector, of `count` elements that lie `step` apart; a mean is a sum here. */
	void (*reduce_columns)(enum dlsi_reduction reduction, const float *source, int64_t count, ptrdiff_t step,
		int64_t width, float *target);
	void (*arg_columns)(
		enum dlsi_arg arg, const float *source, int64_t count, ptrdiff_t step, int64_t width, int64_t *target);
	void (*softmax_columns)(
		bool log, const float *source, int64_t count, ptrdiff_t step, int64_t width, float *target);

	/* A row, of whose elements `minus` is taken first. */
	float (*reduce_row)(enum dlsi_reduction reduction, const float *source, int64_t count, float minus);
	int64_t (*arg_row)(enum dlsi_arg arg, const float *source, int64_t count);
	void (*standardise)(const struct dlsi_line *line, const float *source, float *target);

	/* The sum of some rows of `width` floats, times their weights. */
	void (*mix_rows)(const int32_t *indices, const float *weights, int64_t count, const float *source,
		int64_t width, float *target);

	/* The row that the taps make of another one, whose pixels are so many floats. */
	void (*mix_columns)(const struct dlsi_kernel_taps *taps, int64_t pixel, const float *source, float *target);

	/* A tile of 1 to tile_rows rows. */
	void (*integer_tile)(int rows, const struct dlsi_integer_tile *tile);

	/* (from[i] ^ flip) - zero */
	void (*integer_widen)(const uint8_t *from, int64_t count, uint8_t flip, int zero, int16_t *to);

	/* Makes the panel of a tile out of what places see; the last of an odd number of taps is paired with 0. */
	void (*integer_see)(const struct dlsi_integer_places *places, int32_t *pairs);

	/* One row of a tile's sums. */
	void (*integer_scale)(const struct dlsi_integer_scale *scale, const int32_t *sums, uint8_t *target);
};

/* What is best for this block (8 or 16) on this processor. */
const struct dlsi_kernel_code *dlsi_kernel_code(enum dlsi_isa isa, int block);

/* The lines to fetch with each slice while `times` times `rows` rows are computed, so that all of them together fetch
 * another panel whose slices have so many floats. */
int64_t dlsi_tile_lines(const struct dlsi_kernel_code *code, int64_t slice_floats, int64_t times, int64_t rows);

/* Computes any number of rows, by tiles of about the same size. `tile` is changed: what follows fetches on. */
void dlsi_tile_rows(const struct dlsi_kernel_code *code, int blocks, int64_t rows, struct dlsi_tile *tile);

#endif
