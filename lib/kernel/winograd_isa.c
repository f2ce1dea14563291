/* The transforms of Winograd's filtering with the points 0, 1, -1, 2, -2 and infinity. One dimension after the other: a
 * column or row of six numbers becomes six (source), or four or two (target). */
#include "kernel/vector.h"

enum { PATCH = DLSI_WINOGRAD_PATCH };

INLINE void source_line(const vec in[PATCH], vec out[PATCH])
{
	const vec even = in[4] - 4 * in[2], odd = in[3] - 4 * in[1];
	const vec near = in[4] - in[2], far = 2 * (in[3] - in[1]);

	out[0] = 4 * in[0] + (in[4] - 5 * in[2]);
	out[1] = even + odd;
	out[2] = even - odd;
	out[3] = near + far;
	out[4] = near - far;
	out[5] = 4 * in[1] + (in[5] - 5 * in[3]);
}

void VARIANT(dlsi_winograd_source)(const float *patch, struct dlsi_steps steps, float *target, ptrdiff_t plane)
{
	vec half[PATCH][PATCH]; /* by row; the columns are done */

	UNROLL for (int x = 0; x < PATCH; x++)
	{
		vec in[PATCH], out[PATCH];

		UNROLL for (int y = 0; y < PATCH; y++) in[y] = vec_load(patch + y * steps.row + x * steps.pixel);
		source_line(in, out);
		UNROLL for (int y = 0; y < PATCH; y++) half[y][x] = out[y];
	}
	UNROLL for (int y = 0; y < PATCH; y++)
	{
		vec out[PATCH];

		source_line(half[y], out);
		UNROLL for (int x = 0; x < PATCH; x++) vec_store(target + (y * PATCH + x) * plane, out[x]);
	}
}

INLINE void target_line(const int size, const vec in[PATCH], vec out[4])
{
	const vec near_sum = in[1] + in[2], near_difference = in[1] - in[2];
	const vec far_sum = in[3] + in[4], far_difference = in[3] - in[4];

	out[0] = in[0] + near_sum + far_sum;
	if (size == 2) {
		out[1] = near_difference + 2 * far_difference + in[5];
		return;
	}
	out[1] = near_difference + 2 * far_difference;
	out[2] = near_sum + 4 * far_sum;
	out[3] = near_difference + 8 * far_difference + in[5];
}

INLINE void transform(const int size, const float *source, ptrdiff_t plane, const float *bias, const float *addend,
	float *target, struct dlsi_steps steps, const float clamp[2])
{
	const vec start = vec_load(bias);
	vec half[4][PATCH];

	UNROLL for (int x = 0; x < PATCH; x++)
	{
		vec in[PATCH], out[4];

		UNROLL for (int y = 0; y < PATCH; y++) in[y] = vec_load(source + (y * PATCH + x) * plane);
		target_line(size, in, out);
		UNROLL for (int y = 0; y < size; y++) half[y][x] = out[y];
	}
	UNROLL for (int y = 0; y < size; y++)
	{
		vec out[4];

		target_line(size, half[y], out);
		UNROLL for (int x = 0; x < size; x++)
		{
			const ptrdiff_t at = y * steps.row + x * steps.pixel;
			const vec sum = out[x] + start;

			vec_store(target + at, vec_clamp(addend ? sum + vec_load(addend + at) : sum, vec_all(clamp[0]),
						       vec_all(clamp[1])));
		}
	}
}

void VARIANT(dlsi_winograd_target)(int size, const float *source, ptrdiff_t plane, const float *bias,
	const float *addend, float *target, struct dlsi_steps steps, const float clamp[2])
{
	if (size == 4)
		transform(4, source, plane, bias, addend, target, steps, clamp);
	else
		transform(2, source, plane, bias, addend, target, steps, clamp);
}
