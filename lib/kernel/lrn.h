/* Local response normalisation across channels, as ONNX has it: y = x / (bias + alpha / size * s) ^ beta, where s is
 * the sum of squares over the window of `size` channels that begins (size - 1) / 2 before the channel. */
#ifndef DLSI_KERNEL_LRN_H
#define DLSI_KERNEL_LRN_H

#include "kernel/image.h"
#include "kernel/isa.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dlsi_kernel_lrn {
	enum dlsi_isa isa;               /* that it may use */
	int block;                       /* 8 or 16: of an image (kernel/image.h); 1: dense [batch][channels][pixels] */
	bool channels_last;              /* they fill whole blocks */
	int64_t batch, channels, pixels; /* pixels: height times width */
	int64_t size;
	float alpha, beta, bias;
};

/* False for a bias that is not above zero (the channels that fill up a block would not stay zero). */
bool dlsi_lrn_supported(const struct dlsi_kernel_lrn *lrn);

size_t dlsi_lrn_scratch_bytes(const struct dlsi_kernel_lrn *lrn, int threads);

/* `source` and `target` may be the same memory. */
void dlsi_lrn_run(const struct dlsi_kernel_lrn *lrn, const float *source, float *target, void *scratch, int threads);

#endif
