#include "worker/inference.h"

#include "base/clock.h"
#include "base/limits.h"
#include "worker/crew.h"
#include "worker/inference_model.h"
#include "worker/inference_output.h"
#include <string.h>

/* An item on its way through a batch. */
struct place {
	uint32_t item;
	int code; /* with which it could not be prepared */
	char *sentence;
};

struct dlsi_inference {
	const struct dlsi_alloc *alloc;
	struct dlsi_loaded *loaded;
	struct dlsi_crew *crew;
	struct dlsi_list models; /* the one used last at the end */
	unsigned model_count;
	uint64_t model_bytes, most_bytes; /* of their files */
	struct place places[DLSI_TASK_ITEMS];
	struct dlsi_inference_report report; /* of the task that runs */
};

int dlsi_inference_create(const struct dlsi_alloc *alloc, struct dlsi_loaded *loaded, unsigned helpers,
	uint64_t most_bytes, struct dlsi_inference **inference_out, struct dls_error *err)
{
	struct dlsi_inference *inference = dlsi_calloc(alloc, 1, sizeof *inference);
	int rc;

	if (!inference)
		return dlsi_fail_memory(err);
	inference->alloc = alloc;
	inference->most_bytes = most_bytes;
	dlsi_list_init(&inference->models);
	inference->loaded = loaded;
	rc = dlsi_crew_create(alloc, helpers, &inference->crew, err);
	if (rc)
		dlsi_inference_destroy(inference);
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
	dlsi_crew_destroy(inference->crew);
	dlsi_free(inference->alloc, inference);
}

/* Whether there is a model of these files, for whatever sizes. */
static bool has_any(const struct dlsi_inference *inference, const struct dlsi_hash *id)
{
	dlsi_list_each (node, &inference->models)
		if (dlsi_hash_equal(&dlsi_list_entry(node, struct dlsi_inference_model, node)->id, id))
			return true;
	return false;
}

static void give_up(struct dlsi_inference *inference, struct dlsi_inference_model *model)
{
	struct dlsi_inference_report *report = &inference->report;
	struct dlsi_hash id = model->id;

	inference->model_count--;
	inference->model_bytes -= model->shared->bytes;
	dlsi_inference_model_destroy(model);
	if (report->unloaded_count < DLSI_INFERENCE_UNLOADED && !has_any(inference, &id))
		report->unloaded[report->unloaded_count++] = id;
}

/* One model for many sizes shall not push out the others. */
static void trim_sizes(struct dlsi_inference *inference, const struct dlsi_hash *id)
{
	struct dlsi_inference_model *first = NULL;
	unsigned count = 0;

	dlsi_list_each (node, &inference->models) {
		struct dlsi_inference_model *model = dlsi_list_entry(node, struct dlsi_inference_model, node);

		if (!model->shapes || !dlsi_hash_equal(&model->id, id))
			continue;
		first = count++ ? first : model;
	}
	if (count > DLSI_SIZES_PER_MODEL)
		give_up(inference, first);
}

/* Makes room for the one at the end, which stays. */
static void trim(struct dlsi_inference *inference)
{
	uint64_t most_bytes = inference->most_bytes ? inference->most_bytes : UINT64_MAX;

	while (inference->model_count > DLSI_MODELS_LOADED ||
		(inference->model_count > 1 && inference->model_bytes > most_bytes))
		give_up(inference, first_of(inference));
}

/* The model for inputs of these shapes, or if NULL any that is loaded; loaded now if there is none, in the place of
 * those that were not used for longest. */
static int find_model(struct dlsi_inference *inference, const struct dlsi_model_files *files,
	const struct dlsi_onnx_shape *shapes, struct dlsi_inference_model **model_out, struct dls_error *err)
{
	struct dlsi_inference_model *found = NULL;
	int64_t start_ns = dlsi_clock_monotonic_ns();
	int rc = 0;

	dlsi_list_each (node, &inference->models) {
		struct dlsi_inference_model *model = dlsi_list_entry(node, struct dlsi_inference_model, node);

		if (dlsi_hash_equal(&model->id, &files->id) && (!shapes || dlsi_inference_model_has(model, shapes)))
			found = model;
	}
	if (!found) {
		rc = dlsi_inference_model_create(inference->alloc, inference->loaded, files, shapes, &found, err);
		if (rc)
			return rc;
		inference->model_count++;
		inference->model_bytes += found->shared->bytes;
		inference->report.load_ns += (uint64_t)(dlsi_clock_monotonic_ns() - start_ns);
	}
	dlsi_list_remove(&found->node);
	dlsi_list_append(&inference->models, &found->node);
	trim_sizes(inference, &files->id);
	trim(inference);
	*model_out = found;
	return 0;
}

