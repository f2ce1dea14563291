/* Strips of local response normalisation. */
#include "kernel/vector.h"
#include <math.h>
#include <string.h>

/* x / (bias + alpha * sum) ^ beta, with 3/4, which nearly all networks use, by square roots. */
INLINE vec normalise(const struct dlsi_lrn_strip *strip, vec x, vec sum)
{
	vec scale = sum * vec_all(strip->alpha) + vec_all(strip->bias);

	if (strip->beta == 0.75F) {
		const vec root = vec_sqrt(scale);

		return x / (root * vec_sqrt(root));
	}
	for (int i = 0; i < DLSI_LANES; i++)
		scale[i] = powf(scale[i], strip->beta);
	return x / scale;
}

/* The squares of each pixel's channels one after another, between as many zeros as the window reaches beyond them. */
void VARIANT(dlsi_lrn_blocked)(const struct dlsi_lrn_strip *strip)
{
	const int64_t before = (strip->size - 1) / 2, blocks = (strip->channels + DLSI_LANES - 1) / DLSI_LANES;
	const int64_t pitch = blocks * DLSI_LANES + strip->size - 1;

	memset(strip->squares, 0, (size_t)(pitch * strip->pixels) * sizeof *strip->squares);
	for (int64_t block = 0; block < blocks; block++) {
		const float *source = strip->source + block * strip->step;

		for (int64_t pixel = 0; pixel < strip->pixels; pixel++) {
			const vec x = vec_load(source + pixel * strip->pixel);

			vec_store(strip->squares + pixel * pitch + before + block * DLSI_LANES, x * x);
		}
	}
	for (int64_t block = 0; block < blocks; block++) {
		const float *source = strip->source + block * strip->step;
		float *target = strip->target + block * strip->step;

		for (int64_t pixel = 0; pixel < strip->pixels; pixel++) {
			const float *squares = strip->squares + pixel * pitch + block * DLSI_LANES;
			vec sum = vec_load(squares);

			for (int64_t i = 1; i < strip->size; i++)
				sum += vec_load(squares + i);
			vec_store(target + pixel * strip->pixel,
				normalise(strip, vec_load(source + pixel * strip->pixel), sum));
		}
	}
}

/* The first `count` floats; zeros behind them. */
INLINE vec load_some(const float *at, int64_t count)
{
	vec x = {0};

	if (count >= DLSI_LANES)
		return vec_load(at);
	memcpy(&x, at, (size_t)count * sizeof *at);
	return x;
}

INLINE void store_some(float *at, vec x, int64_t count)
{
	memcpy(at, &x, (size_t)(count < DLSI_LANES ? count : DLSI_LANES) * sizeof *at);
}

/* The squares of DLSI_LANES pixels: channel after channel, between as many zeros as the window reaches beyond them. */
static void dense_column(const struct dlsi_lrn_strip *strip, const float *source, float *target, int64_t pixels)
{
	const int64_t before = (strip->size - 1) / 2, after = strip->size - 1 - before;
	float *squares = strip->squares + before * DLSI_LANES;

	memset(strip->squares, 0, (size_t)before * sizeof(vec));
	for (int64_t channel = 0; channel < strip->channels; channel++) {
		const vec x = load_some(source + channel * strip->step, pixels);

		vec_store(squares + channel * DLSI_LANES, x * x);
	}
	memset(squares + strip->channels * DLSI_LANES, 0, (size_t)after * sizeof(vec));
	for (int64_t channel = 0; channel < strip->channels; channel++) {
		const float *window = strip->squares + channel * DLSI_LANES;
		vec sum = vec_load(window);

		for (int64_t i = 1; i < strip->size; i++)
			sum += vec_load(window + i * DLSI_LANES);
		store_some(target + channel * strip->step,
			normalise(strip, load_some(source + channel * strip->step, pixels), sum), pixels);
	}
}

void VARIANT(dlsi_lrn_dense)(const struct dlsi_lrn_strip *strip)
{
	for (int64_t pixel = 0; pixel < strip->pixels; pixel += DLSI_LANES)
		dense_column(strip, strip->source + pixel, strip->target + pixel, strip->pixels - pixel);
}
