/* Products of integers of 16 bits, two at a time: both products and their sum are exact in 32 bits, in which sums wrap
 * around. Without the instruction for it the compiler makes it of what there is. */
#include "kernel/vector.h"

typedef int32_t vec_int __attribute__((vector_size(4 * DLSI_LANES)));
typedef uint32_t vec_word __attribute__((vector_size(4 * DLSI_LANES)));
typedef int32_t vec_int_in_memory __attribute__((vector_size(4 * DLSI_LANES), aligned(4), may_alias));
typedef uint16_t vec_half __attribute__((vector_size(2 * DLSI_LANES)));
typedef uint16_t vec_half_in_memory __attribute__((vector_size(2 * DLSI_LANES), aligned(2), may_alias));
typedef uint8_t vec_byte __attribute__((vector_size(DLSI_LANES)));
typedef uint8_t vec_byte_in_memory __attribute__((vector_size(DLSI_LANES), aligned(1), may_alias));

INLINE vec_int load(const int32_t *at)
{
	return *(const vec_int_in_memory *)at;
}

INLINE void store(int32_t *at, vec_int x)
{
	*(vec_int_in_memory *)at = x;
}

INLINE vec_int all(int32_t x)
{
	return x - (vec_int){0};
}

/* sum + the products of the lower and of the upper halves */
INLINE vec_int multiply_pairs(vec_int sum, vec_int a, vec_int b)
{
#if DLSI_LANES == 16 && defined(__AVX512BW__)
	return (vec_int)_mm512_add_epi32((__m512i)sum, _mm512_madd_epi16((__m512i)a, (__m512i)b));
#elif DLSI_LANES == 8 && defined(__AVX2__)
	return (vec_int)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)a, (__m256i)b));
#else
	const vec_word lower =
		(vec_word)((vec_int)((vec_word)a << 16) >> 16) * (vec_word)((vec_int)((vec_word)b << 16) >> 16);

	return (vec_int)((vec_word)sum + lower + (vec_word)(a >> 16) * (vec_word)(b >> 16));
#endif
}

INLINE void multiply(const int rows, const struct dlsi_integer_tile *tile)
{
	const int32_t *left = tile->left, *right = tile->right;
	vec_int sum[TILE_ROWS][DLSI_TILE_WIDTH];

	UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++) sum[r][v] = all(0);
	for (int64_t pair = tile->pairs; pair > 0; pair--) {
		vec_int columns[DLSI_TILE_WIDTH];

		UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++) columns[v] = load(right + v * DLSI_LANES);
		UNROLL for (int r = 0; r < rows; r++)
		{
			const vec_int element = all(left[r]);

			UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++) sum[r][v] =
				multiply_pairs(sum[r][v], element, columns[v]);
		}
		left += TILE_ROWS;
		right += DLSI_TILE_WIDTH * DLSI_LANES;
	}
	UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++)
		store(tile->sums + (r * DLSI_TILE_WIDTH + v) * DLSI_LANES, sum[r][v]);
}

#define CASE(rows)                                                                                                     \
	case rows:                                                                                                     \
		multiply(rows <= TILE_ROWS ? rows : 1, tile);                                                          \
		break;

void VARIANT(dlsi_integer_tile)(int rows, const struct dlsi_integer_tile *tile)
{
	switch (rows) {
		EACH_ROW_COUNT(CASE)
	}
}

void VARIANT(dlsi_integer_widen)(const uint8_t *from, int64_t count, uint8_t flip, int zero, int16_t *to)
{
	const vec_half minus = (uint16_t)zero - (vec_half){0};
	int64_t i = 0;

	for (; i + DLSI_LANES <= count; i += DLSI_LANES) {
		const vec_byte bytes = *(const vec_byte_in_memory *)(from + i) ^ (flip - (vec_byte){0});

		*(vec_half_in_memory *)(to + i) = __builtin_convertvector(bytes, vec_half) - minus;
	}
	for (; i < count; i++)
		to[i] = (int16_t)((from[i] ^ flip) - zero);
}

/* What two taps see from each of the panel's places. */
INLINE void interleave(const struct dlsi_integer_places *places, const int16_t *a, const int16_t *b, int32_t *pairs)
{
	if (places->adjoin) {
		UNROLL for (int v = 0; v < DLSI_TILE_WIDTH; v++)
		{
			const ptrdiff_t at = *places->offsets + v * DLSI_LANES;
			const vec_word lower = __builtin_convertvector(*(const vec_half_in_memory *)(a + at), vec_word);
			const vec_word upper = __builtin_convertvector(*(const vec_half_in_memory *)(b + at), vec_word);

			store(pairs + v * DLSI_LANES, (vec_int)(lower | upper << 16));
		}
		return;
	}
	for (int i = 0; i < DLSI_TILE_WIDTH * DLSI_LANES; i++)
		pairs[i] = DLSI_PAIR(a[places->offsets[i]], b[places->offsets[i]]);
}

void VARIANT(dlsi_integer_see)(const struct dlsi_integer_places *places, int32_t *pairs)
{
	const int64_t even = places->depth & ~INT64_C(1);

	for (int64_t k = 0; k < even; k += 2, pairs += DLSI_TILE_WIDTH * DLSI_LANES)
		interleave(places, places->image + places->taps[k], places->image + places->taps[k + 1], pairs);
	for (int i = 0; i < DLSI_TILE_WIDTH * DLSI_LANES && even < places->depth; i++)
		pairs[i] = DLSI_PAIR(places->image[places->taps[even] + places->offsets[i]], 0);
}

void VARIANT(dlsi_integer_scale)(const struct dlsi_integer_scale *scale, const int32_t *sums, uint8_t *target)
{
	const float round = 12582912; /* added, the nearest integer is in the lowest bits */
	const float margin = 1024;    /* beyond all that there is with the zero point */
	const vec low = vec_all(scale->low), high = vec_all(scale->high), zero = vec_all(scale->zero);

	for (int v = 0; v < DLSI_TILE_WIDTH; v++, sums += DLSI_LANES, target += DLSI_LANES) {
		const vec_int sum = (vec_int)((vec_word)load(sums) + (vec_word)all(scale->bias));
		const vec factor = scale->step ? vec_load(scale->factors + v * DLSI_LANES) : vec_all(*scale->factors);
		const vec near =
			vec_min(vec_max(__builtin_convertvector(sum, vec) * factor, vec_all(-margin)), vec_all(margin));
		const vec whole = near + round - round;

		*(vec_byte_in_memory *)target = __builtin_convertvector(
			__builtin_convertvector(vec_min(vec_max(whole + zero, low), high), vec_int), vec_byte);
	}
}
