#include "device/model.h"

#include "base/limits.h"
#include "base/shape.h"
#include "device/device.h"
#include "device/piece.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <stdatomic.h>
#include <string.h>

/* A program that is ready, for one batch size. */
struct plan {
	int64_t batch; /* 0: the place is free */
	void *program;
	uint64_t used; /* the model's count of runs when it ran last */
};

/* What models that share their weights have in common. */
struct origin {
	const struct dlsi_alloc *alloc;
	atomic_uint models;
	char *name;
	struct dlsi_graph *graph;
	struct dlsi_model_port *ports; /* inputs, then outputs */
	int64_t piece;                 /* items that are computed at once */
};

struct dlsi_model {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	struct origin *origin;
	void *set; /* NULL: the model is unsized */
	struct plan plans[DLSI_PLANS_PER_MODEL];
	const struct plan *last; /* used; NULL: none, or none could be made */
	uint64_t runs;
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
		origin->piece = rc ? 0 : dlsi_piece_items(origin->graph);
	}
	if (rc)
		drop(origin);
	else
		*origin_out = origin;
	return rc;
}

static struct dlsi_model *make(const struct dlsi_alloc *alloc, struct dlsi_device *device)
{
	struct dlsi_model *model = dlsi_calloc(alloc, 1, sizeof *model);

	if (model) {
		model->alloc = alloc;
		model->device = device;
	}
	return model;
}

int dlsi_model_load(const struct dlsi_alloc *alloc, struct dlsi_device *device, const char *name,
	const struct dlsi_onnx *onnx, struct dlsi_model **model_out, struct dls_error *err)
{
	struct dlsi_model *model = make(alloc, device);
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	rc = read(alloc, name, onnx, &model->origin, err);
	if (rc == 0 && !model->origin->graph->unsized)
		rc = device->ops->set_create(device->state, model->origin->graph, &model->set, err);
	if (rc) {
		dlsi_model_destroy(model);
		return dlsi_fail_in(err, rc, "%s", name);
	}
	*model_out = model;
	return 0;
}

int dlsi_model_share(const struct dlsi_model *model, struct dlsi_model **other_out, struct dls_error *err)
{
	struct dlsi_model *other = make(model->alloc, model->device);
	int rc = 0;

	if (!other)
		return dlsi_fail_memory(err);
	other->origin = model->origin;
	atomic_fetch_add(&other->origin->models, 1);
	if (model->set)
		rc = model->device->ops->set_share(model->set, &other->set, err);
	if (rc)
		dlsi_model_destroy(other);
	else
		*other_out = other;
	return rc;
}

void dlsi_model_destroy(struct dlsi_model *model)
{
	if (!model)
		return;
	for (int i = 0; i < DLSI_PLANS_PER_MODEL; i++)
		if (model->plans[i].batch)
			model->device->ops->program_destroy(model->plans[i].program);
	if (model->set)
		model->device->ops->set_destroy(model->set);
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

static int use(struct dlsi_model *model, struct plan *plan)
{
	plan->used = ++model->runs;
	model->last = plan;
	return 0;
}

/* Makes the plan for this batch size the last one; in place of the one unused for longest if it is not there. */
static int use_plan(struct dlsi_model *model, int64_t batch, struct dls_error *err)
{
	struct plan *oldest = &model->plans[0];
	void *program;
	int rc;

	for (int i = 0; i < DLSI_PLANS_PER_MODEL; i++) {
		if (model->plans[i].batch == batch)
			return use(model, &model->plans[i]);
		if (model->plans[i].used < oldest->used)
			oldest = &model->plans[i];
	}
	if (oldest->batch)
		model->device->ops->program_destroy(oldest->program);
	*oldest = (struct plan){0};
	model->last = NULL;
	rc = model->device->ops->program_create(model->set, batch, &program, err);
	if (rc)
		return dlsi_fail_in(err, rc, "%s", model->origin->name);
	oldest->batch = batch;
	oldest->program = program;
	return use(model, oldest);
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

int dlsi_model_prepare(struct dlsi_model *model, int64_t batch, struct dls_error *err)
{
	const int64_t piece = model->origin->piece;
	int rc = check_batch(model, batch, err);

	if (rc == 0 && batch > piece && batch % piece)
		rc = use_plan(model, batch % piece, err);
	return rc ? rc : use_plan(model, batch < piece ? batch : piece, err);
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

static int run_plan(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs,
	struct dls_tensor *outputs, int64_t *step_ns, struct dls_error *err)
{
	int rc = use_plan(model, batch, err);

	if (rc)
		return rc;
	rc = model->device->ops->program_run(model->last->program, inputs, outputs, step_ns, err);
	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

/* The rows [first, first + count) of each tensor of a batch. */
static void cut(const struct dls_tensor *whole, size_t tensors, int64_t batch, int64_t first, int64_t count,
	struct dls_tensor *out)
{
	for (size_t i = 0; i < tensors; i++) {
		const size_t row = whole[i].bytes / (size_t)batch;

		out[i] = whole[i];
		out[i].dims[0] = count;
		out[i].data = (const uint8_t *)whole[i].data + (size_t)first * row;
		out[i].bytes = (size_t)count * row;
	}
}

static int run_pieces(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs,
	const struct dls_tensor *outputs, struct dls_error *err)
{
	const size_t input_count = model->origin->graph->input_count, output_count = model->origin->graph->output_count;
	struct dls_tensor *tensors = dlsi_calloc(model->alloc, input_count + output_count, sizeof *tensors);
	int rc = tensors ? 0 : dlsi_fail_memory(err);

	for (int64_t first = 0; rc == 0 && first < batch; first += model->origin->piece) {
		const int64_t left = batch - first, count = left < model->origin->piece ? left : model->origin->piece;

		cut(inputs, input_count, batch, first, count, tensors);
		cut(outputs, output_count, batch, first, count, tensors + input_count);
		rc = run_plan(model, count, tensors, tensors + input_count, NULL, err);
	}
	dlsi_free(model->alloc, tensors);
	return rc;
}

int dlsi_model_run(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	struct dls_error *err)
{
	int rc = check_tensors(model, batch, inputs, outputs, err);

	if (rc)
		return rc;
	if (batch > model->origin->piece)
		return run_pieces(model, batch, inputs, outputs, err);
	rc = run_plan(model, batch, inputs, outputs, NULL, err);
	for (size_t i = 0; rc == 0 && i < model->origin->graph->output_count; i++)
		if (dlsi_model_output(model, i)->bounded)
			dls_tensor_bytes(outputs[i].dtype, outputs[i].rank, outputs[i].dims, &outputs[i].bytes);
	return rc;
}

int64_t dlsi_model_piece(const struct dlsi_model *model)
{
	return model->origin->piece;
}

int dlsi_model_run_timed(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs,
	struct dls_tensor *outputs, int64_t *step_ns, struct dls_error *err)
{
	int rc = check_tensors(model, batch, inputs, outputs, err);

	return rc ? rc : run_plan(model, batch, inputs, outputs, step_ns, err);
}

void dlsi_model_facts(const struct dlsi_model *model, struct dlsi_device_facts *facts_out)
{
	model->device->ops->program_facts(model->last->program, facts_out);
}

struct dlsi_device_step dlsi_model_step(const struct dlsi_model *model, uint32_t step)
{
	return model->device->ops->program_step(model->last->program, step);
}

const struct dlsi_graph *dlsi_model_graph(const struct dlsi_model *model)
{
	return model->origin->graph;
}
