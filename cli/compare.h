/* Two tensors, element by element: what a model gave, and what was expected of it. */
#ifndef DLSI_CLI_COMPARE_H
#define DLSI_CLI_COMPARE_H

#include <dlsched/tensor.h>
#include <stdbool.h>
#include <stdio.h>

/* What may lie between an element and the one that is expected: absolute + relative * |expected|. */
struct cli_tolerance {
	double relative, absolute;
};

struct cli_difference {
	size_t elements;
	size_t differing; /* by more than is allowed */
	size_t at;        /* the element that is farthest off, of the differing ones if there are any */
	double largest;   /* the difference there; infinite where one of the two is not a number */
};

/* False if they are not of one type and shape, and then *difference_out is unchanged. NaN is equal to NaN. */
bool cli_compare(const struct dls_tensor *actual, const struct dls_tensor *expected,
	const struct cli_tolerance *tolerance, struct cli_difference *difference_out);

/* Writes the place of an element as its indices, "[0, 17]". */
void cli_compare_write_place(FILE *to, const struct dls_tensor *tensor, size_t element);

#endif
