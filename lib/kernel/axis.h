/* How a window goes over the height or width of a picture, for convolutions and pools. */
#ifndef DLSI_KERNEL_AXIS_H
#define DLSI_KERNEL_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct dlsi_kernel_axis {
	int64_t source, target; /* pixels */
	int64_t kernel, stride;
	int64_t gap; /* pixels between two that a window takes: its dilation less one */
	int64_t pad; /* before the first pixel; what the last windows see behind the last pixel is padding too */
};

/* The pixels from the first to the last that a window takes. */
int64_t dlsi_kernel_reach(const struct dlsi_kernel_axis *axis);

/* A range of the source's pixels, and where in the window it begins. */
struct dlsi_kernel_span {
	int64_t first, end;
	int64_t skipped; /* of the window before `first`, because they are padding */
};

/* What the window of a target pixel sees that is no padding, with those in the gaps; first == end if all is padding. */
struct dlsi_kernel_span dlsi_kernel_span(const struct dlsi_kernel_axis *axis, int64_t target);

/* The numbers are positive (the pad not negative) and small enough that sums and products of two never overflow. */
bool dlsi_kernel_axis_valid(const struct dlsi_kernel_axis *axis);

#endif
