#include "device/model.h"

#include "base/limits.h"
#include "base/shape.h"
#include "device/device.h"
#include "device/lane.h"
#include "device/piece.h"
#include "kernel/parallel.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <stdatomic.h>
#include <string.h>

/* What models that share their weights have in common. */
struct origin {
	const struct dlsi_alloc *alloc;
	atomic_uint models;
	char *name;
	struct dlsi_graph *graph;
	struct dlsi_model_port *ports; /* inputs, then outputs */
	struct dlsi_piece piece;
};

struct dlsi_model {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	struct origin *origin;
	struct dlsi_lane *lanes; /* the first is that of the caller and its team, the others are for threads apart */
	int lane_count;
};

struct dlsi_model_port dlsi_model_port_of(const struct dlsi_value *value)
{
	struct dlsi_model_port port = {.name = value->name,
		.dtype = value->dtype,
		.rank = value->rank,
		.open = value->open,
		.bounded = value->bounded};

	memcpy(port.dims, value->dims, sizeof port.dims);
	return port;
}

static int list_ports(struct origin *origin, struct dls_error *err)
{
	const struct dlsi_graph *graph = origin->graph;
	size_t count = (size_t)graph->input_count + graph->output_count;

	origin->ports = dlsi_calloc(origin->alloc, count, sizeof *origin->ports);
	if (!origin->ports)
		return dlsi_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		size_t number = i < graph->input_count ? graph->inputs[i] : graph->outputs[i - graph->input_count];

		origin->ports[i] = dlsi_model_port_of(&graph->values[number]);
	}
	return 0;
}

static void drop(struct origin *origin)
{
	if (!origin || atomic_fetch_sub(&origin->models, 1) > 1)
		return;
	dlsi_graph_destroy(origin->graph);
	dlsi_free(origin->alloc, origin->ports);
	dlsi_free(origin->alloc, origin->name);
	dlsi_free(origin->alloc, origin);
}

static int read(const struct dlsi_alloc *alloc, const char *name, const struct dlsi_onnx *onnx,
	struct origin **origin_out, struct dls_error *err)
{
	struct origin *origin = dlsi_calloc(alloc, 1, sizeof *origin);
	int rc;

	if (!origin)
		return dlsi_fail_memory(err);
	origin->alloc = alloc;
	atomic_init(&origin->models, 1);
	origin->name = dlsi_strdup(alloc, name);
	rc = origin->name ? dlsi_graph_load(alloc, onnx, &origin->graph, err) : dlsi_fail_memory(err);
	if (rc == 0)
		rc = list_ports(origin, err);
	if (rc == 0 && !origin->graph->unsized) {
		rc = dlsi_graph_rewrite(origin->graph, err);
		if (rc == 0)
			origin->piece = dlsi_piece_of(origin->graph);
	}
	if (rc)
		drop(origin);
	else
		*origin_out = origin;
	return rc;
}

/* With room for one lane. */
static struct dlsi_model *make(const struct dlsi_alloc *alloc, struct dlsi_device *device)
{
	struct dlsi_model *model = dlsi_calloc(alloc, 1, sizeof *model);

	if (!model)
		return NULL;
	*model = (struct dlsi_model){
		.alloc = alloc, .device = device, .lanes = dlsi_calloc(alloc, 1, sizeof *model->lanes)};
	if (model->lanes)
		return model;
	dlsi_free(alloc, model);
	return NULL;
}

static void add_lane(struct dlsi_model *model, void *set)
{
	dlsi_lane_init(&model->lanes[model->lane_count++], model->device, set);
}

int dlsi_model_load(const struct dlsi_alloc *alloc, struct dlsi_device *device, const char *name,
	const struct dlsi_onnx *onnx, struct dlsi_model **model_out, struct dls_error *err)
{
	struct dlsi_model *model = make(alloc, device);
	void *set = NULL;
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	rc = read(alloc, name, onnx, &model->origin, err);
	if (rc == 0 && !model->origin->graph->unsized)
		rc = device->ops->set_create(device->state, model->origin->graph, &set, err);
	if (rc) {
		dlsi_model_destroy(model);
		return dlsi_fail_in(err, rc, "%s", name);
	}
	add_lane(model, set);
	*model_out = model;
	return 0;
}

