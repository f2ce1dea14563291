/* Sliding windows, of convolutions and pooling. */
#ifndef DLSI_WINDOW_H
#define DLSI_WINDOW_H

#include "graph/op.h"

/* Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for an input [batch, channels, spatial...] and
 * gives the output's spatial dimensions. `kernel` stands for a kernel_shape that is left out, or is NULL.
 * Errors: DLS_EFORMAT, DLS_EUNSUPPORTED. */
int dlsi_window_infer(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err);

#endif
