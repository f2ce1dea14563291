/* Convolutions of any window, stride and number of groups by the definition, as products of matrices. Groups whose
 * channels do not fill blocks are computed with the blocks that they lie in: a NaN or an infinity may then show up in
 * the channels of a neighbouring group. */
#ifndef DLSI_KERNEL_DIRECT_H
#define DLSI_KERNEL_DIRECT_H

#include "kernel/conv.h"

/* Channels that are last fill whole blocks. */
bool dlsi_direct_supported(const struct dlsi_kernel_conv *conv);

size_t dlsi_direct_weights_bytes(const struct dlsi_kernel_conv *conv);
void dlsi_direct_pack(const struct dlsi_kernel_conv *conv, const float *weights, float *packed, int threads);

size_t dlsi_direct_scratch_bytes(const struct dlsi_kernel_conv *conv, int threads);

void dlsi_direct_run(const struct dlsi_kernel_conv *conv, const float *source, const float *packed, const float *bias,
	const float *addend, float *target, void *scratch, int threads);

#endif
