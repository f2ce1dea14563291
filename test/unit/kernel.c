#include "test/unit/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float *kernel_floats(int64_t count)
{
	void *floats = NULL;

	assert_int_equal(posix_memalign(&floats, 64, (size_t)(count ? count : 1) * sizeof(float)), 0);
	for (int64_t i = 0; i < count; i++)
		((float *)floats)[i] = 1e30F; /* a sum that takes what nobody wrote is found out */
	return floats;
}

float kernel_random(struct dlsi_rng *rng)
{
	return (float)(dlsi_rng_next(rng) >> 40) / (float)(1 << 23) - 1;
}

int64_t kernel_between(struct dlsi_rng *rng, int64_t least, int64_t most)
{
	return least + (int64_t)dlsi_rng_below(rng, (uint64_t)(most - least + 1));
}

int64_t kernel_pitch(int block, int64_t channels, int64_t pixels)
{
	return (channels + block - 1) / block * block * pixels;
}

static int64_t place(int block, int64_t pixels, int64_t channel, int64_t pixel)
{
	return (channel / block * pixels + pixel) * block + channel % block;
}

void kernel_to_blocks(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *dense, float *blocked)
{
	for (int64_t item = 0; item < items; item++) {
		memset(blocked + item * pitch, 0, (size_t)kernel_pitch(block, channels, pixels) * sizeof *blocked);
		for (int64_t c = 0; c < channels; c++)
			for (int64_t p = 0; p < pixels; p++)
				blocked[item * pitch + place(block, pixels, c, p)] =
					dense[(item * channels + c) * pixels + p];
	}
}

void kernel_from_blocks(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *blocked, float *dense)
{
	for (int64_t item = 0; item < items; item++)
		for (int64_t c = 0; c < channels; c++)
			for (int64_t p = 0; p < pixels; p++)
				dense[(item * channels + c) * pixels + p] =
					blocked[item * pitch + place(block, pixels, c, p)];
}

void kernel_assert_filled(
	int block, int64_t items, int64_t channels, int64_t pixels, int64_t pitch, const float *blocked)
{
	const int64_t stored = (channels + block - 1) / block * block;

	for (int64_t item = 0; item < items; item++)
		for (int64_t c = channels; c < stored; c++)
			for (int64_t p = 0; p < pixels; p++)
				assert_true(blocked[item * pitch + place(block, pixels, c, p)] == 0);
}

void kernel_assert_close(const float *actual, const float *expected, int64_t count, float tolerance)
{
	float most = 0;

	for (int64_t i = 0; i < count; i++)
		if (isfinite(expected[i]))
			most = fmaxf(most, fabsf(expected[i]));
	for (int64_t i = 0; i < count; i++) {
		const float difference = fabsf(actual[i] - expected[i]);

		if (isnan(expected[i]) ? !isnan(actual[i])
				       : actual[i] != expected[i] && !(difference <= tolerance * most))
			fail_msg("[%lld]: %g instead of %g, largest %g", (long long)i, (double)actual[i],
				(double)expected[i], (double)most);
	}
}
