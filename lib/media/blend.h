/* The inner loops of resizing: weighted sums of samples in fixed point, rounded to bytes.
 *
 * There are two forms of them, plain C and SSE2, which every x86-64 has. A weight of 22 bits does not fit the 16-bit
 * multiplication of SSE2, so that it is split there into a high part and 11 low bits; no bit is lost, and both forms
 * give the same bytes. */
#ifndef DLSI_BLEND_H
#define DLSI_BLEND_H

#include <stddef.h>
#include <stdint.h>

/* The bits of a weight behind the point: what is left of 32 beside a sample, the sign and the head room of a sum. */
#define DLSI_BLEND_PRECISION (32 - 8 - 2)

/* Bytes that are read behind the last sample of a row, and not used. Buffers have as many more. */
#define DLSI_BLEND_SLACK 1

/* Which samples of a line make one of the result: `count` from `first` on, each with its weight. */
struct dlsi_tap {
	uint32_t first;
	uint32_t count;
};

/* The taps of a run of results; those of result i have their weights at weights + i * most. */
struct dlsi_taps {
	struct dlsi_tap *at;
	int32_t *weights;
	uint32_t most;
};

/* Rows of samples, of which row y is in place y % count. */
struct dlsi_blend_source {
	const uint8_t *data;
	size_t stride;
	uint32_t count;
};

/* Makes the first `width` pixels, of 1 or 3 channels, of a result row from one row. */
void dlsi_blend_columns(
	const struct dlsi_taps *columns, uint32_t channels, const uint8_t *row, uint32_t width, uint8_t *out);

/* Makes the samples [from, end) of result row y from several rows. */
void dlsi_blend_rows(const struct dlsi_blend_source *rows, const struct dlsi_taps *taps, uint32_t y, size_t from,
	size_t end, uint8_t *out);

#endif
