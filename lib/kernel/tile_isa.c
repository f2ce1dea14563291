/* The tile: where nearly all time of convolutions and fully connected layers goes. Per step it loads a row of the panel
 * once and multiplies it by one element of each source row, all sums in registers. */
#include "kernel/vector.h"

/* A variant's tile of fixed size; inlined below with both sizes known, so that `sum` becomes registers. */
INLINE void multiply(const int rows, const int blocks, const struct dlsi_tile *tile)
{
	const ptrdiff_t source_row = tile->source_row;
	const ptrdiff_t target_row = tile->target_row, target_block = tile->target_block;
	const float *panel = tile->panel, *addend = tile->addend;
	const vec low = vec_all(tile->low), high = vec_all(tile->high);
	float *target = tile->target;
	vec sum[TILE_ROWS][DLSI_TILE_WIDTH];

	UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < blocks; v++) sum[r][v] =
		vec_load(tile->bias + v * DLSI_LANES);
	for (int64_t slice = 0; slice < tile->slices; slice++) {
		const float *source = tile->source + tile->offsets[slice];

		for (int64_t k = 0; k < tile->depth; k++) {
			vec weights[DLSI_TILE_WIDTH];

			UNROLL for (int v = 0; v < blocks; v++) weights[v] = vec_load(panel + v * DLSI_LANES);
			UNROLL for (int r = 0; r < rows; r++)
			{
				const vec element = vec_all(source[r * source_row + k]);

				UNROLL for (int v = 0; v < blocks; v++) sum[r][v] += element * weights[v];
			}
			panel += blocks * DLSI_LANES;
		}
	}
	UNROLL for (int r = 0; r < rows; r++)
	{
		UNROLL for (int v = 0; v < blocks; v++)
		{
			const ptrdiff_t at = r * target_row + v * target_block;

			if (addend)
				sum[r][v] += vec_load(addend + at);
			vec_store(target + at, vec_clamp(sum[r][v], low, high));
		}
	}
}

#define CASE(rows)                                                                                                     \
	case rows:                                                                                                     \
		if (rows <= TILE_ROWS && blocks == 2)                                                                  \
			multiply(rows <= TILE_ROWS ? rows : 1, 2, tile);                                               \
		else if (rows <= TILE_ROWS)                                                                            \
			multiply(rows <= TILE_ROWS ? rows : 1, 1, tile);                                               \
		break;

void VARIANT(dlsi_tile)(int rows, int blocks, const struct dlsi_tile *tile)
{
	switch (rows) {
		CASE(1)
		CASE(2)
		CASE(3)
		CASE(4)
		CASE(5)
		CASE(6)
		CASE(7)
		CASE(8)
		CASE(9)
		CASE(10)
		CASE(11)
		CASE(12)
	}
}
