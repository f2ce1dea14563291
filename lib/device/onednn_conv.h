/* A Conv on oneDNN's primitives: one, or one for each of several bands of rows. */
#ifndef DLSI_ONEDNN_CONV_H
#define DLSI_ONEDNN_CONV_H

#include "device/onednn_program.h"

/* In the order in which a step has them; the bias only where there is one. */
struct dlsi_conv_arguments {
	struct dlsi_argument source, weights, target, bias;
};

/* Instead of the primitive of `pd` with these arguments: steps that the threads which share the node take at the same
 * time. DLS_EUNSUPPORTED where it cannot be cut for them. */
int dlsi_conv_bands(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	const struct dlsi_conv_arguments *arguments, struct dls_error *err);

#endif
