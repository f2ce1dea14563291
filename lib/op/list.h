/* All operators, one line each; the row of `name` is dlsi_op_name in the file of its family. */
#ifndef DLSI_OP_LIST_H
#define DLSI_OP_LIST_H

#include "graph/op.h"

#define DLSI_OP_LIST(X)                                                                                                \
	X(add)                                                                                                         \
	X(average_pool)                                                                                                \
	X(batch_normalization)                                                                                         \
	X(cast)                                                                                                        \
	X(cast_like)                                                                                                   \
	X(center_crop_pad)                                                                                             \
	X(clip)                                                                                                        \
	X(concat)                                                                                                      \
	X(constant_of_shape)                                                                                           \
	X(conv)                                                                                                        \
	X(depth_to_space)                                                                                              \
	X(dropout)                                                                                                     \
	X(expand)                                                                                                      \
	X(eye_like)                                                                                                    \
	X(flatten)                                                                                                     \
	X(gather)                                                                                                      \
	X(gather_elements)                                                                                             \
	X(gather_nd)                                                                                                   \
	X(gemm)                                                                                                        \
	X(global_average_pool)                                                                                         \
	X(identity)                                                                                                    \
	X(mat_mul)                                                                                                     \
	X(max_pool)                                                                                                    \
	X(one_hot)                                                                                                     \
	X(pad)                                                                                                         \
	X(range)                                                                                                       \
	X(relu)                                                                                                        \
	X(reshape)                                                                                                     \
	X(shape)                                                                                                       \
	X(size)                                                                                                        \
	X(slice)                                                                                                       \
	X(softmax)                                                                                                     \
	X(space_to_depth)                                                                                              \
	X(split)                                                                                                       \
	X(squeeze)                                                                                                     \
	X(tile)                                                                                                        \
	X(transpose)                                                                                                   \
	X(trilu)                                                                                                       \
	X(unsqueeze)                                                                                                   \
	X(where)

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
