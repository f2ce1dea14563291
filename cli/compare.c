#include "cli/compare.h"

#include "cli/classes.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Exact for integers too, of which two may be one double. */
static double difference(const struct dls_tensor *actual, const struct dls_tensor *expected, size_t element)
{
	const int64_t *a = actual->data, *b = expected->data;
	double x = cli_tensor_value(actual, element), y = cli_tensor_value(expected, element);

	if (actual->dtype == DLS_INT64 && (a[element] < 0) == (b[element] < 0))
		return fabs((double)(a[element] - b[element]));
	if (actual->dtype == DLS_UINT64) {
		const uint64_t *p = actual->data, *q = expected->data;

		return p[element] > q[element] ? (double)(p[element] - q[element]) : (double)(q[element] - p[element]);
	}
	if (x == y || (isnan(x) && isnan(y)))
		return 0;
	return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

static bool are_alike(const struct dls_tensor *actual, const struct dls_tensor *expected)
{
	return actual->dtype == expected->dtype && actual->rank == expected->rank &&
	       memcmp(actual->dims, expected->dims, actual->rank * sizeof *actual->dims) == 0;
}

bool cli_compare(const struct dls_tensor *actual, const struct dls_tensor *expected,
	const struct cli_tolerance *tolerance, struct cli_difference *difference_out)
{
	struct cli_difference found = {.elements = cli_tensor_elements(expected)};

	if (!are_alike(actual, expected))
		return false;
	for (size_t i = 0; i < found.elements; i++) {
		double off = difference(actual, expected, i), value = fabs(cli_tensor_value(expected, i));
		bool differs = off > tolerance->absolute + (isfinite(value) ? tolerance->relative * value : 0);

		if (differs > (found.differing > 0) || (differs == (found.differing > 0) && off > found.largest)) {
			found.at = i;
			found.largest = off;
		}
		found.differing += differs;
	}
	*difference_out = found;
	return true;
}

void cli_compare_write_place(FILE *to, const struct dls_tensor *tensor, size_t element)
{
	size_t step = cli_tensor_elements(tensor);

	fputc('[', to);
	for (uint32_t i = 0; i < tensor->rank; i++) {
		step /= (size_t)tensor->dims[i];
		fprintf(to, "%s%zu", i ? ", " : "", element / step);
		element %= step;
	}
	fputc(']', to);
}
