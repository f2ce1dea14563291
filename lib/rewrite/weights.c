/* What becomes part of the weights: operators that multiply each channel by a constant and add one (a
 * BatchNormalization, a Mul, an Add), behind or before a Conv, ConvTranspose, Gemm or MatMul; two of them become one
 * BatchNormalization. */
#include "op/list.h"
#include "op/window.h"
#include "rewrite/rewrite.h"
#include <string.h>

/* Element `i` of a constant, which may lie at any alignment; `otherwise` if there is none. */
static float element(const struct dlsi_value *value, size_t i, float otherwise)
{
	float number = otherwise;

	if (value)
		memcpy(&number, (const char *)value->data + i * sizeof number, sizeof number);
	return number;
}

/* A new constant of this shape; its elements are to be filled in. NULL when memory is exhausted. */
static float *add_constant(
	struct dlsi_graph *graph, const char *name, uint32_t rank, const int64_t *dims, uint32_t *value)
{
	struct dlsi_value made = {.name = name, .dtype = DLS_FLOAT32, .rank = rank};
	float *data;

	memcpy(made.dims, dims, rank * sizeof *dims);
	made.data = data = dlsi_arena_take(&graph->arena, dlsi_value_count(&made), sizeof *data);
	*value = data ? dlsi_graph_add_value(graph, name) : DLSI_NO_VALUE;
	if (*value == DLSI_NO_VALUE)
		return NULL;
	graph->values[*value] = made;
	return data;
}

static bool has_constants(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 1; i < node->input_count; i++)
		if (dlsi_node_input(graph, node, i) && !dlsi_node_input(graph, node, i)->data)
			return false;
	return true;
}

/* ---- y = x * factor + shift for each channel */

struct affine {
	const struct dlsi_node *node;
	uint32_t side; /* the input that is x */
	uint32_t axis; /* of the channels */
};

/* Whether `value`, broadcast to `result`, is one constant per index of this axis, or one for all. */
static bool is_per(const struct dlsi_value *value, const struct dlsi_value *result, uint32_t axis)
{
	if (!value || !value->data || value->rank > result->rank)
		return false;
	for (uint32_t i = 0; i < value->rank; i++) {
		uint32_t place = i + result->rank - value->rank;

		if (value->dims[i] != 1 && (place != axis || value->dims[i] != result->dims[axis]))
			return false;
	}
	return true;
}

/* Whether the node is one. The axis is given. */
static bool read_affine(const struct dlsi_graph *graph, const struct dlsi_node *node, struct affine *affine)
{
	const struct dlsi_op *op = node->op;
	const struct dlsi_value *output;

	if (!dlsi_clamp_is_none(&node->fused))
		return false;
	affine->node = node;
	affine->side = 0;
	if (op == &dlsi_op_batch_normalization)
		return affine->axis == 1 && has_constants(graph, node);
	if (op != &dlsi_op_add && op != &dlsi_op_sub && op != &dlsi_op_mul && op != &dlsi_op_div)
		return false;
	output = dlsi_node_output(graph, node);
	affine->side = op != &dlsi_op_div && dlsi_node_input(graph, node, 0)->data ? 1 : 0;
	return output->dtype == DLS_FLOAT32 && affine->axis < output->rank &&
	       dlsi_value_same_shape(dlsi_node_input(graph, node, affine->side), output) &&
	       is_per(dlsi_node_input(graph, node, !affine->side), output, affine->axis);
}

static void read_channel(
	const struct dlsi_graph *graph, const struct affine *affine, size_t channel, double *factor, double *shift)
{
	const struct dlsi_node *node = affine->node;
	const struct dlsi_value *constant = dlsi_node_input(graph, node, !affine->side);
	double number;

	*factor = 1;
	*shift = 0;
	if (node->op == &dlsi_op_batch_normalization) {
		double variance = element(dlsi_node_input(graph, node, 4), channel, 1);

		*factor = element(dlsi_node_input(graph, node, 1), channel, 1) / sqrt(variance + (double)node->epsilon);
		*shift = element(dlsi_node_input(graph, node, 2), channel, 0) -
			 element(dlsi_node_input(graph, node, 3), channel, 0) * *factor;
		return;
	}
	number = element(constant, dlsi_value_count(constant) == 1 ? 0 : channel, 0);
	if (node->op == &dlsi_op_mul)
		*factor = number;
	else if (node->op == &dlsi_op_div)
		*factor = 1 / number;
	else
		*shift = node->op == &dlsi_op_sub && affine->side == 0 ? -number : number;
	if (node->op == &dlsi_op_sub && affine->side == 1)
		*factor = -1;
}