int dlsi_model_share(const struct dlsi_model *model, struct dlsi_model **other_out, struct dls_error *err)
{
	struct dlsi_model *other = make(model->alloc, model->device);
	void *set = NULL;
	int rc = 0;

	if (!other)
		return dlsi_fail_memory(err);
	other->origin = model->origin;
	atomic_fetch_add(&other->origin->models, 1);
	if (model->lanes[0].set)
		rc = model->device->ops->set_share(model->lanes[0].set, &set, err);
	if (rc) {
		dlsi_model_destroy(other);
		return rc;
	}
	add_lane(other, set);
	*other_out = other;
	return 0;
}

void dlsi_model_destroy(struct dlsi_model *model)
{
	if (!model)
		return;
	for (int i = 0; i < model->lane_count; i++)
		dlsi_lane_fini(&model->lanes[i]);
	dlsi_free(model->alloc, model->lanes);
	drop(model->origin);
	dlsi_free(model->alloc, model);
}

bool dlsi_model_unsized(const struct dlsi_model *model)
{
	return model->origin->graph->unsized;
}

size_t dlsi_model_input_count(const struct dlsi_model *model)
{
	return model->origin->graph->input_count;
}

size_t dlsi_model_output_count(const struct dlsi_model *model)
{
	return model->origin->graph->output_count;
}

const struct dlsi_model_port *dlsi_model_input(const struct dlsi_model *model, size_t index)
{
	return &model->origin->ports[index];
}

const struct dlsi_model_port *dlsi_model_output(const struct dlsi_model *model, size_t index)
{
	return &model->origin->ports[model->origin->graph->input_count + index];
}

const char *dlsi_model_unbatchable(const struct dlsi_model *model)
{
	return model->origin->graph->unbatchable;
}

/* The port's dimensions for this batch. */
static void dims_of(
	const struct dlsi_model *model, const struct dlsi_model_port *port, int64_t batch, int64_t *dims_out)
{
	memcpy(dims_out, port->dims, sizeof port->dims);
	if (!model->origin->graph->unbatchable)
		dims_out[0] = batch;
}

int dlsi_model_output_bytes(const struct dlsi_model *model, size_t index, int64_t batch, size_t *bytes_out)
{
	const struct dlsi_model_port *port = dlsi_model_output(model, index);
	int64_t dims[DLS_TENSOR_RANK];

	dims_of(model, port, batch, dims);
	return dls_tensor_bytes(port->dtype, port->rank, dims, bytes_out);
}

static int check_input(const struct dlsi_model *model, const struct dlsi_model_port *port, int64_t batch,
	const struct dls_tensor *tensor, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK];
	size_t bytes;

	dims_of(model, port, batch, dims);
	if (tensor->dtype != port->dtype || tensor->rank != port->rank ||
		memcmp(tensor->dims, dims, port->rank * sizeof *dims) != 0)
		return dlsi_fail(err, DLS_EINVAL, "%s: the input '%s' is %s; the model takes %s", model->origin->name,
			port->name, dlsi_shape_text(tensor->dtype, tensor->rank, tensor->dims).text,
			dlsi_shape_text(port->dtype, port->rank, dims).text);
	if (dls_tensor_bytes(port->dtype, port->rank, dims, &bytes) || tensor->bytes != bytes || !tensor->data)
		return dlsi_fail(err, DLS_EINVAL, "%s: the input '%s' has %zu bytes of data; its shape %s needs %zu",
			model->origin->name, port->name, tensor->data ? tensor->bytes : 0,
			dlsi_shape_text(port->dtype, port->rank, dims).text, bytes);
	return 0;
}

static int shape_output(const struct dlsi_model *model, const struct dlsi_model_port *port, int64_t batch,
	struct dls_tensor *tensor, struct dls_error *err)
{
	size_t bytes;

	dims_of(model, port, batch, tensor->dims);
	tensor->dtype = port->dtype;
	tensor->rank = port->rank;
	if (dls_tensor_bytes(port->dtype, port->rank, tensor->dims, &bytes) || tensor->bytes != bytes || !tensor->data)
		return dlsi_fail(err, DLS_EINVAL, "%s: there is room for %zu bytes of the output '%s'; %s needs %zu",
			model->origin->name, tensor->data ? tensor->bytes : 0, port->name,
			dlsi_shape_text(port->dtype, port->rank, tensor->dims).text, bytes);
	return 0;
}

