#include "model/local.h"

#include "base/shape.h"
#include "base/tensor.h"
#include "model/profile.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* What a caller's thread has done on the executor. */
typedef int action(struct dls_model *model, void *arg, struct dls_error *err);

struct errand {
	struct dlsi_work work;
	struct dls_model *model;
	action *act;
	void *arg;
	int rc;
	struct dls_error err;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	bool over;
};

struct run {
	int64_t batch;
	const struct dls_tensor *inputs;
	struct dls_tensor *outputs;
};

struct preparation {
	int64_t batch;
	struct dls_model_memory memory;
};

struct profiling {
	const struct dls_tensor *inputs; /* NULL: made up */
	int64_t batch;
	uint32_t runs;
	char *json;
};

int dlsi_node_model_open(struct dls_ctx *ctx, const char *path, struct dls_model **model_out, struct dls_error *err)
{
	struct dls_model *model = dlsi_calloc(&ctx->alloc, 1, sizeof *model);
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	model->ctx = ctx;
	rc = dlsi_model_folder_open(&model->folder, &ctx->alloc, path, err);
	if (rc) {
		dlsi_free(&ctx->alloc, model);
		return rc;
	}
	dlsi_ctx_ref(ctx);
	*model_out = model;
	return 0;
}

void dlsi_node_model_destroy(struct dls_model *model)
{
	struct dls_ctx *ctx;

	if (dlsi_node_model_check(model, NULL))
		return;
	ctx = model->ctx;
	dlsi_sized_fini(&model->sized);
	dlsi_model_destroy(model->model);
	dlsi_model_folder_close(&model->folder);
	dlsi_free(&ctx->alloc, model);
	dlsi_ctx_unref(ctx);
}

int dlsi_node_model_check(const struct dls_model *model, struct dls_error *err)
{
	if (!model)
		return dlsi_fail(err, DLS_EINVAL, "the model is NULL");
	return dlsi_ctx_check(model->ctx, err);
}

/* ---- on the executor */

static int load(struct dls_model *model, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &model->ctx->alloc;
	struct dlsi_onnx onnx = dlsi_model_folder_onnx(&model->folder);
	struct dlsi_device *device;
	int rc;

	if (model->model)
		return 0;
	rc = dlsi_ctx_device(model->ctx, &device, err);
	if (rc)
		return rc;
	model->sized = (struct dlsi_sized){.alloc = alloc, .device = device};
	return dlsi_model_load(alloc, device, DLSI_MODEL_ONNX, &onnx, &model->model, err);
}

static void execute(struct dlsi_work *work)
{
	struct errand *errand = dlsi_list_entry(work, struct errand, work);
	int rc = load(errand->model, &errand->err);

	if (rc == 0)
		rc = errand->act(errand->model, errand->arg, &errand->err);
	pthread_mutex_lock(&errand->mutex);
	errand->rc = rc;
	errand->over = true;
	pthread_cond_signal(&errand->ended);
	pthread_mutex_unlock(&errand->mutex);
}

/* The tensors and behind them their data, in one block. */
static int make_outputs(const struct dlsi_alloc *alloc, const struct dlsi_model *model, int64_t batch,
	struct dls_tensor **outputs_out, struct dls_error *err)
{
	size_t count = dlsi_model_output_count(model), total = count * sizeof **outputs_out + ALIGNMENT, bytes;
	struct dls_tensor *outputs;
	uintptr_t at;

	for (size_t i = 0; i < count; i++) {
		if (dlsi_model_output_bytes(model, i, batch, &bytes) || __builtin_add_overflow(total, bytes, &total) ||
			__builtin_add_overflow(total, ALIGNMENT, &total))
			return dlsi_fail(err, DLS_EINVAL, "a batch of %" PRId64 " is too large", batch);
	}
	outputs = dlsi_malloc(alloc, total);
	if (!outputs)
		return dlsi_fail_memory(err);
	at = (uintptr_t)(outputs + count);
	for (size_t i = 0; i < count; i++) {
		at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		dlsi_model_output_bytes(model, i, batch, &bytes);
		outputs[i] = (struct dls_tensor){.size = sizeof *outputs, .data = (const void *)at, .bytes = bytes};
		at += bytes;
	}
	*outputs_out = outputs;
	return 0;
}

/* The model for these inputs; *batch changes where they are not so many items for it. */
static int find_model(struct dls_model *model, const struct dls_tensor *inputs, int64_t *batch,
	struct dlsi_model **model_out, struct dls_error *err)
{
	struct dlsi_onnx onnx = dlsi_model_folder_onnx(&model->folder);

	*model_out = model->model;
	if (!dlsi_sized_wanted(model->model, inputs))
		return 0;
	return dlsi_sized_find(
		&model->sized, DLSI_MODEL_ONNX, &onnx, inputs, model->folder.plan.input_count, model_out, batch, err);
}

