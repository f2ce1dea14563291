/* Element by element: clamps that stand alone (Relu, Clip), activations, and operators of two inputs. */
#include "device/onednn_lower.h"
#include "op/list.h"
#include <string.h>

struct elementwise {
	dnnl_alg_kind_t kind;
	float alpha, beta;
};

/* Appends target = kind(source, alpha, beta), in the same layout. */
static int add_step(struct dlsi_program *program, const struct dlsi_node *node, const struct elementwise *as,
	const struct dlsi_operand *source, const struct dlsi_operand *target, struct dls_error *err)
{
	struct dlsi_epilogue nothing = {.scale = 1, .clamp = DLSI_CLAMP_NONE};
	struct dlsi_argument arguments[] = {{DNNL_ARG_SRC, *source}, {DNNL_ARG_DST, *target}};
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dlsi_epilogue_attributes(&nothing, &attributes);
	int rc;

	if (status == dnnl_success)
		status = dnnl_eltwise_forward_primitive_desc_create(&pd, program->set->engine, dnnl_forward_inference,
			as->kind, source->md, source->md, as->alpha, as->beta, attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 2, err);
}

static int lower(struct dlsi_program *program, const struct dlsi_node *node, uint32_t value,
	const struct elementwise *as, struct dls_error *err)
{
	struct dlsi_operand source, target;
	int rc = dlsi_program_use(program, value, NULL, &source, err);

	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], source.md, &target, err);
	return rc ? rc : add_step(program, node, as, &source, &target, err);
}

int dlsi_lower_clamp(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct elementwise as;

	if (!dlsi_clamp_is_known(&node->clamp))
		return DLS_EUNSUPPORTED;
	as.kind = dlsi_clamp_kind(&node->clamp, &as.alpha, &as.beta);
	return lower(program, node, node->inputs[0], &as, err);
}

/* `alpha` is the attribute of that name, if the operator has one, or the number here. Log and Softplus are not
 * among them: oneDNN's are off by some 1e-6, however near to 0 the result is. */
static const struct {
	const struct dlsi_op *op;
	dnnl_alg_kind_t kind;
	float alpha, beta;
} activations[] = {
	{&dlsi_op_abs, dnnl_eltwise_abs, 0, 0},
	{&dlsi_op_elu, dnnl_eltwise_elu, 1, 0},
	{&dlsi_op_exp, dnnl_eltwise_exp, 0, 0},
	{&dlsi_op_gelu, dnnl_eltwise_gelu_erf, 0, 0},
	{&dlsi_op_hard_swish, dnnl_eltwise_hardswish, 1.0F / 6, 0.5F},
	{&dlsi_op_leaky_relu, dnnl_eltwise_relu, 0.01F, 0},
	{&dlsi_op_mish, dnnl_eltwise_mish, 0, 0},
	{&dlsi_op_neg, dnnl_eltwise_linear, -1, 0},
	{&dlsi_op_reciprocal, dnnl_eltwise_pow, 1, -1},
	{&dlsi_op_round, dnnl_eltwise_round, 0, 0},
	{&dlsi_op_sigmoid, dnnl_eltwise_logistic, 0, 0},
	{&dlsi_op_sqrt, dnnl_eltwise_sqrt, 0, 0},
	{&dlsi_op_swish, dnnl_eltwise_swish, 1, 0},
	{&dlsi_op_tanh, dnnl_eltwise_tanh, 0, 0},
};

int dlsi_lower_activation(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct elementwise as;
	size_t i = 0;

	while (activations[i].op != node->op)
		i++;
	as.kind = activations[i].kind;
	as.alpha = dlsi_node_float(node, "alpha", activations[i].alpha);
	as.beta = activations[i].beta;
	if (strcmp(dlsi_node_string(node, "approximate", "none"), "tanh") == 0)
		as.kind = dnnl_eltwise_gelu_tanh;
	return lower(program, node, node->inputs[0], &as, err);
}

