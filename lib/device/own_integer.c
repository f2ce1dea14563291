/* Products and convolutions of 8-bit integers on our own kernels: ConvInteger, QLinearConv, MatMulInteger and
 * QLinearMatMul whose weights are constant. */
#include "base/hash.h"
#include "device/own.h"
#include "kernel/integer.h"
#include <string.h>

/* The numbers of an operator's inputs; those that it does not have are beyond its last one. */
struct places {
	uint32_t zero, weights, weights_zero, scale, weights_scale, target_scale, target_zero, bias;
};

enum { NONE = 9 };

static const struct places integer = {.zero = 2,
	.weights = 1,
	.weights_zero = 3,
	.scale = NONE,
	.weights_scale = NONE,
	.target_scale = NONE,
	.target_zero = NONE,
	.bias = NONE};
static const struct places linear = {.zero = 2,
	.weights = 3,
	.weights_zero = 5,
	.scale = 1,
	.weights_scale = 4,
	.target_scale = 6,
	.target_zero = 7,
	.bias = 8};

/* The arguments of a step; those behind the first three only where the node has them. */
enum { SOURCE, TARGET, SCRATCH, ZERO, SCALE, WEIGHTS_SCALE, TARGET_SCALE, TARGET_ZERO, BIAS, ARGUMENTS };

struct own_integer {
	bool convolves;
	struct dlsi_integer_conv conv;
	struct dlsi_integer_product product;
	struct dlsi_bytes source, weights; /* without their data */
	const int32_t *packed;
	enum dls_dtype target;
	int64_t factors; /* one, or one for each channel or column */
	int threads;
	uint32_t found[ARGUMENTS]; /* their places among those that there are; 0: there is none */
};

/* ---- what is served */

static bool is_single(const struct dlsi_value *value)
{
	return !value || dlsi_value_count(value) == 1;
}

/* Whether the weights and their zero points are constant, and all of the source has one scale and zero point. */
static bool is_served(const struct dlsi_graph *graph, const struct dlsi_node *node, const struct places *places)
{
	const struct dlsi_value *weights = dlsi_node_input(graph, node, places->weights);
	const struct dlsi_value *zeros = dlsi_node_input(graph, node, places->weights_zero);

	return weights->data && (!zeros || zeros->data) && is_single(dlsi_node_input(graph, node, places->zero)) &&
	       is_single(dlsi_node_input(graph, node, places->scale));
}

static void describe(struct dlsi_program *program, const struct dlsi_node *node, const struct places *places,
	struct own_integer *own)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *weights = dlsi_node_input(graph, node, places->weights);
	const struct dlsi_value *zeros = dlsi_node_input(graph, node, places->weights_zero);
	const struct dlsi_value *scales = dlsi_node_input(graph, node, places->weights_scale);

	own->source.is_signed = dlsi_node_input(graph, node, 0)->dtype == DLS_INT8;
	own->weights.is_signed = weights->dtype == DLS_INT8;
	own->weights.zeros = zeros ? zeros->data : NULL;
	own->weights.zero_step = !is_single(zeros);
	own->target = dlsi_node_output(graph, node)->dtype;
	own->factors = scales ? (int64_t)dlsi_value_count(scales) : 1;
	own->threads = program->sharers;
}

static bool describe_conv(struct dlsi_program *program, const struct dlsi_node *node, struct own_integer *own)
{
	struct dlsi_view image = {0}, places = {0};

	dlsi_program_dims(program, node->inputs[0], image.dims);
	dlsi_program_dims(program, node->outputs[0], places.dims);
	own->convolves = true;
	own->conv = (struct dlsi_integer_conv){.isa = program->set->isa,
		.block = dlsi_isa_block(program->set->isa),
		.convolution = dlsi_convolution_of(node, DLS_INT32, &places, &image)};
	return dlsi_integer_conv_supported(&own->conv);
}

/* The first of the matrices may be a stack, whose rows are one behind the other. */
static bool describe_product(struct dlsi_program *program, const struct dlsi_node *node, const struct places *places,
	struct own_integer *own)
{
	const struct dlsi_value *weights = dlsi_node_input(program->set->graph, node, places->weights);
	int64_t dims[DLS_TENSOR_RANK];
	const uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);

	own->product = (struct dlsi_integer_product){.isa = program->set->isa,
		.block = dlsi_isa_block(program->set->isa),
		.rows = 1,
		.columns = weights->dims[1],
		.depth = weights->dims[0]};
	for (uint32_t i = 0; i + 1 < rank; i++)
		own->product.rows *= dims[i];
	return rank >= 2 && weights->rank == 2;
}

/* ---- weights */

static void pack(const void *how, const float *weights, float *packed)
{
	const struct own_integer *own = how;
	struct dlsi_bytes bytes = own->weights;

	bytes.data = weights;
	if (own->convolves)
		dlsi_integer_conv_pack(&own->conv, &bytes, (int32_t *)(void *)packed);
	else
		dlsi_integer_product_pack(&own->product, &bytes, (int32_t *)(void *)packed);
}

/* The zero points are in what is packed. */
static int use_weights(struct dlsi_program *program, const struct dlsi_value *weights, const struct dlsi_value *zeros,
	struct own_integer *own, struct dls_error *err)
{
	const struct dlsi_convolution *convolution = &own->conv.convolution;
	const struct dlsi_id zero = zeros ? dlsi_hash_key(zeros->data, dlsi_value_bytes(zeros)) : (struct dlsi_id){{0}};
	const size_t bytes = own->convolves ? dlsi_integer_conv_weights_bytes(&own->conv)
					    : dlsi_integer_product_weights_bytes(&own->product);
	int64_t about[12] = {own->convolves, own->conv.block, own->weights.is_signed, convolution->groups,
		convolution->place_channels, convolution->image_channels, own->product.columns, own->product.depth};
	struct dlsi_id form;
	const void *packed;
	int rc;

