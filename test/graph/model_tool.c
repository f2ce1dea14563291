/* The engine behind a pipe, for tests and benches in Python; test/graph/engine.py speaks with it. Commands come on the
 * standard input, one a line:
 *
 *   load FILE              the model that later commands are about, with the data in other files of its folder
 *   run BATCH COUNT        runs it once; COUNT tensors follow, each a line "TYPE DIM..." and then its bytes. Of a model
 *                          whose sizes are open the batch is the one that the tensors have
 *   time BATCH MS          runs it again on the inputs of the last run, until MS milliseconds are over, at least once
 *   damage LENGTH AT BIT   reads and rewrites what the first LENGTH bytes of the model's file are with that bit of byte
 *                          AT turned (-1: with none); the model itself stays
 *
 * MODEL_TOOL_CACHE is the folder in which choices of kernels are kept; none are without it.
 *
 * The answer is a line "error CODE SENTENCE", or "ok" with these numbers behind it:
 *
 *   load: the nanoseconds that it took; how many inputs and outputs, for each of which a line "TYPE DIM...<tab>NAME"
 *         follows; and a last line, empty or the reason why items run one by one
 *   run:  the nanoseconds that it took; how many outputs, which follow as the inputs did
 *   time: how many runs there were and the nanoseconds of all */
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "device/device.h"
#include "device/model.h"
#include "model/data.h"
#include "model/sized.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 256, LINE = 8192, COPY_BYTES = 1 << 24 };

struct tool {
	struct dlsi_device *device;
	uint8_t *file; /* its bytes, which the model points into, as it does into those of `data` */
	struct dlsi_model_data data;
	struct dlsi_onnx onnx;
	struct dlsi_model *model;
	struct dlsi_sized sized; /* what becomes of a model whose sizes are open */
	struct dlsi_model *last; /* that was run */
	struct dls_tensor in[PORTS], out[PORTS];
	size_t in_count, out_count;
};

static void free_tensors(struct dls_tensor *tensors, size_t *count)
{
	while (*count)
		free((void *)tensors[--*count].data);
}

static void unload(struct tool *tool)
{
	free_tensors(tool->in, &tool->in_count);
	free_tensors(tool->out, &tool->out_count);
	dlsi_sized_fini(&tool->sized);
	dlsi_model_destroy(tool->model);
	tool->model = tool->last = NULL;
	dlsi_free(&dlsi_alloc_libc, tool->file);
	tool->file = NULL;
	dlsi_model_data_fini(&tool->data);
	tool->data = (struct dlsi_model_data){.alloc = &dlsi_alloc_libc};
}

static void print_shape(enum dls_dtype dtype, uint32_t rank, const int64_t *dims)
{
	printf("%s", dls_dtype_name(dtype));
	for (uint32_t i = 0; i < rank; i++)
		printf(" %" PRId64, dims[i]);
}

static void print_ports(const struct dlsi_model *model)
{
	size_t inputs = dlsi_model_input_count(model), outputs = dlsi_model_output_count(model);
	const char *reason = dlsi_model_unbatchable(model);

	printf(" %zu %zu\n", inputs, outputs);
	for (size_t i = 0; i < inputs + outputs; i++) {
		const struct dlsi_model_port *port =
			i < inputs ? dlsi_model_input(model, i) : dlsi_model_output(model, i - inputs);

		print_shape(port->dtype, port->rank, port->dims);
		printf("\t%s\n", port->name);
	}
	printf("%s\n", reason ? reason : "");
}

static int load(struct tool *tool, char *path, struct dls_error *err)
{
	int64_t begin = dlsi_clock_monotonic_ns();
	int rc;

	path[strcspn(path, "\n")] = 0;
	unload(tool);
	tool->onnx = (struct dlsi_onnx){.find = dlsi_model_data_find, .find_arg = &tool->data};
	tool->sized = (struct dlsi_sized){.alloc = &dlsi_alloc_libc, .device = tool->device};
	rc = dlsi_file_read(&dlsi_alloc_libc, path, DLSI_MODEL_FILE_BYTES, &tool->file, &tool->onnx.length, err);
	tool->onnx.file = tool->file;
	if (rc == 0)
		rc = dlsi_model_data_init(&tool->data, &dlsi_alloc_libc, path, err);
	if (rc == 0)
		rc = dlsi_model_load(&dlsi_alloc_libc, tool->device, path, &tool->onnx, &tool->model, err);
	if (rc == 0) {
		printf("ok %" PRId64, dlsi_clock_monotonic_ns() - begin);
		print_ports(tool->model);
	}
	return rc;
}

