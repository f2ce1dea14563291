/* The processor as a device: oneDNN behind the table of device/device.h. */
#include "device/device.h"
#include "device/onednn_lower.h"
#include "device/onednn_program.h"
#include "graph/op.h"

static dlsi_lowering *const lowerings[DLSI_OP_COUNT] = {
	[DLSI_OP_ADD] = dlsi_lower_add,
	[DLSI_OP_AVERAGE_POOL] = dlsi_lower_average_pool,
	[DLSI_OP_BATCH_NORMALIZATION] = dlsi_lower_batch_normalization,
	[DLSI_OP_CLIP] = dlsi_lower_clamp,
	[DLSI_OP_CONV] = dlsi_lower_conv,
	[DLSI_OP_DROPOUT] = dlsi_lower_same,
	[DLSI_OP_FLATTEN] = dlsi_lower_reshape,
	[DLSI_OP_GEMM] = dlsi_lower_gemm,
	[DLSI_OP_GLOBAL_AVERAGE_POOL] = dlsi_lower_average_pool,
	[DLSI_OP_IDENTITY] = dlsi_lower_same,
	[DLSI_OP_MAT_MUL] = dlsi_lower_mat_mul,
	[DLSI_OP_MAX_POOL] = dlsi_lower_max_pool,
	[DLSI_OP_RELU] = dlsi_lower_clamp,
	[DLSI_OP_RESHAPE] = dlsi_lower_reshape,
	[DLSI_OP_SOFTMAX] = dlsi_lower_softmax,
};

struct processor {
	const struct dlsi_alloc *alloc;
	dnnl_engine_t engine;
};

static int open_processor(const struct dlsi_alloc *alloc, void **state_out, struct dls_error *err)
{
	struct processor *processor = dlsi_calloc(alloc, 1, sizeof *processor);
	dnnl_status_t status;

	if (!processor)
		return dlsi_fail_memory(err);
	processor->alloc = alloc;
	status = dnnl_engine_create(&processor->engine, dnnl_cpu, 0);
	if (status != dnnl_success) {
		dlsi_free(alloc, processor);
		return dlsi_onednn_fail(err, status, "cannot use the processor");
	}
	*state_out = processor;
	return 0;
}

static void close_processor(void *state)
{
	struct processor *processor = state;

	dnnl_engine_destroy(processor->engine);
	dlsi_free(processor->alloc, processor);
}

/* Values that a run carries are float32; other types are only ever constants. */
static int check_types(const struct dlsi_graph *graph, struct dls_error *err)
{
	for (uint32_t i = 0; i < graph->input_count + graph->output_count; i++) {
		uint32_t port = i < graph->input_count ? graph->inputs[i] : graph->outputs[i - graph->input_count];
		const struct dlsi_value *value = &graph->values[port];

		if (value->dtype != DLS_FLOAT32)
			return dlsi_fail(err, DLS_EUNSUPPORTED,
				"the model's '%s' is of %s; only float32 goes in and out", value->name,
				dls_dtype_name(value->dtype));
	}
	return 0;
}

static int create_set(void *state, const struct dlsi_graph *graph, void **set_out, struct dls_error *err)
{
	struct processor *processor = state;
	struct dlsi_onednn_set *set;
	int rc = check_types(graph, err);

	if (rc)
		return rc;
	set = dlsi_calloc(processor->alloc, 1, sizeof *set);
	if (!set)
		return dlsi_fail_memory(err);
	rc = dlsi_onednn_set_init(set, processor->alloc, processor->engine, graph, err);
	if (rc) {
		dlsi_onednn_set_fini(set);
		dlsi_free(processor->alloc, set);
		return rc;
	}
	*set_out = set;
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

	if (rc == 0)
		*program_out = program;
	return rc;
}

static void destroy_program(void *program)
{
	dlsi_program_destroy(program);
}

static int run_program(
	void *program, const struct dls_tensor *inputs, const struct dls_tensor *outputs, struct dls_error *err)
{
	return dlsi_program_run(program, inputs, outputs, err);
}

const struct dlsi_device_ops dlsi_device_onednn = {
	.abi = DLSI_DEVICE_ABI,
	.size = sizeof(struct dlsi_device_ops),
	.kind = "cpu",
	.open = open_processor,
	.close = close_processor,
	.set_create = create_set,
	.set_destroy = destroy_set,
	.program_create = create_program,
	.program_destroy = destroy_program,
	.program_run = run_program,
};
