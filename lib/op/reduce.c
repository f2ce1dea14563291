/* Reductions over axes. A row is what a set begins with, what becomes of it (`s`) with an element `x`, and what is made
 * of it in the end, of `n` elements. */
#include "graph/work.h"
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"
#include <string.h>

#define V DLSI_OP_SINCE

static int infer_reduction(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	bool keep = dlsi_node_int(node, "keepdims", 1), none = dlsi_node_int(node, "noop_with_empty_axes", 0);
	uint32_t axes[DLS_TENSOR_RANK], count, reduced = 0, rank = 0;
	int64_t dims[DLS_TENSOR_RANK];
	int rc = dlsi_node_axes(graph, node, 1, input->rank, axes, &count, err);

	if (rc)
		return rc;
	if (count == DLSI_OP_ABSENT || count == 0)
		reduced = none ? 0 : UINT32_MAX;
	else
		for (uint32_t i = 0; i < count; i++)
			reduced |= 1U << axes[i];
	for (uint32_t i = 0; i < input->rank; i++)
		if (keep || !(reduced & 1U << i))
			dims[rank++] = reduced & 1U << i ? 1 : input->dims[i];
	node->reduced = reduced;
	return dlsi_node_set_output(graph, node, input->dtype, rank, dims, err);
}

static const char *reduction_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph;
	return node->reduced & 1 ? "reduces axis 0, the batch" : NULL;
}

/* Elements are gathered in a wide number for each of the output's. */
#define WIDE(type)                                                                                                     \
	__typeof__(_Generic((type)0, float : 0.0, double : 0.0, default                                                \
			    : _Generic((type)0, int8_t                                                                 \
				       : INT64_C(0), int16_t                                                           \
				       : INT64_C(0), int32_t                                                           \
				       : INT64_C(0), int64_t                                                           \
				       : INT64_C(0), default                                                           \
				       : UINT64_C(0))))

enum { WIDE_BYTES = 8 };

#define CASE(dtype, element, initial, step, end)                                                                       \
	case dtype: {                                                                                                  \
		typedef element type;                                                                                  \
		typedef WIDE(type) wide;                                                                               \
		wide *sets = memory;                                                                                   \
                                                                                                                       \
		for (size_t i = 0; i < count; i++)                                                                     \
			sets[i] = (wide)(initial);                                                                     \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {                         \
			const type *from = (const type *)inputs[0].data + walk.offsets[0];                             \
			const int64_t length = walk.count, stride = walk.steps[1];                                     \
			wide *set = sets + walk.offsets[1], s = *set;                                                  \
                                                                                                                       \
			for (int64_t i = 0; stride == 0 && i < length; i++) {                                          \
				const wide x = (wide)from[i];                                                          \
                                                                                                                       \
				s = (wide)(step);                                                                      \
			}                                                                                              \
			*set = s;                                                                                      \
			for (int64_t i = 0; stride != 0 && i < length; i++) {                                          \
				const wide x = (wide)from[i];                                                          \
                                                                                                                       \
				s = set[i * stride];                                                                   \
				set[i * stride] = (wide)(step);                                                        \
			}                                                                                              \
		}                                                                                                      \
		for (size_t i = 0; i < count; i++) {                                                                   \
			const wide s = sets[i];                                                                        \
                                                                                                                       \
			((type *)outputs[0].data)[i] = (type)(end);                                                    \
		}                                                                                                      \
		break;                                                                                                 \
	}

static const struct dlsi_op_attribute attributes[] = {{"axes", DLSI_ATTRIBUTE_INTS}, {"keepdims", DLSI_ATTRIBUTE_INT},
	{"noop_with_empty_axes", DLSI_ATTRIBUTE_INT}, {0}};

