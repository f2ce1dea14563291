/* What products and convolutions of bytes have in common: bytes as integers, rows as tiles take them, and what becomes
 * of a tile's sums. For kernel/integer_product.c and kernel/integer_conv.c. */
#ifndef DLSI_KERNEL_INTEGER_TILE_H
#define DLSI_KERNEL_INTEGER_TILE_H

#include "kernel/code.h"
#include "kernel/integer.h"

/* What a signed byte and its zero point are turned by, so that both are unsigned and their difference is the same. */
static inline uint8_t dlsi_bytes_flip(const struct dlsi_bytes *bytes)
{
	return bytes->is_signed ? 0x80 : 0;
}

static inline int dlsi_bytes_zero(const struct dlsi_bytes *bytes, int64_t number)
{
	const int zero = bytes->zeros ? ((const uint8_t *)bytes->zeros)[number * bytes->zero_step] : 0;

	return zero ^ dlsi_bytes_flip(bytes);
}

/* Byte `at` less zero point number `zero`. */
static inline int16_t dlsi_bytes_at(const struct dlsi_bytes *bytes, int64_t at, int64_t zero)
{
	const int byte = ((const uint8_t *)bytes->data)[at] ^ dlsi_bytes_flip(bytes);

	return (int16_t)(byte - dlsi_bytes_zero(bytes, zero));
}

/* Pairs in so many elements; columns of a panel. */
int64_t dlsi_integer_pairs(int64_t depth);
int64_t dlsi_integer_width(int block);

/* The 32-bit numbers of so many rows of pairs, in tiles. */
int64_t dlsi_integer_rows_size(const struct dlsi_kernel_code *code, int64_t rows, int64_t depth);

/* The rows [first, first + count) of dense rows, at most a tile. */
void dlsi_integer_pack_rows(const struct dlsi_kernel_code *code, const struct dlsi_bytes *bytes, int64_t first,
	int64_t count, int64_t depth, int32_t *packed);

/* A tile of the target: its factors belong to rows (channels) or else to columns. */
struct dlsi_integer_part {
	const struct dlsi_kernel_code *code;
	const struct dlsi_integer_target *target;
	bool channels;
	int64_t width;        /* of the tile */
	int64_t start;        /* element of the target that is row 0, column 0 */
	int64_t row_elements; /* from one row to the next */
	int64_t row, column, rows, columns;
};

/* Puts the sums of a tile where they belong. */
void dlsi_integer_finish(const struct dlsi_integer_part *part, const int32_t *sums);

#endif