/* A batch being put together. */
struct batch {
	struct dlsi_inference_model *model;
	struct dls_task *task;
	struct place *places;
};

static int prepare_item(
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

/* One item of the batch, in any thread of the crew. */
static void prepare_place(void *arg, uint32_t i)
{
	const struct batch *batch = arg;
	struct place *place = &batch->places[i];
	struct dls_error err;

	place->code = prepare_item(batch->model, batch->task, place->item, i, &err);
	place->sentence = place->code ? dlsi_strdup(batch->model->alloc, err.text) : NULL;
}

/* Fails the items that could not be prepared and closes the gaps they leave; returns how many there are left. */
static uint32_t sort_out(const struct batch *batch, uint32_t count)
{
	uint32_t i = 0;

	while (i < count) {
		struct place *place = &batch->places[i];

		if (place->code == 0) {
			i++;
			continue;
		}
		dls_task_fail(batch->task, place->item, place->code, place->sentence);
		dlsi_free(batch->model->alloc, place->sentence);
		*place = batch->places[--count];
		if (i < count && place->code == 0)
			dlsi_inference_model_move(batch->model, count, i);
	}
	return count;
}

/* One output of one item as it is sent. `dims` are those of a bounded one; `best` has room for its highest values and
 * their indices. */
static struct dlsi_field make_field(const struct dlsi_output_plan *plan, void *values, const int64_t *dims, float *best)
{
	size_t bytes = plan->bytes;

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
	memcpy(field.dims, plan->bounded ? dims : plan->dims, plan->rank * sizeof *plan->dims);
	if (plan->bounded)
		dls_tensor_bytes(plan->dtype, plan->rank, dims, &bytes);
	field.bytes = (struct dlsi_bytes){values, (uint32_t)bytes};
	return field;
}

/* Gives the item what its place holds after a run. */
static void give(struct dlsi_inference_model *model, struct dls_task *task, uint32_t item, uint32_t place)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dls_error err;
	float *best = model->best;

	for (size_t i = 0; i < model->plan.output_count; i++) {
		const struct dlsi_output_plan *plan = &model->plan.outputs[i];

		fields[i] =
			make_field(plan, dlsi_inference_model_output(model, i, place), model->outputs[i].dims, best);
		best += 2 * (size_t)plan->how->top;
	}
	if (dlsi_task_give(task, item, fields, (unsigned)model->plan.output_count, &err))
		dls_task_fail(task, item, err.code, err.text);
}

/* How many of the items that are left run together: all that may, else a power of two, so that a model needs few plans
 * whatever the sizes of its tasks are. A plan takes as long to make as a few items to run, of a small model a hundred.
 */
static uint32_t choose_run(uint32_t left, uint32_t most)
{
	uint32_t items = 1;

	if (left >= most)
		return most;
	while (2 * items <= left)
		items *= 2;
	return items;
}

/* Runs the places and gives their items the outputs; adds the time of the runs to *busy_ns. */
static void run_places(const struct batch *batch, uint32_t count, uint32_t most, int64_t *busy_ns)
{
	struct dls_error err;

	for (uint32_t first = 0, items; first < count && !dls_task_stopped(batch->task); first += items) {
		int64_t start_ns;
		int rc;

		items = choose_run(count - first, most);
		rc = dlsi_inference_model_prepare(batch->model, items, &err);
		start_ns = dlsi_clock_monotonic_ns();
		if (rc == 0)
			rc = dlsi_inference_model_run(batch->model, first, items, &err);
		for (uint32_t i = first; i < first + items; i++) {
			if (rc)
				dls_task_fail(batch->task, batch->places[i].item, err.code, err.text);
			else
				give(batch->model, batch->task, batch->places[i].item, i);
		}
		*busy_ns += dlsi_clock_monotonic_ns() - start_ns;
	}
}

