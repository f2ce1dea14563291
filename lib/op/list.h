/* All operators, one line each; the row of `name` is dlsi_op_name in the file of its family. */
#ifndef DLSI_OP_LIST_H
#define DLSI_OP_LIST_H

#include "graph/op.h"

#define DLSI_OP_LIST(X)                                                                                                \
	X(abs)                                                                                                         \
	X(acos)                                                                                                        \
	X(acosh)                                                                                                       \
	X(add)                                                                                                         \
	X(and)                                                                                                         \
	X(arg_max)                                                                                                     \
	X(arg_min)                                                                                                     \
	X(asin)                                                                                                        \
	X(asinh)                                                                                                       \
	X(atan)                                                                                                        \
	X(atanh)                                                                                                       \
	X(average_pool)                                                                                                \
	X(batch_normalization)                                                                                         \
	X(bit_shift)                                                                                                   \
	X(bitwise_and)                                                                                                 \
	X(bitwise_not)                                                                                                 \
	X(bitwise_or)                                                                                                  \
	X(bitwise_xor)                                                                                                 \
	X(cast)                                                                                                        \
	X(cast_like)                                                                                                   \
	X(ceil)                                                                                                        \
	X(celu)                                                                                                        \
	X(center_crop_pad)                                                                                             \
	X(clip)                                                                                                        \
	X(col2im)                                                                                                      \
	X(compress)                                                                                                    \
	X(concat)                                                                                                      \
	X(constant_of_shape)                                                                                           \
	X(conv)                                                                                                        \
	X(conv_integer)                                                                                                \
	X(conv_transpose)                                                                                              \
	X(cos)                                                                                                         \
	X(cosh)                                                                                                        \
	X(cum_sum)                                                                                                     \
	X(depth_to_space)                                                                                              \
	X(dequantize_linear)                                                                                           \
	X(det)                                                                                                         \
	X(div)                                                                                                         \
	X(dropout)                                                                                                     \
	X(dynamic_quantize_linear)                                                                                     \
	X(einsum)                                                                                                      \
	X(elu)                                                                                                         \
	X(equal)                                                                                                       \
	X(erf)                                                                                                         \
	X(exp)                                                                                                         \
	X(expand)                                                                                                      \
	X(eye_like)                                                                                                    \
	X(flatten)                                                                                                     \
	X(floor)                                                                                                       \
	X(gather)                                                                                                      \
	X(gather_elements)                                                                                             \
	X(gather_nd)                                                                                                   \
	X(gelu)                                                                                                        \
	X(gemm)                                                                                                        \
	X(global_average_pool)                                                                                         \
	X(global_lp_pool)                                                                                              \
	X(global_max_pool)                                                                                             \
	X(greater)                                                                                                     \
	X(greater_or_equal)                                                                                            \
	X(grid_sample)                                                                                                 \
	X(group_normalization)                                                                                         \
	X(gru)                                                                                                         \
	X(hard_sigmoid)                                                                                                \
	X(hard_swish)                                                                                                  \
	X(hardmax)                                                                                                     \
	X(identity)                                                                                                    \
	X(instance_normalization)                                                                                      \
	X(is_inf)                                                                                                      \
	X(is_nan)                                                                                                      \
	X(layer_normalization)                                                                                         \
	X(leaky_relu)                                                                                                  \
	X(less)                                                                                                        \
	X(less_or_equal)                                                                                               \
	X(log)                                                                                                         \
	X(log_softmax)                                                                                                 \
	X(lp_normalization)                                                                                            \
	X(lp_pool)                                                                                                     \
	X(lrn)                                                                                                         \
	X(lstm)                                                                                                        \
	X(mat_mul)                                                                                                     \
	X(mat_mul_integer)                                                                                             \
	X(max)                                                                                                         \
	X(max_pool)                                                                                                    \
	X(max_roi_pool)                                                                                                \
	X(max_unpool)                                                                                                  \
	X(mean)                                                                                                        \
	X(mean_variance_normalization)                                                                                 \
	X(min)                                                                                                         \
	X(mish)                                                                                                        \
	X(mod)                                                                                                         \
	X(mul)                                                                                                         \
	X(neg)                                                                                                         \
	X(non_max_suppression)                                                                                         \
	X(non_zero)                                                                                                    \
	X(not )                                                                                                        \
	X(one_hot)                                                                                                     \
	X(or)                                                                                                          \
	X(pad)                                                                                                         \
	X(pow)                                                                                                         \
	X(prelu)                                                                                                       \
	X(q_linear_conv)                                                                                               \
	X(q_linear_mat_mul)                                                                                            \
	X(quantize_linear)                                                                                             \
	X(range)                                                                                                       \
	X(reciprocal)                                                                                                  \
	X(reduce_l1)                                                                                                   \
	X(reduce_l2)                                                                                                   \
	X(reduce_log_sum)                                                                                              \
	X(reduce_log_sum_exp)                                                                                          \
	X(reduce_max)                                                                                                  \
	X(reduce_mean)                                                                                                 \
	X(reduce_min)                                                                                                  \
	X(reduce_prod)                                                                                                 \
	X(reduce_sum)                                                                                                  \
	X(reduce_sum_square)                                                                                           \
	X(relu)                                                                                                        \
	X(reshape)                                                                                                     \
	X(resize)                                                                                                      \
	X(reverse_sequence)                                                                                            \
	X(rms_normalization)                                                                                           \
	X(rnn)                                                                                                         \
	X(roi_align)                                                                                                   \
	X(round)                                                                                                       \
	X(scatter)                                                                                                     \
	X(scatter_elements)                                                                                            \
	X(scatter_nd)                                                                                                  \
	X(selu)                                                                                                        \
	X(shape)                                                                                                       \
	X(shrink)                                                                                                      \
	X(sigmoid)                                                                                                     \
	X(sign)                                                                                                        \
	X(sin)                                                                                                         \
	X(sinh)                                                                                                        \
	X(size)                                                                                                        \
	X(slice)                                                                                                       \
	X(softmax)                                                                                                     \
	X(softplus)                                                                                                    \
	X(softsign)                                                                                                    \
	X(space_to_depth)                                                                                              \
	X(split)                                                                                                       \
	X(sqrt)                                                                                                        \
	X(squeeze)                                                                                                     \
	X(sub)                                                                                                         \
	X(sum)                                                                                                         \
	X(swish)                                                                                                       \
	X(tan)                                                                                                         \
	X(tanh)                                                                                                        \
	X(thresholded_relu)                                                                                            \
	X(tile)                                                                                                        \
	X(top_k)                                                                                                       \
	X(transpose)                                                                                                   \
	X(trilu)                                                                                                       \
	X(unique)                                                                                                      \
	X(unsqueeze)                                                                                                   \
	X(upsample)                                                                                                    \
	X(where)                                                                                                       \
	X(xor)

#define DLSI_OP_DECLARE(name) extern const struct dlsi_op dlsi_op_##name;
DLSI_OP_LIST(DLSI_OP_DECLARE)
#undef DLSI_OP_DECLARE

extern const struct dlsi_op *const dlsi_op_list[];
extern const size_t dlsi_op_count;

/* NULL if there is none of that name. */
const struct dlsi_op *dlsi_op_find(const char *name);

/* The definition that a node of this operator set has, by the version that brought it; 0 if none is that old. */
unsigned dlsi_op_version(const struct dlsi_op *op, int64_t opset);

#endif
