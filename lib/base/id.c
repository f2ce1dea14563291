#include "base/id.h"

#include <string.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

uint64_t dlsi_id_hash(const struct dlsi_id *id, uint64_t seed)
{
	uint64_t half[2];

	memcpy(half, id->bytes, sizeof half);
	return mix(mix(half[0] ^ seed) ^ half[1]);
}

int dlsi_id_compare(const struct dlsi_id *a, const struct dlsi_id *b)
{
	return memcmp(a->bytes, b->bytes, DLSI_ID_BYTES);
}

bool dlsi_id_equal(const struct dlsi_id *a, const struct dlsi_id *b)
{
	return dlsi_id_compare(a, b) == 0;
}

bool dlsi_id_is_zero(const struct dlsi_id *id)
{
	static const struct dlsi_id zero;

	return dlsi_id_equal(id, &zero);
}

void dlsi_hex(const uint8_t *bytes, unsigned length, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < length; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * length] = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dlsi_unhex(const char *text, unsigned length, uint8_t *bytes_out)
{
	if (strlen(text) != 2 * (size_t)length)
		return false;
	for (unsigned i = 0; i < 2 * length; i++)
		if (digit(text[i]) < 0)
			return false;
	for (unsigned i = 0; i < length; i++)
		bytes_out[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	return true;
}
