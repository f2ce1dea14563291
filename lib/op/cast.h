/* Numbers of one type as another. */
#ifndef DLSI_CAST_H
#define DLSI_CAST_H

#include "graph/graph.h"

/* Converts `count` elements. To a bool everything but 0 is true; from a float to an integer it is cut off towards 0,
 * what does not fit keeps its low bits as far as 64 bits have it, and NaN is 0. */
void dlsi_cast(enum dls_dtype to_dtype, void *to, enum dls_dtype from_dtype, const void *from, size_t count);

/* The first element of a constant, which may lie anywhere. */
void dlsi_cast_constant(enum dls_dtype to_dtype, void *to, const struct dlsi_value *constant);

#endif
