/* Convolutions of 3x3 and 5x5 with stride 1 by Winograd's minimal filtering, F(4x4,3x3) and F(2x2,5x5) (Lavin and Gray,
 * "Fast Algorithms for Convolutional Neural Networks", 2015): both cut the source into overlapping patches of 6x6, so
 * that 36 multiplications stand for 144 and 100. Largest error over largest output: about 1e-5
 * (a direct sum has 1e-6); what is not finite in the source spreads to whole tiles. The packed weights are 4 (3x3) or
 * 1.44 (5x5) times as large as the given ones. */
#ifndef DLSI_KERNEL_WINOGRAD_H
#define DLSI_KERNEL_WINOGRAD_H

#include "kernel/conv.h"

/* In groups, the channels of one must fill whole blocks. */
bool dlsi_winograd_supported(const struct dlsi_kernel_conv *conv);

size_t dlsi_winograd_weights_bytes(const struct dlsi_kernel_conv *conv);
void dlsi_winograd_pack(const struct dlsi_kernel_conv *conv, const float *weights, float *packed, int threads);

size_t dlsi_winograd_scratch_bytes(const struct dlsi_kernel_conv *conv, int threads);

void dlsi_winograd_run(const struct dlsi_kernel_conv *conv, const float *source, const float *packed, const float *bias,
	const float *addend, float *target, void *scratch, int threads);

#endif