/* All channels' factors and then their shifts; NULL when memory is exhausted. */
static double *read_channels(
	const struct dlsi_graph *graph, struct dlsi_uses *uses, const struct affine *affine, size_t channels)
{
	double *numbers = dlsi_arena_take(&uses->arena, 2 * channels, sizeof *numbers);

	for (size_t c = 0; numbers && c < channels; c++)
		read_channel(graph, affine, c, &numbers[c], &numbers[channels + c]);
	return numbers;
}

static bool are_all(const double *numbers, size_t count, double number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] != number)
			return false;
	return true;
}

static bool are_finite(const double *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite((float)numbers[i]))
			return false;
	return true;
}

/* ---- weights */

static bool is_linear(const struct dlsi_op *op)
{
	return op == &dlsi_op_conv || op == &dlsi_op_conv_transpose || op == &dlsi_op_gemm || op == &dlsi_op_mat_mul;
}

/* Whether the weights and the bias, if there is one, are constants that can be changed. */
static bool is_changeable(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *weights = dlsi_node_input(graph, node, 1), *bias = dlsi_node_input(graph, node, 2);
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	if (!is_linear(node->op) || !dlsi_clamp_is_none(&node->fused) || !weights->data || (bias && !bias->data))
		return false;
	if (node->op == &dlsi_op_gemm)
		return !node->gemm.transpose_a && (!bias || is_per(bias, dlsi_node_output(graph, node), 1));
	return node->op != &dlsi_op_mat_mul || (input->rank > 1 && weights->rank == 2);
}

/* The axis of the channels that a node makes. */
static uint32_t channel_axis(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	return node->op == &dlsi_op_mat_mul ? dlsi_node_output(graph, node)->rank - 1 : 1;
}

/* Weights as a matrix of kernels: which channel a row is, and which ones its columns are. */
struct kernels {
	size_t rows, columns, elements; /* elements: of a kernel */
	size_t groups;
	bool rows_are_made; /* else taken; columns are the other */
};

static struct kernels kernels_of(const struct dlsi_node *node, const struct dlsi_value *weights)
{
	struct kernels kernels = {.rows = (size_t)weights->dims[0],
		.columns = (size_t)weights->dims[1],
		.elements = 1,
		.groups = 1,
		.rows_are_made = node->op == &dlsi_op_conv || (node->op == &dlsi_op_gemm && node->gemm.transpose_b)};

	for (uint32_t i = 2; i < weights->rank; i++)
		kernels.elements *= (size_t)weights->dims[i];
	if (node->op == &dlsi_op_conv || node->op == &dlsi_op_conv_transpose)
		kernels.groups = (size_t)node->conv.groups;
	return kernels;
}

/* The channel that the row's first column is: columns are counted within a group. */
static size_t first_column(const struct kernels *kernels, size_t row)
{
	return row / (kernels->rows / kernels->groups) * kernels->columns;
}

/* The weights times the factors of the channels that are made, or taken. *finite is cleared where that is too much for
 * float32. */
static int scale_weights(struct dlsi_graph *graph, const struct dlsi_node *node, const double *factors, bool taken,
	uint32_t *weights_out, bool *finite)
{
	const struct dlsi_value old = graph->values[node->inputs[1]];
	const struct kernels kernels = kernels_of(node, &old);
	float *data = add_constant(graph, old.name, old.rank, old.dims, weights_out);
	size_t i = 0;

	if (!data)
		return DLS_ENOMEM;
	for (size_t row = 0; row < kernels.rows; row++) {
		const size_t first = first_column(&kernels, row);

		for (size_t column = 0; column < kernels.columns; column++) {
			const double factor = factors[kernels.rows_are_made == taken ? first + column : row];

			for (size_t k = 0; k < kernels.elements; k++, i++) {
				data[i] = (float)(element(&old, i, 0) * factor);
				*finite &= isfinite(data[i]) || !isfinite(element(&old, i, 0));
			}
		}
	}
	return 0;
}

