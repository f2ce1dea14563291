/* The tile: where nearly all time of convolutions and fully connected layers goes. Per step it loads a row of the panel
 * once and multiplies it by one element of each source row, all sums in registers. */
#include "kernel/vector.h"

/* Keeps the pointer in a register of its own: left alone, compilers make one per row, more than there are registers. */
#define KEEP(pointer) __asm__("" : "+r"(pointer))

enum { SECOND_CACHE = 2 }; /* of __builtin_prefetch: where to */

/* A variant's tile of fixed size; inlined below with both sizes known, so that `sum` becomes registers. */
INLINE void multiply(const int rows, const int blocks, const struct dlsi_tile *tile)
{
	const ptrdiff_t source_row = tile->source_row, *offset = tile->offsets;
	const float *panel = tile->panel, *next = tile->next;
	vec sum[TILE_ROWS][DLSI_TILE_WIDTH];

	UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < blocks; v++) sum[r][v] =
		vec_load(tile->bias + v * DLSI_LANES);
	for (int64_t slice = tile->slices; slice > 0; slice--) {
		const float *row[(TILE_ROWS + 2) / 3], *source = tile->source + *offset++;

		for (int64_t line = tile->lines; line > 0; line--, next += DLSI_LINE_FLOATS)
			__builtin_prefetch(next, 0, SECOND_CACHE);
		UNROLL for (int r = 0; r < rows; r += 3) row[r / 3] = source + r * source_row;
		for (int64_t k = tile->depth; k > 0; k--) {
			vec weights[DLSI_TILE_WIDTH];

			UNROLL for (int v = 0; v < blocks; v++) weights[v] = vec_load(panel + v * DLSI_LANES);
			UNROLL for (int r = 0; r < rows; r++)
			{
				const vec element = vec_all(row[r / 3][r % 3 * source_row]);

				UNROLL for (int v = 0; v < blocks; v++) sum[r][v] += element * weights[v];
			}
			UNROLL for (int r = 0; r < rows; r += 3)
			{
				row[r / 3]++;
				KEEP(row[r / 3]);
			}
			panel += blocks * DLSI_LANES;
		}
	}
	KEEP(tile);
	UNROLL for (int r = 0; r < rows; r++)
	{
		UNROLL for (int v = 0; v < blocks; v++)
		{
			const ptrdiff_t at = r * tile->target_row + v * tile->target_block;

			if (tile->addend)
				sum[r][v] += vec_load(tile->addend + at);
			vec_store(tile->target + at, vec_clamp(sum[r][v], vec_all(tile->low), vec_all(tile->high)));
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
		EACH_ROW_COUNT(CASE)
	}
}
