/* A convolution kernel against the plainest loop in double precision. */
#ifndef DLSI_UNIT_KERNEL_CONV_H
#define DLSI_UNIT_KERNEL_CONV_H

#include "kernel/conv.h"
#include "test/unit/kernel.h"

/* An axis on which every window sees some of the source. */
struct dlsi_kernel_axis kernel_axis(
	struct dlsi_rng *rng, int64_t source_most, int64_t kernel, int64_t stride, int64_t pad_most);

/* No clamp, one of Relu and Relu6, or one that does not let zeros be. */
struct dlsi_clamp kernel_clamp(struct dlsi_rng *rng, bool zero_stays_zero);

/* Random numbers of a realistic scale through the kernel, with or without bias and addend (also in place), by one and
 * more threads, whose results must be the same bits. The largest error is at most `tolerance` of the largest result. */
void kernel_conv_check(const struct dlsi_conv_kernel *kernel, const struct dlsi_kernel_conv *conv, struct dlsi_rng *rng,
	float tolerance);

#endif
