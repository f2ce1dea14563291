/* Pictures in another size: each pixel is a sum of some of the source's, with weights that depend on its row times
 * weights that depend on its column. */
#ifndef DLSI_KERNEL_RESAMPLE_H
#define DLSI_KERNEL_RESAMPLE_H

#include "kernel/isa.h"
#include <stddef.h>
#include <stdint.h>

/* Element i is the sum of `count` elements, at indices[i * count] and so on, times their weights. */
struct dlsi_kernel_taps {
	int64_t source, target; /* elements */
	int64_t count;
	const int32_t *indices;
	const float *weights;
};

struct dlsi_kernel_resample {
	enum dlsi_isa isa; /* that it may use */
	int64_t planes;    /* pictures, one behind the other */
	int64_t pixel;     /* floats of a pixel: one channel, a block of them, or all */
	struct dlsi_kernel_taps rows, columns;
};

size_t dlsi_resample_scratch_bytes(const struct dlsi_kernel_resample *resample, int threads);

void dlsi_resample_run(
	const struct dlsi_kernel_resample *resample, const float *source, float *target, void *scratch, int threads);

#endif
