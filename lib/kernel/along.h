/* Work along one axis of dense float32: reductions, the place of the greatest or least, Softmax, and standardising
 * rows. Sums are gathered in pieces, so that their rounding grows slowly with their length. */
#ifndef DLSI_KERNEL_ALONG_H
#define DLSI_KERNEL_ALONG_H

#include "kernel/isa.h"
#include <stdbool.h>
#include <stdint.h>

#define DLSI_ALONG_SHORT 16 /* elements */

/* A tensor as [outer][count][inner]; the work is along the axis in the middle. */
struct dlsi_kernel_along {
	enum dlsi_isa isa; /* that it may use */
	int64_t outer, count, inner;
};

enum dlsi_reduction { DLSI_REDUCE_MAX, DLSI_REDUCE_MIN, DLSI_REDUCE_SUM, DLSI_REDUCE_MEAN, DLSI_REDUCE_SQUARES };

/* Which of the elements that are equal; a NaN is greater than all numbers. */
enum dlsi_arg { DLSI_ARG_MAX, DLSI_ARG_MAX_LAST, DLSI_ARG_MIN, DLSI_ARG_MIN_LAST };

/* False where `inner` is above 1 but shorter than a vector, for no elements, and for more than 2^31. */
bool dlsi_along_supported(const struct dlsi_kernel_along *along);

/* target [outer][inner] is the reduction of the elements along the axis; `target` is not `source`. */
void dlsi_along_reduce(const struct dlsi_kernel_along *along, enum dlsi_reduction reduction, const float *source,
	float *target, int threads);

/* target [outer][inner] is the index of the greatest or least element along the axis. */
void dlsi_along_arg(
	const struct dlsi_kernel_along *along, enum dlsi_arg arg, const float *source, int64_t *target, int threads);

/* Softmax along the axis or, if `log`, its logarithm; `inner` is above 1, or `count` at most DLSI_ALONG_SHORT; `target`
 * is not `source`. */
void dlsi_along_softmax(
	const struct dlsi_kernel_along *along, bool log, const float *source, float *target, int threads);

/* Rows of `length` elements, each brought to a mean of 0 (or left there: `rms`) and a mean square of 1, then times a
 * scale plus a shift. */
struct dlsi_kernel_rows {
	enum dlsi_isa isa;
	int64_t rows, length;
	bool rms;
	float epsilon;
	int64_t period; /* 0: scale and shift have an element for each of the row; else one for each of so many rows */
	const float *scale; /* in turns */
	const float *shift; /* or NULL */
};

/* `target` may be `source`. */
void dlsi_rows_run(const struct dlsi_kernel_rows *rows, const float *source, float *target, int threads);

#endif
