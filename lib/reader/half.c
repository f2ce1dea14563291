#include "reader/half.h"

#include <stdint.h>
#include <string.h>

enum {
	SIGN = 0x8000,
	NO_NUMBER = 0x7c00, /* from here on: infinity, and what is no number */
	FRACTION_SHIFT = 13 /* bits that a float's fraction has more */
};

static uint16_t load(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

static float as_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* With its bits in a float's places a half has 2^-112 of its value: that is how far the exponents' biases are apart. */
static float widen(uint16_t half)
{
	uint32_t magnitude = half & (SIGN - 1), sign = (uint32_t)(half & SIGN) << 16, bits;
	float value;

	if (magnitude >= NO_NUMBER)
		return as_float(sign | 0x7f800000U | magnitude << FRACTION_SHIFT);
	value = as_float(magnitude << FRACTION_SHIFT) * 0x1p112F;
	memcpy(&bits, &value, sizeof bits);
	return as_float(bits | sign);
}

void dlsi_half_widen(const void *from, size_t stride, size_t count, float *to)
{
	for (size_t i = 0; i < count; i++)
		to[i] = widen(load((const uint8_t *)from + i * stride));
}

void dlsi_bfloat_widen(const void *from, size_t stride, size_t count, float *to)
{
	for (size_t i = 0; i < count; i++)
		to[i] = as_float((uint32_t)load((const uint8_t *)from + i * stride) << 16);
}