/* Two steps, the second one in place: with a post-op oneDNN takes its slow reference. */
static int lower_two(struct dlsi_program *program, const struct dlsi_node *node, const struct elementwise *first,
	const struct elementwise *second, struct dls_error *err)
{
	int rc = lower(program, node, node->inputs[0], first, err);
	const struct dlsi_operand *target = &program->values[node->outputs[0]];

	return rc ? rc : add_step(program, node, second, target, target, err);
}

int dlsi_lower_hard_sigmoid(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct elementwise line = {.kind = dnnl_eltwise_linear,
		.alpha = dlsi_node_float(node, "alpha", 0.2F),
		.beta = dlsi_node_float(node, "beta", 0.5F)};
	struct elementwise clip = {.kind = dnnl_eltwise_clip, .alpha = 0, .beta = 1};

	return lower_two(program, node, &line, &clip, err);
}

int dlsi_lower_selu(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct elementwise elu = {.kind = dnnl_eltwise_elu, .alpha = dlsi_node_float(node, "alpha", 1.67326324F)};
	struct elementwise line = {.kind = dnnl_eltwise_linear, .alpha = dlsi_node_float(node, "gamma", 1.05070102F)};

	return lower_two(program, node, &elu, &line, err);
}

/* By a constant number that oneDNN knows a way for; others would be powf of each element. */
int dlsi_lower_pow(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	static const float quick[] = {2, 1, 0.5F, -1};
	const struct dlsi_value *exponent = dlsi_node_input(program->set->graph, node, 1);
	struct elementwise as = {.kind = dnnl_eltwise_pow, .alpha = 1};

	if (!exponent->data || exponent->dtype != DLS_FLOAT32 || dlsi_value_count(exponent) != 1 ||
		!dlsi_value_same_shape(
			dlsi_node_input(program->set->graph, node, 0), dlsi_node_output(program->set->graph, node)))
		return DLS_EUNSUPPORTED;
	memcpy(&as.beta, exponent->data, sizeof as.beta);
	for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
		if (as.beta == quick[i])
			return lower(program, node, node->inputs[0], &as, err);
	return DLS_EUNSUPPORTED;
}

/* ---- of two inputs */

/* The value's dimensions with 1s in front, for a result of this rank. */
static void pad_dims(const struct dlsi_program *program, uint32_t value, uint32_t rank, int64_t padded[DLS_TENSOR_RANK])
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t own = dlsi_program_dims(program, value, dims);

	for (uint32_t i = 0; i < rank; i++)
		padded[i] = i + own < rank ? 1 : dims[i + own - rank];
}

static const struct {
	const struct dlsi_op *op;
	dnnl_alg_kind_t kind;
	bool commutes;
} binaries[] = {
	{&dlsi_op_add, dnnl_binary_add, true},
	{&dlsi_op_div, dnnl_binary_div, false},
	{&dlsi_op_max, dnnl_binary_max, true},
	{&dlsi_op_min, dnnl_binary_min, true},
	{&dlsi_op_mul, dnnl_binary_mul, true},
	{&dlsi_op_sub, dnnl_binary_sub, false},
	{&dlsi_op_sum, dnnl_binary_add, true},
};

/* oneDNN broadcasts its second source; the first one must have the result's shape. Says whether they change places. */
static int order(const struct dlsi_graph *graph, const struct dlsi_node *node, bool commutes, bool *swap_out)
{
	const struct dlsi_value *output = dlsi_node_output(graph, node);

	for (uint32_t i = 0; output->rank > 0 && i < (commutes ? 2 : 1); i++) {
		if (dlsi_value_same_shape(dlsi_node_input(graph, node, i), output) &&
			dlsi_node_input(graph, node, i)->batched == output->batched) {
			*swap_out = i == 1;
			return 0;
		}
	}
	return DLS_EUNSUPPORTED;
}