/* bias * factor + shift, without factors bias + shift; DLSI_NO_VALUE where there is no bias and needs to be none. */
static int make_bias(struct dlsi_graph *graph, const struct dlsi_node *node, const double *factors,
	const double *shifts, size_t channels, uint32_t *bias_out, bool *finite)
{
	const struct dlsi_value *old = dlsi_node_input(graph, node, 2);
	const int64_t dims[] = {(int64_t)channels};
	double beta = old && node->op == &dlsi_op_gemm ? node->gemm.beta : 1;
	float *data;

	*bias_out = DLSI_NO_VALUE;
	if (!old && are_all(shifts, channels, 0))
		return 0;
	data = add_constant(graph, old ? old->name : node->name, 1, dims, bias_out);
	if (!data)
		return DLS_ENOMEM;
	old = dlsi_node_input(graph, node, 2); /* which has moved */
	for (size_t c = 0; c < channels; c++) {
		double before = old ? beta * element(old, dlsi_value_count(old) == 1 ? 0 : c, 0) : 0;

		data[c] = (float)(before * (factors ? factors[c] : 1) + shifts[c]);
		*finite &= isfinite(data[c]) || !isfinite((float)before);
	}
	return 0;
}

/* Gives the node weights that are multiplied by the factors of the channels that it makes, or takes, and a bias that
 * goes with them. Not, and *done is false, where float32 does not hold them. */
static int change(struct dlsi_graph *graph, struct dlsi_node *node, const double *factors, size_t factor_count,
	bool taken, const double *shifts, size_t channels, bool *done)
{
	uint32_t weights = node->inputs[1], bias;
	bool finite = true;
	int rc = make_bias(graph, node, taken ? NULL : factors, shifts, channels, &bias, &finite);

	if (rc == 0 && !are_all(factors, factor_count, 1))
		rc = scale_weights(graph, node, factors, taken, &weights, &finite);
	*done = rc == 0 && finite;
	if (!*done)
		return rc;
	node->inputs[1] = weights;
	if (bias == DLSI_NO_VALUE)
		return 0;
	if (node->op == &dlsi_op_gemm)
		node->gemm.beta = 1;
	return dlsi_node_set_input(graph, node, 2, bias);
}

/* ---- behind */

static int fold_behind(struct dlsi_graph *graph, struct dlsi_uses *uses, struct dlsi_node *later, bool *done)
{
	struct affine affine;
	struct dlsi_node *node = NULL;
	size_t channels;
	double *numbers;
	int rc;

	for (uint32_t side = 0; side < 2 && !node; side++)
		node = dlsi_uses_only(uses, graph, later, side, NULL);
	if (!node || !is_changeable(graph, node))
		return 0;
	affine.axis = channel_axis(graph, node);
	if (!read_affine(graph, later, &affine))
		return 0;
	channels = (size_t)dlsi_node_output(graph, node)->dims[affine.axis];
	numbers = read_channels(graph, uses, &affine, channels);
	if (!numbers)
		return DLS_ENOMEM;
	if (!are_finite(numbers, 2 * channels) ||
		(dlsi_node_input(graph, node, DLSI_CONV_ADDEND) && !are_all(numbers, channels, 1)))
		return 0;
	rc = change(graph, node, numbers, channels, false, numbers + channels, channels, done);
	if (rc == 0 && *done)
		dlsi_uses_take_over(uses, graph, node, later);
	return rc;
}

/* ---- before */

/* What the shifts of the channels that are taken add to each that is made. */
static double *sum_shifts(const struct dlsi_graph *graph, struct dlsi_uses *uses, const struct dlsi_node *node,
	const double *shifts, size_t channels)
{
	const struct dlsi_value *weights = dlsi_node_input(graph, node, 1);
	double *sums = dlsi_arena_take(&uses->arena, channels, sizeof *sums);
	double alpha = node->op == &dlsi_op_gemm ? node->gemm.alpha : 1;
	const struct kernels kernels = kernels_of(node, weights);
	size_t i = 0;

	for (size_t row = 0; sums && row < kernels.rows; row++) {
		const size_t first = first_column(&kernels, row);

		for (size_t column = 0; column < kernels.columns; column++) {
			const size_t made = kernels.rows_are_made ? row : first + column;
			const size_t taken = kernels.rows_are_made ? first + column : row;

			for (size_t k = 0; k < kernels.elements; k++, i++)
				sums[made] += alpha * element(weights, i, 0) * shifts[taken];
		}
	}
	return sums;
}

