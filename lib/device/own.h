/* Nodes on our own kernels (kernel/), where those are faster than oneDNN's. Each answers DLS_EUNSUPPORTED, without a
 * word in err, for a node that they do not serve. */
#ifndef DLSI_OWN_H
#define DLSI_OWN_H

#include "device/onednn_program.h"
#include "kernel/axis.h"

/* A Conv on the kernel that measures fastest against oneDNN's primitive of `pd`; DLS_EUNSUPPORTED also where that one
 * wins. */
int dlsi_own_conv(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	struct dls_error *err);

/* The dense elements of the node's first input as [rows, inputs] times its second one, a constant matrix, plus a
 * constant per output (the value `bias`, or DLSI_NO_VALUE), clamped: a dense [rows, outputs]. */
struct dlsi_own_full {
	int64_t rows, inputs, outputs;
	uint32_t bias;
	bool transposed; /* the matrix is [outputs, inputs], else [inputs, outputs] */
};

/* DLS_EUNSUPPORTED also where oneDNN's primitive of `pd` is faster. */
int dlsi_own_full(struct dlsi_program *program, const struct dlsi_node *node, const struct dlsi_own_full *full,
	const_dnnl_primitive_desc_t pd, struct dls_error *err);

/* A MaxPool or GlobalMaxPool. */
int dlsi_own_max_pool(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err);

/* LRN of pixels, or of anything dense. */
int dlsi_own_lrn(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err);

/* The value, of rank 3 and more, as our kernels take images (kernel/image.h); NULL when memory is exhausted. */
dlsi_md dlsi_own_image(struct dlsi_program *program, uint32_t value, bool channels_last);

/* Whether the value, where it is laid out as `md`, has its channels last; whether they fill whole blocks. */
bool dlsi_own_is_last(struct dlsi_program *program, uint32_t value, dlsi_md md);
bool dlsi_own_fills_blocks(const struct dlsi_program *program, uint32_t value);

/* Along one axis: Reduce..., ArgMax and ArgMin, Softmax where others are behind it. */
dlsi_lower dlsi_own_reduce;
dlsi_lower dlsi_own_arg;
dlsi_lower dlsi_own_softmax;

/* Normalisation by the statistics of rows; RMSNormalization is a kind of layer's. */
dlsi_lower dlsi_own_layer_normalization;
dlsi_lower dlsi_own_instance_normalization;

/* Convolutions and products of 8-bit integers with constant weights. */
dlsi_lower dlsi_own_conv_integer;
dlsi_lower dlsi_own_q_linear_conv;
dlsi_lower dlsi_own_mat_mul_integer;
dlsi_lower dlsi_own_q_linear_mat_mul;

/* Gather of channels by constant indices. */
dlsi_lower dlsi_own_gather;

/* Resize and Upsample of the last two axes. */
dlsi_lower dlsi_own_resize;

/* The window along its i-th spatial dimension. */
struct dlsi_kernel_axis dlsi_own_axis(
	const struct dlsi_window *window, uint32_t i, const struct dlsi_value *source, const struct dlsi_value *target);

#endif
