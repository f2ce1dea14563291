/* How images of float32 lie in memory for the kernels of this room.
 *
 * Blocked (oneDNN's nChw8c and nChw16c): `block` channels of a pixel together, for all pixels, then the next ones.
 * Channels that fill up the last block are zero in a source and are made zero in a target.
 * Channels last (nhwc): all channels of a pixel together, and nothing between pixels. */
#ifndef DLSI_KERNEL_IMAGE_H
#define DLSI_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Floats from one item, block of channels or pixel to the next. */
struct dlsi_kernel_image {
	int64_t item, block, pixel;
};

struct dlsi_kernel_image dlsi_kernel_image(bool channels_last, int block, int64_t channels, int64_t pixels);

/* The number of blocks for so many channels. */
int64_t dlsi_kernel_blocks(int block, int64_t channels);

#endif
