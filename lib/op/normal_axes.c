/* Normalisation over axes anywhere: LpNormalization and MeanVarianceNormalization. */
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"

#define V DLSI_OP_SINCE

/* node->reduced are the axes that are normalised over. */
static const char *normal_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->reduced & 1 ? "normalises over axis 0, the batch" : NULL;
}

static int infer_lp(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	int64_t p = dlsi_node_int(node, "p", 2);
	uint32_t axis;
	int rc = dlsi_node_axis(node, -1, dlsi_node_input(graph, node, 0)->rank, &axis, err);

	if (rc)
		return rc;
	if (p != 1 && p != 2)
		return dlsi_node_fail(
			node, err, DLS_EFORMAT, "has a norm of order %lld; 1 and 2 are defined", (long long)p);
	node->reduced = 1U << axis;
	return dlsi_op_infer_same(graph, node, err);
}

static int infer_mean_variance(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	static const uint32_t usual[] = {0, 2, 3};
	uint32_t axes[DLS_TENSOR_RANK], count, rank = dlsi_node_input(graph, node, 0)->rank;
	int rc = dlsi_node_axes(graph, node, 1, rank, axes, &count, err);

	if (rc)
		return rc;
	if (count == DLSI_OP_ABSENT && rank < 4)
		return dlsi_node_fail(node, err, DLS_EFORMAT,
			"normalises over the axes 0, 2 and 3, its input has %u dimensions", rank);
	node->reduced = 0;
	for (uint32_t i = 0; i < (count == DLSI_OP_ABSENT ? 3 : count); i++)
		node->reduced |= 1U << (count == DLSI_OP_ABSENT ? usual : axes)[i];
	return dlsi_op_infer_same(graph, node, err);
}

/* For each element `x`, set number `k`. */
#define EACH(dtype, element, statement)                                                                                \
	case dtype: {                                                                                                  \
		typedef element type;                                                                                  \
                                                                                                                       \
		dlsi_walk_sets(&walk, input, node->reduced);                                                           \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))                           \
			for (int64_t i = 0; i < walk.count; i++) {                                                     \
				const double x = (double)((const type *)input->data)[walk.offsets[0] + i];             \
				const int64_t k = walk.offsets[1] + i * walk.steps[1];                                 \
                                                                                                                       \
				statement;                                                                             \
			}                                                                                              \
		break;                                                                                                 \
	}
#define EACH_ELEMENT(statement)                                                                                        \
	switch (input->dtype) {                                                                                        \
		DLSI_FLOATS(EACH, statement)                                                                           \
	default:                                                                                                       \
		break;                                                                                                 \
	}
#define RESULT ((type *)output->data)[walk.offsets[0] + i]

/* With the first norm, or the square of the second, of each set. What is nothing but zeros remains so. */
static void lp(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	double *norms, double *unused)
{
	bool first = dlsi_node_int(node, "p", 2) == 1;
	struct dlsi_walk walk;

	(void)unused;
	EACH_ELEMENT(norms[k] += first ? fabs(x) : x * x)
	EACH_ELEMENT(RESULT = (type)(norms[k] == 0 ? 0 : x / (first ? norms[k] : sqrt(norms[k]))))
}

static void mean_variance(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
	double *means, double *squares)
{
	const double epsilon = 1e-9; /* that of ONNX's own definition by other operators */
	struct dlsi_walk walk;
	double count = (double)dlsi_walk_sets(&walk, input, node->reduced);

	EACH_ELEMENT(means[k] += x / count)
	EACH_ELEMENT(squares[k] += (x - means[k]) * (x - means[k]) / count)
	EACH_ELEMENT(RESULT = (type)((x - means[k]) / (sqrt(squares[k]) + epsilon)))
}

/* Gives the function two zeroed numbers for each set; there are no more sets than elements. */
static int normalise(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err,
	void (*run)(const struct dlsi_node *node, const struct dlsi_view *input, const struct dlsi_view *output,
		double *a, double *b))
{
	size_t count = dlsi_view_count(&inputs[0]);
	double *sets;

	for (uint32_t i = 0; count && i < inputs[0].rank; i++)
		if (node->reduced & 1U << i)
			count /= (size_t)inputs[0].dims[i];
	sets = dlsi_calloc(alloc, 2 * count + 1, sizeof *sets);
	if (!sets)
		return dlsi_fail_memory(err);
	run(node, &inputs[0], &outputs[0], sets, sets + count);
	dlsi_free(alloc, sets);
	return 0;
}

static int eval_lp_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return normalise(node, inputs, outputs, alloc, err, lp);
}

static int eval_mean_variance_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	return normalise(node, inputs, outputs, alloc, err, mean_variance);
}

static const struct dlsi_op_attribute axis_p[] = {{"axis", DLSI_ATTRIBUTE_INT}, {"p", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute axes_only[] = {{"axes", DLSI_ATTRIBUTE_INTS}, {0}};

const struct dlsi_op dlsi_op_lp_normalization = {
	.name = "LpNormalization",
	DLSI_OP_ALL(V(1) | V(22)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = axis_p,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_lp,
	.mixes = normal_mixes,
	.eval = eval_lp_normalization,
};

const struct dlsi_op dlsi_op_mean_variance_normalization = {
	.name = "MeanVarianceNormalization",
	DLSI_OP_ALL(V(9) | V(13)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 1,
	.attributes = axes_only,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_mean_variance,
	.mixes = normal_mixes,
	.eval = eval_mean_variance_normalization,
};
