/* Memory: every part of the library takes its allocator from its caller, so that an embedding program can supply its
 * own and a test can let the n-th request fail. Exhaustion is an error that is returned, never an abort.
 *
 * An allocator must be callable from any thread. */
#ifndef DLSI_ALLOC_H
#define DLSI_ALLOC_H

#include <stddef.h>

struct dlsi_alloc {
	/* realloc's contract, but size 0 frees and returns NULL. */
	void *(*resize)(void *arg, void *old, size_t size);
	void *arg;
};

/* The C library's allocator. */
extern const struct dlsi_alloc dlsi_alloc_libc;

/* Uninitialised and zeroed memory; NULL when exhausted, when the product overflows, or for 0 bytes. */
void *dlsi_malloc(const struct dlsi_alloc *alloc, size_t size);
void *dlsi_calloc(const struct dlsi_alloc *alloc, size_t count, size_t size);

/* NULL leaves `old` as it was. */
void *dlsi_realloc(const struct dlsi_alloc *alloc, void *old, size_t size);

/* NULL is allowed. */
void dlsi_free(const struct dlsi_alloc *alloc, void *memory);

/* A NUL-terminated copy of `length` bytes, or of a whole string. */
char *dlsi_strndup(const struct dlsi_alloc *alloc, const char *text, size_t length);
char *dlsi_strdup(const struct dlsi_alloc *alloc, const char *text);

#endif
