/* Products of matrices of bytes, and convolutions of them. Every byte counts less its zero point, which is an integer
 * of 16 bits; products and sums are exact, and wrap around in 32 bits. Weights are packed once. */
#ifndef DLSI_KERNEL_INTEGER_H
#define DLSI_KERNEL_INTEGER_H

#include "kernel/isa.h"
#include "op/convolve.h"

/* int8 or uint8, dense. */
struct dlsi_bytes {
	const void *data;
	bool is_signed;
	const void *zeros; /* zero points of the same type; NULL: 0 */
	int zero_step;     /* 1: each channel of weights, or column, has its own; 0: one for all */
};

/* Where the sums go: as they are (DLS_INT32), or as bytes: (sum + bias) * factor, rounded to the nearest (even)
 * integer, plus `zero`, cut to what the type can hold. */
struct dlsi_integer_target {
	enum dls_dtype dtype;
	void *data;
	int32_t zero;
	const float *factors; /* of channels or columns, as many as dlsi_integer_factors says; only for bytes */
	int factor_step;      /* 1: each has its own; 0: one for all */
	const int32_t *bias;  /* of channels, or NULL; only for bytes */
};

/* Room for factors of so many channels or columns: the kernels may read whole vectors of them. */
int64_t dlsi_integer_factors(int64_t count);

/* ---- target [rows][columns] = source [rows][depth] times weights [depth][columns] */

struct dlsi_integer_product {
	enum dlsi_isa isa; /* that it may use */
	int block;         /* 8 or 16, best dlsi_isa_block(isa) */
	int64_t rows, columns, depth;
};

size_t dlsi_integer_product_weights_bytes(const struct dlsi_integer_product *product);
void dlsi_integer_product_pack(
	const struct dlsi_integer_product *product, const struct dlsi_bytes *weights, int32_t *packed);

size_t dlsi_integer_product_scratch_bytes(const struct dlsi_integer_product *product, int threads);
void dlsi_integer_product_run(const struct dlsi_integer_product *product, const struct dlsi_bytes *source,
	const int32_t *packed, const struct dlsi_integer_target *target, void *scratch, int threads);

/* ---- convolutions as op/convolve.h has them: the image is the source, the places are the target */

struct dlsi_integer_conv {
	enum dlsi_isa isa;
	int block;
	struct dlsi_convolution convolution; /* its type does not count */
};

/* False where padding is many times as large as the image, which is copied with it. Nothing may be empty. */
bool dlsi_integer_conv_supported(const struct dlsi_integer_conv *conv);

size_t dlsi_integer_conv_weights_bytes(const struct dlsi_integer_conv *conv);
void dlsi_integer_conv_pack(const struct dlsi_integer_conv *conv, const struct dlsi_bytes *weights, int32_t *packed);

size_t dlsi_integer_conv_scratch_bytes(const struct dlsi_integer_conv *conv, int threads);
void dlsi_integer_conv_run(const struct dlsi_integer_conv *conv, const struct dlsi_bytes *source, const int32_t *packed,
	const struct dlsi_integer_target *target, void *scratch, int threads);

#endif
