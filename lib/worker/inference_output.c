#include "worker/inference_output.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void dlsi_output_softmax(float *values, size_t count)
{
	float highest = -INFINITY;
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > highest)
			highest = values[i];
	for (size_t i = 0; i < count; i++) {
		values[i] = expf(values[i] - highest);
		sum += values[i];
	}
	for (size_t i = 0; i < count; i++)
		values[i] = (float)(values[i] / sum);
}

static bool is_above(float a, float b)
{
	return a > b || (isnan(b) && !isnan(a));
}

/* Where `value` belongs among `count` falling ones: behind those that are equal. */
static size_t place(const float *falling, size_t count, float value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (is_above(value, falling[mid]))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void dlsi_output_top(const float *values, size_t count, size_t top, float *highest_out, uint32_t *indices_out)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at;

		if (kept == top && !is_above(values[i], highest_out[top - 1]))
			continue;
		at = place(highest_out, kept, values[i]);
		if (kept < top)
			kept++;
		memmove(highest_out + at + 1, highest_out + at, (kept - at - 1) * sizeof *highest_out);
		memmove(indices_out + at + 1, indices_out + at, (kept - at - 1) * sizeof *indices_out);
		highest_out[at] = values[i];
		indices_out[at] = (uint32_t)i;
	}
}
