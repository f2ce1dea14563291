/* Memory that is given back all at once: the many small pieces of a graph live and die together.
 * Not thread-safe. */
#ifndef DLSI_ARENA_H
#define DLSI_ARENA_H

#include "base/alloc.h"

struct dlsi_arena_block;

struct dlsi_arena {
	struct dlsi_arena_block *blocks;
	const struct dlsi_alloc *alloc;
};

void dlsi_arena_init(struct dlsi_arena *arena, const struct dlsi_alloc *alloc);
void dlsi_arena_fini(struct dlsi_arena *arena);

/* Zeroed memory for `count` things of `size` bytes, aligned to 64 bytes from 4 KB on and to 16 below; NULL when memory
 * is exhausted or the product overflows. For 0 bytes it is a valid pointer too. */
void *dlsi_arena_take(struct dlsi_arena *arena, size_t count, size_t size);

/* A NUL-terminated copy; NULL when memory is exhausted. */
char *dlsi_arena_strdup(struct dlsi_arena *arena, const char *text);

#endif
