#include "kernel/image.h"

int64_t dlsi_kernel_blocks(int block, int64_t channels)
{
	return (channels + block - 1) / block;
}

struct dlsi_kernel_image dlsi_kernel_image(bool channels_last, int block, int64_t channels, int64_t pixels)
{
	if (channels_last)
		return (struct dlsi_kernel_image){.item = channels * pixels, .block = block, .pixel = channels};
	return (struct dlsi_kernel_image){
		.item = dlsi_kernel_blocks(block, channels) * block * pixels, .block = block * pixels, .pixel = block};
}
