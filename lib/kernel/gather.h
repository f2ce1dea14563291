/* Channels of images (kernel/image.h) in another order, or some of them, or some more than once. */
#ifndef DLSI_KERNEL_GATHER_H
#define DLSI_KERNEL_GATHER_H

#include "kernel/image.h"

struct dlsi_kernel_gather {
	int block; /* 8 or 16 */
	bool channels_last;
	int64_t batch, source_channels, target_channels, pixels;
	const int64_t *channels; /* of the source, for each of the target */
};

void dlsi_gather_run(const struct dlsi_kernel_gather *gather, const float *source, float *target, int threads);

#endif