	memcpy(&about[8], &zero, sizeof zero);
	form = dlsi_hash_key(about, sizeof about);
	rc = dlsi_onednn_set_pack_own(
		program->set, weights->data, dlsi_value_bytes(weights), &form, bytes, pack, own, &packed, err);
	if (rc == 0)
		own->packed = packed;
	return rc;
}

/* ---- the step */

static int32_t byte_at(const void *data, bool is_signed)
{
	return is_signed ? *(const int8_t *)data : *(const uint8_t *)data;
}

/* Those of the weights, with the scales of source and target. */
static void make_factors(const struct own_integer *own, void *const *places, float *factors)
{
	const float source = *(const float *)places[own->found[SCALE]];
	const float target = *(const float *)places[own->found[TARGET_SCALE]];
	const float *weights = places[own->found[WEIGHTS_SCALE]];

	for (int64_t i = 0; i < own->factors; i++)
		factors[i] = source * weights[i] / target;
}

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_integer *own = context;
	struct dlsi_bytes source = own->source;
	float *factors = places[SCRATCH], *scratch = factors + dlsi_integer_factors(own->factors);
	struct dlsi_integer_target target = {.dtype = own->target,
		.data = places[TARGET],
		.factors = factors,
		.factor_step = own->factors > 1,
		.bias = own->found[BIAS] ? places[own->found[BIAS]] : NULL};

	(void)err;
	source.data = places[SOURCE];
	source.zeros = own->found[ZERO] ? places[own->found[ZERO]] : NULL;
	if (own->target != DLS_INT32) {
		target.zero = byte_at(places[own->found[TARGET_ZERO]], own->target == DLS_INT8);
		make_factors(own, places, factors);
	}
	if (own->convolves)
		dlsi_integer_conv_run(&own->conv, &source, own->packed, &target, scratch, own->threads);
	else
		dlsi_integer_product_run(&own->product, &source, own->packed, &target, scratch, own->threads);
	return 0;
}

/* The inputs that a run reads beside the source. */
static int use_inputs(struct dlsi_program *program, const struct dlsi_node *node, const struct places *places,
	struct own_integer *own, struct dlsi_argument *arguments, uint32_t *count, struct dls_error *err)
{
	const uint32_t inputs[ARGUMENTS] = {[ZERO] = places->zero,
		[SCALE] = places->scale,
		[WEIGHTS_SCALE] = places->weights_scale,
		[TARGET_SCALE] = places->target_scale,
		[TARGET_ZERO] = places->target_zero,
		[BIAS] = places->bias};
	int rc = 0;

	for (uint32_t i = ZERO; rc == 0 && i < ARGUMENTS; i++) {
		if (!dlsi_node_input(program->set->graph, node, inputs[i]))
			continue;
		own->found[i] = *count;
		rc = dlsi_program_use(program, node->inputs[inputs[i]],
			dlsi_program_plain(program, node->inputs[inputs[i]]), &arguments[(*count)++].operand, err);
	}
	return rc;
}

static size_t scratch_bytes(const struct own_integer *own)
{
	return (size_t)dlsi_integer_factors(own->factors) * sizeof(float) +
	       (own->convolves ? dlsi_integer_conv_scratch_bytes(&own->conv, own->threads)
			       : dlsi_integer_product_scratch_bytes(&own->product, own->threads));
}

static int lower(struct dlsi_program *program, const struct dlsi_node *node, const struct places *places,
	struct own_integer *own, struct dls_error *err)
{
	struct dlsi_argument arguments[ARGUMENTS] = {{0}};
	uint32_t count = SCRATCH + 1;
	int rc = use_weights(program, dlsi_node_input(program->set->graph, node, places->weights),
		dlsi_node_input(program->set->graph, node, places->weights_zero), own, err);

	if (rc == 0)
		rc = dlsi_program_use(program, node->inputs[0], dlsi_program_plain(program, node->inputs[0]),
			&arguments[SOURCE].operand, err);
	if (rc == 0)
		rc = use_inputs(program, node, places, own, arguments, &count, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_program_plain(program, node->outputs[0]),
			&arguments[TARGET].operand, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program, dlsi_md_bytes(&program->pool, (int64_t)scratch_bytes(own)),
			&arguments[SCRATCH].operand, err);
	return rc ? rc
		  : dlsi_program_call(program, own->convolves ? "own:conv_integer" : "own:product_integer", run, own,
			    arguments, count, err);
}

static int lower_either(struct dlsi_program *program, const struct dlsi_node *node, const struct places *places,
	bool convolves, struct dls_error *err)
{
	struct own_integer *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);

	if (!own)
		return dlsi_fail_memory(err);
	if (!is_served(program->set->graph, node, places))
		return DLS_EUNSUPPORTED;
	describe(program, node, places, own);
	if (!(convolves ? describe_conv(program, node, own) : describe_product(program, node, places, own)))
		return DLS_EUNSUPPORTED;
	return lower(program, node, places, own, err);
}

int dlsi_own_conv_integer(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return lower_either(program, node, &integer, true, err);
}

int dlsi_own_q_linear_conv(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return lower_either(program, node, &linear, true, err);
}

int dlsi_own_mat_mul_integer(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return lower_either(program, node, &integer, false, err);
}

int dlsi_own_q_linear_mat_mul(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	return lower_either(program, node, &linear, false, err);
}