static int check_batch(const struct dlsi_model *model, int64_t batch, struct dls_error *err)
{
	if (model->origin->graph->unsized)
		return dlsi_fail(err, DLS_ESTATE,
			"%s leaves sizes of its inputs open, which are known only with what it is run on",
			model->origin->name);
	if (batch < 1 || batch > DLSI_TASK_ITEMS)
		return dlsi_fail(err, DLS_EINVAL, "%s: a batch is 1 to %d items, not %lld", model->origin->name,
			DLSI_TASK_ITEMS, (long long)batch);
	if (batch > 1 && model->origin->graph->unbatchable)
		return dlsi_fail(err, DLS_EINVAL, "%s runs its items one by one: %s", model->origin->name,
			model->origin->graph->unbatchable);
	return 0;
}

static int make_lanes(struct dlsi_model *model, int count, struct dls_error *err)
{
	struct dlsi_lane *grown;
	int rc = 0;

	if (count <= model->lane_count)
		return 0;
	grown = dlsi_realloc(model->alloc, model->lanes, (size_t)count * sizeof *grown);
	if (!grown)
		return dlsi_fail_memory(err);
	model->lanes = grown;
	while (rc == 0 && model->lane_count < count) {
		void *set;

		rc = model->device->ops->set_share(model->lanes[0].set, &set, err);
		if (rc == 0)
			add_lane(model, set);
	}
	return rc;
}

/* A batch that is run or made ready: how it is cut, and how many lanes have parts of it at a time. */
struct batch {
	struct dlsi_model *model;
	int64_t items;
	struct dlsi_cut cut;
	int lanes;
};

static struct batch batch_of(struct dlsi_model *model, int64_t items)
{
	const int threads = dlsi_parallel_threads();
	const struct dlsi_cut cut = dlsi_piece_cut(&model->origin->piece, items, threads);

	return (struct batch){.model = model, .items = items, .cut = cut, .lanes = cut.threads < threads ? threads : 1};
}

/* The programs for parts of the batch, which differ by one item at most; the larger one becomes the last. */
static int prepare(const struct batch *batch, struct dls_error *err)
{
	const int64_t small = batch->items / batch->cut.count, large = small + (batch->items % batch->cut.count != 0);
	int rc = make_lanes(batch->model, batch->lanes, err);

	for (int i = 0; rc == 0 && i < batch->lanes; i++) {
		rc = dlsi_lane_use(&batch->model->lanes[i], small, batch->cut.threads, err);
		if (rc == 0)
			rc = dlsi_lane_use(&batch->model->lanes[i], large, batch->cut.threads, err);
	}
	return rc ? dlsi_fail_in(err, rc, "%s", batch->model->origin->name) : 0;
}

int dlsi_model_prepare(struct dlsi_model *model, int64_t items, struct dls_error *err)
{
	struct batch batch;
	int rc = check_batch(model, items, err);

	if (rc)
		return rc;
	batch = batch_of(model, items);
	return prepare(&batch, err);
}

static int check_tensors(const struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs,
	struct dls_tensor *outputs, struct dls_error *err)
{
	int rc = check_batch(model, batch, err);

	for (size_t i = 0; rc == 0 && i < model->origin->graph->input_count; i++)
		rc = check_input(model, dlsi_model_input(model, i), batch, &inputs[i], err);
	for (size_t i = 0; rc == 0 && i < model->origin->graph->output_count; i++)
		rc = shape_output(model, dlsi_model_output(model, i), batch, &outputs[i], err);
	return rc;
}

/* The rows [first, end) of each tensor of a batch. */
static void take_rows(const struct dls_tensor *whole, size_t tensors, int64_t batch, int64_t first, int64_t end,
	struct dls_tensor *out)
{
	for (size_t i = 0; i < tensors; i++) {
		const size_t row = whole[i].bytes / (size_t)batch;

		out[i] = whole[i];
		out[i].dims[0] = end - first;
		out[i].data = (const uint8_t *)whole[i].data + (size_t)first * row;
		out[i].bytes = (size_t)(end - first) * row;
	}
}

/* A lane's share of a run. */
struct share {
	struct dls_tensor *tensors; /* of the part: the inputs, then the outputs */
	int rc;
	struct dls_error err;
};

struct run {
	struct batch batch;
	const struct dls_tensor *inputs, *outputs;
	size_t input_count, output_count;
	struct share *shares;
};

static int run_program(struct dlsi_lane *lane, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err)
{
	return lane->device->ops->program_run(lane->plans[lane->last].program, inputs, outputs, step_ns, err);
}

