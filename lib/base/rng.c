#include "base/rng.h"

void dlsi_rng_init(struct dlsi_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		rng->state[i] = z ^ z >> 31;
	}
}

static uint64_t rotate(uint64_t value, int by)
{
	return value << by | value >> (64 - by);
}

uint64_t dlsi_rng_next(struct dlsi_rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t dlsi_rng_below(struct dlsi_rng *rng, uint64_t bound)
{
	uint64_t reject = -bound % bound, value; /* 2^64 mod bound: the numbers that would favour the low residues */

	do
		value = dlsi_rng_next(rng);
	while (value < reject);
	return value % bound;
}
