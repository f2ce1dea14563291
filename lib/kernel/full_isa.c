/* One row through a panel, which is read once and as fast as memory gives it: from several places at once, since the
 * processor asks ahead for each of them, and with a sum for each, so that none waits for the one before. */
#include "kernel/vector.h"

enum { PLACES = 4, AHEAD = 256 /* floats */ };

void VARIANT(dlsi_full_row)(const float *source, const float *panel, int64_t depth, float *target)
{
	const int64_t width = DLSI_TILE_WIDTH * DLSI_LANES, share = depth / PLACES;
	vec sum[PLACES][DLSI_TILE_WIDTH] = {{{0}}};

	for (int64_t k = 0; k < share; k++) {
		UNROLL for (int i = 0; i < PLACES; i++)
		{
			const float *at = panel + (i * share + k) * width;
			const vec element = vec_all(source[i * share + k]);

			__builtin_prefetch(at + AHEAD);
			UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++) sum[i][v] +=
				element * vec_load(at + v * DLSI_LANES);
		}
	}
	for (int64_t k = PLACES * share; k < depth; k++)
		UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++) sum[0][v] +=
			vec_all(source[k]) * vec_load(panel + k * width + v * DLSI_LANES);
	UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++)
		vec_store(target + v * DLSI_LANES, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]));
}
