#include "kernel/axis.h"

#define PIXELS_MOST (INT64_C(1) << 30)

static bool positive(int64_t number)
{
	return number > 0 && number <= PIXELS_MOST;
}

bool dlsi_kernel_axis_valid(const struct dlsi_kernel_axis *axis)
{
	return positive(axis->source) && positive(axis->target) && positive(axis->kernel) && positive(axis->stride) &&
	       axis->pad >= 0 && axis->pad <= PIXELS_MOST && axis->gap >= 0 && axis->gap <= PIXELS_MOST;
}

int64_t dlsi_kernel_reach(const struct dlsi_kernel_axis *axis)
{
	return (axis->kernel - 1) * (axis->gap + 1) + 1;
}

struct dlsi_kernel_span dlsi_kernel_span(const struct dlsi_kernel_axis *axis, int64_t target)
{
	const int64_t begin = target * axis->stride - axis->pad, end = begin + dlsi_kernel_reach(axis);
	struct dlsi_kernel_span span = {.first = begin > 0 ? begin : 0, .end = end < axis->source ? end : axis->source};

	if (span.end < span.first)
		span.end = span.first;
	span.skipped = span.first - begin;
	return span;
}