static void fail_range(struct dls_task *task, uint32_t first, uint32_t end, const struct dls_error *why)
{
	for (uint32_t i = first; i < end; i++)
		dls_task_fail(task, i, why->code, why->text);
}

/* Runs the items of the task from `first` to `end`. */
static void run_range(
	struct dlsi_inference *inference, const struct batch *batch, uint32_t first, uint32_t end, int64_t *busy_ns)
{
	uint32_t most = dlsi_inference_model_batch(batch->model), count;
	struct dls_error err;

	if (dlsi_inference_model_reserve(batch->model, most < end - first ? most : end - first, &err)) {
		fail_range(batch->task, first, end, &err);
		return;
	}
	for (; first < end && !dls_task_stopped(batch->task); first += count) {
		int64_t start_ns = dlsi_clock_monotonic_ns();

		count = end - first < most ? end - first : most;
		for (uint32_t i = 0; i < count; i++)
			inference->places[i].item = first + i;
		dlsi_crew_run(inference->crew, prepare_place, (void *)batch, count);
		*busy_ns += dlsi_clock_monotonic_ns() - start_ns;
		run_places(batch, sort_out(batch, count), most, busy_ns);
	}
}

/* ---- sizes that come with the items */

static int find_shapes(struct dlsi_inference_model *model, struct dls_task *task, uint32_t item,
	struct dlsi_onnx_shape *shapes_out, struct dls_error *err)
{
	size_t inputs = dlsi_model_input_count(model->model);
	unsigned given = dlsi_task_inputs_of(&task->inputs, item, err);
	int rc = given ? 0 : err->code;

	if (given && given != inputs)
		rc = dlsi_fail(err, DLS_EINVAL, "the model has %zu inputs, and this item brings %u", inputs, given);
	for (unsigned i = 0; rc == 0 && i < given; i++) {
		struct dlsi_task_input input = dlsi_task_inputs_at(&task->inputs, item, i);

		rc = dlsi_inference_model_shape(model, i, &input, &shapes_out[i], err);
	}
	return rc;
}

/* Where the items end that have the shapes of the one before `next`. */
static uint32_t end_of_shapes(
	const struct batch *batch, uint32_t next, const struct dlsi_onnx_shape *shapes, size_t count)
{
	struct dlsi_onnx_shape its[DLSI_ROW_FIELDS];
	struct dls_error err;

	while (next < batch->task->count && find_shapes(batch->model, batch->task, next, its, &err) == 0 &&
		dlsi_onnx_shapes_equal(its, shapes, count))
		next++;
	return next;
}

/* Items of the same sizes that follow each other run together. batch->model is any one of the model's files. */
static void run_by_sizes(
	struct dlsi_inference *inference, const struct dlsi_model_files *files, struct batch *batch, int64_t *busy_ns)
{
	struct dlsi_onnx_shape shapes[DLSI_ROW_FIELDS];
	size_t inputs = dlsi_model_input_count(batch->model->model);

	for (uint32_t first = 0, end; first < batch->task->count && !dls_task_stopped(batch->task); first = end) {
		struct dls_error err;
		int rc = find_shapes(batch->model, batch->task, first, shapes, &err);

		end = rc ? first + 1 : end_of_shapes(batch, first + 1, shapes, inputs);
		if (rc == 0)
			rc = find_model(inference, files, shapes, &batch->model, &err);
		if (rc)
			fail_range(batch->task, first, end, &err);
		else
			run_range(inference, batch, first, end, busy_ns);
	}
}

struct dlsi_inference_report dlsi_inference_run(
	struct dlsi_inference *inference, const struct dlsi_model_files *files, struct dls_task *task)
{
	struct batch batch = {.task = task, .places = inference->places};
	struct dls_error err;
	int64_t busy_ns = 0;

	inference->report = (struct dlsi_inference_report){0};
	if (find_model(inference, files, NULL, &batch.model, &err))
		fail_range(task, 0, task->count, &err);
	else if (batch.model->by_items)
		run_by_sizes(inference, files, &batch, &busy_ns);
	else
		run_range(inference, &batch, 0, task->count, &busy_ns);
	inference->report.busy_ns = (uint64_t)busy_ns;
	return inference->report;
}
