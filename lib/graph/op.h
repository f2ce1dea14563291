/* Operators: what is known about each is one row, struct dlsi_op; the rows themselves are in op/, a file per family.
 * Here is what the rows have in common, and what they need to read a node and to describe its outputs. */
#ifndef DLSI_OP_H
#define DLSI_OP_H

#include "graph/graph.h"

/* The versions of the operator set that are read. */
#define DLSI_OPSET_LOWEST  7
#define DLSI_OPSET_HIGHEST 28

#define DLSI_OP_ANY_NUMBER UINT32_MAX /* of inputs or outputs */
#define DLSI_OP_MOVES_ALL  UINT32_MAX

struct dlsi_op_attribute {
	const char *name;
	enum dlsi_attribute_kind kind;
};

/* A tensor of a run: dense, aligned to its elements; `data` is NULL and `dtype` 0 for one that is left out. */
struct dlsi_view {
	enum dls_dtype dtype;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
	void *data;
	int64_t *found; /* of a bounded output: where the dimensions that it has go; `data` is dense with them. Else
			   NULL */
};

struct dlsi_op {
	const char *name; /* ONNX's */

	/* Definitions of the operator by the version of the operator set that brought them, as bits (DLSI_OP_SINCE). A
	 * node has the newest definition not above its file's operator set. `defined` is what ONNX has up to
	 * DLSI_OPSET_HIGHEST, `known` those that this row keeps to. */
	uint32_t defined;
	uint32_t known;

	uint32_t inputs_least;
	uint32_t inputs_most;
	uint32_t outputs_most;
	const struct dlsi_op_attribute *attributes; /* those it may have; a NULL name ends them */

	/* The element types that its inputs may have, as bits (DLSI_OP_TYPE), all of them the same one, or as many of
	 * the first as `typed` says (0: all). `types` 0: `infer` says which. */
	uint32_t types;
	uint32_t typed;

	/* Reads the attributes into the node and sets its outputs' types and shapes. The inputs that it has are as
	 * many as the row says, and known. Errors: DLS_EFORMAT, DLS_EUNSUPPORTED. */
	int (*infer)(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err);

	/* Whether rows stay apart, asked when an input is batched: NULL if in a run of n items the outputs are what n
	 * runs give, one after another along the first dimension; else what it does instead ("normalises over axis
	 * 0"). */
	const char *(*mixes)(const struct dlsi_graph *graph, const struct dlsi_node *node);

	/* Computes the outputs, in plain C. Views are as many as the node has inputs and outputs; those of the outputs
	 * have the inferred types and shapes (of any batch) and are to be filled. NULL: only the device can.
	 * Errors: DLS_EFORMAT (a value that is not allowed, an index say), DLS_ENOMEM. */
	int (*eval)(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
		const struct dlsi_alloc *alloc, struct dls_error *err);

	/* How many steps `eval` takes for one item besides going through its inputs and outputs once, at most; NULL:
	 * none. The node is inferred. `flops`: multiplications and additions in each of them, 0 where nobody counts. */
	double (*steps)(const struct dlsi_graph *graph, const struct dlsi_node *node);
	unsigned flops;

	/* For shapes that are computed in the model: `reads_shape`: only the shape of input 0 matters, not its
	 * elements. `moves`: so many leading inputs are only moved, their elements kept. `shape_input`: this input is
	 * the output's shape, so a size of the batch may stand first in it (0: none; an input 0 is written as
	 * DLSI_OP_SHAPE_FIRST). */
	bool reads_shape;
	uint32_t moves;
	uint32_t shape_input;
};

#define DLSI_OP_SHAPE_FIRST    UINT32_MAX
#define DLSI_OP_ABSENT         UINT32_MAX /* in place of a count: neither input nor attribute */
#define DLSI_OP_SINCE(version) (1U << (version))

#define DLSI_OP_TYPE(dtype)    (1U << (dtype))

/* In a row that knows every definition there is. */
#define DLSI_OP_ALL(versions) .defined = (versions), .known = (versions)

/* ---- attributes by name, whose kinds were checked against the row */

const struct dlsi_attribute *dlsi_node_attribute(const struct dlsi_node *node, const char *name);
int64_t dlsi_node_int(const struct dlsi_node *node, const char *name, int64_t otherwise);
float dlsi_node_float(const struct dlsi_node *node, const char *name, float otherwise);
const char *dlsi_node_string(const struct dlsi_node *node, const char *name, const char *otherwise);

