#include "cli/nearest.h"

#include <string.h>

enum { LETTERS = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t cli_distance(const char *a, const char *b)
{
	size_t rows = strnlen(a, LETTERS), columns = strnlen(b, LETTERS);
	size_t at[LETTERS + 1][LETTERS + 1];

	if (rows != columns && rows && strncmp(a, b, rows) == 0)
		return 1;
	for (size_t i = 0; i <= rows; i++)
		at[i][0] = i;
	for (size_t k = 0; k <= columns; k++)
		at[0][k] = k;
	for (size_t i = 1; i <= rows; i++)
		for (size_t k = 1; k <= columns; k++) {
			size_t best = at[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
			best = least(best, least(at[i - 1][k], at[i][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				best = least(best, at[i - 2][k - 2] + 1);
			at[i][k] = best;
		}
	return at[rows][columns];
}
