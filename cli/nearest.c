#include "cli/nearest.h"

#include <string.h>

enum { LETTERS = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, replace or swap with their neighbour until one word is the other. A word that the other
 * one begins with is one step away. Longer words than LETTERS are compared by their beginnings. */
static size_t distance(const char *a, const char *b)
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

/* One mistake for every four letters, beyond the first. */
struct cli_nearest cli_nearest_to(const char *word)
{
	return (struct cli_nearest){.word = word, .distance = 2 + strlen(word) / 4};
}

void cli_nearest_offer(struct cli_nearest *nearest, const char *name)
{
	size_t steps = distance(nearest->word, name);

	if (steps < nearest->distance) {
		nearest->distance = steps;
		nearest->name = name;
	}
}