/* As an operation on one input: by a constant number. False if it is none. */
static bool by_number(const struct dlsi_program *program, dnnl_alg_kind_t kind, uint32_t b, struct elementwise *as_out)
{
	const struct dlsi_value *value = &program->set->graph->values[b];
	float number;

	if (!value->data || dlsi_value_count(value) != 1)
		return false;
	memcpy(&number, value->data, sizeof number);
	*as_out = (struct elementwise){.kind = dnnl_eltwise_linear, .alpha = 1};
	if (kind == dnnl_binary_mul)
		as_out->alpha = number;
	else if (kind == dnnl_binary_div)
		as_out->alpha = 1 / number;
	else if (kind == dnnl_binary_add || kind == dnnl_binary_sub)
		as_out->beta = kind == dnnl_binary_add ? number : -number;
	return kind != dnnl_binary_max && kind != dnnl_binary_min && isfinite(as_out->alpha) && isfinite(as_out->beta);
}

/* Broadcasting is fast where all is dense, or where there is a number for each channel, laid out as the channels are.
 * Gives the layout for both. */
static void choose_layouts(
	struct dlsi_program *program, uint32_t rank, const int64_t *dims, const int64_t *padded, dlsi_md *a, dlsi_md *b)
{
	struct dlsi_onednn_pool *pool = &program->pool;

	if (memcmp(dims, padded, rank * sizeof *dims) == 0) {
		*b = *a;
		return;
	}
	for (int block = 8; rank == 4 && padded[1] == dims[1] && block <= 16; block *= 2) {
		if (dnnl_memory_desc_equal(*a, dlsi_md_blocked(pool, 4, dims, block))) {
			*b = dlsi_md_blocked(pool, 4, padded, block);
			return;
		}
	}
	*a = dlsi_md_plain(pool, rank, dims);
	*b = dlsi_md_plain(pool, rank, padded);
}

/* a [kind] b, which is broadcast. */
static int add_binary(struct dlsi_program *program, const struct dlsi_node *node, dnnl_alg_kind_t kind, uint32_t a,
	uint32_t b, struct dls_error *err)
{
	struct dlsi_epilogue epilogue = {.scale = 1, .clamp = node->fused};
	struct dlsi_argument arguments[] = {
		{.index = DNNL_ARG_SRC_0}, {.index = DNNL_ARG_SRC_1}, {.index = DNNL_ARG_DST}};
	int64_t dims[DLS_TENSOR_RANK], padded[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], dims);
	dnnl_primitive_attr_t attributes;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	dlsi_md a_md, b_md;
	int rc = dlsi_program_use(program, a, NULL, &arguments[0].operand, err);

	if (rc)
		return rc;
	pad_dims(program, b, rank, padded);
	a_md = arguments[0].operand.md;
	choose_layouts(program, rank, dims, padded, &a_md, &b_md);
	rc = dlsi_program_use(program, a, a_md, &arguments[0].operand, err);
	if (rc == 0 && program->set->graph->values[b].rank == rank)
		rc = dlsi_program_use(program, b, b_md, &arguments[1].operand, err);
	else if (rc == 0)
		rc = dlsi_program_use_as(
			program, b, dlsi_md_plain(&program->pool, rank, padded), b_md, &arguments[1].operand, err);
	if (rc)
		return rc;
	status = dlsi_epilogue_attributes(&epilogue, &attributes);
	if (status == dnnl_success)
		status = dnnl_binary_primitive_desc_create(&pd, program->set->engine, kind, a_md, b_md,
			dlsi_md_any(&program->pool, rank, dims), attributes);
	rc = dlsi_program_keep(program, node, status, pd, attributes, err);
	if (rc == 0 && dlsi_is_reference(pd))
		return DLS_EUNSUPPORTED;
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), &arguments[2].operand, err);
	return rc ? rc : dlsi_program_step(program, node, pd, arguments, 3, err);
}

int dlsi_lower_binary(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct elementwise as;
	bool swap = false;
	size_t i = 0;
	int rc = DLS_EUNSUPPORTED;

	while (binaries[i].op != node->op)
		i++;
	if (node->input_count == 2)
		rc = order(program->set->graph, node, binaries[i].commutes, &swap);
	if (rc)
		return rc;
	if (dlsi_clamp_is_none(&node->fused) && by_number(program, binaries[i].kind, node->inputs[!swap], &as))
		return lower(program, node, node->inputs[swap], &as, err);
	return add_binary(program, node, binaries[i].kind, node->inputs[swap], node->inputs[!swap], err);
}
