#include "model/folder.h"

#include "base/json.h"
#include "model/shapes.h"
#include "op/list.h"
#include "reader/load.h"
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* A file is the graph alone; what is not there shows when it is opened as a folder. */
static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* One that is too long is not even read. */
static int read_onnx(struct dlsi_model_folder *folder, struct dls_error *err)
{
	size_t length;
	int rc = dlsi_file_read_head(folder->onnx_path, UINT64_MAX, NULL, 0, &length, err);

	if (rc)
		return rc;
	rc = dlsi_onnx_check_length(length, err);
	if (rc)
		return dlsi_fail_in(err, rc, "%s", folder->onnx_path);
	return dlsi_file_read(
		folder->alloc, folder->onnx_path, DLSI_ONNX_BYTES, &folder->onnx, &folder->onnx_length, err);
}

/* `path` is that of the ONNX file, or with a `name` that of the folder which has it. */
static int load_graph(struct dlsi_model_folder *folder, const char *path, const char *name, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = folder->alloc;
	struct dlsi_onnx onnx;
	int rc;

	folder->onnx_path = name ? dlsi_file_join(alloc, path, name) : dlsi_strdup(alloc, path);
	if (!folder->onnx_path)
		return dlsi_fail_memory(err);
	rc = dlsi_model_data_init(&folder->data, alloc, folder->onnx_path, err);
	if (rc == 0)
		rc = read_onnx(folder, err);
	if (rc)
		return rc;
	onnx = dlsi_model_folder_onnx(folder);
	rc = dlsi_graph_load(alloc, &onnx, &folder->graph, err);
	return rc && rc != DLS_ENOMEM ? dlsi_fail_in(err, rc, "%s", folder->onnx_path) : rc;
}

/* Reads a file of the folder that may be missing; *data_out is then NULL. */
static int read_if_there(const struct dlsi_alloc *alloc, const char *name, uint64_t limit, uint8_t **data_out,
	size_t *length_out, struct dls_error *err)
{
	int rc = dlsi_file_read(alloc, name, limit, data_out, length_out, err);

	if (rc != DLS_ENOTFOUND)
		return rc;
	*data_out = NULL;
	*length_out = 0;
	return 0;
}

static int read_description(
	struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	char *name = dlsi_file_join(alloc, path, DLSI_MODEL_JSON);
	uint8_t *text = NULL;
	size_t length;
	int rc = name ? read_if_there(alloc, name, DLSI_MODEL_JSON_BYTES, &text, &length, err) : dlsi_fail_memory(err);

	folder->has_description = text != NULL;
	if (rc == 0 && text)
		rc = dlsi_description_parse(&folder->description, name, text, length, err);
	dlsi_free(alloc, text);
	dlsi_free(alloc, name);
	return rc;
}

/* What the file leaves open model.json may know. */
static int size_graph(struct dlsi_model_folder *folder, struct dls_error *err)
{
	struct dlsi_graph *graph = folder->graph, *sized;
	struct dlsi_model_port inputs[DLSI_ROW_FIELDS];
	struct dlsi_onnx onnx;
	int rc;

	if (!graph->unsized || graph->input_count > DLSI_ROW_FIELDS)
		return 0;
	for (uint32_t i = 0; i < graph->input_count; i++)
		inputs[i] = dlsi_model_port_of(&graph->values[graph->inputs[i]]);
	folder->has_shapes =
		dlsi_model_shapes_described(&folder->description, inputs, graph->input_count, folder->shapes);
	if (!folder->has_shapes)
		return 0;
	onnx = dlsi_model_folder_onnx(folder);
	rc = dlsi_graph_load(folder->alloc, &onnx, &sized, err);
	if (rc)
		return rc == DLS_ENOMEM ? rc : dlsi_fail_in(err, rc, "%s", folder->onnx_path);
	dlsi_graph_destroy(graph);
	folder->graph = sized;
	return 0;
}

static int make_plan(
	struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	const struct dlsi_graph *graph = folder->graph;
	struct dlsi_model_port *all = dlsi_calloc(alloc, (size_t)graph->input_count + graph->output_count, sizeof *all);
	struct dlsi_model_ports ports = {.inputs = all,
		.outputs = all ? all + graph->input_count : NULL,
		.input_count = graph->input_count,
		.output_count = graph->output_count,
		.batchable = !graph->unbatchable && !graph->unsized,
		.unsized = graph->unsized};
	int rc;

	if (!all)
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; i < graph->input_count; i++)
		all[i] = dlsi_model_port_of(&graph->values[graph->inputs[i]]);
	for (uint32_t i = 0; i < graph->output_count; i++)
		all[graph->input_count + i] = dlsi_model_port_of(&graph->values[graph->outputs[i]]);
	rc = dlsi_model_plan_init(&folder->plan, alloc, &folder->description, &ports, err);
	if (rc && rc != DLS_ENOMEM)
		dlsi_fail_in(err, rc, "%s", path);
	dlsi_free(alloc, all);
	return rc;
}

