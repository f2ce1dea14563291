/* Random numbers that replay: xoshiro256** seeded by splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", 2021). For choices and simulations, never for secrets: those come from base/random.h. */
#ifndef DLSI_RNG_H
#define DLSI_RNG_H

#include <stdint.h>

struct dlsi_rng {
	uint64_t state[4];
};

void dlsi_rng_init(struct dlsi_rng *rng, uint64_t seed);
uint64_t dlsi_rng_next(struct dlsi_rng *rng);

/* A number from 0 to bound - 1, without bias; `bound` is not 0. */
uint64_t dlsi_rng_below(struct dlsi_rng *rng, uint64_t bound);

#endif
