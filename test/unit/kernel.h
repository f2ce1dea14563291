/* What the tests of kernels share: exact pieces of memory, random tensors, the layouts. */
#ifndef DLSI_UNIT_KERNEL_H
#define DLSI_UNIT_KERNEL_H

#include "kernel/image.h"
#include "kernel/isa.h"
#include "test/unit/unit.h"

/* Aligned memory of exactly so many floats, none of them zero by luck; the caller frees it. */
float *kernel_floats(int64_t count);

/* From -1 to 1. */
float kernel_random(struct dlsi_rng *rng);

/* A number from `least` to `most`. */
int64_t kernel_between(struct dlsi_rng *rng, int64_t least, int64_t most);

/* Where a tensor [items][channels][pixels] lies for a kernel; a block of 1: dense. */
struct kernel_layout {
	bool channels_last;
	int block;
	int64_t items, channels, pixels;
};

/* The floats that it takes. */
int64_t kernel_stored(const struct kernel_layout *layout);

/* From dense to the layout and back. What fills up the last block is made zero, and must be zero. */
void kernel_store(const struct kernel_layout *layout, const float *dense, float *stored);
void kernel_unstore(const struct kernel_layout *layout, const float *stored, float *dense);

/* The largest difference is at most `tolerance` times the largest number of `expected`; NaN and infinities agree. */
void kernel_assert_close(const float *actual, const float *expected, int64_t count, float tolerance);

#endif
