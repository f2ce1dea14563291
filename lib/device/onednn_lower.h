/* The lowerings: how each operator becomes oneDNN primitives, a file per family. */
#ifndef DLSI_ONEDNN_LOWER_H
#define DLSI_ONEDNN_LOWER_H

#include "device/onednn_program.h"

dlsi_lower dlsi_lower_activation;
dlsi_lower dlsi_lower_average_pool;
dlsi_lower dlsi_lower_batch_normalization;
dlsi_lower dlsi_lower_binary;
dlsi_lower dlsi_lower_clamp;
dlsi_lower dlsi_lower_concat;
dlsi_lower dlsi_lower_conv;
dlsi_lower dlsi_lower_conv_transpose;
dlsi_lower dlsi_lower_gemm;
dlsi_lower dlsi_lower_hard_sigmoid;
dlsi_lower dlsi_lower_mat_mul;
dlsi_lower dlsi_lower_max_pool;
dlsi_lower dlsi_lower_mean; /* over all pixels */
dlsi_lower dlsi_lower_eval; /* by the operator's own eval */
dlsi_lower dlsi_lower_pow;
dlsi_lower dlsi_lower_selu;
dlsi_lower dlsi_lower_same;    /* the output is the input */
dlsi_lower dlsi_lower_reshape; /* the output's dense elements are the input's */
dlsi_lower dlsi_lower_softmax;
dlsi_lower dlsi_lower_transpose;

/* Whether oneDNN has nothing better for this than its reference, which takes seconds where others take milliseconds. */
bool dlsi_is_reference(const_dnnl_primitive_desc_t pd);

/* The window of a pool; of a global one it is the whole image, of any rank. */
struct dlsi_window dlsi_pool_window(const struct dlsi_node *node, const struct dlsi_value *input);

/* A window in oneDNN's arrays; dilations are counted in gaps. */
struct dlsi_onednn_window {
	dnnl_dims_t kernel, strides, gaps, pads_before, pads_after;
};

struct dlsi_onednn_window dlsi_onednn_window(const struct dlsi_window *window);

/* What follows an operator in the same pass, in this order: multiply by `scale`, add the tensor laid out as `add`
 * (unless NULL), add what the target holds (`sum`), clamp. */
struct dlsi_epilogue {
	float scale;
	dlsi_md add;
	bool sum;
	struct dlsi_clamp clamp;
};

/* The attributes of a primitive with this epilogue and the scratchpad of a program; the caller destroys them, also
 * after a failure (NULL or not). */
dnnl_status_t dlsi_epilogue_attributes(const struct dlsi_epilogue *epilogue, dnnl_primitive_attr_t *attributes_out);

/* The argument index of the tensor `add`. */
int dlsi_epilogue_add_index(const struct dlsi_epilogue *epilogue);

/* The clamp as an element-wise operation of oneDNN. */
dnnl_alg_kind_t dlsi_clamp_kind(const struct dlsi_clamp *clamp, float *alpha_out, float *beta_out);

#endif
