#include "media/blend.h"

#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { HALF = 1 << (DLSI_BLEND_PRECISION - 1) };

static uint8_t clip(int32_t sum)
{
	if (sum < 0)
		return 0;
	sum >>= DLSI_BLEND_PRECISION;
	return sum > 255 ? 255 : (uint8_t)sum;
}

static const uint8_t *find_row(const struct dlsi_blend_source *rows, uint32_t y)
{
	return rows->data + y % rows->count * rows->stride;
}

static const uint8_t *next_row(const struct dlsi_blend_source *rows, const uint8_t *row)
{
	size_t last = (rows->count - 1) * rows->stride;

	return (size_t)(row - rows->data) < last ? row + rows->stride : row - last;
}

static void blend_grey_columns(const struct dlsi_taps *columns, const uint8_t *row, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++) {
		const int32_t *weights = columns->weights + (size_t)x * columns->most;
		const uint8_t *sample = row + columns->at[x].first;
		int32_t sum = HALF;

		for (uint32_t i = 0; i < columns->at[x].count; i++)
			sum += weights[i] * sample[i];
		out[x] = clip(sum);
	}
}

static void blend_samples(const struct dlsi_blend_source *rows, const struct dlsi_tap *tap, const int32_t *weights,
	size_t from, size_t end, uint8_t *out)
{
	for (size_t at = from; at < end; at++) {
		int32_t sum = HALF;

		for (uint32_t i = 0; i < tap->count; i++)
			sum += weights[i] * find_row(rows, tap->first + i)[at];
		out[at] = clip(sum);
	}
}

#ifdef __SSE2__

enum { LOW_BITS = 11, BLOCK = 16 };

/* Two weights, each split: four times the high parts of both and four times the low ones, in 16 bits. */
struct pair {
	__m128i high, low;
};

/* The second weight is 0 if only one is left. */
static struct pair take_pair(const int32_t *weights, bool both)
{
	__m128i exact = both ? _mm_loadl_epi64((const __m128i *)weights) : _mm_cvtsi32_si128(*weights);
	__m128i high = _mm_srai_epi32(exact, LOW_BITS);
	__m128i low = _mm_and_si128(exact, _mm_set1_epi32((1 << LOW_BITS) - 1));
	__m128i split = _mm_packs_epi32(high, low);

	return (struct pair){.high = _mm_shuffle_epi32(split, 0x00), .low = _mm_shuffle_epi32(split, 0xaa)};
}

/* Four sums, in two parts. The parts wrap around where the whole does not. */
struct sums {
	__m128i high, low;
};

static struct sums begin_sums(void)
{
	return (struct sums){.high = _mm_set1_epi32(HALF >> LOW_BITS), .low = _mm_setzero_si128()};
}

/* `samples`: eight in 16 bits, those that go into one sum side by side. */
static void add(struct sums *sums, __m128i samples, const struct pair *pair)
{
	sums->high = _mm_add_epi32(sums->high, _mm_madd_epi16(samples, pair->high));
	sums->low = _mm_add_epi32(sums->low, _mm_madd_epi16(samples, pair->low));
}

/* Whole numbers in 32 bits, not clipped yet. */
static __m128i end_sums(const struct sums *sums)
{
	__m128i whole = _mm_add_epi32(_mm_slli_epi32(sums->high, LOW_BITS), sums->low);

	return _mm_srai_epi32(whole, DLSI_BLEND_PRECISION);
}

static __m128i load_pixel(const uint8_t *pixel)
{
	int32_t bytes;

	memcpy(&bytes, pixel, sizeof bytes); /* one more than a pixel has */
	return _mm_cvtsi32_si128(bytes);
}

static void blend_rgb_columns(const struct dlsi_taps *columns, const uint8_t *row, uint32_t width, uint8_t *out)
{
	const __m128i zero = _mm_setzero_si128();

	for (uint32_t x = 0; x < width; x++, out += 3) {
		const int32_t *weights = columns->weights + (size_t)x * columns->most;
		const uint8_t *pixel = row + (size_t)columns->at[x].first * 3;
		struct sums sums = begin_sums();
		__m128i clipped;
		uint32_t bytes;

		for (uint32_t left = columns->at[x].count; left; left -= left > 1 ? 2 : 1, weights += 2, pixel += 6) {
			struct pair pair = take_pair(weights, left > 1);
			__m128i second = left > 1 ? load_pixel(pixel + 3) : zero;
			__m128i samples = _mm_unpacklo_epi8(load_pixel(pixel), second);

			add(&sums, _mm_unpacklo_epi8(samples, zero), &pair);
		}
		clipped = _mm_packs_epi32(end_sums(&sums), zero);
		bytes = (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(clipped, zero));
		memcpy(out, &bytes, 3);
	}
}