static int run(struct dls_model *model, void *arg, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &model->ctx->alloc;
	struct dlsi_model *on_device;
	struct run *run = arg;
	int rc = find_model(model, run->inputs, &run->batch, &on_device, err);

	if (rc == 0)
		rc = make_outputs(alloc, on_device, run->batch, &run->outputs, err);
	if (rc)
		return rc;
	rc = dlsi_model_run(on_device, run->batch, run->inputs, run->outputs, err);
	if (rc)
		dlsi_free(alloc, run->outputs);
	return rc;
}

static int prepare(struct dls_model *model, void *arg, struct dls_error *err)
{
	struct preparation *preparation = arg;
	int rc = dlsi_model_prepare(model->model, preparation->batch, err);

	if (rc == 0)
		preparation->memory = dlsi_profile_memory(model->model);
	return rc;
}

static int profile(struct dls_model *model, void *arg, struct dls_error *err)
{
	struct profiling *profiling = arg;
	struct dlsi_model *on_device = model->model;
	int rc = profiling->inputs ? find_model(model, profiling->inputs, &profiling->batch, &on_device, err) : 0;

	return rc ? rc
		  : dlsi_profile_measure(&model->ctx->alloc, on_device, profiling->inputs, profiling->batch,
			    profiling->runs, &profiling->json, err);
}

/* ---- in the caller's thread */

static int do_on_executor(struct dls_model *model, action *act, void *arg, struct dls_error *err)
{
	struct errand errand = {.work.run = execute, .model = model, .act = act, .arg = arg};
	struct dlsi_executor *executor;
	int rc = dlsi_ctx_executor(model->ctx, &executor, err);

	if (rc)
		return rc;
	pthread_mutex_init(&errand.mutex, NULL);
	pthread_cond_init(&errand.ended, NULL);
	dlsi_executor_submit(executor, &errand.work);
	pthread_mutex_lock(&errand.mutex);
	while (!errand.over)
		pthread_cond_wait(&errand.ended, &errand.mutex);
	pthread_mutex_unlock(&errand.mutex);
	pthread_cond_destroy(&errand.ended);
	pthread_mutex_destroy(&errand.mutex);
	return errand.rc ? dlsi_fail(err, errand.rc, "%s", errand.err.text) : 0;
}

/* Checks what dlsi_model_run takes for granted, and finds the batch, which it compares with all inputs. */
static int check_inputs(const struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	int64_t *batch_out, struct dls_error *err)
{
	const struct dlsi_model_plan *plan = &model->folder.plan;
	int rc = 0;

	if (count != plan->input_count)
		return dlsi_fail(err, DLS_EINVAL, "the model has %zu inputs, and %" PRIu32 " tensors were given",
			plan->input_count, count);
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		char what[DLS_ERROR_TEXT_BYTES / 2];

		snprintf(what, sizeof what, "the input \"%s\"", plan->inputs[i].name);
		rc = dlsi_tensor_check(&inputs[i], what, err);
		if (rc == 0 && (uintptr_t)inputs[i].data % dls_dtype_bytes(inputs[i].dtype))
			rc = dlsi_fail(err, DLS_EINVAL, "the data of %s do not lie as %s must", what,
				dls_dtype_name(inputs[i].dtype));
	}
	if (rc)
		return rc;
	*batch_out = plan->batchable && inputs[0].rank ? inputs[0].dims[0] : 1;
	return 0;
}

int dlsi_node_model_run(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	struct dls_tensor **outputs_out, uint32_t *count_out, struct dls_error *err)
{
	struct run one = {.inputs = inputs};
	int rc = check_inputs(model, inputs, count, &one.batch, err);

	if (rc == 0)
		rc = do_on_executor(model, run, &one, err);
	if (rc)
		return rc;
	*outputs_out = one.outputs;
	*count_out = (uint32_t)model->folder.plan.output_count;
	return 0;
}

int dlsi_node_model_prepare(
	struct dls_model *model, int64_t batch, struct dls_model_memory *memory_out, struct dls_error *err)
{
	struct preparation preparation = {.batch = batch};
	int rc = do_on_executor(model, prepare, &preparation, err);

	if (rc == 0)
		*memory_out = preparation.memory;
	return rc;
}

int dlsi_node_model_profile(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count, int64_t batch,
	uint32_t runs, char **json_out, struct dls_error *err)
{
	struct profiling profiling = {.inputs = inputs, .batch = batch, .runs = runs};
	int rc = inputs ? check_inputs(model, inputs, count, &profiling.batch, err) : 0;

	if (rc == 0)
		rc = do_on_executor(model, profile, &profiling, err);
	if (rc == 0)
		*json_out = profiling.json;
	return rc;
}
