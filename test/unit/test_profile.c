/* What is told of a model's nodes: each once, with kernels, times that add up, and the operations of their definition.
 */
#include "base/json.h"
#include "model/profile.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <math.h>
#include <string.h>

enum { BATCH = 3, RUNS = 3 };

#define NETWORK                                                                                                        \
	"in x ? 8 12 12\nconst w 16 4 3 3\nconst u 16 2 2 2\nconst f 1152 10\nconst g 10\n"                            \
	"node Conv x w > c group:i=2 pads:I=1,1,1,1\nnode ConvTranspose c u > t strides:I=2,2\nnode Identity t > i\n"  \
	"node Flatten i > l\nnode Gemm l f g > z\nnode Softmax z > y\nout y\n"

struct loaded {
	struct dlsi_device *device;
	struct dlsi_model *model;
	struct dlsi_buffer file;
};

static void load(struct loaded *loaded, const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dls_error err = {0};

	*loaded = (struct loaded){0};
	unit_onnx(&loaded->file, &rng, text);
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &loaded->device, &err), 0);
	if (dlsi_model_load(unit_alloc(), loaded->device, "net.onnx",
		    &(struct dlsi_onnx){.file = loaded->file.data, .length = loaded->file.length}, &loaded->model,
		    &err))
		fail_msg("%s", err.text);
}

static void unload(struct loaded *loaded)
{
	dlsi_model_destroy(loaded->model);
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
}

static cJSON *profile(struct loaded *loaded, int64_t batch, uint32_t runs)
{
	struct dls_error err = {0};
	cJSON *json = NULL;
	char *text;

	if (dlsi_profile_measure(unit_alloc(), loaded->model, NULL, batch, runs, &text, &err))
		fail_msg("%s", err.text);
	assert_int_equal(dlsi_json_parse("it", text, strlen(text), 100000, &json, &err), 0);
	dlsi_free(unit_alloc(), text);
	return json;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *member = cJSON_GetObjectItem(object, name);

	if (!cJSON_IsNumber(member))
		fail_msg("no number \"%s\"", name);
	return member->valuedouble;
}

static const char *text(const cJSON *object, const char *name)
{
	const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));

	assert_non_null(found);
	return found;
}

/* Within what is lost by rounding: half of 0.0001 ms, half of 0.01 gflops. */
static void assert_operations(const cJSON *row, double expected)
{
	const cJSON *gflops = cJSON_GetObjectItem(row, "gflops");
	double ns = number(row, "ms") * 1e6;

	assert_true(ns >= 0);
	if (expected <= 0) {
		assert_null(gflops);
		return;
	}
	assert_true((number(row, "gflops") - 0.006) * (ns - 51) <= expected);
	assert_true((number(row, "gflops") + 0.006) * (ns + 51) >= expected);
}

static void test_each_node_has_its_kernel_its_time_and_its_operations(void **state)
{
	static const struct {
		const char *node, *operator;
		double operations; /* of one item */
	} expected[] = {
		{"node_c", "Conv", 2.0 * 16 * 12 * 12 * 4 * 9},
		{"node_t", "ConvTranspose", 2.0 * 16 * 12 * 12 * 2 * 4},
		{"node_z", "Gemm", 2.0 * 1152 * 10},
		{"node_y", "Softmax", 0},
	};
	struct loaded loaded;
	const cJSON *row;
	double share = 0;
	size_t count = 0;
	cJSON *json;

	(void)state;
	load(&loaded, NETWORK);
	json = profile(&loaded, BATCH, RUNS);
	cJSON_ArrayForEach (row, cJSON_GetObjectItem(json, "nodes")) {
		assert_true(count < sizeof expected / sizeof *expected);
		assert_string_equal(text(row, "node"), expected[count].node);
		assert_string_equal(text(row, "operator"), expected[count].operator);
		assert_string_not_equal(text(row, "kernel"), "none");
		assert_operations(row, BATCH * expected[count].operations);
		share += number(row, "share");
		count++;
	}
	assert_int_equal(count, sizeof expected / sizeof *expected);
	assert_true(share > 0.2); /* of medians, which need not be one whole */
	assert_true(number(json, "ms") > 0);
	assert_int_equal(number(json, "batch"), BATCH);
	assert_int_equal(number(json, "runs"), RUNS);
	assert_true(number(json, "threads") >= 1);
	cJSON_Delete(json);
	unload(&loaded);
}

