/* How alike two words are, for "did you mean". */
#ifndef DLSI_CLI_NEAREST_H
#define DLSI_CLI_NEAREST_H

#include <stddef.h>

/* Letters to insert, remove, replace or swap with their neighbour until one word is the other. A word that the
 * other one begins with is one step away. Longer words than 64 letters are compared by their beginnings. */
size_t cli_distance(const char *a, const char *b);

#endif
