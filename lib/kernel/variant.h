/* The names of the functions in the files *_isa.c. The Makefile compiles each of these once per variant: an instruction
 * set and the lanes of a vector, which are the channels of a block. */
#ifndef DLSI_KERNEL_VARIANT_H
#define DLSI_KERNEL_VARIANT_H

#include "kernel/code.h"

#ifndef DLSI_VARIANT
#define DLSI_VARIANT generic8
#define DLSI_LANES   8
#endif

/* dlsi_tile becomes dlsi_tile_avx2. */
#define VARIANT(name)                VARIANT_OF(name, DLSI_VARIANT)
#define VARIANT_OF(name, variant)    VARIANT_PASTE(name, variant)
#define VARIANT_PASTE(name, variant) name##_##variant

/* As many accumulators as leave registers for a row of the panel and one element. */
#if defined(__AVX512F__)
#define TILE_ROWS 12
#elif defined(__AVX2__)
#define TILE_ROWS 6
#else
#define TILE_ROWS 2
#endif

extern const struct dlsi_kernel_code VARIANT(dlsi_kernel_code);

/* The slots of struct dlsi_kernel_code. */
void VARIANT(dlsi_tile)(int rows, int blocks, const struct dlsi_tile *tile);
void VARIANT(dlsi_full_row)(const float *source, const float *panel, int64_t depth, float *target);
void VARIANT(dlsi_winograd_source)(const float *patch, struct dlsi_steps steps, float *target, ptrdiff_t plane);
void VARIANT(dlsi_winograd_target)(int size, const float *source, ptrdiff_t plane, const float *bias,
	const float *addend, float *target, struct dlsi_steps steps, const float clamp[2]);
void VARIANT(dlsi_max_pool_row)(const struct dlsi_pool_row *row, float *target);
void VARIANT(dlsi_lrn_blocked)(const struct dlsi_lrn_strip *strip);
void VARIANT(dlsi_lrn_dense)(const struct dlsi_lrn_strip *strip);

void VARIANT(dlsi_reduce_columns)(enum dlsi_reduction reduction, const float *source, int64_t count, ptrdiff_t step,
	int64_t width, float *target);
float VARIANT(dlsi_reduce_row)(enum dlsi_reduction reduction, const float *source, int64_t count, float minus);
void VARIANT(dlsi_arg_columns)(
	enum dlsi_arg arg, const float *source, int64_t count, ptrdiff_t step, int64_t width, int64_t *target);
int64_t VARIANT(dlsi_arg_row)(enum dlsi_arg arg, const float *source, int64_t count);
void VARIANT(dlsi_softmax_columns)(
	bool log, const float *source, int64_t count, ptrdiff_t step, int64_t width, float *target);
void VARIANT(dlsi_standardise)(const struct dlsi_line *line, const float *source, float *target);

void VARIANT(dlsi_mix_rows)(
	const int32_t *indices, const float *weights, int64_t count, const float *source, int64_t width, float *target);
void VARIANT(dlsi_mix_columns)(const struct dlsi_kernel_taps *taps, int64_t pixel, const float *source, float *target);

void VARIANT(dlsi_integer_tile)(int rows, const struct dlsi_integer_tile *tile);
void VARIANT(dlsi_integer_widen)(const uint8_t *from, int64_t count, uint8_t flip, int zero, int16_t *to);
void VARIANT(dlsi_integer_see)(const struct dlsi_integer_places *places, int32_t *pairs);
void VARIANT(dlsi_integer_scale)(const struct dlsi_integer_scale *scale, const int32_t *sums, uint8_t *target);

#endif
