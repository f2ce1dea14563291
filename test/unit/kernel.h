/* What the tests of kernels share: exact pieces of memory, random tensors, the layouts. */
#ifndef DLSI_UNIT_KERNEL_H
#define DLSI_UNIT_KERNEL_H

#include "kernel/isa.h"
#include "test/unit/unit.h"

/* Aligned memory of exactly so many floats, none of them zero by luck; the caller frees it. */
float *kernel_floats(int64_t count);

/* From -1 to 1. */
float kernel_random(struct dlsi_rng *rng);

/* A number from `least` to `most`. */
int64_t kernel_between(struct dlsi_rng *rng, int64_t least, int64_t most);

/* A dense tensor [items][channels][pixels] in blocks of `block` channels (1: dense), items `pitch` floats apart, and
 * back. What fills up the last block is zero. */
int64_t kernel_pitch(int block, int64_t channels, int64_t pixels);
void kernel_to_blocks(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *dense, float *blocked);
void kernel_from_blocks(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *blocked, float *dense);

/* Whether what fills up the last block is zero. */
void kernel_assert_filled(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *blocked);

/* The largest difference is at most `tolerance` times the largest number of `expected`; NaN and infinities agree. */
void kernel_assert_close(const float *actual, const float *expected, int64_t count, float tolerance);

#endif
