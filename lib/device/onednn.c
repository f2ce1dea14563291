/* The processor as a device: oneDNN behind the table of device/device.h. */
#include "device/cost.h"
#include "device/device.h"
#include "device/onednn_isa.h"
#include "device/onednn_lower.h"
#include "device/onednn_program.h"
#include "device/own.h"
#include "device/tuning.h"
#include "op/list.h"
#include <stdio.h>

static const struct dlsi_lowering lowerings[] = {
	{&dlsi_op_abs, dlsi_lower_activation, false},
	{&dlsi_op_add, dlsi_lower_binary, false},
	{&dlsi_op_arg_max, dlsi_own_arg, true},
	{&dlsi_op_arg_min, dlsi_own_arg, true},
	{&dlsi_op_average_pool, dlsi_lower_average_pool, false},
	{&dlsi_op_batch_normalization, dlsi_lower_batch_normalization, false},
	{&dlsi_op_clip, dlsi_lower_clamp, false},
	{&dlsi_op_concat, dlsi_lower_concat, false},
	{&dlsi_op_conv, dlsi_lower_conv, false},
	{&dlsi_op_conv_integer, dlsi_own_conv_integer, true},
	{&dlsi_op_conv_transpose, dlsi_lower_conv_transpose, false},
	{&dlsi_op_div, dlsi_lower_binary, false},
	{&dlsi_op_elu, dlsi_lower_activation, false},
	{&dlsi_op_exp, dlsi_lower_activation, false},
	{&dlsi_op_flatten, dlsi_lower_reshape, true},
	{&dlsi_op_gelu, dlsi_lower_activation, false},
	{&dlsi_op_gather, dlsi_own_gather, false},
	{&dlsi_op_gemm, dlsi_lower_gemm, false},
	{&dlsi_op_global_average_pool, dlsi_lower_average_pool, false},
	{&dlsi_op_global_max_pool, dlsi_lower_max_pool, false},
	{&dlsi_op_hard_sigmoid, dlsi_lower_hard_sigmoid, false},
	{&dlsi_op_hard_swish, dlsi_lower_activation, false},
	{&dlsi_op_identity, dlsi_lower_same, true},
	{&dlsi_op_instance_normalization, dlsi_own_instance_normalization, false},
	{&dlsi_op_layer_normalization, dlsi_own_layer_normalization, false},
	{&dlsi_op_leaky_relu, dlsi_lower_activation, false},
	{&dlsi_op_log_softmax, dlsi_lower_softmax, false},
	{&dlsi_op_lrn, dlsi_own_lrn, false},
	{&dlsi_op_mat_mul, dlsi_lower_mat_mul, false},
	{&dlsi_op_mat_mul_integer, dlsi_own_mat_mul_integer, true},
	{&dlsi_op_max, dlsi_lower_binary, false},
	{&dlsi_op_max_pool, dlsi_lower_max_pool, false},
	{&dlsi_op_min, dlsi_lower_binary, false},
	{&dlsi_op_mish, dlsi_lower_activation, false},
	{&dlsi_op_mul, dlsi_lower_binary, false},
	{&dlsi_op_neg, dlsi_lower_activation, false},
	{&dlsi_op_pow, dlsi_lower_pow, false},
	{&dlsi_op_q_linear_conv, dlsi_own_q_linear_conv, true},
	{&dlsi_op_q_linear_mat_mul, dlsi_own_q_linear_mat_mul, true},
	{&dlsi_op_reciprocal, dlsi_lower_activation, false},
	{&dlsi_op_reduce_max, dlsi_own_reduce, false},
	{&dlsi_op_reduce_mean, dlsi_lower_mean, false},
	{&dlsi_op_reduce_min, dlsi_own_reduce, false},
	{&dlsi_op_reduce_sum, dlsi_own_reduce, false},
	{&dlsi_op_reduce_sum_square, dlsi_own_reduce, false},
	{&dlsi_op_relu, dlsi_lower_clamp, false},
	{&dlsi_op_reshape, dlsi_lower_reshape, true},
	{&dlsi_op_resize, dlsi_own_resize, false},
	{&dlsi_op_rms_normalization, dlsi_own_layer_normalization, false},
	{&dlsi_op_round, dlsi_lower_activation, false},
	{&dlsi_op_selu, dlsi_lower_selu, false},
	{&dlsi_op_sigmoid, dlsi_lower_activation, false},
	{&dlsi_op_softmax, dlsi_lower_softmax, false},
	{&dlsi_op_sqrt, dlsi_lower_activation, false},
	{&dlsi_op_squeeze, dlsi_lower_reshape, true},
	{&dlsi_op_sub, dlsi_lower_binary, false},
	{&dlsi_op_sum, dlsi_lower_binary, false},
	{&dlsi_op_swish, dlsi_lower_activation, false},
	{&dlsi_op_tanh, dlsi_lower_activation, false},
	{&dlsi_op_transpose, dlsi_lower_transpose, false},
	{&dlsi_op_unsqueeze, dlsi_lower_reshape, true},
	{&dlsi_op_upsample, dlsi_own_resize, false},
	{NULL, NULL, false},
};