/* Padding is not shifted, so only what is not padded can be before a shift. */
static int fold_before(struct dlsi_graph *graph, struct dlsi_uses *uses, struct dlsi_node *node)
{
	struct affine affine = {.axis = 1};
	size_t channels, taken;
	double *numbers, *sums;
	struct dlsi_node *earlier;
	bool done;
	int rc;

	if ((node->op != &dlsi_op_conv && node->op != &dlsi_op_gemm) || !is_changeable(graph, node))
		return 0;
	earlier = dlsi_uses_only(uses, graph, node, 0, NULL);
	if (!earlier || dlsi_node_output(graph, earlier)->rank < 2 || !read_affine(graph, earlier, &affine))
		return 0;
	taken = (size_t)dlsi_node_output(graph, earlier)->dims[1];
	channels = (size_t)dlsi_node_output(graph, node)->dims[1];
	numbers = read_channels(graph, uses, &affine, taken);
	if (!numbers)
		return DLS_ENOMEM;
	if (!are_finite(numbers, 2 * taken) || (node->op == &dlsi_op_conv && dlsi_window_has_pads(&node->conv.window) &&
						       !are_all(numbers + taken, taken, 0)))
		return 0;
	sums = sum_shifts(graph, uses, node, numbers + taken, channels);
	if (!sums)
		return DLS_ENOMEM;
	rc = change(graph, node, numbers, taken, true, sums, channels, &done);
	if (rc == 0 && done) {
		node->inputs[0] = earlier->inputs[affine.side];
		dlsi_node_drop(earlier);
	}
	return rc;
}

/* ---- two of them */

/* `node` becomes a BatchNormalization of `input` with a mean of 0 and a variance of 1. */
static int make_normal(
	struct dlsi_graph *graph, struct dlsi_node *node, uint32_t input, const double *numbers, size_t channels)
{
	const int64_t dims[] = {(int64_t)channels};
	uint32_t *inputs = dlsi_arena_take(&graph->arena, 5, sizeof *inputs);

	if (!inputs)
		return DLS_ENOMEM;
	inputs[0] = input;
	for (int k = 0; k < 4; k++) {
		float *data = add_constant(graph, node->name, 1, dims, &inputs[1 + k]);

		if (!data)
			return DLS_ENOMEM;
		for (size_t c = 0; c < channels; c++)
			data[c] = k < 2 ? (float)numbers[(size_t)k * channels + c] : (float)(k == 3);
	}
	node->op = &dlsi_op_batch_normalization;
	node->epsilon = 0;
	node->inputs = inputs;
	node->input_count = 5;
	return 0;
}

static int join(struct dlsi_graph *graph, struct dlsi_uses *uses, struct dlsi_node *later)
{
	struct affine second = {.axis = 1}, first = second;
	struct dlsi_node *earlier;
	size_t channels;
	double *numbers, *before;

	if (dlsi_node_output(graph, later)->rank < 2 || !read_affine(graph, later, &second))
		return 0;
	earlier = dlsi_uses_only(uses, graph, later, second.side, NULL);
	if (!earlier || !read_affine(graph, earlier, &first))
		return 0;
	channels = (size_t)dlsi_node_output(graph, earlier)->dims[1];
	before = read_channels(graph, uses, &first, channels);
	numbers = read_channels(graph, uses, &second, channels);
	if (!before || !numbers)
		return DLS_ENOMEM;
	for (size_t c = 0; c < channels; c++) {
		numbers[channels + c] += numbers[c] * before[channels + c];
		numbers[c] *= before[c];
	}
	if (!are_finite(before, 2 * channels) || !are_finite(numbers, 2 * channels))
		return 0;
	if (make_normal(graph, later, earlier->inputs[first.side], numbers, channels))
		return DLS_ENOMEM;
	dlsi_node_drop(earlier);
	return 0;
}

int dlsi_rewrite_weights(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct dlsi_node *node = &graph->nodes[i];
		bool done = false;
		int rc;

		if (node->output_count == 0)
			continue;
		rc = fold_behind(graph, uses, node, &done);
		if (rc == 0 && !done)
			rc = join(graph, uses, node);
		if (rc == 0 && !done)
			rc = fold_before(graph, uses, node);
		if (rc)
			return rc;
	}
	return 0;
}