/* BLOCK samples of a result row. */
static void blend_block(const struct dlsi_blend_source *rows, const struct dlsi_tap *tap, const int32_t *weights,
	size_t at, uint8_t *out)
{
	const __m128i zero = _mm_setzero_si128();
	struct sums sums[] = {begin_sums(), begin_sums(), begin_sums(), begin_sums()};
	const uint8_t *row = find_row(rows, tap->first) + at;
	__m128i low, high;

	for (uint32_t left = tap->count; left; left -= left > 1 ? 2 : 1, weights += 2) {
		struct pair pair = take_pair(weights, left > 1);
		__m128i first = _mm_loadu_si128((const __m128i *)row), second = zero;

		row = next_row(rows, row);
		if (left > 1) {
			second = _mm_loadu_si128((const __m128i *)row);
			row = next_row(rows, row);
		}
		low = _mm_unpacklo_epi8(first, second);
		high = _mm_unpackhi_epi8(first, second);
		add(&sums[0], _mm_unpacklo_epi8(low, zero), &pair);
		add(&sums[1], _mm_unpackhi_epi8(low, zero), &pair);
		add(&sums[2], _mm_unpacklo_epi8(high, zero), &pair);
		add(&sums[3], _mm_unpackhi_epi8(high, zero), &pair);
	}
	low = _mm_packs_epi32(end_sums(&sums[0]), end_sums(&sums[1]));
	high = _mm_packs_epi32(end_sums(&sums[2]), end_sums(&sums[3]));
	_mm_storeu_si128((__m128i *)(out + at), _mm_packus_epi16(low, high));
}

#else

enum { BLOCK = 16 };

static void blend_rgb_columns(const struct dlsi_taps *columns, const uint8_t *row, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++) {
		const int32_t *weights = columns->weights + (size_t)x * columns->most;
		const uint8_t *pixel = row + (size_t)columns->at[x].first * 3;
		int32_t red = HALF, green = HALF, blue = HALF;

		for (uint32_t i = 0; i < columns->at[x].count; i++, pixel += 3) {
			red += weights[i] * pixel[0];
			green += weights[i] * pixel[1];
			blue += weights[i] * pixel[2];
		}
		*out++ = clip(red);
		*out++ = clip(green);
		*out++ = clip(blue);
	}
}

/* BLOCK samples of a result row, a number that lets the compiler keep the sums in vector registers. */
static void blend_block(const struct dlsi_blend_source *rows, const struct dlsi_tap *tap, const int32_t *weights,
	size_t at, uint8_t *out)
{
	const uint8_t *row = find_row(rows, tap->first) + at;
	int32_t sums[BLOCK];

	for (int j = 0; j < BLOCK; j++)
		sums[j] = HALF;
	for (uint32_t i = 0; i < tap->count; i++, row = next_row(rows, row))
		for (int j = 0; j < BLOCK; j++)
			sums[j] += weights[i] * row[j];
	for (int j = 0; j < BLOCK; j++)
		out[at + (size_t)j] = clip(sums[j]);
}

#endif

void dlsi_blend_columns(
	const struct dlsi_taps *columns, uint32_t channels, const uint8_t *row, uint32_t width, uint8_t *out)
{
	if (channels == 1)
		blend_grey_columns(columns, row, width, out);
	else
		blend_rgb_columns(columns, row, width, out);
}

void dlsi_blend_rows(const struct dlsi_blend_source *rows, const struct dlsi_taps *taps, uint32_t y, size_t from,
	size_t end, uint8_t *out)
{
	const int32_t *weights = taps->weights + (size_t)y * taps->most;

	for (; end - from >= BLOCK; from += BLOCK)
		blend_block(rows, &taps->at[y], weights, from, out);
	blend_samples(rows, &taps->at[y], weights, from, end, out);
}
