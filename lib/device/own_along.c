/* Reductions, ArgMax and ArgMin, Softmax along an axis that is not the last, and normalisation by the statistics of
 * rows (layers, single channels) on our own kernels: all of them dense. */
#include "device/own.h"
#include "kernel/along.h"
#include "kernel/parallel.h"
#include "op/list.h"

/* As the context of a step, its arguments are source and target. */
struct own_along {
	struct dlsi_kernel_along along;
	enum dlsi_reduction reduction;
	enum dlsi_arg arg;
	bool log;
	int threads;
};

static int run_reduction(void *context, void *const *places, struct dls_error *err)
{
	const struct own_along *own = context;

	(void)err;
	dlsi_along_reduce(&own->along, own->reduction, places[0], places[1], own->threads);
	return 0;
}

static int run_arg(void *context, void *const *places, struct dls_error *err)
{
	const struct own_along *own = context;

	(void)err;
	dlsi_along_arg(&own->along, own->arg, places[0], places[1], own->threads);
	return 0;
}

static int run_softmax(void *context, void *const *places, struct dls_error *err)
{
	const struct own_along *own = context;

	(void)err;
	dlsi_along_softmax(&own->along, own->log, places[0], places[1], own->threads);
	return 0;
}

/* Appends source -> target with both dense, from the node's first input to its first output. */
static int add_call(struct dlsi_program *program, const struct dlsi_node *node, const char *kernel,
	dlsi_step_call *call, void *own, struct dls_error *err)
{
	struct dlsi_argument arguments[2] = {{0}};
	int rc = dlsi_program_use(
		program, node->inputs[0], dlsi_program_plain(program, node->inputs[0]), &arguments[0].operand, err);

	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_program_plain(program, node->outputs[0]),
			&arguments[1].operand, err);
	return rc ? rc : dlsi_program_call(program, kernel, call, own, arguments, 2, err);
}

/* Along the axes from `first` up to `end`. NULL when memory is exhausted. */
static struct own_along *describe(
	struct dlsi_program *program, const struct dlsi_node *node, uint32_t first, uint32_t end)
{
	struct own_along *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	int64_t dims[DLS_TENSOR_RANK], folded[3] = {1, 1, 1};
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);

	if (!own)
		return NULL;
	for (uint32_t i = 0; i < rank; i++)
		folded[(i >= first) + (i >= end)] *= dims[i];
	own->threads = program->sharers;
	own->along = (struct dlsi_kernel_along){
		.isa = program->set->isa, .outer = folded[0], .count = folded[1], .inner = folded[2]};
	return own;
}

static const struct {
	const struct dlsi_op *op;
	enum dlsi_reduction reduction;
} reductions[] = {
	{&dlsi_op_reduce_max, DLSI_REDUCE_MAX},
	{&dlsi_op_reduce_mean, DLSI_REDUCE_MEAN},
	{&dlsi_op_reduce_min, DLSI_REDUCE_MIN},
	{&dlsi_op_reduce_sum, DLSI_REDUCE_SUM},
	{&dlsi_op_reduce_sum_square, DLSI_REDUCE_SQUARES},
};

/* The axes must lie side by side. */
int dlsi_own_reduce(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	uint32_t rank = program->set->graph->values[node->inputs[0]].rank, first = 0, end, i = 0;
	struct own_along *own;

	while (first < rank && !(node->reduced >> first & 1))
		first++;
	for (end = first; end < rank && node->reduced >> end & 1;)
		end++;
	if (first == end || (node->reduced & ((1U << rank) - 1)) >> end)
		return DLS_EUNSUPPORTED;
	own = describe(program, node, first, end);
	if (!own)
		return dlsi_fail_memory(err);
	if (!dlsi_along_supported(&own->along))
		return DLS_EUNSUPPORTED;
	while (reductions[i].op != node->op)
		i++;
	own->reduction = reductions[i].reduction;
	return add_call(program, node, "own:reduce", run_reduction, own, err);
}

