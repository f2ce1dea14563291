/* Vectors of DLSI_LANES floats for the files *_isa.c. Vectors wider than the processor's become several by the
 * compiler's hand. */
#ifndef DLSI_KERNEL_VECTOR_H
#define DLSI_KERNEL_VECTOR_H

#include "kernel/variant.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* A case for each number of rows that a tile of some variant can have. */
#define EACH_ROW_COUNT(CASE)                                                                                           \
	CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)

typedef float vec __attribute__((vector_size(4 * DLSI_LANES)));
typedef int32_t vec_mask __attribute__((vector_size(4 * DLSI_LANES)));
typedef float vec_in_memory __attribute__((vector_size(4 * DLSI_LANES), aligned(4), may_alias));

INLINE vec vec_load(const float *at)
{
	return *(const vec_in_memory *)at;
}

INLINE void vec_store(float *at, vec x)
{
	*(vec_in_memory *)at = x;
}

INLINE vec vec_all(float x)
{
	return x - (vec){0}; /* minus, because -0 + 0 is 0 */
}

INLINE vec vec_select(vec_mask mask, vec yes, vec no)
{
	return (vec)(((vec_mask)yes & mask) | ((vec_mask)no & ~mask));
}

/* The larger of each pair; b where one is not a number. */
INLINE vec vec_max(vec a, vec b)
{
#if DLSI_LANES == 16 && defined(__AVX512F__)
	return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif DLSI_LANES == 8 && defined(__AVX2__)
	return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
	return vec_select(a > b, a, b);
#endif
}

/* The smaller of each pair; b where one is not a number. */
INLINE vec vec_min(vec a, vec b)
{
#if DLSI_LANES == 16 && defined(__AVX512F__)
	return (vec)_mm512_min_ps((__m512)a, (__m512)b);
#elif DLSI_LANES == 8 && defined(__AVX2__)
	return (vec)_mm256_min_ps((__m256)a, (__m256)b);
#else
	return vec_select(a < b, a, b);
#endif
}

/* NaN stays NaN. */
INLINE vec vec_clamp(vec x, vec low, vec high)
{
	return vec_min(high, vec_max(low, x));
}

INLINE vec vec_sqrt(vec x)
{
#if DLSI_LANES == 16 && defined(__AVX512F__)
	return (vec)_mm512_sqrt_ps((__m512)x);
#elif DLSI_LANES == 8 && defined(__AVX2__)
	return (vec)_mm256_sqrt_ps((__m256)x);
#else
	for (int i = 0; i < DLSI_LANES; i++)
		x[i] = sqrtf(x[i]);
	return x;
#endif
}

/* e to the power of x, right to about the last bit; 0 where that is below the least normal float. */
INLINE vec vec_exp(vec x)
{
	const float least = -87.3F, round = 12582912; /* added, the integer nearest to x / ln 2 is in the lowest bits */
	const vec within = vec_clamp(x, vec_all(least), vec_all(88.72F)), shifted = within * 1.44269504F + round;
	const vec whole = shifted - round, rest = within - whole * 0.693359375F + whole * 2.12194440e-4F;
	const vec_mask exponent = ((vec_mask)shifted - 0x4b400000 + 126) << 23;
	vec sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;

	sum = sum * rest + 8.3334519073e-3F;
	sum = sum * rest + 4.1665795894e-2F;
	sum = sum * rest + 1.6666665459e-1F;
	sum = sum * rest + 5.0000001201e-1F;
	sum = sum * rest * rest + rest + 1;
	return vec_select(x < least, vec_all(0), sum * 2 * (vec)exponent);
}

#endif
