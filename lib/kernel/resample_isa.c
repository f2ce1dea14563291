/* Sums of rows, and of pixels within a row. */
#include "kernel/resample.h"
#include "kernel/vector.h"

INLINE void mix(
	const int32_t *indices, const float *weights, int64_t count, const float *source, int64_t width, float *target)
{
	int64_t i = 0;

	for (; i + DLSI_LANES <= width; i += DLSI_LANES) {
		vec sum = vec_load(source + indices[0] * width + i) * weights[0];

		for (int64_t k = 1; k < count; k++)
			sum += vec_load(source + indices[k] * width + i) * weights[k];
		vec_store(target + i, sum);
	}
	for (; i < width; i++) {
		float sum = source[indices[0] * width + i] * weights[0];

		for (int64_t k = 1; k < count; k++)
			sum += source[indices[k] * width + i] * weights[k];
		target[i] = sum;
	}
}

void VARIANT(dlsi_mix_rows)(
	const int32_t *indices, const float *weights, int64_t count, const float *source, int64_t width, float *target)
{
	mix(indices, weights, count, source, width, target);
}

/* Of single floats, for a number of taps that is mostly known. */
INLINE void mix_floats(const struct dlsi_kernel_taps *taps, int64_t count, const float *source, float *target)
{
	for (int64_t i = 0; i < taps->target; i++) {
		const int32_t *indices = taps->indices + i * count;
		const float *weights = taps->weights + i * count;
		float sum = source[indices[0]] * weights[0];

		for (int64_t k = 1; k < count; k++)
			sum += source[indices[k]] * weights[k];
		target[i] = sum;
	}
}

/* Of pixels of so many floats. */
INLINE void mix_pixels(
	const struct dlsi_kernel_taps *taps, int64_t count, int64_t pixel, const float *source, float *target)
{
	for (int64_t i = 0; i < taps->target; i++)
		mix(taps->indices + i * count, taps->weights + i * count, count, source, pixel, target + i * pixel);
}

void VARIANT(dlsi_mix_columns)(const struct dlsi_kernel_taps *taps, int64_t pixel, const float *source, float *target)
{
	if (pixel > 1 && taps->count == 1)
		mix_pixels(taps, 1, pixel, source, target);
	else if (pixel > 1 && taps->count == 2)
		mix_pixels(taps, 2, pixel, source, target);
	else if (pixel > 1)
		mix_pixels(taps, taps->count, pixel, source, target);
	else if (taps->count == 1)
		mix_floats(taps, 1, source, target);
	else if (taps->count == 2)
		mix_floats(taps, 2, source, target);
	else
		mix_floats(taps, taps->count, source, target);
}