/* All programs are there: nothing is made here. */
static void run_part(void *arg, int64_t part, int lane_number)
{
	const struct run *run = arg;
	const struct batch *batch = &run->batch;
	struct share *share = &run->shares[lane_number];
	struct dlsi_lane *lane = &batch->model->lanes[lane_number];
	const int64_t first = part * batch->items / batch->cut.count;
	const int64_t end = (part + 1) * batch->items / batch->cut.count;

	if (share->rc)
		return;
	take_rows(run->inputs, run->input_count, batch->items, first, end, share->tensors);
	take_rows(run->outputs, run->output_count, batch->items, first, end, share->tensors + run->input_count);
	share->rc = dlsi_lane_use(lane, end - first, batch->cut.threads, &share->err);
	if (share->rc == 0)
		share->rc = run_program(lane, share->tensors, share->tensors + run->input_count, NULL, &share->err);
}

static int make_shares(struct run *run, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = run->batch.model->alloc;
	const size_t count = run->input_count + run->output_count, lanes = (size_t)run->batch.lanes;
	struct dls_tensor *tensors = dlsi_calloc(alloc, lanes * count, sizeof *tensors);

	run->shares = dlsi_calloc(alloc, lanes, sizeof *run->shares);
	if (!tensors || !run->shares) {
		dlsi_free(alloc, tensors);
		return dlsi_fail_memory(err);
	}
	for (size_t i = 0; i < lanes; i++)
		run->shares[i].tensors = tensors + i * count;
	return 0;
}

static int run_parts(struct run *run, struct dls_error *err)
{
	const struct dlsi_model *model = run->batch.model;
	int rc = make_shares(run, err);

	if (rc == 0)
		dlsi_parallel(run->batch.lanes, run->batch.cut.count, run_part, run);
	for (int i = 0; rc == 0 && i < run->batch.lanes; i++) {
		rc = run->shares[i].rc;
		if (rc && err)
			*err = run->shares[i].err;
	}
	if (run->shares)
		dlsi_free(model->alloc, run->shares[0].tensors);
	dlsi_free(model->alloc, run->shares);
	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

/* All at once, by the program that was used last. */
static int run_whole(struct dlsi_model *model, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err)
{
	int rc = run_program(&model->lanes[0], inputs, outputs, step_ns, err);

	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

int dlsi_model_run(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	struct dls_error *err)
{
	struct run run = {.inputs = inputs,
		.outputs = outputs,
		.input_count = model->origin->graph->input_count,
		.output_count = model->origin->graph->output_count};
	int rc = check_tensors(model, batch, inputs, outputs, err);

	if (rc)
		return rc;
	run.batch = batch_of(model, batch);
	rc = prepare(&run.batch, err);
	if (rc == 0 && run.batch.cut.count > 1)
		return run_parts(&run, err);
	if (rc == 0)
		rc = run_whole(model, inputs, outputs, NULL, err);
	for (size_t i = 0; rc == 0 && i < run.output_count; i++)
		if (dlsi_model_output(model, i)->bounded)
			dls_tensor_bytes(outputs[i].dtype, outputs[i].rank, outputs[i].dims, &outputs[i].bytes);
	return rc;
}

struct dlsi_model_parts dlsi_model_parts(const struct dlsi_model *model, int64_t batch)
{
	const struct dlsi_cut cut = dlsi_piece_cut(&model->origin->piece, batch, dlsi_parallel_threads());

	return (struct dlsi_model_parts){.items = (batch + cut.count - 1) / cut.count, .threads = cut.threads};
}

int dlsi_model_run_timed(struct dlsi_model *model, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err)
{
	int rc = check_tensors(model, model->lanes[0].plans[model->lanes[0].last].batch, inputs, outputs, err);

	return rc ? rc : run_whole(model, inputs, outputs, step_ns, err);
}

void dlsi_model_facts(const struct dlsi_model *model, struct dlsi_device_facts *facts_out)
{
	const struct dlsi_lane *lane = &model->lanes[0];
	const struct dlsi_plan *plan = &lane->plans[lane->last];

	model->device->ops->program_facts(plan->program, facts_out);
	if (plan->threads == 1)
		facts_out->activation_bytes *= (size_t)model->lane_count;
}

struct dlsi_device_step dlsi_model_step(const struct dlsi_model *model, uint32_t step)
{
	const struct dlsi_lane *lane = &model->lanes[0];

	return model->device->ops->program_step(lane->plans[lane->last].program, step);
}

const struct dlsi_graph *dlsi_model_graph(const struct dlsi_model *model)
{
	return model->origin->graph;
}
