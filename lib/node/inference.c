#include "node/inference.h"

#include "base/limits.h"
#include "node/inference_model.h"
#include "node/inference_output.h"
#include <string.h>

struct dlsi_inference {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	struct dlsi_list models; /* the one used last at the end */
	unsigned model_count;
};

int dlsi_inference_create(const struct dlsi_alloc *alloc, const struct dlsi_device_ops *device,
	struct dlsi_inference **inference_out, struct dls_error *err)
{
	struct dlsi_inference *inference = dlsi_calloc(alloc, 1, sizeof *inference);
	int rc;

	if (!inference)
		return dlsi_fail_memory(err);
	inference->alloc = alloc;
	dlsi_list_init(&inference->models);
	rc = dlsi_device_create(alloc, device, &inference->device, err);
	if (rc)
		dlsi_free(alloc, inference);
	else
		*inference_out = inference;
	return rc;
}

static struct dlsi_inference_model *first_of(struct dlsi_inference *inference)
{
	return dlsi_list_entry(inference->models.next, struct dlsi_inference_model, node);
}

void dlsi_inference_destroy(struct dlsi_inference *inference)
{
	if (!inference)
		return;
	while (!dlsi_list_empty(&inference->models))
		dlsi_inference_model_destroy(first_of(inference));
	dlsi_device_destroy(inference->device);
	dlsi_free(inference->alloc, inference);
}

/* The model, loaded now if it is not, in the place of the one that was not used for longest. */
static int find_model(struct dlsi_inference *inference, const struct dlsi_model_files *files,
	struct dlsi_inference_model **model_out, struct dls_error *err)
{
	struct dlsi_inference_model *found = NULL;
	int rc = 0;

	dlsi_list_each (node, &inference->models) {
		struct dlsi_inference_model *model = dlsi_list_entry(node, struct dlsi_inference_model, node);

		if (dlsi_hash_equal(&model->id, &files->id))
			found = model;
	}
	if (!found) {
		rc = dlsi_inference_model_create(inference->alloc, inference->device, files, &found, err);
		if (rc)
			return rc;
		if (++inference->model_count > DLSI_MODELS_LOADED) {
			dlsi_inference_model_destroy(first_of(inference));
			inference->model_count--;
		}
	}
	dlsi_list_remove(&found->node);
	dlsi_list_append(&inference->models, &found->node);
	*model_out = found;
	return 0;
}

/* Makes the item's inputs in place `place` of the next run. */
static int prepare(
	struct dlsi_inference_model *model, struct dls_task *task, uint32_t item, uint32_t place, struct dls_error *err)
{
	size_t inputs = model->plan.input_count;
	unsigned given = dlsi_task_inputs_of(&task->inputs, item, err);
	int rc = 0;

	if (!given)
		return err->code;
	if (given != inputs)
		return dlsi_fail(err, DLS_EINVAL, "the model has %zu inputs, and this item brings %u", inputs, given);
	for (unsigned i = 0; i < given && rc == 0; i++) {
		struct dlsi_task_input input = dlsi_task_inputs_at(&task->inputs, item, i);
		void *to = dlsi_inference_model_input(model, i, place);

		if (input.is_file)
			rc = dlsi_prepare_file(
				&model->plan.inputs[i], model->alloc, input.tensor->data, input.tensor->bytes, to, err);
		else
			rc = dlsi_prepare_tensor(&model->plan.inputs[i], model->alloc, input.tensor, to, err);
	}
	return rc;
}

/* One output of one item as it is sent. `best` has room for its highest values and their indices. */
static struct dlsi_field make_field(const struct dlsi_output_plan *plan, void *values, float *best)
{
	struct dlsi_field field = {.media = DLSI_MEDIA_TENSOR, .dtype = (uint8_t)plan->dtype};
	uint32_t top = plan->how->top;

	if (plan->how->softmax)
		dlsi_output_softmax(values, plan->count);
	if (top) {
		dlsi_output_top(values, plan->count, top, best, (uint32_t *)(best + top));
		field.media = DLSI_MEDIA_TOP;
		field.rank = 1;
		field.dims[0] = top;
		field.bytes = (struct dlsi_bytes){(uint8_t *)best, 2 * top * (uint32_t)sizeof *best};
		return field;
	}
	field.rank = (uint8_t)plan->rank;
	memcpy(field.dims, plan->dims, plan->rank * sizeof *plan->dims);
	field.bytes = (struct dlsi_bytes){values, (uint32_t)plan->bytes};
	return field;
}

static void fail(struct dls_task *task, uint32_t item, const struct dls_error *why)
{
	dls_task_fail(task, item, why->code, why->text);
}

/* Gives the item what place `place` of the last run holds. */
static void give(struct dlsi_inference_model *model, struct dls_task *task, uint32_t item, uint32_t place)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dls_error err;
	float *best = model->best;

	for (size_t i = 0; i < model->plan.output_count; i++) {
		const struct dlsi_output_plan *plan = &model->plan.outputs[i];

		fields[i] = make_field(plan, dlsi_inference_model_output(model, i, place), best);
		best += 2 * (size_t)plan->how->top;
	}
	if (dlsi_task_give(task, item, fields, (unsigned)model->plan.output_count, &err))
		fail(task, item, &err);
}

/* Runs items from `from` on, as many as one batch takes of those that can be prepared; returns where to go on. */
static uint32_t run_batch(struct dlsi_inference_model *model, struct dls_task *task, uint32_t from, uint32_t *items)
{
	uint32_t most = dlsi_inference_model_batch(model), left = task->count - from, count = 0;
	struct dls_error err;
	int rc = dlsi_inference_model_reserve(model, most < left ? most : left, &err);

	for (; from < task->count && count < most; from++) {
		if (rc || prepare(model, task, from, count, &err))
			fail(task, from, &err);
		else
			items[count++] = from;
	}
	if (count)
		rc = dlsi_inference_model_run(model, count, &err);
	for (uint32_t i = 0; i < count; i++) {
		if (rc)
			fail(task, items[i], &err);
		else
			give(model, task, items[i], i);
	}
	return from;
}

void dlsi_inference_run(struct dlsi_inference *inference, const struct dlsi_model_files *files, struct dls_task *task)
{
	uint32_t items[DLSI_TASK_ITEMS];
	struct dlsi_inference_model *model;
	struct dls_error err;

	if (find_model(inference, files, &model, &err)) {
		for (uint32_t i = 0; i < task->count; i++)
			fail(task, i, &err);
		return;
	}
	for (uint32_t from = 0; from < task->count && !dls_task_cancelled(task);)
		from = run_batch(model, task, from, items);
}
