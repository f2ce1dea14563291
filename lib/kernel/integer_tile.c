#include "kernel/integer_tile.h"

#include <string.h>

int64_t dlsi_integer_pairs(int64_t depth)
{
	return (depth + 1) / 2;
}

int64_t dlsi_integer_width(int block)
{
	return DLSI_TILE_WIDTH * block;
}

int64_t dlsi_integer_factors(int64_t count)
{
	const int64_t most = DLSI_TILE_WIDTH * DLSI_BLOCK_MOST;

	return (count + most - 1) / most * most;
}

int64_t dlsi_integer_rows_size(const struct dlsi_kernel_code *code, int64_t rows, int64_t depth)
{
	const int64_t tiles = (rows + code->tile_rows - 1) / code->tile_rows;

	return tiles * code->tile_rows * dlsi_integer_pairs(depth);
}

void dlsi_integer_pack_rows(const struct dlsi_kernel_code *code, const struct dlsi_bytes *bytes, int64_t first,
	int64_t count, int64_t depth, int32_t *packed)
{
	for (int64_t r = 0; r < count; r++) {
		const int64_t row = first + r, begin = row * depth;
		int32_t *to = packed + r;

		for (int64_t k = 0; k + 1 < depth; k += 2, to += code->tile_rows)
			*to = DLSI_PAIR(dlsi_bytes_at(bytes, begin + k, row), dlsi_bytes_at(bytes, begin + k + 1, row));
		if (depth % 2)
			*to = DLSI_PAIR(dlsi_bytes_at(bytes, begin + depth - 1, row), 0);
	}
}

static void scale(const struct dlsi_integer_part *part, int64_t row, const int32_t *sums)
{
	const struct dlsi_integer_target *target = part->target;
	const bool is_signed = target->dtype == DLS_INT8;
	const int64_t channel = part->channels ? row : part->column;
	const struct dlsi_integer_scale scale = {.factors = target->factors + channel * target->factor_step,
		.step = part->channels ? 0 : target->factor_step,
		.bias = target->bias ? target->bias[row] : 0,
		.zero = (float)target->zero,
		.low = is_signed ? INT8_MIN : 0,
		.high = is_signed ? INT8_MAX : UINT8_MAX};
	uint8_t bytes[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST];

	part->code->integer_scale(&scale, sums, bytes);
	memcpy((uint8_t *)target->data + part->start + row * part->row_elements + part->column, bytes,
		(size_t)part->columns);
}

void dlsi_integer_finish(const struct dlsi_integer_part *part, const int32_t *sums)
{
	for (int64_t row = part->row; row < part->row + part->rows; row++, sums += part->width) {
		if (part->target->dtype == DLS_INT32)
			memcpy((int32_t *)part->target->data + part->start + row * part->row_elements + part->column,
				sums, (size_t)part->columns * sizeof *sums);
		else
			scale(part, row, sums);
	}
}
