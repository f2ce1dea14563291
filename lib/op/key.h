/* Elements of any type as numbers in the same order, so that what compares and sorts is written once. */
#ifndef DLSI_KEY_H
#define DLSI_KEY_H

#include <dlsched/tensor.h>
#include <stddef.h>

/* The keys of `count` elements, the first at `from` and each `stride` behind the one before: a greater element has a
 * greater key, equal ones (0 and -0 too) the same. A NaN is above all numbers. */
void dlsi_keys(enum dls_dtype dtype, const void *from, size_t stride, size_t count, uint64_t *keys_out);

struct dlsi_ranked {
	uint64_t key;
	size_t index;
};

/* The `k` least of `count` keys, the least first; of equal ones the first comes first. */
void dlsi_keys_best(const uint64_t *keys, size_t count, struct dlsi_ranked *best, size_t k);

#endif
