#include "kernel/conv.h"

#include <string.h>

static bool zero_stays_zero(const struct dlsi_clamp *clamp)
{
	return clamp->low <= 0 && clamp->high >= 0;
}

bool dlsi_kernel_conv_valid(const struct dlsi_kernel_conv *conv)
{
	if ((conv->block != 8 && conv->block != 16) || conv->batch < 0 || conv->groups < 1 ||
		conv->source_channels < 1 || conv->target_channels < 1)
		return false;
	if (conv->source_channels % conv->groups || conv->target_channels % conv->groups)
		return false;
	if (!conv->channels_last && conv->target_channels % conv->block && !zero_stays_zero(&conv->clamp))
		return false;
	return dlsi_kernel_axis_valid(&conv->height) && dlsi_kernel_axis_valid(&conv->width);
}

struct dlsi_kernel_image dlsi_kernel_conv_source(const struct dlsi_kernel_conv *conv)
{
	return dlsi_kernel_image(
		conv->channels_last, conv->block, conv->source_channels, conv->height.source * conv->width.source);
}

struct dlsi_kernel_image dlsi_kernel_conv_target(const struct dlsi_kernel_conv *conv)
{
	return dlsi_kernel_image(
		conv->channels_last, conv->block, conv->target_channels, conv->height.target * conv->width.target);
}

bool dlsi_kernel_conv_fills_blocks(const struct dlsi_kernel_conv *conv)
{
	return conv->source_channels / conv->groups % conv->block == 0 &&
	       conv->target_channels / conv->groups % conv->block == 0;
}

void dlsi_kernel_bias(
	const struct dlsi_kernel_conv *conv, const float *bias, int64_t channel, int blocks, float *bias_out)
{
	const int64_t wanted = (int64_t)blocks * conv->block, left = conv->target_channels - channel;
	const int64_t given = bias ? (left < wanted ? left : wanted) : 0;

	if (given)
		memcpy(bias_out, bias + channel, (size_t)given * sizeof *bias);
	memset(bias_out + given, 0, (size_t)(wanted - given) * sizeof *bias);
}