/* At the alignment that kernels are fastest with. */
static int give_memory(struct dls_tensor *tensor, struct dls_error *err)
{
	if (dls_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims, &tensor->bytes))
		return dlsi_fail(err, DLS_EINVAL, "a tensor's type or shape does not exist");
	tensor->data = aligned_alloc(64, (tensor->bytes + 64) / 64 * 64);
	return tensor->data ? 0 : dlsi_fail(err, DLS_ENOMEM, "no memory for a tensor");
}

static enum dls_dtype find_dtype(const char *name)
{
#define TRY(value, number, bytes, spelling)                                                                            \
	if (!strcmp(name, spelling))                                                                                   \
		return value;
	DLS_DTYPE_TABLE(TRY)
#undef TRY
	return 0;
}

static int read_tensor(struct dls_tensor *tensor, struct dls_error *err)
{
	char line[LINE], *rest = NULL, *word;
	int rc;

	if (!fgets(line, sizeof line, stdin) || !(word = strtok_r(line, " \n", &rest)))
		return dlsi_fail(err, DLS_EIO, "the input ended early");
	*tensor = (struct dls_tensor){.size = sizeof *tensor, .dtype = find_dtype(word)};
	while ((word = strtok_r(NULL, " \n", &rest)) && tensor->rank < DLS_TENSOR_RANK)
		tensor->dims[tensor->rank++] = atoll(word);
	rc = give_memory(tensor, err);
	if (rc == 0 && fread((void *)tensor->data, 1, tensor->bytes, stdin) != tensor->bytes)
		rc = dlsi_fail(err, DLS_EIO, "the input ended early");
	return rc;
}

static int read_inputs(struct tool *tool, size_t count, struct dls_error *err)
{
	int rc = count <= PORTS ? 0 : dlsi_fail(err, DLS_EINVAL, "%zu inputs are more than this program takes", count);

	free_tensors(tool->in, &tool->in_count);
	while (rc == 0 && tool->in_count < count)
		rc = read_tensor(&tool->in[tool->in_count++], err);
	return rc;
}

static int make_outputs(struct tool *tool, int64_t batch, struct dls_error *err)
{
	size_t count = dlsi_model_output_count(tool->last);
	int rc = count <= PORTS ? 0 : dlsi_fail(err, DLS_EINVAL, "%zu outputs are more than this program takes", count);

	free_tensors(tool->out, &tool->out_count);
	while (rc == 0 && tool->out_count < count) {
		const struct dlsi_model_port *port = dlsi_model_output(tool->last, tool->out_count);
		struct dls_tensor *tensor = &tool->out[tool->out_count++];

		*tensor = (struct dls_tensor){.size = sizeof *tensor, .dtype = port->dtype, .rank = port->rank};
		memcpy(tensor->dims, port->dims, sizeof port->dims);
		if (!dlsi_model_unbatchable(tool->last))
			tensor->dims[0] *= batch;
		rc = give_memory(tensor, err);
	}
	return rc;
}

static void print_outputs(const struct dls_tensor *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct dls_tensor *tensor = &outputs[i];

		print_shape(tensor->dtype, tensor->rank, tensor->dims);
		printf("\n");
		fwrite(tensor->data, 1, tensor->bytes, stdout);
	}
}

static int run(struct tool *tool, const char *words, struct dls_error *err)
{
	struct dls_tensor outputs[PORTS]; /* tool->out stays as large as the outputs can be */
	int64_t batch = 0, begin;
	size_t count = 0;
	int rc;

	if (sscanf(words, "%" SCNd64 " %zu", &batch, &count) != 2)
		return dlsi_fail(err, DLS_EINVAL, "run takes a batch size and a number of inputs");
	rc = read_inputs(tool, count, err);
	if (rc == 0 && count != dlsi_model_input_count(tool->model))
		rc = dlsi_fail(err, DLS_EINVAL, "the model takes %zu inputs", dlsi_model_input_count(tool->model));
	tool->last = tool->model;
	if (rc == 0 && dlsi_sized_wanted(tool->model, tool->in))
		rc = dlsi_sized_find(&tool->sized, "it", &tool->onnx, tool->in, count, &tool->last, &batch, err);
	if (rc == 0)
		rc = make_outputs(tool, batch, err);
	memcpy(outputs, tool->out, sizeof outputs);
	begin = dlsi_clock_monotonic_ns();
	if (rc == 0)
		rc = dlsi_model_run(tool->last, batch, tool->in, outputs, err);
	if (rc == 0) {
		printf("ok %" PRId64 " %zu\n", dlsi_clock_monotonic_ns() - begin, tool->out_count);
		print_outputs(outputs, tool->out_count);
	}
	return rc;
}

