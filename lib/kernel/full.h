/* Fully connected layers: target[row][output] = clamp(sum over inputs of source[row][input] * weight + bias[output]).
 * Source and target are dense; weights are packed once into panels that a run reads once from memory per 64 rows or so.
 */
#ifndef DLSI_KERNEL_FULL_H
#define DLSI_KERNEL_FULL_H

#include "kernel/conv.h"

struct dlsi_kernel_full {
	enum dlsi_isa isa; /* that it may use */
	int block;         /* 8 or 16, best dlsi_isa_block(isa) */
	int64_t rows, inputs, outputs;
	struct dlsi_clamp clamp;
};

bool dlsi_full_supported(const struct dlsi_kernel_full *full);

size_t dlsi_full_weights_bytes(const struct dlsi_kernel_full *full);

/* The weight of `output` and `input` is weights[output * output_stride + input * input_stride]. */
void dlsi_full_pack(const struct dlsi_kernel_full *full, const float *weights, int64_t output_stride,
	int64_t input_stride, float *packed, int threads);

size_t dlsi_full_scratch_bytes(const struct dlsi_kernel_full *full, int threads);

/* bias: one float per output, or NULL. */
void dlsi_full_run(const struct dlsi_kernel_full *full, const float *source, const float *packed, const float *bias,
	float *target, void *scratch, int threads);

#endif
