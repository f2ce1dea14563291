#include "model/profile.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "graph/op.h"
#include "graph/work.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* Times of nodes; the last place is for what hands out their results, and for all of a run. */
struct profile {
	const struct dlsi_alloc *alloc;
	struct dlsi_model *model;
	const struct dlsi_graph *graph;
	struct dlsi_device_facts facts;
	int64_t batch, piece; /* piece: items that are computed, and measured, at once */
	int threads;          /* that do so */
	uint32_t runs;
	const struct dls_tensor *inputs; /* that were given, or NULL */
	struct dls_tensor *tensors;      /* of a piece: the inputs, then the outputs */
	struct dls_tensor *outputs;
	void *memory;       /* that those lie in which were not given */
	int64_t *step_ns;   /* of one run */
	int64_t *node_ns;   /* of node i in run r: i * runs + r */
	int64_t *median_ns; /* of each node, and of a whole run */
};

static int64_t *node_times(const struct profile *profile, uint32_t node)
{
	return profile->node_ns + (size_t)node * profile->runs;
}

/* ---- inputs and outputs */

static int shape(const struct profile *profile, const struct dlsi_model_port *port, struct dls_tensor *tensor)
{
	*tensor = (struct dls_tensor){.size = sizeof *tensor, .dtype = port->dtype, .rank = port->rank};
	memcpy(tensor->dims, port->dims, sizeof port->dims);
	if (!dlsi_model_unbatchable(profile->model))
		tensor->dims[0] = profile->piece;
	return dls_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims, &tensor->bytes);
}

/* Float32 elements are anything from 0 to 1, all others 0: a number of an element or a class that there always is. */
static void fill(struct dls_tensor *tensors, size_t count)
{
	struct dlsi_rng rng;

	dlsi_rng_init(&rng, 1);
	for (size_t i = 0; i < count; i++) {
		float *elements = (float *)(uintptr_t)tensors[i].data;

		if (tensors[i].dtype != DLS_FLOAT32)
			continue;
		for (size_t k = 0; k < tensors[i].bytes / sizeof *elements; k++)
			elements[k] = (float)dlsi_rng_below(&rng, 1 << 16) / (1 << 16);
	}
}

/* The first rows of one that was given. */
static void take_rows(const struct profile *profile, const struct dls_tensor *given, struct dls_tensor *tensor)
{
	*tensor = *given;
	if (profile->piece == profile->batch)
		return;
	tensor->dims[0] = profile->piece;
	tensor->bytes = given->bytes / (size_t)profile->batch * (size_t)profile->piece;
}

static int make_tensors(struct profile *profile, struct dls_error *err)
{
	size_t inputs = dlsi_model_input_count(profile->model), total = ALIGNMENT;
	size_t count = inputs + dlsi_model_output_count(profile->model);
	uintptr_t at;

	profile->tensors = dlsi_calloc(profile->alloc, count, sizeof *profile->tensors);
	if (!profile->tensors)
		return dlsi_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		const struct dlsi_model_port *port = i < inputs ? dlsi_model_input(profile->model, i)
								: dlsi_model_output(profile->model, i - inputs);

		if (shape(profile, port, &profile->tensors[i]) ||
			__builtin_add_overflow(total, profile->tensors[i].bytes, &total) ||
			__builtin_add_overflow(total, ALIGNMENT, &total))
			return dlsi_fail(err, DLS_EINVAL, "a batch of %" PRId64 " is too large", profile->batch);
	}
	profile->memory = dlsi_calloc(profile->alloc, total, 1);
	if (!profile->memory)
		return dlsi_fail_memory(err);
	at = (uintptr_t)profile->memory;
	for (size_t i = 0; i < count; i++) {
		at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		profile->tensors[i].data = (const void *)at;
		at += profile->tensors[i].bytes;
	}
	profile->outputs = profile->tensors + inputs;
	if (!profile->inputs)
		fill(profile->tensors, inputs);
	for (size_t i = 0; profile->inputs && i < inputs; i++)
		take_rows(profile, &profile->inputs[i], &profile->tensors[i]);
	return 0;
}

/* ---- measuring */

