/* A model as a graph: values (inputs, constants, what operators compute) and nodes (operators) in an order in which
 * each comes after those whose outputs it takes.
 *
 * Shapes are those of one item. When `graph->unbatchable` is NULL, the values marked `batched` have rows of the item as
 * their first dimension (one, mostly): in a run of n items dims[0] is n times as much, the items lie one behind the
 * other, and everything else is as written here.
 *
 * All memory of a graph is its arena's and lives as long as it does. Constants may point into the file, so the file
 * must live as long as well. Pure: no I/O, threads or clock. Not thread-safe while it is changed. */
#ifndef DLSI_GRAPH_H
#define DLSI_GRAPH_H

#include "base/error.h"
#include "graph/arena.h"
#include <dlsched/tensor.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define DLSI_NO_VALUE UINT32_MAX /* an optional input or output that is left out */

/* Rewriting may give a Conv a fourth input: a value of the output's shape that is added to it (before `fused`). */
#define DLSI_CONV_ADDEND 3

/* And a MatMul by a constant matrix a third one: a constant per column that is added. */
#define DLSI_MAT_MUL_BIAS 2

#define DLSI_SPATIAL_RANK 3

struct dlsi_op;
struct dlsi_resize;

struct dlsi_value {
	const char *name;
	enum dls_dtype dtype; /* 0 while not inferred */
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
	bool batched;
	uint8_t open;     /* of an input or output: bit i says that the file leaves dimension i open */
	bool bounded;     /* its dimensions are the most that there can be: how many there are its elements tell */
	bool unfolded;    /* the same in every run, but too much to be computed before one */
	uint64_t sizes;   /* of a constant: bit i says that element i is a size that grows with the batch */
	const void *data; /* of a constant: dense little-endian elements at any alignment; NULL for all others */
};

enum dlsi_attribute_kind {
	DLSI_ATTRIBUTE_FLOAT = 1,
	DLSI_ATTRIBUTE_INT,
	DLSI_ATTRIBUTE_STRING,
	DLSI_ATTRIBUTE_TENSOR,
	DLSI_ATTRIBUTE_FLOATS,
	DLSI_ATTRIBUTE_INTS,
	DLSI_ATTRIBUTE_STRINGS,
	DLSI_ATTRIBUTE_OTHER
};

struct dlsi_attribute {
	const char *name;
	enum dlsi_attribute_kind kind;
	uint32_t count; /* of floats, ints or strings */
	union {
		float f;
		int64_t i;
		const char *s;
		const float *floats;
		const int64_t *ints;
		const char **strings;
		uint32_t value; /* of a tensor */
	};
};

/* A sliding window of a convolution or pooling. All sizes are above 0, pads 0 or more; auto_pad is worked out. */
struct dlsi_window {
	uint32_t rank; /* spatial dimensions, 1 to DLSI_SPATIAL_RANK */
	int64_t kernel[DLSI_SPATIAL_RANK];
	int64_t strides[DLSI_SPATIAL_RANK];
	int64_t dilations[DLSI_SPATIAL_RANK];
	int64_t pads_before[DLSI_SPATIAL_RANK];
	int64_t pads_after[DLSI_SPATIAL_RANK];
};

/* min(max(x, low), high); infinite where there is no bound. */
struct dlsi_clamp {
	float low, high;
};

#define DLSI_CLAMP_NONE    ((struct dlsi_clamp){-INFINITY, INFINITY})
#define DLSI_CLAMP_UNKNOWN ((struct dlsi_clamp){NAN, NAN}) /* of a node whose bounds are not constants of float32 */

struct dlsi_node {
	const struct dlsi_op *op;
	const char *name; /* its own, or its first output's */
	unsigned version; /* of the operator's definition: the operator set that brought it */
	uint32_t *inputs; /* values, or DLSI_NO_VALUE; the last one is a value */
	uint32_t *outputs;
	uint32_t input_count;
	uint32_t output_count;
	struct dlsi_attribute *attributes;
	uint32_t attribute_count;

