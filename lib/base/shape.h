/* A tensor's type and shape as text, for errors that must name two shapes that do not fit. */
#ifndef DLSI_SHAPE_H
#define DLSI_SHAPE_H

#include <dlsched/tensor.h>

struct dlsi_shape_text {
	char text[192]; /* room for the longest type and DLS_TENSOR_RANK dimensions of 20 characters */
};

/* "float32 [1, 3, 224, 224]"; a negative dimension (not known) is shown as "?", and type 0 is left out. By value, so
 * that `dlsi_shape_text(...).text` can stand among the arguments of dlsi_fail. Ranks above the limit are cut. */
struct dlsi_shape_text dlsi_shape_text(enum dls_dtype dtype, uint32_t rank, const int64_t *dims);

#endif
