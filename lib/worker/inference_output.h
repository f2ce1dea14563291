/* What is done to the values of a model's output before they are sent: softmax, and the highest of them. Pure. */
#ifndef DLSI_INFERENCE_OUTPUT_H
#define DLSI_INFERENCE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* exp(v - m) / sum of exp(v - m) with m the highest value, in place. A NaN among the values makes all of them NaN. */
void dlsi_output_softmax(float *values, size_t count);

/* The `top` (1 to count) highest values, falling, and their places; of equal values the first comes first, NaNs come
 * last. Cost: O(count log top) comparisons, but O(count * top) moves for values that rise. */
void dlsi_output_top(const float *values, size_t count, size_t top, float *highest_out, uint32_t *indices_out);

#endif