static int make_times(struct profile *profile, struct dls_error *err)
{
	size_t places = (size_t)profile->graph->node_count + 1;

	profile->step_ns = dlsi_calloc(profile->alloc, profile->facts.step_count + 1, sizeof *profile->step_ns);
	profile->node_ns = dlsi_calloc(profile->alloc, places * profile->runs, sizeof *profile->node_ns);
	profile->median_ns = dlsi_calloc(profile->alloc, places + 1, sizeof *profile->median_ns);
	return profile->step_ns && profile->node_ns && profile->median_ns ? 0 : dlsi_fail_memory(err);
}

/* The bounded ones have shrunk to what the run before gave. */
static int run(struct profile *profile, struct dls_error *err)
{
	for (size_t i = 0; i < dlsi_model_output_count(profile->model); i++) {
		const void *data = profile->outputs[i].data;

		shape(profile, dlsi_model_output(profile->model, i), &profile->outputs[i]);
		profile->outputs[i].data = data;
	}
	return dlsi_model_run_timed(profile->model, profile->tensors, profile->outputs, profile->step_ns, err);
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int64_t median(int64_t *times, uint32_t count)
{
	qsort(times, count, sizeof *times, compare);
	return times[count / 2];
}

/* After a run that makes caches warm. */
static int measure(struct profile *profile, struct dls_error *err)
{
	uint32_t places = profile->graph->node_count + 1;
	int64_t *total_ns = dlsi_calloc(profile->alloc, profile->runs, sizeof *total_ns);
	int rc = total_ns ? run(profile, err) : dlsi_fail_memory(err);

	for (uint32_t r = 0; rc == 0 && r < profile->runs; r++) {
		rc = run(profile, err);
		for (uint32_t i = 0; rc == 0 && i < profile->facts.step_count; i++) {
			node_times(profile, dlsi_model_step(profile->model, i).node)[r] += profile->step_ns[i];
			total_ns[r] += profile->step_ns[i];
		}
	}
	for (uint32_t i = 0; rc == 0 && i < places; i++)
		profile->median_ns[i] = median(node_times(profile, i), profile->runs);
	if (rc == 0)
		profile->median_ns[places] = median(total_ns, profile->runs);
	dlsi_free(profile->alloc, total_ns);
	return rc;
}

/* ---- telling */

static double round_to(double number, double unit)
{
	return round(number / unit) * unit;
}

/* The kernels of a node's steps from *step on, which is set behind them; "none" where nothing is to be done. */
static char *list_kernels(const struct profile *profile, uint32_t node, uint32_t *step)
{
	struct dlsi_buffer text;
	size_t length;

	dlsi_buffer_init(&text, profile->alloc);
	for (; *step < profile->facts.step_count; ++*step) {
		struct dlsi_device_step now = dlsi_model_step(profile->model, *step);

		if (now.node != node)
			break;
		if (now.kernel)
			dlsi_buffer_printf(&text, "%s%s", text.length ? ", " : "", now.kernel);
	}
	if (!text.length)
		dlsi_buffer_printf(&text, "none");
	dlsi_buffer_append(&text, "", 1);
	if (text.failed) {
		dlsi_buffer_fini(&text);
		return NULL;
	}
	return (char *)dlsi_buffer_take(&text, &length);
}

/* A row; the node behind the last one is the handing out of outputs. */
static bool add_node(const struct profile *profile, cJSON *nodes, uint32_t number, uint32_t *step)
{
	bool last = number == profile->graph->node_count;
	const struct dlsi_node *node = last ? NULL : &profile->graph->nodes[number];
	char *kernels = list_kernels(profile, number, step);
	double ns = (double)profile->median_ns[number];
	double total_ns = (double)profile->median_ns[profile->graph->node_count + 1];
	double work = last ? 0 : dlsi_node_work(profile->graph, node, profile->piece);
	cJSON *row = cJSON_CreateObject();
	bool good = row && kernels && cJSON_AddStringToObject(row, "node", last ? "(outputs)" : node->name) &&
		    cJSON_AddStringToObject(row, "operator", last ? "-" : node->op->name) &&
		    cJSON_AddStringToObject(row, "kernel", kernels) &&
		    cJSON_AddNumberToObject(row, "ms", round_to(ns / 1e6, 1e-4)) &&
		    cJSON_AddNumberToObject(row, "share", total_ns > 0 ? round_to(ns / total_ns, 1e-4) : 0) &&
		    (work <= 0 || ns <= 0 || cJSON_AddNumberToObject(row, "gflops", round_to(work / ns, 1e-2)));

	dlsi_free(profile->alloc, kernels);
	if (good && cJSON_AddItemToArray(nodes, row))
		return true;
	cJSON_Delete(row);
	return false;
}

static bool add_nodes(const struct profile *profile, cJSON *json)
{
	cJSON *nodes = cJSON_AddArrayToObject(json, "nodes");
	uint32_t step = 0;

	for (uint32_t i = 0; nodes && i < profile->graph->node_count; i++)
		if (!add_node(profile, nodes, i, &step))
			return false;
	return nodes &&
	       (step == profile->facts.step_count || add_node(profile, nodes, profile->graph->node_count, &step));
}

static int tell(const struct profile *profile, char **json_out, struct dls_error *err)
{
	struct dls_model_memory memory = dlsi_profile_memory(profile->model);
	double total_ns = (double)profile->median_ns[profile->graph->node_count + 1], work = 0;
	cJSON *json = cJSON_CreateObject();
	char *text = NULL;

	for (uint32_t i = 0; i < profile->graph->node_count; i++)
		work += dlsi_node_work(profile->graph, &profile->graph->nodes[i], profile->piece);
	if (json && cJSON_AddNumberToObject(json, "batch", (double)profile->batch) &&
		cJSON_AddNumberToObject(json, "piece", (double)profile->piece) &&
		cJSON_AddNumberToObject(json, "threads", profile->threads) &&
		cJSON_AddNumberToObject(json, "runs", profile->runs) && add_nodes(profile, json) &&
		cJSON_AddNumberToObject(json, "ms", round_to(total_ns / 1e6, 1e-4)) &&
		(total_ns <= 0 || work <= 0 ||
			cJSON_AddNumberToObject(json, "gflops", round_to(work / total_ns, 1e-2))) &&
		cJSON_AddNumberToObject(json, "weight_bytes", (double)memory.weight_bytes) &&
		cJSON_AddNumberToObject(json, "activation_bytes", (double)memory.activation_bytes))
		text = dlsi_json_print(profile->alloc, json);
	cJSON_Delete(json);
	if (!text)
		return dlsi_fail_memory(err);
	*json_out = text;
	return 0;
}

struct dls_model_memory dlsi_profile_memory(const struct dlsi_model *model)
{
	struct dlsi_device_facts facts;
	struct dls_model_memory memory = DLS_MODEL_MEMORY_INIT;

	dlsi_model_facts(model, &facts);
	memory.weight_bytes = facts.packed_bytes + dlsi_graph_constant_bytes(dlsi_model_graph(model));
	memory.activation_bytes = facts.activation_bytes;
	return memory;
}

int dlsi_profile_measure(const struct dlsi_alloc *alloc, struct dlsi_model *model, const struct dls_tensor *inputs,
	int64_t batch, uint32_t runs, char **json_out, struct dls_error *err)
{
	struct profile profile = {.alloc = alloc,
		.model = model,
		.graph = dlsi_model_graph(model),
		.inputs = inputs,
		.batch = batch,
		.runs = runs};
	struct dlsi_model_parts parts;
	int rc = dlsi_model_prepare(model, batch, err);

	if (rc)
		return rc;
	parts = dlsi_model_parts(model, batch);
	profile.piece = parts.items;
	profile.threads = parts.threads;
	dlsi_model_facts(model, &profile.facts);
	rc = make_tensors(&profile, err);
	if (rc == 0)
		rc = make_times(&profile, err);
	if (rc == 0)
		rc = measure(&profile, err);
	if (rc == 0)
		rc = tell(&profile, json_out, err);
	dlsi_free(alloc, profile.median_ns);
	dlsi_free(alloc, profile.node_ns);
	dlsi_free(alloc, profile.step_ns);
	dlsi_free(alloc, profile.memory);
	dlsi_free(alloc, profile.tensors);
	return rc;
}