#define REDUCTION(name_, onnx, versions, LIST, initial, step, end)                                                     \
	static int eval_##name_(const struct dlsi_node *node, const struct dlsi_view *inputs,                          \
		const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)                \
	{                                                                                                              \
		size_t count = dlsi_view_count(&outputs[0]);                                                           \
		void *memory = dlsi_calloc(alloc, count + 1, WIDE_BYTES);                                              \
		struct dlsi_walk walk;                                                                                 \
		int64_t n = dlsi_walk_sets(&walk, &inputs[0], node->reduced);                                          \
                                                                                                                       \
		(void)n;                                                                                               \
		if (!memory)                                                                                           \
			return dlsi_fail_memory(err);                                                                  \
		switch (inputs[0].dtype) {                                                                             \
			LIST(CASE, initial, step, end)                                                                 \
		default:                                                                                               \
			break;                                                                                         \
		}                                                                                                      \
		dlsi_free(alloc, memory);                                                                              \
		return 0;                                                                                              \
	}                                                                                                              \
	const struct dlsi_op dlsi_op_##name_ = {.name = (onnx),                                                        \
		DLSI_OP_ALL(versions),                                                                                 \
		.inputs_least = 1,                                                                                     \
		.inputs_most = 2,                                                                                      \
		.outputs_most = 1,                                                                                     \
		.attributes = attributes,                                                                              \
		.types = DLSI_TYPES(LIST),                                                                             \
		.typed = 1,                                                                                            \
		.infer = infer_reduction,                                                                              \
		.mixes = reduction_mixes,                                                                              \
		.eval = eval_##name_,                                                                                  \
		.steps = dlsi_op_steps_slow_input};

/* log(exp(s) + exp(x)) without overflow. */
static double add_exponentials(double s, double x)
{
	double greater = DLSI_GREATER(s, x);

	return s == x ? s + M_LN2 : greater + log1p(exp(-fabs(s - x)));
}

#define IS_BOOL (inputs[0].dtype == DLS_BOOL)
#define MEAN(s) DLSI_CHOOSE((type)0, (s) / n, n ? (s) / (__typeof__(s))n : 0)

REDUCTION(reduce_l1, "ReduceL1", V(1) | V(11) | V(13) | V(18), DLSI_NUMBERS, 0, DLSI_SUM(s, DLSI_MAGNITUDE(x)), s)
REDUCTION(reduce_l2, "ReduceL2", V(1) | V(11) | V(13) | V(18), DLSI_NUMBERS, 0, DLSI_SUM(s, DLSI_PRODUCT(x, x)),
	DLSI_ELEMENT(type, sqrt((double)s)))
REDUCTION(reduce_log_sum, "ReduceLogSum", V(1) | V(11) | V(13) | V(18) | V(28), DLSI_FLOATS, 0, s + x, log(s))
REDUCTION(reduce_log_sum_exp, "ReduceLogSumExp", V(1) | V(11) | V(13) | V(18) | V(28), DLSI_FLOATS, -INFINITY,
	add_exponentials(s, x), s)
REDUCTION(reduce_max, "ReduceMax", V(1) | V(11) | V(12) | V(13) | V(18) | V(20), DLSI_ALL_TYPES, DLSI_LEAST(type),
	DLSI_GREATER(x, s), s)
REDUCTION(reduce_mean, "ReduceMean", V(1) | V(11) | V(13) | V(18), DLSI_NUMBERS, 0, DLSI_SUM(s, x), MEAN(s))
REDUCTION(reduce_min, "ReduceMin", V(1) | V(11) | V(12) | V(13) | V(18) | V(20), DLSI_ALL_TYPES,
	IS_BOOL ? 1 : DLSI_GREATEST(type), DLSI_SMALLER(x, s), s)
REDUCTION(reduce_prod, "ReduceProd", V(1) | V(11) | V(13) | V(18), DLSI_NUMBERS, 1, DLSI_PRODUCT(s, x), s)
REDUCTION(reduce_sum, "ReduceSum", V(1) | V(11) | V(13), DLSI_NUMBERS, 0, DLSI_SUM(s, x), s)
REDUCTION(reduce_sum_square, "ReduceSumSquare", V(1) | V(11) | V(13) | V(18), DLSI_NUMBERS, 0,
	DLSI_SUM(s, DLSI_PRODUCT(x, x)), s)
