/* What a convolution is to the kernels of this room, and what they have in common.
 *
 * Source and target are images of float32 in the same layout (kernel/image.h). Weights are given dense, [target
 * channels][source channels / groups][height][width], and packed once into a form of our own that depends on `block`
 * and not on the processor.
 *
 * `threads` is how many threads of OpenMP may work at once.
 *
 * In a run: bias is dense, one float per target channel, or NULL; the addend is laid out as the target (and may be the
 * target itself) or NULL. target = clamp(conv(source) + bias + addend). Packed weights and scratch memory are aligned
 * to DLSI_KERNEL_ALIGN bytes. Nothing is allocated, and the result is bitwise the same for any number of threads. */
#ifndef DLSI_KERNEL_CONV_H
#define DLSI_KERNEL_CONV_H

#include "graph/graph.h"
#include "kernel/axis.h"
#include "kernel/image.h"
#include "kernel/isa.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLSI_KERNEL_ALIGN 64

struct dlsi_kernel_conv {
	enum dlsi_isa isa; /* that it may use */
	int block;         /* 8 or 16 */
	bool channels_last;
	int64_t batch, groups;
	int64_t source_channels, target_channels; /* of all groups together */
	struct dlsi_kernel_axis height, width;    /* padding is zero */
	struct dlsi_clamp clamp;
};

/* What a kernel of convolutions can do. */
struct dlsi_conv_kernel {
	const char *name;
	bool (*supported)(const struct dlsi_kernel_conv *conv);
	size_t (*weights_bytes)(const struct dlsi_kernel_conv *conv);
	void (*pack)(const struct dlsi_kernel_conv *conv, const float *weights, float *packed, int threads);
	size_t (*scratch_bytes)(const struct dlsi_kernel_conv *conv, int threads);
	void (*run)(const struct dlsi_kernel_conv *conv, const float *source, const float *packed, const float *bias,
		const float *addend, float *target, void *scratch, int threads);
};

/* ---- for kernels */

/* The numbers are positive, the groups equal, and the clamp keeps zero channels zero where the last block has some. */
bool dlsi_kernel_conv_valid(const struct dlsi_kernel_conv *conv);

struct dlsi_kernel_image dlsi_kernel_conv_source(const struct dlsi_kernel_conv *conv);
struct dlsi_kernel_image dlsi_kernel_conv_target(const struct dlsi_kernel_conv *conv);

/* Whether the channels of a group, on both sides, fill whole blocks. */
bool dlsi_kernel_conv_fills_blocks(const struct dlsi_kernel_conv *conv);

/* The bias of the channels in `blocks` blocks from `channel` on; zeros where there is none. */
void dlsi_kernel_bias(
	const struct dlsi_kernel_conv *conv, const float *bias, int64_t channel, int blocks, float *bias_out);

#endif
