/* Models on a device: ports, batches, plans, and what is refused. */
#include "base/limits.h"
#include "device/device.h"
#include "device/model.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NETWORK                                                                                                        \
	"in x ? 3 12 12\nconst w 16 3 3 3\nconst k 16\npositive s 16\nconst b 16\nconst m 16\npositive v 16\n"         \
	"const u 16 1 3 3\nconst p 16 16 1 1\nconst f 16 10\nconst g 10\n"                                             \
	"node Conv x w k > c strides:I=2,2 auto_pad:s=SAME_UPPER\nnode BatchNormalization c s b m v > n\n"             \
	"node Relu n > r\nnode Conv r u > d group:i=16 pads:I=1,1,1,1\nnode Conv d p > e\nnode Add e r > a\n"          \
	"node MaxPool a > q kernel_shape:I=2,2 strides:I=2,2\nnode GlobalAveragePool q > o\nnode Flatten o > l\n"      \
	"node Gemm l f g > z\nnode Softmax z > y\nout y\n"

enum { INPUT = 3 * 12 * 12, OUTPUT = 10, ITEMS = 12 };

struct loaded {
	struct dlsi_device *device;
	struct dlsi_model *model;
	struct dlsi_buffer file;
	uint8_t *moved; /* the file's bytes at an odd address, where no weight is aligned */
};

static int try(struct loaded *loaded, const struct dlsi_alloc *alloc, const char *text, struct dls_error *err)
{
	struct dlsi_rng rng = unit_rng(1);
	int rc;

	*loaded = (struct loaded){0};
	unit_onnx(&loaded->file, &rng, text);
	loaded->moved = malloc(loaded->file.length + 1);
	memcpy(loaded->moved + 1, loaded->file.data, loaded->file.length);
	rc = dlsi_device_create(alloc, &dlsi_device_onednn, NULL, &loaded->device, err);
	return rc ? rc
		  : dlsi_model_load(alloc, loaded->device, "net.onnx",
			    &(struct dlsi_onnx){.file = loaded->moved + 1, .length = loaded->file.length},
			    &loaded->model, err);
}

static void unload(struct loaded *loaded)
{
	dlsi_model_destroy(loaded->model);
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
	free(loaded->moved);
}

static void load(struct loaded *loaded, const char *text)
{
	struct dls_error err = {0};

	if (try(loaded, unit_alloc(), text, &err))
		fail_msg("%s", err.text);
}

static struct dls_tensor tensor(const struct dlsi_model_port *port, int64_t batch, const float *data)
{
	struct dls_tensor tensor = {.size = sizeof tensor, .dtype = DLS_FLOAT32, .rank = port->rank, .data = data};

	memcpy(tensor.dims, port->dims, sizeof port->dims);
	tensor.dims[0] = batch;
	dls_tensor_bytes(DLS_FLOAT32, tensor.rank, tensor.dims, &tensor.bytes);
	return tensor;
}

static int run(struct dlsi_model *model, int64_t batch, const float *input, float *output, struct dls_error *err)
{
	struct dls_tensor in = tensor(dlsi_model_input(model, 0), batch, input);
	struct dls_tensor out = tensor(dlsi_model_output(model, 0), batch, output);

	return dlsi_model_run(model, batch, &in, &out, err);
}

static void fill(float *data, size_t count)
{
	struct dlsi_rng rng = unit_rng(5);

	for (size_t i = 0; i < count; i++)
		data[i] = unit_random_float(&rng);
}

static void test_ports_are_those_of_the_file(void **state)
{
	struct loaded loaded;
	const struct dlsi_model_port *port;

	(void)state;
	load(&loaded, NETWORK);
	assert_int_equal(dlsi_model_input_count(loaded.model), 1);
	assert_int_equal(dlsi_model_output_count(loaded.model), 1);
	port = dlsi_model_input(loaded.model, 0);
	assert_string_equal(port->name, "x");
	assert_true(port->open && port->dtype == DLS_FLOAT32 && port->rank == 4);
	assert_true(port->dims[0] == 1 && port->dims[1] == 3 && port->dims[3] == 12);
	assert_string_equal(dlsi_model_output(loaded.model, 0)->name, "y");
	assert_null(dlsi_model_unbatchable(loaded.model));
	unload(&loaded);
}