/* Of one run the medians are its times: those of nodes with several steps, too, add up to the whole. */
static void test_times_of_nodes_are_the_whole(void **state)
{
	struct loaded loaded;
	const cJSON *row;
	double ms = 0;
	cJSON *json;

	(void)state;
	load(&loaded, NETWORK);
	json = profile(&loaded, 64, 1);
	cJSON_ArrayForEach (row, cJSON_GetObjectItem(json, "nodes"))
		ms += number(row, "ms");
	assert_true(fabs(ms - number(json, "ms")) < 0.001);
	cJSON_Delete(json);
	unload(&loaded);
}

/* Weights are shared by batch sizes, activations grow with them. */
static void test_memory_follows_the_batch(void **state)
{
	const double weights = (16 * 4 * 9 + 16 * 2 * 4 + 1152 * 10 + 10) * sizeof(float);
	struct loaded loaded;
	cJSON *one, *many;

	(void)state;
	load(&loaded, NETWORK);
	one = profile(&loaded, 1, 1);
	many = profile(&loaded, 16, 1);
	assert_true(number(one, "weight_bytes") >= weights);
	assert_true(number(one, "activation_bytes") >= 2 * 24 * 24 * sizeof(float));
	assert_true(number(many, "activation_bytes") >= 16 * 2 * 24 * 24 * sizeof(float));
	cJSON_Delete(one);
	cJSON_Delete(many);
	unload(&loaded);
}

/* An output that is an input takes a step that is no node's; one that is bounded shrinks at each run. */
static void test_outputs_of_every_kind(void **state)
{
	struct loaded loaded;
	const cJSON *nodes, *row;
	cJSON *json;

	(void)state;
	load(&loaded, "in x 4 4\nnode Identity x > y\nout y\n");
	json = profile(&loaded, 1, 1);
	nodes = cJSON_GetObjectItem(json, "nodes");
	row = cJSON_GetArrayItem(nodes, cJSON_GetArraySize(nodes) - 1);
	assert_string_equal(text(row, "node"), "(outputs)");
	cJSON_Delete(json);
	unload(&loaded);
	load(&loaded, "in x 4 4\nnode NonZero x > y\nout y\n");
	json = profile(&loaded, 1, 1);
	assert_string_equal(text(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "nodes"), 0), "kernel"), "eval");
	cJSON_Delete(json);
	unload(&loaded);
}

static void test_inputs_that_are_given(void **state)
{
	static float pixels[BATCH * 8 * 12 * 12];
	struct dls_tensor input = {.size = sizeof input,
		.dtype = DLS_FLOAT32,
		.rank = 4,
		.dims = {BATCH, 8, 12, 12},
		.data = pixels,
		.bytes = sizeof pixels};
	struct loaded loaded;
	struct dls_error err;
	char *json = NULL;

	(void)state;
	load(&loaded, NETWORK);
	assert_int_equal(dlsi_profile_measure(unit_alloc(), loaded.model, &input, BATCH, 1, &json, &err), 0);
	assert_non_null(strstr(json, "\"batch\":3"));
	dlsi_free(unit_alloc(), json);
	json = NULL;
	assert_int_equal(
		dlsi_profile_measure(unit_alloc(), loaded.model, &input, BATCH + 1, 1, &json, &err), DLS_EINVAL);
	assert_null(json);
	unload(&loaded);
}

static void test_memory_runs_out(void **state)
{
	struct loaded loaded;
	struct dls_error err;
	char *json = NULL;
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	load(&loaded, NETWORK);
	assert_int_equal(dlsi_model_prepare(loaded.model, 1, &err), 0);
	for (n = 1; rc; n++) {
		rc = dlsi_profile_measure(unit_alloc_failing_at(n), loaded.model, NULL, 1, 1, &json, &err);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		assert_true(rc == 0 || !json);
	}
	assert_true(n > 6);
	dlsi_free(unit_alloc(), json);
	assert_int_equal(dlsi_profile_measure(unit_alloc(), loaded.model, NULL, 0, 1, &json, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "a batch is 1 to"));
	unload(&loaded);
}

UNIT_MAIN(test_each_node_has_its_kernel_its_time_and_its_operations, test_times_of_nodes_are_the_whole,
	test_memory_follows_the_batch, test_outputs_of_every_kind, test_inputs_that_are_given, test_memory_runs_out)
