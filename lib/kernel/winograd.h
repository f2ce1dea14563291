/* Convolutions of 3x3 and 5x5 with stride 1 by Winograd's minimal filtering, F(4x4,3x3) and F(2x2,5x5) (Lavin and Gray,
 * "Fast Algorithms for Convolutional Neural Networks", 2015): both cut the source into overlapping patches of 6x6, so
 * that 36 multiplications stand for 144 and 100. Largest error over largest output: about 1e-5
 * (a direct sum has 1e-6); what is not finite in the source spreads to whole tiles. The packed weights are 4 (3x3) or
 * 1.44 (5x5) times as large as the given ones. */
#ifndef DLSI_KERNEL_WINOGRAD_H
#define DLSI_KERNEL_WINOGRAD_H

#include "kernel/conv.h"

/* In groups, the channels of one must fill whole blocks. */
extern const struct dlsi_conv_kernel dlsi_kernel_winograd;

#endif