/* Every batch size gives what the items give alone; there are more sizes than plans are kept, twice over. */
static void test_batches_give_what_items_give(void **state)
{
	static float input[ITEMS * INPUT], alone[ITEMS * OUTPUT], together[ITEMS * OUTPUT];
	struct loaded loaded;
	struct dls_error err;

	(void)state;
	assert_true(ITEMS > DLSI_PLANS_PER_MODEL);
	fill(input, ITEMS * INPUT);
	load(&loaded, NETWORK);
	for (int i = 0; i < ITEMS; i++)
		assert_int_equal(run(loaded.model, 1, input + i * INPUT, alone + i * OUTPUT, &err), 0);
	assert_true(fabsf(alone[0] - alone[OUTPUT]) > 1e-6F); /* items differ */
	for (int i = 0; i < 2 * ITEMS; i++) {
		int batch = 1 + i * 5 % ITEMS;

		memset(together, 0xff, sizeof together);
		assert_int_equal(run(loaded.model, batch, input, together, &err), 0);
		for (int k = 0; k < batch * OUTPUT; k++)
			assert_true(fabsf(alone[k] - together[k]) <= 1e-4F);
	}
	unload(&loaded);
}

static unsigned programs_made;

static int count_program(void *set, int64_t batch, void **program_out, struct dls_error *err)
{
	programs_made++;
	return dlsi_device_onednn.program_create(set, batch, program_out, err);
}

static void test_plans_used_last_are_kept(void **state)
{
	static float input[ITEMS * INPUT], output[ITEMS * OUTPUT];
	struct dlsi_device_ops counting = dlsi_device_onednn;
	struct loaded loaded;
	struct dls_error err;
	const int batches[] = {1, DLSI_PLANS_PER_MODEL + 1, 1, 2}; /* the second drops 2, the last one makes it again */
	const unsigned made[] = {0, 1, 0, 1};

	(void)state;
	load(&loaded, NETWORK);
	counting.program_create = count_program;
	loaded.device->ops = &counting;
	programs_made = 0;
	for (int batch = 1; batch <= DLSI_PLANS_PER_MODEL; batch++)
		assert_int_equal(run(loaded.model, batch, input, output, &err), 0);
	assert_int_equal(programs_made, DLSI_PLANS_PER_MODEL);
	for (int i = 0; i < 4; i++) {
		programs_made = 0;
		assert_int_equal(run(loaded.model, batches[i], input, output, &err), 0);
		assert_int_equal(programs_made, made[i]);
	}
	unload(&loaded);
}

static void test_wrong_tensors_are_named(void **state)
{
	static float input[2 * INPUT], output[2 * OUTPUT];
	struct loaded loaded;
	struct dls_tensor in, out;
	struct dls_error err;

	(void)state;
	load(&loaded, NETWORK);
	in = tensor(dlsi_model_input(loaded.model, 0), 2, input);
	out = tensor(dlsi_model_output(loaded.model, 0), 2, output);
	assert_int_equal(dlsi_model_run(loaded.model, 1, &in, &out, &err), DLS_EINVAL);
	assert_string_equal(
		err.text, "net.onnx: the input 'x' is float32 [2, 3, 12, 12]; the model takes float32 [1, 3, 12, 12]");
	in.bytes -= 4;
	assert_int_equal(dlsi_model_run(loaded.model, 2, &in, &out, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "bytes of data"));
	in.bytes += 4;
	out.bytes += 4;
	assert_int_equal(dlsi_model_run(loaded.model, 2, &in, &out, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "room for 84 bytes of the output 'y'; float32 [2, 10] needs 80"));
	assert_int_equal(run(loaded.model, 0, input, output, &err), DLS_EINVAL);
	assert_int_equal(run(loaded.model, DLSI_TASK_ITEMS + 1, input, output, &err), DLS_EINVAL);
	unload(&loaded);
}

static void test_unbatchable_models_run_one_by_one(void **state)
{
	struct loaded loaded;
	struct dls_error err;
	float input[8] = {1, 2, 3, 4, 5, 6, 7, 8}, output[8];

	(void)state;
	load(&loaded, "in x ? 4\nnode Softmax x > y axis:i=0\nout y");
	assert_non_null(strstr(dlsi_model_unbatchable(loaded.model), "axis 0"));
	assert_int_equal(run(loaded.model, 2, input, output, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "one by one: node 'node_y' (Softmax) normalises over axis 0"));
	assert_int_equal(run(loaded.model, 1, input, output, &err), 0);
	assert_true(output[0] == 1 && output[3] == 1);
	unload(&loaded);
}