static int measure(struct tool *tool, const char *words, struct dls_error *err)
{
	int64_t batch = 0, milliseconds = 0, begin = dlsi_clock_monotonic_ns(), spent = 0;
	struct dls_tensor outputs[PORTS];
	uint64_t runs = 0;
	int rc = 0;

	if (sscanf(words, "%" SCNd64 " %" SCNd64, &batch, &milliseconds) != 2)
		return dlsi_fail(err, DLS_EINVAL, "time takes a batch size and milliseconds");
	if (tool->in_count < dlsi_model_input_count(tool->model) ||
		tool->out_count < dlsi_model_output_count(tool->model))
		return dlsi_fail(err, DLS_ESTATE, "the model has not been run yet");
	while (rc == 0 && (runs == 0 || spent < milliseconds * DLSI_MILLISECOND_NS)) {
		memcpy(outputs, tool->out, sizeof outputs);
		rc = dlsi_model_run(tool->last, batch, tool->in, outputs, err);
		spent = dlsi_clock_monotonic_ns() - begin;
		runs++;
	}
	if (rc == 0)
		printf("ok %" PRIu64 " %" PRId64 "\n", runs, spent);
	return rc;
}

static int damage(struct tool *tool, const char *words, struct dls_error *err)
{
	struct dlsi_onnx onnx = tool->onnx;
	struct dlsi_graph *graph;
	long at = 0, bit = 0;
	uint8_t *copy = NULL, *file = tool->file;
	int rc;

	if (sscanf(words, "%zu %ld %ld", &onnx.length, &at, &bit) != 3 || onnx.length > tool->onnx.length ||
		at >= (long)onnx.length)
		return dlsi_fail(err, DLS_EINVAL, "damage takes a length, a place in it and a bit");
	if (onnx.length <= COPY_BYTES) { /* so that a sanitizer sees what is read behind it */
		copy = malloc(onnx.length + !onnx.length);
		if (!copy)
			return dlsi_fail_memory(err);
		file = memcpy(copy, file, onnx.length);
	}
	if (at >= 0)
		file[at] ^= (uint8_t)(1 << bit);
	onnx.file = file;
	rc = dlsi_graph_load(&dlsi_alloc_libc, &onnx, &graph, err);
	if (rc == 0) {
		rc = graph->unsized ? 0 : dlsi_graph_rewrite(graph, err);
		dlsi_graph_destroy(graph);
	}
	if (at >= 0)
		file[at] ^= (uint8_t)(1 << bit);
	free(copy);
	if (rc == 0)
		printf("ok\n");
	return rc;
}

static int obey(struct tool *tool, char *line, struct dls_error *err)
{
	if (!strncmp(line, "load ", 5))
		return load(tool, line + 5, err);
	if (!tool->model)
		return dlsi_fail(err, DLS_ESTATE, "no model is loaded");
	if (!strncmp(line, "run ", 4))
		return run(tool, line + 4, err);
	if (!strncmp(line, "time ", 5))
		return measure(tool, line + 5, err);
	if (!strncmp(line, "damage ", 7))
		return damage(tool, line + 7, err);
	return dlsi_fail(err, DLS_EINVAL, "there is no such command");
}

int main(void)
{
	struct tool tool = {.data.alloc = &dlsi_alloc_libc};
	struct dls_error err = {0};
	char line[LINE];
	int rc = dlsi_device_create(
		&dlsi_alloc_libc, &dlsi_device_onednn, getenv("MODEL_TOOL_CACHE"), &tool.device, &err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
	while (rc == 0 && fgets(line, sizeof line, stdin)) {
		int failure = obey(&tool, line, &err);

		if (failure)
			printf("error %d %s\n", failure, err.text);
		fflush(stdout);
	}
	unload(&tool);
	dlsi_device_destroy(tool.device);
	return rc ? dls_error_exit_code(rc) : 0;
}
