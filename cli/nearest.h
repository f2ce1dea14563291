/* The word that a mistyped one was meant to be, for "did you mean". */
#ifndef DLSI_CLI_NEAREST_H
#define DLSI_CLI_NEAREST_H

#include <stddef.h>

struct cli_nearest {
	const char *word;
	const char *name; /* the nearest so far; NULL: none is near */
	size_t distance;
};

/* Begins a search; then every name is offered. The earlier one of two that are equally near is kept. */
struct cli_nearest cli_nearest_to(const char *word);
void cli_nearest_offer(struct cli_nearest *nearest, const char *name);

#endif
