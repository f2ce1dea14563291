/* Structures that begin with their size and grow at the end from release to release: how a program built against other
 * headers is understood. */
#ifndef DLSI_OPTIONS_H
#define DLSI_OPTIONS_H

#include "base/error.h"
#include <stddef.h>

/* Fills *options_out, a structure of `size` bytes that begins with its size, from what the program gave: NULL leaves
 * every member zero; of a smaller structure the missing members are zero; of a larger one the members unknown here must
 * be zero. `name` stands for the structure in errors. Errors: DLS_EINVAL. */
int dlsi_options_read(const char *name, const void *given, size_t size, void *options_out, struct dls_error *err);

/* The other way: copies a structure of `size` bytes into one that the program gave, whose size member it has set; what
 * does not fit is left out, and members that are unknown here are left alone. Errors: DLS_EINVAL. */
int dlsi_options_write(const char *name, const void *known, size_t size, void *given_out, struct dls_error *err);

#endif
