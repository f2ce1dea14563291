#include "device/model.h"

#include "base/limits.h"
#include "device/batch.h"
#include "device/device.h"
#include "device/lane.h"
#include "device/piece.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <stdatomic.h>

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
	struct dlsi_lanes lanes;
};

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

static int read(const struct dlsi_alloc *alloc, const struct dlsi_device *device, const char *name,
	const struct dlsi_onnx *onnx, struct origin **origin_out, struct dls_error *err)
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
			origin->piece =
				dlsi_piece_of(origin->graph, device->ops->item_ns(device->state, origin->graph));
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

	if (!model)
		return NULL;
	model->alloc = alloc;
	model->device = device;
	dlsi_lanes_init(&model->lanes, alloc, device);
	return model;
}

int dlsi_model_load(const struct dlsi_alloc *alloc, struct dlsi_device *device, const char *name,
	const struct dlsi_onnx *onnx, struct dlsi_model **model_out, struct dls_error *err)
{
	struct dlsi_model *model = make(alloc, device);
	void *set = NULL;
	int rc;

	if (!model)
		return dlsi_fail_memory(err);
	rc = read(alloc, device, name, onnx, &model->origin, err);
	if (rc == 0 && !model->origin->graph->unsized)
		rc = device->ops->set_create(device->state, model->origin->graph, &set, err);
	if (rc == 0)
		rc = dlsi_lanes_add(&model->lanes, set, err);
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
	void *set = NULL;
	int rc = 0;

	if (!other)
		return dlsi_fail_memory(err);
	other->origin = model->origin;
	atomic_fetch_add(&other->origin->models, 1);
	if (model->lanes.lanes[0].set)
		rc = model->device->ops->set_share(model->lanes.lanes[0].set, &set, err);
	if (rc == 0)
		rc = dlsi_lanes_add(&other->lanes, set, err);
	if (rc) {
		dlsi_model_destroy(other);
		return rc;
	}
	*other_out = other;
	return 0;
}

void dlsi_model_destroy(struct dlsi_model *model)
{
	if (!model)
		return;
	dlsi_lanes_fini(&model->lanes);
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

/* Those that a run of `batch` items puts first in a shape. */
static int64_t rows_of(const struct dlsi_model *model, int64_t batch)
{
	return model->origin->graph->unbatchable ? 0 : batch;
}

int dlsi_model_output_bytes(const struct dlsi_model *model, size_t index, int64_t batch, size_t *bytes_out)
{
	const struct dlsi_model_port *port = dlsi_model_output(model, index);
	int64_t dims[DLS_TENSOR_RANK];

	dlsi_model_port_dims(port, rows_of(model, batch), dims);
	return dls_tensor_bytes(port->dtype, port->rank, dims, bytes_out);
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

static struct dlsi_batch batch_of(struct dlsi_model *model, int64_t items)
{
	return dlsi_batch_of(&model->lanes, &model->origin->piece, items);
}

static int prepare(const struct dlsi_model *model, const struct dlsi_batch *batch, struct dls_error *err)
{
	int rc = dlsi_batch_prepare(batch, err);

	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

int dlsi_model_prepare(struct dlsi_model *model, int64_t items, struct dls_error *err)
{
	struct dlsi_batch batch;
	int rc = check_batch(model, items, err);

	if (rc)
		return rc;
	batch = batch_of(model, items);
	return prepare(model, &batch, err);
}

static int check_tensors(const struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs,
	struct dls_tensor *outputs, struct dls_error *err)
{
	int rc = check_batch(model, batch, err);

	for (size_t i = 0; rc == 0 && i < model->origin->graph->input_count; i++)
		rc = dlsi_model_port_check_input(
			dlsi_model_input(model, i), model->origin->name, rows_of(model, batch), &inputs[i], err);
	for (size_t i = 0; rc == 0 && i < model->origin->graph->output_count; i++)
		rc = dlsi_model_port_shape_output(
			dlsi_model_output(model, i), model->origin->name, rows_of(model, batch), &outputs[i], err);
	return rc;
}

int dlsi_model_run(struct dlsi_model *model, int64_t items, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	struct dls_error *err)
{
	const struct dlsi_graph *graph = model->origin->graph;
	struct dlsi_batch batch;
	int rc = check_tensors(model, items, inputs, outputs, err);

	if (rc)
		return rc;
	batch = batch_of(model, items);
	rc = prepare(model, &batch, err);
	if (rc)
		return rc;
	rc = dlsi_batch_run(&batch, inputs, graph->input_count, outputs, graph->output_count, err);
	for (size_t i = 0; rc == 0 && i < graph->output_count; i++)
		if (dlsi_model_output(model, i)->bounded)
			dls_tensor_bytes(outputs[i].dtype, outputs[i].rank, outputs[i].dims, &outputs[i].bytes);
	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

struct dlsi_model_parts dlsi_model_parts(const struct dlsi_model *model, int64_t items)
{
	const struct dlsi_batch batch = dlsi_batch_of(NULL, &model->origin->piece, items);

	return (struct dlsi_model_parts){.items = dlsi_batch_part(&batch), .threads = batch.cut.threads};
}

static const struct dlsi_plan *last_plan(const struct dlsi_model *model)
{
	const struct dlsi_lane *lane = &model->lanes.lanes[0];

	return &lane->plans[lane->last];
}

int dlsi_model_run_timed(struct dlsi_model *model, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err)
{
	int rc = check_tensors(model, last_plan(model)->batch, inputs, outputs, err);

	if (rc)
		return rc;
	rc = dlsi_lane_run(&model->lanes.lanes[0], inputs, outputs, step_ns, err);
	return rc ? dlsi_fail_in(err, rc, "%s", model->origin->name) : 0;
}

void dlsi_model_facts(const struct dlsi_model *model, struct dlsi_device_facts *facts_out)
{
	dlsi_lanes_facts(&model->lanes, facts_out);
}

struct dlsi_device_step dlsi_model_step(const struct dlsi_model *model, uint32_t step)
{
	return model->device->ops->program_step(last_plan(model)->program, step);
}

const struct dlsi_graph *dlsi_model_graph(const struct dlsi_model *model)
{
	return model->origin->graph;
}
