#include "graph/op.h"

#include "base/limits.h"
#include "base/shape.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define INT    DLSI_ATTRIBUTE_INT
#define INTS   DLSI_ATTRIBUTE_INTS
#define FLOAT  DLSI_ATTRIBUTE_FLOAT
#define STRING DLSI_ATTRIBUTE_STRING

typedef const struct dlsi_op_attribute attributes[];

static attributes none = {{0}};
static attributes average_pool = {{"auto_pad", STRING}, {"ceil_mode", INT}, {"count_include_pad", INT},
	{"dilations", INTS}, {"kernel_shape", INTS}, {"pads", INTS}, {"strides", INTS}, {0}};
static attributes batch_normalization = {
	{"epsilon", FLOAT}, {"momentum", FLOAT}, {"spatial", INT}, {"training_mode", INT}, {0}};
static attributes clip = {{"max", FLOAT}, {"min", FLOAT}, {0}};
static attributes conv = {{"auto_pad", STRING}, {"dilations", INTS}, {"group", INT}, {"kernel_shape", INTS},
	{"pads", INTS}, {"strides", INTS}, {0}};
static attributes dropout = {{"ratio", FLOAT}, {"seed", INT}, {0}};
static attributes axis = {{"axis", INT}, {0}};
static attributes gemm = {{"alpha", FLOAT}, {"beta", FLOAT}, {"transA", INT}, {"transB", INT}, {0}};
static attributes max_pool = {{"auto_pad", STRING}, {"ceil_mode", INT}, {"dilations", INTS}, {"kernel_shape", INTS},
	{"pads", INTS}, {"storage_order", INT}, {"strides", INTS}, {0}};
static attributes reshape = {{"allowzero", INT}, {0}};

/* clang-format off */
const struct dlsi_op dlsi_ops[DLSI_OP_COUNT] = {
	[DLSI_OP_ADD]                 = {"Add", 2, 2, none, dlsi_op_infer_add, dlsi_op_mixes_add},
	[DLSI_OP_AVERAGE_POOL]        = {"AveragePool", 1, 1, average_pool, dlsi_op_infer_average_pool, dlsi_op_mixes_weights},
	[DLSI_OP_BATCH_NORMALIZATION] = {"BatchNormalization", 5, 5, batch_normalization,
	                                 dlsi_op_infer_batch_normalization, dlsi_op_mixes_weights},
	[DLSI_OP_CLIP]                = {"Clip", 1, 3, clip, dlsi_op_infer_clip, dlsi_op_mixes_weights},
	[DLSI_OP_CONV]                = {"Conv", 2, 3, conv, dlsi_op_infer_conv, dlsi_op_mixes_weights},
	[DLSI_OP_DROPOUT]             = {"Dropout", 1, 3, dropout, dlsi_op_infer_dropout, dlsi_op_mixes_weights},
	[DLSI_OP_FLATTEN]             = {"Flatten", 1, 1, axis, dlsi_op_infer_flatten, dlsi_op_mixes_weights},
	[DLSI_OP_GEMM]                = {"Gemm", 2, 3, gemm, dlsi_op_infer_gemm, dlsi_op_mixes_gemm},
	[DLSI_OP_GLOBAL_AVERAGE_POOL] = {"GlobalAveragePool", 1, 1, none, dlsi_op_infer_global_pool, dlsi_op_mixes_weights},
	[DLSI_OP_IDENTITY]            = {"Identity", 1, 1, none, dlsi_op_infer_same, dlsi_op_mixes_weights},
	[DLSI_OP_MAT_MUL]             = {"MatMul", 2, 2, none, dlsi_op_infer_mat_mul, dlsi_op_mixes_mat_mul},
	[DLSI_OP_MAX_POOL]            = {"MaxPool", 1, 1, max_pool, dlsi_op_infer_max_pool, dlsi_op_mixes_weights},
	[DLSI_OP_RELU]                = {"Relu", 1, 1, none, dlsi_op_infer_relu, dlsi_op_mixes_weights},
	[DLSI_OP_RESHAPE]             = {"Reshape", 2, 2, reshape, dlsi_op_infer_reshape, dlsi_op_mixes_weights},
	[DLSI_OP_SOFTMAX]             = {"Softmax", 1, 1, axis, dlsi_op_infer_softmax, dlsi_op_mixes_softmax},
};
/* clang-format on */

const struct dlsi_op *dlsi_op_find(const char *name)
{
	for (unsigned i = 0; i < DLSI_OP_COUNT; i++)
		if (strcmp(dlsi_ops[i].name, name) == 0)
			return &dlsi_ops[i];
	return NULL;
}

const struct dlsi_attribute *dlsi_node_attribute(const struct dlsi_node *node, const char *name)
{
	for (uint32_t i = 0; i < node->attribute_count; i++)
		if (strcmp(node->attributes[i].name, name) == 0)
			return &node->attributes[i];
	return NULL;
}

int64_t dlsi_node_int(const struct dlsi_node *node, const char *name, int64_t otherwise)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	return attribute ? attribute->i : otherwise;
}

float dlsi_node_float(const struct dlsi_node *node, const char *name, float otherwise)
{
	const struct dlsi_attribute *attribute = dlsi_node_attribute(node, name);

	return attribute ? attribute->f : otherwise;
}

int dlsi_node_fail(const struct dlsi_node *node, struct dls_error *err, int code, const char *format, ...)
{
	char what[DLS_ERROR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	return dlsi_fail(err, code, "node '%s' (%s) %s", node->name, node->op->name, what);
}

int dlsi_node_set_output(struct dlsi_graph *graph, const struct dlsi_node *node, enum dls_dtype dtype, uint32_t rank,
	const int64_t *dims, struct dls_error *err)
{
	struct dlsi_value *output = dlsi_node_output(graph, node);
	size_t bytes;

	for (uint32_t i = 0; i < rank; i++)
		if (dims[i] < 1)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has an output of the impossible shape %s",
				dlsi_shape_text(dtype, rank, dims).text);
	if (dls_tensor_bytes(dtype, rank, dims, &bytes) || bytes > DLSI_VALUE_BYTES)
		return dlsi_node_fail(node, err, DLS_ELIMIT, "has an output %s, larger than any memory",
			dlsi_shape_text(dtype, rank, dims).text);
	output->dtype = dtype;
	output->rank = rank;
	if (rank)
		memcpy(output->dims, dims, rank * sizeof *dims);
	return 0;
}

int dlsi_node_require_float(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && input->dtype != DLS_FLOAT32)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"takes '%s' of %s, and only float32 is computed with", input->name,
				dls_dtype_name(input->dtype));
	}
	return 0;
}

int dlsi_op_infer_same(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return dlsi_node_set_output(graph, node, input->dtype, input->rank, input->dims, err);
}

const char *dlsi_op_mixes_weights(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (input && input->batched)
			return "takes its weights from the model's inputs, so that they differ from item to item";
	}
	return NULL;
}