/* The attribute `axis` for something of this rank, counted from the front. Errors: DLS_EFORMAT. */
int dlsi_node_axis(
	const struct dlsi_node *node, int64_t otherwise, uint32_t rank, uint32_t *axis_out, struct dls_error *err);

/* "node 'NAME' (OPERATOR) what ...": the error of an operator. */
int dlsi_node_fail(const struct dlsi_node *node, struct dls_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- inputs */

/* The error of a node for which `value` would have to be constant. */
int dlsi_node_refuse_variable(const struct dlsi_node *node, const struct dlsi_value *value, struct dls_error *err);

/* Copies input `i`, a constant vector (or scalar) of int64 or int32, as int64. At most `capacity` numbers. Errors:
 * DLS_EUNSUPPORTED (not constant), DLS_ELIMIT (constant, but unfolded), DLS_EFORMAT. */
int dlsi_node_constant_ints(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, int64_t *ints_out,
	uint32_t capacity, uint32_t *count_out, struct dls_error *err);

/* Copies the integers of input `i`, or where that is left out those of the attribute `name` (that older definitions
 * have in its place). *count_out is DLSI_OP_ABSENT if there is neither. Errors: as dlsi_node_constant_ints. */
int dlsi_node_ints(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, const char *name,
	int64_t *ints_out, uint32_t capacity, uint32_t *count_out, struct dls_error *err);

/* The axes that input `i` or else the attribute `axes` lists for something of this rank, counted from the front, none
 * twice. *count_out as above. */
int dlsi_node_axes(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, uint32_t rank,
	uint32_t axes_out[DLS_TENSOR_RANK], uint32_t *count_out, struct dls_error *err);

/* Whether the attribute `axes` lists axis 0 of something of this rank; without the attribute all are listed. */
bool dlsi_node_lists_first(const struct dlsi_node *node, uint32_t rank);

/* Checks that input `i`, if there is one, holds int32 or int64. Errors: DLS_EFORMAT. */
int dlsi_node_require_indices(
	const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, struct dls_error *err);

/* ---- outputs */

/* Sets the type and shape of the first output, or of output `i` unless it is left out. Errors: DLS_EFORMAT (a negative
 * dimension), DLS_ELIMIT (more bytes than memory can have). */
int dlsi_node_set_output(struct dlsi_graph *graph, const struct dlsi_node *node, enum dls_dtype dtype, uint32_t rank,
	const int64_t *dims, struct dls_error *err);
int dlsi_node_set_output_at(struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	uint32_t rank, const int64_t *dims, struct dls_error *err);

/* The same for an output of which this is the largest shape, known only when it is computed: `eval` tells the
 * dimensions with dlsi_view_tell. Whoever takes it is inferred once more in each run, with the sizes of
 * that. */
int dlsi_node_set_bounded(struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	uint32_t rank, const int64_t *dims, struct dls_error *err);

/* The output is as the first input. */
int dlsi_op_infer_same(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err);

/* The output is of the first input's type and of the shape that all inputs are broadcast to. Errors: DLS_EFORMAT. */
int dlsi_op_infer_broadcast(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err);

/* ---- rows of a batch */

/* Rows stay apart as long as only the first input is batched. */
const char *dlsi_op_mixes_weights(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* Rows stay apart when all inputs are combined element by element: the batched ones have the result's rank and as many
 * rows, the others are the same for all rows. */
const char *dlsi_op_mixes_elements(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* ---- broadcasting, as ONNX's (numpy's) */

/* Two shapes made one. False if they do not fit. */
bool dlsi_op_broadcast(const struct dlsi_value *a, const struct dlsi_value *b, uint32_t *rank_out, int64_t *dims_out);

/* Whether rows stay apart when these two are combined element by element. */
bool dlsi_op_broadcast_keeps_rows(const struct dlsi_value *a, const struct dlsi_value *b);

/* ---- views */

size_t dlsi_view_count(const struct dlsi_view *view);
size_t dlsi_view_bytes(const struct dlsi_view *view);

/* Computes the outputs of a node by its operator's eval. Outputs without elements need nothing, whatever size is beside
 * the one that is 0. Errors: as eval. */
int dlsi_node_eval(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err);

/* Tells the dimensions of an output, which are none above the view's own; nothing if it is not bounded. */
void dlsi_view_tell(const struct dlsi_view *view, const int64_t *dims);

/* Element `k` of a view of int32 or int64. */
int64_t dlsi_view_int(const struct dlsi_view *view, size_t k);

#endif