/* Classes without names are of no use to the reader, and a list of another length is that of another model. */
static int check_labels(const struct dlsi_model_folder *folder, const char *name, struct dls_error *err)
{
	for (size_t i = 0; i < folder->plan.output_count; i++) {
		const struct dlsi_output_plan *output = &folder->plan.outputs[i];

		if (output->how->kind != DLSI_OUTPUT_CLASSES || folder->plan.unsized)
			continue;
		if (!folder->has_labels)
			return dlsi_fail(err, DLS_ENOTFOUND,
				"%s is missing; it needs a line for each of the %zu classes of the output \"%s\"", name,
				output->count, output->name);
		if (folder->labels.count != output->count)
			return dlsi_fail(err, DLS_EINVAL,
				"%s has %" PRIu32 " lines; the output \"%s\" has %zu classes and needs one for each",
				name, folder->labels.count, output->name, output->count);
	}
	return 0;
}

static int read_labels(
	struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	char *name = dlsi_file_join(alloc, path, DLSI_MODEL_LABELS);
	uint8_t *text = NULL;
	size_t length;
	int rc = name ? read_if_there(alloc, name, DLSI_LABELS_BYTES, &text, &length, err) : dlsi_fail_memory(err);

	folder->has_labels = text != NULL;
	if (rc == 0 && text) {
		rc = dlsi_labels_parse(alloc, text, length, &folder->labels, err);
		if (rc && rc != DLS_ENOMEM)
			dlsi_fail_in(err, rc, "%s", path);
	}
	if (rc == 0)
		rc = check_labels(folder, name, err);
	dlsi_free(alloc, text);
	dlsi_free(alloc, name);
	return rc;
}

int dlsi_model_folder_open(
	struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	struct dlsi_model_folder made = {
		.alloc = alloc, .data.alloc = alloc, .plan.alloc = alloc, .labels.alloc = alloc};
	bool alone = is_file(path);
	int rc;

	dlsi_description_init(&made.description, alloc);
	rc = load_graph(&made, path, alone ? NULL : DLSI_MODEL_ONNX, err);
	if (rc == 0 && !alone)
		rc = read_description(&made, alloc, path, err);
	if (rc == 0)
		rc = size_graph(&made, err);
	if (rc == 0)
		rc = make_plan(&made, alloc, path, err);
	if (rc == 0 && !alone)
		rc = read_labels(&made, alloc, path, err);
	if (rc)
		dlsi_model_folder_close(&made);
	else
		*folder = made; /* the plan points into the description's arrays, which stay where they are */
	return rc;
}

void dlsi_model_folder_close(struct dlsi_model_folder *folder)
{
	dlsi_labels_fini(&folder->labels);
	dlsi_model_plan_fini(&folder->plan);
	dlsi_description_fini(&folder->description);
	dlsi_graph_destroy(folder->graph);
	dlsi_model_data_fini(&folder->data);
	dlsi_free(folder->alloc, folder->onnx);
	dlsi_free(folder->alloc, folder->onnx_path);
}

struct dlsi_onnx dlsi_model_folder_onnx(struct dlsi_model_folder *folder)
{
	return (struct dlsi_onnx){.file = folder->onnx,
		.length = folder->onnx_length,
		.shapes = folder->has_shapes ? folder->shapes : NULL,
		.shape_count = folder->has_shapes ? folder->graph->input_count : 0,
		.find = dlsi_model_data_find,
		.find_arg = &folder->data};
}

static int add_source(const struct dlsi_model_folder *folder, const char *name, struct dlsi_bundle_source *sources,
	size_t *count, struct dls_error *err)
{
	char *path = *count ? dlsi_file_join(folder->alloc, folder->data.folder, name)
			    : dlsi_strdup(folder->alloc, folder->onnx_path);

	if (!path)
		return dlsi_fail_memory(err);
	sources[(*count)++] = (struct dlsi_bundle_source){.name = name, .path = path};
	return 0;
}

int dlsi_model_folder_sources(const struct dlsi_model_folder *folder, struct dlsi_bundle_source **sources_out,
	size_t *count_out, struct dls_error *err)
{
	struct dlsi_bundle_source *sources = dlsi_calloc(folder->alloc, 3 + folder->data.count, sizeof *sources);
	size_t count = 0;
	int rc = sources ? add_source(folder, DLSI_MODEL_ONNX, sources, &count, err) : dlsi_fail_memory(err);

	if (rc == 0 && folder->has_description)
		rc = add_source(folder, DLSI_MODEL_JSON, sources, &count, err);
	if (rc == 0 && folder->has_labels)
		rc = add_source(folder, DLSI_MODEL_LABELS, sources, &count, err);
	for (size_t i = 0; rc == 0 && i < folder->data.count; i++)
		rc = add_source(folder, folder->data.files[i].name, sources, &count, err);
	if (rc) {
		dlsi_model_folder_free_sources(folder, sources, count);
		return rc;
	}
	*sources_out = sources;
	*count_out = count;
	return 0;
}