/* Counts up when our kernels become so different that what was measured before says nothing about them. */
enum { KERNELS_GENERATION = 1 };

struct processor {
	const struct dlsi_alloc *alloc;
	dnnl_engine_t engine;
	enum dlsi_isa isa;
	struct dlsi_tuning tuning;
};

static int remember(struct processor *processor, const char *folder, struct dls_error *err)
{
	const dnnl_version_t *version = dnnl_version();
	char name[DLSI_PROCESSOR_NAME_BYTES], about[256];

	dlsi_processor_name(name);
	snprintf(about, sizeof about, "kernels %d oneDNN %d.%d.%d %s %s %s", KERNELS_GENERATION, version->major,
		version->minor, version->patch, version->hash, dlsi_isa_name(processor->isa), name);
	return dlsi_tuning_remember(&processor->tuning, folder, about, err);
}

static void close_processor(void *state)
{
	struct processor *processor = state;

	dlsi_tuning_fini(&processor->tuning);
	dnnl_engine_destroy(processor->engine);
	dlsi_free(processor->alloc, processor);
}

static int open_processor(const struct dlsi_alloc *alloc, const char *folder, void **state_out, struct dls_error *err)
{
	struct processor *processor;
	dnnl_status_t status;
	enum dlsi_isa isa;
	int rc = dlsi_onednn_isa(&isa, err);

	if (rc)
		return rc;
	processor = dlsi_calloc(alloc, 1, sizeof *processor);
	if (!processor)
		return dlsi_fail_memory(err);
	processor->alloc = alloc;
	processor->isa = isa;
	status = dnnl_engine_create(&processor->engine, dnnl_cpu, 0);
	if (status != dnnl_success) {
		dlsi_free(alloc, processor);
		return dlsi_onednn_fail(err, status, "cannot use the processor");
	}
	dlsi_tuning_init(&processor->tuning, alloc);
	rc = folder ? remember(processor, folder, err) : 0;
	if (rc)
		close_processor(processor);
	else
		*state_out = processor;
	return rc;
}

static double item_ns(const void *state, const struct dlsi_graph *graph)
{
	return dlsi_cost_item_ns(graph, ((const struct processor *)state)->isa);
}

static int create_set(void *state, const struct dlsi_graph *graph, void **set_out, struct dls_error *err)
{
	struct processor *processor = state;
	struct dlsi_onednn_set *set = dlsi_calloc(processor->alloc, 1, sizeof *set);
	int rc;

	if (!set)
		return dlsi_fail_memory(err);
	rc = dlsi_onednn_set_init(
		set, processor->alloc, processor->engine, processor->isa, &processor->tuning, graph, err);
	if (rc) {
		dlsi_onednn_set_fini(set);
		dlsi_free(processor->alloc, set);
		return rc;
	}
	*set_out = set;
	return 0;
}

static int share_set(void *set, void **other_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = ((struct dlsi_onednn_set *)set)->alloc;
	struct dlsi_onednn_set *other = dlsi_calloc(alloc, 1, sizeof *other);
	int rc;

	if (!other)
		return dlsi_fail_memory(err);
	rc = dlsi_onednn_set_share(other, set, err);
	if (rc) {
		dlsi_onednn_set_fini(other);
		dlsi_free(alloc, other);
		return rc;
	}
	*other_out = other;
	return 0;
}

static void destroy_set(void *set)
{
	const struct dlsi_alloc *alloc = ((struct dlsi_onednn_set *)set)->alloc;

	dlsi_onednn_set_fini(set);
	dlsi_free(alloc, set);
}

static int create_program(void *set, int64_t batch, void **program_out, struct dls_error *err)
{
	struct dlsi_program *program;
	int rc = dlsi_program_create(set, batch, lowerings, &program, err);

	dlsi_tuning_save(((struct dlsi_onednn_set *)set)->tuning);
	if (rc == 0)
		*program_out = program;
	return rc;
}

static void destroy_program(void *program)
{
	dlsi_program_destroy(program);
}

static int run_program(void *program, const struct dls_tensor *inputs, struct dls_tensor *outputs, int64_t *step_ns,
	struct dls_error *err)
{
	return dlsi_program_run(program, inputs, outputs, step_ns, err);
}

static void tell_facts(const void *program, struct dlsi_device_facts *facts_out)
{
	dlsi_program_facts(program, facts_out);
}

static struct dlsi_device_step tell_step(const void *program, uint32_t step)
{
	return dlsi_program_tell_step(program, step);
}

const struct dlsi_device_ops dlsi_device_onednn = {
	.abi = DLSI_DEVICE_ABI,
	.size = sizeof(struct dlsi_device_ops),
	.kind = "cpu",
	.open = open_processor,
	.close = close_processor,
	.item_ns = item_ns,
	.set_create = create_set,
	.set_destroy = destroy_set,
	.set_share = share_set,
	.program_create = create_program,
	.program_destroy = destroy_program,
	.program_run = run_program,
	.program_facts = tell_facts,
	.program_step = tell_step,
};
