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

static struct dlsi_kernel_image image_of(const struct kernel_layout *layout)
{
	return dlsi_kernel_image(layout->channels_last, layout->block, layout->channels, layout->pixels);
}

int64_t kernel_stored(const struct kernel_layout *layout)
{
	return layout->items * image_of(layout).item;
}

static int64_t place(const struct kernel_layout *layout, int64_t item, int64_t channel, int64_t pixel)
{
	const struct dlsi_kernel_image image = image_of(layout);

	return item * image.item + channel / layout->block * image.block + pixel * image.pixel +
	       channel % layout->block;
}

void kernel_store(const struct kernel_layout *layout, const float *dense, float *stored)
{
	memset(stored, 0, (size_t)kernel_stored(layout) * sizeof *stored);
	for (int64_t item = 0; item < layout->items; item++)
		for (int64_t c = 0; c < layout->channels; c++)
			for (int64_t p = 0; p < layout->pixels; p++)
				stored[place(layout, item, c, p)] = *dense++;
}

void kernel_unstore(const struct kernel_layout *layout, const float *stored, float *dense)
{
	const int64_t filled = layout->channels_last
				       ? layout->channels
				       : dlsi_kernel_blocks(layout->block, layout->channels) * layout->block;

	for (int64_t item = 0; item < layout->items; item++)
		for (int64_t c = 0; c < filled; c++)
			for (int64_t p = 0; p < layout->pixels; p++) {
				const float number = stored[place(layout, item, c, p)];

				if (c < layout->channels)
					*dense++ = number;
				else
					assert_true(number == 0);
			}
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
