/* Convolutions of any window, stride and number of groups by the definition, as products of matrices. Groups whose
 * channels do not fill blocks are computed with the blocks that they lie in: a NaN or an infinity may then show up in
 * the channels of a neighbouring group. */
#ifndef DLSI_KERNEL_DIRECT_H
#define DLSI_KERNEL_DIRECT_H

#include "kernel/conv.h"

/* Channels that are last fill whole blocks. */
extern const struct dlsi_conv_kernel dlsi_kernel_direct;

#endif