void dlsi_model_folder_free_sources(
	const struct dlsi_model_folder *folder, struct dlsi_bundle_source *sources, size_t count)
{
	while (count)
		dlsi_free(folder->alloc, sources[--count].path);
	dlsi_free(folder->alloc, sources);
}

/* null stands for a dimension that the file leaves open, or for all if it says nothing of an output. */
static bool add_dims(cJSON *json, const struct dlsi_value *value)
{
	cJSON *dims = value->dtype ? cJSON_AddArrayToObject(json, "dims") : cJSON_AddNullToObject(json, "dims");

	for (uint32_t i = 0; dims && i < value->rank; i++) {
		cJSON *dim = value->open >> i & 1 ? cJSON_CreateNull() : cJSON_CreateNumber((double)value->dims[i]);

		if (!cJSON_AddItemToArray(dims, dim)) {
			cJSON_Delete(dim);
			return false;
		}
	}
	return dims != NULL;
}

static cJSON *add_port(cJSON *ports, const struct dlsi_value *value)
{
	cJSON *port = cJSON_CreateObject();

	if (!port || !cJSON_AddStringToObject(port, "name", value->name) ||
		(value->bounded && !cJSON_AddBoolToObject(port, "bounded", true)) ||
		(value->dtype && !cJSON_AddStringToObject(port, "dtype", dls_dtype_name(value->dtype))) ||
		!add_dims(port, value) || !cJSON_AddItemToArray(ports, port)) {
		cJSON_Delete(port);
		return NULL;
	}
	return port;
}

static bool add_inputs(cJSON *json, const struct dlsi_model_folder *folder)
{
	const struct dlsi_graph *graph = folder->graph;
	cJSON *ports = cJSON_AddArrayToObject(json, "inputs");
	bool good = ports != NULL;

	for (uint32_t i = 0; good && i < graph->input_count; i++) {
		bool is_image = folder->plan.inputs[i].how->kind == DLSI_INPUT_IMAGE;
		cJSON *port = add_port(ports, &graph->values[graph->inputs[i]]);

		good = port && cJSON_AddStringToObject(port, "kind", is_image ? "image" : "tensor");
	}
	return good;
}

static bool add_outputs(cJSON *json, const struct dlsi_model_folder *folder)
{
	const struct dlsi_graph *graph = folder->graph;
	cJSON *ports = cJSON_AddArrayToObject(json, "outputs");
	bool good = ports != NULL;

	for (uint32_t i = 0; good && i < graph->output_count; i++) {
		const struct dlsi_output_description *how = folder->plan.outputs[i].how;
		cJSON *port = add_port(ports, &graph->values[graph->outputs[i]]);

		good = port &&
		       cJSON_AddStringToObject(port, "kind", how->kind == DLSI_OUTPUT_CLASSES ? "classes" : "tensor");
		if (good && how->kind == DLSI_OUTPUT_CLASSES)
			good = cJSON_AddNumberToObject(port, "top", how->top) != NULL;
	}
	return good;
}

static bool add_operators(cJSON *json, const struct dlsi_graph *graph)
{
	cJSON *operators = cJSON_AddObjectToObject(json, "operators");

	for (size_t op = 0; operators && op < dlsi_op_count; op++) {
		uint32_t nodes = 0;

		for (uint32_t i = 0; i < graph->node_count; i++)
			nodes += graph->nodes[i].op == dlsi_op_list[op];
		if (nodes && !cJSON_AddNumberToObject(operators, dlsi_op_list[op]->name, nodes))
			return false;
	}
	return operators != NULL;
}

static double count_parameters(const struct dlsi_graph *graph)
{
	double count = 0;

	for (uint32_t i = 0; i < graph->value_count; i++)
		if (graph->values[i].data)
			count += (double)dlsi_value_count(&graph->values[i]);
	return count;
}

char *dlsi_model_folder_describe(const struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc)
{
	const struct dlsi_graph *graph = folder->graph;
	cJSON *json = cJSON_CreateObject();
	char *text = NULL;

	if (json && add_inputs(json, folder) && add_outputs(json, folder) && add_operators(json, graph) &&
		cJSON_AddNumberToObject(json, "parameters", count_parameters(graph)) &&
		cJSON_AddNumberToObject(json, "max_batch", folder->plan.max_batch) &&
		(graph->unsized || cJSON_AddBoolToObject(json, "batchable", !graph->unbatchable)) &&
		(!graph->unbatchable || cJSON_AddStringToObject(json, "unbatchable", graph->unbatchable)))
		text = dlsi_json_print(alloc, json);
	cJSON_Delete(json);
	return text;
}
