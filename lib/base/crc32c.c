#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

static uint32_t by_bits(uint32_t crc, const uint8_t *data, size_t length)
{
	while (length--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

#if defined __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *data, size_t length)
{
	uint64_t wide = crc, word;

	for (; length >= sizeof word; data += sizeof word, length -= sizeof word) {
		memcpy(&word, data, sizeof word);
		wide = _mm_crc32_u64(wide, word);
	}
	for (crc = (uint32_t)wide; length; length--)
		crc = _mm_crc32_u8(crc, *data++);
	return crc;
}

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined __ARM_FEATURE_CRC32
#include <arm_acle.h>

static uint32_t by_instruction(uint32_t crc, const uint8_t *data, size_t length)
{
	uint64_t word;

	for (; length >= sizeof word; data += sizeof word, length -= sizeof word) {
		memcpy(&word, data, sizeof word);
		crc = __crc32cd(crc, word);
	}
	while (length--)
		crc = __crc32cb(crc, *data++);
	return crc;
}

static bool has_instruction(void)
{
	return true;
}
#else
#define by_instruction by_bits

static bool has_instruction(void)
{
	return false;
}
#endif

uint32_t dlsi_crc32c(uint32_t crc, const void *data, size_t length)
{
	return ~(has_instruction() ? by_instruction : by_bits)(~crc, data, length);
}
