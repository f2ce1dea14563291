/* Operators: what is known about each, one row of one table. */
#ifndef DLSI_OP_H
#define DLSI_OP_H

#include "graph/graph.h"

/* The versions of the operator set whose definitions of these operators were read and are kept to. */
#define DLSI_OPSET_LOWEST  7
#define DLSI_OPSET_HIGHEST 28

enum dlsi_op_id {
	DLSI_OP_ADD,
	DLSI_OP_AVERAGE_POOL,
	DLSI_OP_BATCH_NORMALIZATION,
	DLSI_OP_CLIP,
	DLSI_OP_CONV,
	DLSI_OP_DROPOUT,
	DLSI_OP_FLATTEN,
	DLSI_OP_GEMM,
	DLSI_OP_GLOBAL_AVERAGE_POOL,
	DLSI_OP_IDENTITY,
	DLSI_OP_MAT_MUL,
	DLSI_OP_MAX_POOL,
	DLSI_OP_RELU,
	DLSI_OP_RESHAPE,
	DLSI_OP_SOFTMAX,
	DLSI_OP_COUNT
};

struct dlsi_op_attribute {
	const char *name;
	enum dlsi_attribute_kind kind;
};

struct dlsi_op {
	const char *name; /* ONNX's */
	uint8_t inputs_least;
	uint8_t inputs_most;
	const struct dlsi_op_attribute *attributes; /* those it may have; a NULL name ends them */

	/* Reads the attributes into the node and sets its first output's type and shape. The inputs that it has are as
	 * many as the row says, and known. Errors: DLS_EFORMAT, DLS_EUNSUPPORTED. */
	int (*infer)(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err);

	/* Whether rows stay apart, asked when an input is batched: NULL if output row i is made of the rows i of the
	 * batched inputs only and the output's first dimension is the batch; else what it does instead ("normalises
	 * over axis 0"). */
	const char *(*mixes)(const struct dlsi_graph *graph, const struct dlsi_node *node);
};

extern const struct dlsi_op dlsi_ops[DLSI_OP_COUNT];

/* NULL if there is none of that name. */
const struct dlsi_op *dlsi_op_find(const char *name);

static inline enum dlsi_op_id dlsi_op_id(const struct dlsi_op *op)
{
	return (enum dlsi_op_id)(op - dlsi_ops);
}

/* ---- for the rows: attributes by name, whose kinds were checked against the row */

const struct dlsi_attribute *dlsi_node_attribute(const struct dlsi_node *node, const char *name);
int64_t dlsi_node_int(const struct dlsi_node *node, const char *name, int64_t otherwise);
float dlsi_node_float(const struct dlsi_node *node, const char *name, float otherwise);

/* "node 'NAME' (OPERATOR) what ...": the error of an operator. */
int dlsi_node_fail(const struct dlsi_node *node, struct dls_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Sets the output's type and shape. Errors: DLS_EFORMAT (a dimension below 1), DLS_ELIMIT (more bytes than memory can
 * have). */
int dlsi_node_set_output(struct dlsi_graph *graph, const struct dlsi_node *node, enum dls_dtype dtype, uint32_t rank,
	const int64_t *dims, struct dls_error *err);

/* Checks that all inputs are float32, what the operators compute in. Errors: DLS_EUNSUPPORTED. */
int dlsi_node_require_float(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err);

/* An operator that changes no shape: the output is as the first input. */
int dlsi_op_infer_same(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err);

/* An operator whose rows stay apart as long as only its first input is batched. */
const char *dlsi_op_mixes_weights(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* Two shapes made one by ONNX's (numpy's) broadcasting. False if they do not fit. */
bool dlsi_op_broadcast(const struct dlsi_value *a, const struct dlsi_value *b, uint32_t *rank_out, int64_t *dims_out);

/* Whether rows stay apart when these two are combined element by element: each batched one has the result's rank, each
 * other one is the same for all rows. */
bool dlsi_op_broadcast_keeps_rows(const struct dlsi_value *a, const struct dlsi_value *b);

/* Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for an input [batch, channels, spatial...] and
 * gives the output's spatial dimensions. `kernel` stands for a kernel_shape that is left out, or is NULL. */
int dlsi_window_infer(const struct dlsi_node *node, const struct dlsi_value *input, const int64_t *kernel,
	struct dlsi_window *window_out, int64_t *spatial_out, struct dls_error *err);

/* ---- the rows' functions, a file per family */

int dlsi_op_infer_add(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_average_pool(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_batch_normalization(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_clip(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_conv(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_dropout(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_flatten(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_gemm(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_global_pool(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_mat_mul(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_max_pool(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_relu(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_reshape(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);
int dlsi_op_infer_softmax(struct dlsi_graph *, struct dlsi_node *, struct dls_error *);

const char *dlsi_op_mixes_add(const struct dlsi_graph *, const struct dlsi_node *);
const char *dlsi_op_mixes_gemm(const struct dlsi_graph *, const struct dlsi_node *);
const char *dlsi_op_mixes_mat_mul(const struct dlsi_graph *, const struct dlsi_node *);
const char *dlsi_op_mixes_shape(const struct dlsi_graph *, const struct dlsi_node *);
const char *dlsi_op_mixes_softmax(const struct dlsi_graph *, const struct dlsi_node *);

#endif