/* Values that are inputs and outputs at once, constants that are outputs, an output that is taken again. */
static void test_outputs_come_from_anywhere(void **state)
{
	struct loaded loaded;
	struct dls_error err;
	float input[] = {-1, 2, -3, 4}, outputs[4][4];
	struct dls_tensor in, out[4];

	(void)state;
	load(&loaded, "in x ? 4\nfloats k 7 8 9 6\nnode Relu x > r\nnode Add r r > s\nnode Identity k > l\n"
		      "out r\nout s\nout x\nout l\n");
	assert_non_null(dlsi_model_unbatchable(loaded.model)); /* for the constant's sake */
	in = tensor(dlsi_model_input(loaded.model, 0), 1, input);
	for (int i = 0; i < 4; i++)
		out[i] = (struct dls_tensor){.data = outputs[i], .bytes = sizeof outputs[i]};
	assert_int_equal(dlsi_model_run(loaded.model, 1, &in, out, &err), 0);
	for (int i = 0; i < 4; i++) {
		float r = input[i] > 0 ? input[i] : 0;

		assert_true(outputs[0][i] == r && outputs[1][i] == 2 * r && outputs[2][i] == input[i]);
	}
	assert_true(outputs[3][0] == 7 && outputs[3][3] == 6);
	assert_int_equal(out[3].rank, 1);
	unload(&loaded);
}

static void test_unknown_operators_are_named_with_the_file(void **state)
{
	struct loaded loaded;
	struct dls_error err;

	(void)state;
	assert_int_equal(try(&loaded, unit_alloc(), "in x 1 4\nnode Frob x > y\nout y", &err), DLS_EUNSUPPORTED);
	assert_string_equal(err.text, "net.onnx: node 'node_y' uses the operator Frob, which is not supported");
	unload(&loaded);
}

/* Also in the middle of making a plan; the model then works once memory is there again. */
static void test_memory_exhaustion_is_an_error(void **state)
{
	static float input[INPUT], output[OUTPUT];
	struct loaded loaded;
	struct dls_error err;
	int rc = DLS_ENOMEM;

	(void)state;
	fill(input, INPUT);
	for (unsigned n = 1; rc == DLS_ENOMEM; n++) {
		rc = try(&loaded, unit_alloc_failing_at(n), NETWORK, &err);
		if (rc == 0) {
			rc = run(loaded.model, 1, input, output, &err);
			assert_true(rc == 0 || rc == DLS_ENOMEM);
			unit_alloc_failing_at(1000000);
			assert_int_equal(run(loaded.model, 1, input, output, &err), 0);
		}
		unload(&loaded);
	}
	assert_int_equal(rc, 0);
}

/* The buffer has room for the most that there can be; every run tells how many there are. */
static void test_outputs_may_be_of_any_size_up_to_a_bound(void **state)
{
	static const float inputs[][3] = {{0, 5, 7}, {0, 0, 0}, {1, 2, 3}};
	static const int64_t counts[] = {2, 0, 3};
	struct loaded loaded;

	(void)state;
	load(&loaded, "in x 3\nnode NonZero x > y\nout y\n");
	assert_true(dlsi_model_output(loaded.model, 0)->bounded);
	assert_int_equal(dlsi_model_output(loaded.model, 0)->dims[1], 3);
	assert_non_null(strstr(dlsi_model_unbatchable(loaded.model), "first dimension"));
	for (int i = 0; i < 3; i++) {
		struct dls_tensor in = tensor(dlsi_model_input(loaded.model, 0), 3, inputs[i]);
		int64_t found[3] = {-1, -1, -1};
		struct dls_tensor out = {.size = sizeof out, .data = found, .bytes = sizeof found};

		assert_int_equal(dlsi_model_run(loaded.model, 1, &in, &out, NULL), 0);
		assert_true(out.dtype == DLS_INT64 && out.rank == 2 && out.dims[0] == 1);
		assert_int_equal(out.dims[1], counts[i]);
		assert_int_equal(out.bytes, (size_t)counts[i] * sizeof *found);
		for (int64_t k = 0; k < counts[i]; k++)
			assert_int_equal(found[k], k + (i == 0));
	}
	unload(&loaded);
}

UNIT_MAIN(test_ports_are_those_of_the_file, test_batches_give_what_items_give, test_plans_used_last_are_kept,
	test_wrong_tensors_are_named, test_unbatchable_models_run_one_by_one, test_outputs_come_from_anywhere,
	test_unknown_operators_are_named_with_the_file, test_outputs_may_be_of_any_size_up_to_a_bound,
	test_memory_exhaustion_is_an_error)
