#include "op/key.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define TOP (1ULL << 63)

/* Of the bits of a float that is no NaN: below 0 they fall as it rises. */
static uint64_t of_double(double x)
{
	uint64_t bits;

	if (isnan(x))
		return UINT64_MAX;
	x = x == 0 ? 0 : x;
	memcpy(&bits, &x, sizeof bits);
	return bits & TOP ? ~bits : bits | TOP;
}

static uint64_t of_int(int64_t x)
{
	return (uint64_t)x ^ TOP;
}

static uint64_t of_natural(uint64_t x)
{
	return x;
}

#define TYPES(X)                                                                                                       \
	X(DLS_FLOAT32, float, of_double)                                                                               \
	X(DLS_FLOAT64, double, of_double)                                                                              \
	X(DLS_INT8, int8_t, of_int)                                                                                    \
	X(DLS_UINT8, uint8_t, of_natural)                                                                              \
	X(DLS_INT16, int16_t, of_int)                                                                                  \
	X(DLS_UINT16, uint16_t, of_natural)                                                                            \
	X(DLS_INT32, int32_t, of_int)                                                                                  \
	X(DLS_UINT32, uint32_t, of_natural)                                                                            \
	X(DLS_INT64, int64_t, of_int)                                                                                  \
	X(DLS_UINT64, uint64_t, of_natural)                                                                            \
	X(DLS_BOOL, uint8_t, of_natural)

void dlsi_keys(enum dls_dtype dtype, const void *from, size_t stride, size_t count, uint64_t *keys_out)
{
	switch (dtype) {
#define KEYS(value, type, key)                                                                                         \
	case value:                                                                                                    \
		for (size_t i = 0; i < count; i++)                                                                     \
			keys_out[i] = key(((const type *)from)[i * stride]);                                           \
		break;
		TYPES(KEYS)
#undef KEYS
	}
}

/* ---- the best of them */

static bool is_better(const struct dlsi_ranked *a, const struct dlsi_ranked *b)
{
	return a->key < b->key || (a->key == b->key && a->index < b->index);
}

/* A heap whose root is the worst of all. */
static void sink(struct dlsi_ranked *heap, size_t count, size_t at)
{
	struct dlsi_ranked moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_better(&heap[child], &heap[child + 1]))
			child++;
		if (!is_better(&moved, &heap[child]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

void dlsi_keys_best(const uint64_t *keys, size_t count, struct dlsi_ranked *best, size_t k)
{
	for (size_t i = 0; i < k; i++)
		best[i] = (struct dlsi_ranked){keys[i], i};
	for (size_t i = k / 2; i-- > 0;)
		sink(best, k, i);
	for (size_t i = k; k && i < count; i++) {
		struct dlsi_ranked next = {keys[i], i};

		if (!is_better(&next, &best[0]))
			continue;
		best[0] = next;
		sink(best, k, 0);
	}
	for (size_t left = k; left > 1;) {
		struct dlsi_ranked worst = best[0];

		best[0] = best[--left];
		best[left] = worst;
		sink(best, left, 0);
	}
}