	/* What shape inference made of the attributes. */
	union {
		struct {
			struct dlsi_window window;
			int64_t groups;
		} conv;
		struct {
			struct dlsi_window window; /* if global: of rank 1, over all pixels */
			bool global;
			bool count_padding; /* an average is over the whole window, also where it sticks out */
			bool column_major;  /* indices are counted along the first dimension first */
			int64_t power;      /* of a norm */
		} pool;
		struct {
			float scale;     /* from the regions' pixels to those of the image */
			int64_t samples; /* along a side of a bin; 0: as many as pixels */
			bool largest, half_pixel;
		} region;
		struct {
			float alpha, beta;
			bool transpose_a, transpose_b;
		} gemm;
		struct dlsi_clamp clamp;
		struct {
			int64_t size;
			float alpha, beta, bias;
		} lrn;
		struct {
			uint32_t axis;
			int64_t block;  /* elements along the axis that share a scale; 0: one scale for all */
			bool per_place; /* scales differ in the other axes too */
		} quantize;
		uint32_t reduced; /* the axes that are reduced, as bits */
		float epsilon;
		struct {
			uint32_t first, end; /* the axes normalised over together */
		} softmax;
		struct {
			uint32_t first; /* the first dimension that is told */
		} shape;
		uint32_t axis;
		uint32_t permutation[DLS_TENSOR_RANK]; /* the input's axis that becomes each of the output's */
		struct {
			int64_t starts[DLS_TENSOR_RANK], steps[DLS_TENSOR_RANK];
			bool cuts_rows; /* axis 0, however long it is */
		} slice;
		struct {
			int64_t before[DLS_TENSOR_RANK], after[DLS_TENSOR_RANK]; /* below 0: cut off */
			char mode;                                               /* the first letter of its name */
		} pad;
		struct {
			uint32_t axis;
			const int64_t *offsets; /* of the outputs */
		} split;
		const struct dlsi_resize *resize;
		const void *fill; /* one element, at any alignment; NULL is 0 */
	};

	struct dlsi_clamp fused; /* that rewriting put behind a Conv, Gemm, MatMul or Add */
};

struct dlsi_graph {
	struct dlsi_value *values;
	struct dlsi_node *nodes;
	uint32_t *inputs;
	uint32_t *outputs;
	uint32_t value_count;
	uint32_t value_capacity;
	uint32_t node_count;
	uint32_t input_count;
	uint32_t output_count;
	int64_t opset;
	bool unsized;            /* dimensions of inputs are not known (-1), so nothing has been inferred yet */
	const char *unbatchable; /* why items run one by one; NULL if a batch is sound */
	struct dlsi_arena arena;
};

/* NULL is allowed. */
void dlsi_graph_destroy(struct dlsi_graph *graph);

/* Appends a value of this name (borrowed) and returns its number, or DLSI_NO_VALUE when memory is exhausted. May move
 * graph->values. */
uint32_t dlsi_graph_add_value(struct dlsi_graph *graph, const char *name);

/* The value's elements, or its bytes, for one item. They fit size_t: inference saw to it. */
size_t dlsi_value_count(const struct dlsi_value *value);
size_t dlsi_value_bytes(const struct dlsi_value *value);

bool dlsi_value_same_shape(const struct dlsi_value *a, const struct dlsi_value *b);
bool dlsi_value_same_in_any_batch(const struct dlsi_value *a, const struct dlsi_value *b);

/* Of all constants. */
size_t dlsi_graph_constant_bytes(const struct dlsi_graph *graph);

/* The dimensions in a run of `batch` items. */
void dlsi_value_dims(const struct dlsi_value *value, int64_t batch, int64_t dims_out[DLS_TENSOR_RANK]);

/* Whether rows of the batch may be any number in the file itself, so that it says what becomes of several: an input has
 * an open first dimension. A leading 1 of the file is the batch only by our own rule. */
bool dlsi_graph_rows_open(const struct dlsi_graph *graph);

/* The i-th input's value, or NULL if it is left out. */
const struct dlsi_value *dlsi_node_input(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i);

/* Whether the node takes a bounded value: then its outputs are bounded as well, and only inference with the sizes of a
 * run tells theirs. */
bool dlsi_node_is_bounded(const struct dlsi_graph *graph, const struct dlsi_node *node);

/* Gives the node one more input, with those between left out. Errors: DLS_ENOMEM. */
int dlsi_node_set_input(struct dlsi_graph *graph, struct dlsi_node *node, uint32_t i, uint32_t value);

/* Gives the node a copy of these attributes in place of its own. Errors: DLS_ENOMEM. */
int dlsi_node_set_attributes(
	struct dlsi_graph *graph, struct dlsi_node *node, const struct dlsi_attribute *attributes, uint32_t count);

/* The first output. */
struct dlsi_value *dlsi_node_output(const struct dlsi_graph *graph, const struct dlsi_node *node);

bool dlsi_clamp_is_known(const struct dlsi_clamp *clamp);
bool dlsi_clamp_is_none(const struct dlsi_clamp *clamp);

#endif