int dlsi_own_arg(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct own_along *own = describe(program, node, node->axis, node->axis + 1);
	bool last = dlsi_node_int(node, "select_last_index", 0);

	if (!own)
		return dlsi_fail_memory(err);
	if (program->set->graph->values[node->inputs[0]].dtype != DLS_FLOAT32 || !dlsi_along_supported(&own->along))
		return DLS_EUNSUPPORTED;
	if (node->op == &dlsi_op_arg_max)
		own->arg = last ? DLSI_ARG_MAX_LAST : DLSI_ARG_MAX;
	else
		own->arg = last ? DLSI_ARG_MIN_LAST : DLSI_ARG_MIN;
	return add_call(program, node, "own:arg", run_arg, own, err);
}

int dlsi_own_softmax(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct own_along *own = describe(program, node, node->softmax.first, node->softmax.end);

	if (!own)
		return dlsi_fail_memory(err);
	if ((own->along.inner == 1 && own->along.count > DLSI_ALONG_SHORT) || !dlsi_along_supported(&own->along))
		return DLS_EUNSUPPORTED;
	own->log = node->op == &dlsi_op_log_softmax;
	return add_call(program, node, "own:softmax", run_softmax, own, err);
}

/* ---- normalisation: the arguments are source, target, scale and, if there is one, shift */

struct own_rows {
	struct dlsi_kernel_rows rows;
	int threads;
	bool shifted;
};

static int run_rows(void *context, void *const *places, struct dls_error *err)
{
	const struct own_rows *own = context;
	struct dlsi_kernel_rows rows = own->rows;

	(void)err;
	rows.scale = places[2];
	rows.shift = own->shifted ? places[3] : NULL;
	dlsi_rows_run(&rows, places[0], places[1], own->threads);
	return 0;
}

static int add_rows(struct dlsi_program *program, const struct dlsi_node *node, const struct dlsi_kernel_rows *rows,
	struct dls_error *err)
{
	struct own_rows *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_argument arguments[4] = {{0}};
	const uint32_t places[] = {0, 2, 3};
	int rc = own ? 0 : dlsi_fail_memory(err);

	for (uint32_t i = 0; rc == 0 && i < node->input_count; i++)
		rc = dlsi_program_use(program, node->inputs[i], dlsi_program_plain(program, node->inputs[i]),
			&arguments[places[i]].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_program_plain(program, node->outputs[0]),
			&arguments[1].operand, err);
	if (rc)
		return rc;
	own->rows = *rows;
	own->rows.isa = program->set->isa;
	own->threads = program->sharers;
	own->shifted = node->input_count > 2;
	return dlsi_program_call(program, "own:rows", run_rows, own, arguments, node->input_count + 1, err);
}

/* Scale and shift have the dimensions that are normalised over; the statistics are not wanted. */
int dlsi_own_layer_normalization(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK], axis = dlsi_node_int(node, "axis", -1);
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);
	struct dlsi_kernel_rows rows = {.rows = 1,
		.length = 1,
		.rms = node->op == &dlsi_op_rms_normalization,
		.epsilon = dlsi_node_float(node, "epsilon", 1e-5F)};

	axis = axis < 0 ? axis + rank : axis;
	for (uint32_t i = 1; i < node->output_count; i++)
		if (node->outputs[i] != DLSI_NO_VALUE)
			return DLS_EUNSUPPORTED;
	for (uint32_t i = 0; i < rank; i++)
		*(i < axis ? &rows.rows : &rows.length) *= dims[i];
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *given = dlsi_node_input(program->set->graph, node, i);

		if (!given || given->batched || given->rank > rank - axis ||
			(int64_t)dlsi_value_count(given) != rows.length)
			return DLS_EUNSUPPORTED;
	}
	return rows.length > 0 ? add_rows(program, node, &rows, err) : DLS_EUNSUPPORTED;
}

/* A row is a channel of an item. */
int dlsi_own_instance_normalization(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);
	struct dlsi_kernel_rows rows = {
		.rows = dims[0] * dims[1], .length = 1, .epsilon = node->epsilon, .period = dims[1]};

	for (uint32_t i = 2; i < rank; i++)
		rows.length *= dims[i];
	return rows.length > 0 && rows.rows > 0 ? add_rows(program, node, &rows, err) : DLS_EUNSUPPORTED;
}
