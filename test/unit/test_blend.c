/* The form of the loops that this machine uses against the plain one, sample by sample, up to weights and runs of
 * samples that only just do not overflow. */
#include "media/blend.h"
#include "test/unit/unit.h"
#include <stdbool.h>
#include <string.h>

/* The plain form, under names of its own. */
void plain_columns(
	const struct dlsi_taps *columns, uint32_t channels, const uint8_t *row, uint32_t width, uint8_t *out);
void plain_rows(const struct dlsi_blend_source *rows, const struct dlsi_taps *taps, uint32_t y, size_t from, size_t end,
	uint8_t *out);
#define dlsi_blend_columns plain_columns
#define dlsi_blend_rows    plain_rows
#undef __SSE2__
#include "media/blend.c"
#undef dlsi_blend_columns
#undef dlsi_blend_rows

enum { RESULTS = 40, LINE = 9000 };

/* Weights of both signs whose positive ones add up to about 1.2 and all to about 1, as those of bicubic and lanczos. */
static void fill_weights(struct dlsi_rng *rng, int32_t *weights, uint32_t count)
{
	int32_t whole = 1 << DLSI_BLEND_PRECISION, share = whole / 10 * 12 / (int32_t)((count + 1) / 2);

	for (uint32_t i = 0; i < count; i++) {
		int32_t part = i % 2 ? -(whole / 10 * 2 / (int32_t)count) : share;

		weights[i] = part - (part ? (int32_t)dlsi_rng_below(rng, 3) : 0);
	}
}

static void fill_taps(struct dlsi_rng *rng, struct dlsi_taps *taps, uint32_t line)
{
	taps->most = dlsi_rng_below(rng, 8) ? 1 + (uint32_t)dlsi_rng_below(rng, 9) : line;
	if (taps->most > line)
		taps->most = line;
	taps->at = test_malloc(RESULTS * sizeof *taps->at);
	taps->weights = test_malloc((size_t)RESULTS * taps->most * sizeof *taps->weights);
	for (uint32_t i = 0; i < RESULTS; i++) {
		struct dlsi_tap *tap = &taps->at[i];

		tap->count = 1 + (uint32_t)dlsi_rng_below(rng, taps->most);
		tap->first = (uint32_t)dlsi_rng_below(rng, line - tap->count + 1);
		fill_weights(rng, taps->weights + (size_t)i * taps->most, tap->count);
	}
}

static void free_taps(struct dlsi_taps *taps)
{
	test_free(taps->at);
	test_free(taps->weights);
}

/* `count` bytes and the slack behind them: noise, or all of the highest value. */
static uint8_t *make_samples(struct dlsi_rng *rng, size_t count)
{
	uint8_t *samples = test_malloc(count + DLSI_BLEND_SLACK);
	bool flat = dlsi_rng_below(rng, 4) == 0;

	for (size_t i = 0; i < count + DLSI_BLEND_SLACK; i++)
		samples[i] = flat ? 255 : (uint8_t)dlsi_rng_below(rng, 256);
	return samples;
}

/* Sample `c` of the `step` that follow each other in a pixel. */
static uint8_t blend(const struct dlsi_taps *taps, uint32_t result, const uint8_t *line, size_t step, size_t c)
{
	const struct dlsi_tap *tap = &taps->at[result];
	int64_t sum = 1 << (DLSI_BLEND_PRECISION - 1);

	for (uint32_t i = 0; i < tap->count; i++)
		sum += (int64_t)taps->weights[(size_t)result * taps->most + i] * line[(tap->first + i) * step + c];
	sum >>= DLSI_BLEND_PRECISION;
	return sum < 0 ? 0 : sum > 255 ? 255 : (uint8_t)sum;
}

static void test_columns(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint32_t channels = 1 + 2 * (uint32_t)dlsi_rng_below(&rng, 2);
		uint32_t line = 1 + (uint32_t)dlsi_rng_below(&rng, seed % 10 ? 50 : LINE);
		uint8_t *row = make_samples(&rng, (size_t)line * channels), out[2][RESULTS * 3] = {{0}};
		struct dlsi_taps taps;

		fill_taps(&rng, &taps, line);
		dlsi_blend_columns(&taps, channels, row, RESULTS, out[0]);
		plain_columns(&taps, channels, row, RESULTS, out[1]);
		for (uint32_t i = 0; i < RESULTS * channels; i++) {
			uint8_t expected = blend(&taps, i / channels, row, channels, i % channels);

			assert_int_equal(out[0][i], expected);
			assert_int_equal(out[1][i], expected);
		}
		free_taps(&taps);
		test_free(row);
	}
}

/* One result row from a ring that holds the last `count` of `line` rows of samples. */
static void check_row(struct dlsi_rng *rng, const struct dlsi_taps *taps, uint32_t y, const uint8_t *samples,
	size_t stride, uint32_t count)
{
	struct dlsi_blend_source source = {.stride = stride, .count = count};
	uint8_t *ring = test_malloc(count * stride), out[2][64];
	size_t from = dlsi_rng_below(rng, stride);

	for (uint32_t i = 0; i < taps->at[y].count; i++) {
		uint32_t row = taps->at[y].first + i;

		memcpy(ring + row % count * stride, samples + row * stride, stride);
	}
	source.data = ring;
	memset(out, 9, sizeof out);
	dlsi_blend_rows(&source, taps, y, from, stride, out[0]);
	plain_rows(&source, taps, y, from, stride, out[1]);
	for (size_t i = 0; i < sizeof out[0]; i++) {
		uint8_t expected = i >= from && i < stride ? blend(taps, y, samples, stride, i) : 9;

		assert_int_equal(out[0][i], expected);
		assert_int_equal(out[1][i], expected);
	}
	test_free(ring);
}

static void test_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint32_t line = 1 + (uint32_t)dlsi_rng_below(&rng, seed % 10 ? 50 : LINE);
		size_t stride = 1 + dlsi_rng_below(&rng, 60);
		uint8_t *samples = make_samples(&rng, line * stride);
		struct dlsi_taps taps;

		fill_taps(&rng, &taps, line);
		for (uint32_t y = 0; y < RESULTS; y++)
			check_row(&rng, &taps, y, samples, stride, taps.most + (uint32_t)dlsi_rng_below(&rng, 3));
		free_taps(&taps);
		test_free(samples);
	}
}

UNIT_MAIN(test_columns, test_rows)
