/* Max pooling over pixels of images (kernel/image.h). Padding counts as minus infinity; a NaN in a window is
 * the result of that window. */
#ifndef DLSI_KERNEL_POOL_H
#define DLSI_KERNEL_POOL_H

#include "kernel/axis.h"
#include "kernel/image.h"
#include "kernel/isa.h"

struct dlsi_kernel_pool {
	enum dlsi_isa isa; /* that it may use */
	int block;         /* 8 or 16; channels that are last fill whole ones */
	bool channels_last;
	int64_t batch, channels;
	struct dlsi_kernel_axis height, width;
};

/* False for sizes that do not agree, and where a window would lie in the padding altogether. */
bool dlsi_max_pool_supported(const struct dlsi_kernel_pool *pool);

void dlsi_max_pool_run(const struct dlsi_kernel_pool *pool, const float *source, float *target, int threads);

#endif
