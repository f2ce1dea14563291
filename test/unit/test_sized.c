/* Models whose files leave sizes open: each set of sizes gives what a file with these sizes gives, a batch where rows
 * stay apart, and few sets are kept. */
#include "device/device.h"
#include "model/sized.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4096, TEXT = 512 };

#define CONV(n, h, w)                                                                                                  \
	"in x " n " 3 " h " " w "\nconst k 8 3 3 3\nnode Conv x k > c pads:I=1,1,1,1 strides:I=2,2\nnode Relu c > r\n" \
	"node GlobalAveragePool r > y\nout y\nout r\n"

/* Softmax over axis 0 mixes what could be items. */
#define MIXED "in x ? ?\nnode Softmax x > y axis:i=0\nout y\n"

static float numbers[NUMBERS];

struct loaded {
	struct dlsi_device *device;
	struct dlsi_buffer file;
	struct dlsi_onnx onnx;
	struct dlsi_sized sized;
};

static void load(struct loaded *loaded, const char *text)
{
	struct dlsi_rng rng = unit_rng(1);

	*loaded = (struct loaded){0};
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (float)(i * 37 % 101) / 50 - 1;
	unit_onnx(&loaded->file, &rng, text);
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &loaded->device, NULL), 0);
	loaded->onnx = (struct dlsi_onnx){.file = loaded->file.data, .length = loaded->file.length};
	loaded->sized = (struct dlsi_sized){.alloc = unit_alloc(), .device = loaded->device};
}

static void unload(struct loaded *loaded)
{
	dlsi_sized_fini(&loaded->sized);
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
}

static struct dls_tensor tensor(uint32_t rank, const int64_t *dims)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_FLOAT32;
	tensor.rank = rank;
	memcpy(tensor.dims, dims, rank * sizeof *dims);
	tensor.data = numbers;
	assert_int_equal(dls_tensor_bytes(DLS_FLOAT32, rank, dims, &tensor.bytes), 0);
	assert_true(tensor.bytes <= sizeof numbers);
	return tensor;
}

static struct dlsi_model *find(struct loaded *loaded, const struct dls_tensor *input, int64_t batch)
{
	struct dlsi_model *model;
	struct dls_error err;
	int64_t found;

	if (dlsi_sized_find(&loaded->sized, "net.onnx", &loaded->onnx, input, 1, &model, &found, &err))
		fail_msg("%s", err.text);
	assert_int_equal(found, batch);
	return model;
}

/* Runs the model and leaves its outputs, which the caller frees. */
static void run(struct dlsi_model *model, int64_t batch, const struct dls_tensor *input, struct dls_tensor *outputs)
{
	struct dls_error err;

	for (size_t i = 0; i < dlsi_model_output_count(model); i++) {
		assert_int_equal(dlsi_model_output_bytes(model, i, batch, &outputs[i].bytes), 0);
		outputs[i].data = test_calloc(1, outputs[i].bytes + 1);
	}
	if (dlsi_model_run(model, batch, input, outputs, &err))
		fail_msg("%s", err.text);
}

static void free_outputs(struct dls_tensor *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		test_free((void *)(uintptr_t)outputs[i].data);
}

static void test_each_set_of_sizes_is_as_if_it_were_the_files(void **state)
{
	static const int64_t shapes[][4] = {{1, 3, 9, 9}, {2, 3, 9, 9}, {3, 3, 7, 12}, {1, 3, 32, 5}, {5, 3, 3, 4}};
	struct loaded loaded;

	(void)state;
	load(&loaded, CONV("?", "?", "?"));
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct dls_tensor input = tensor(4, shapes[i]), ours[2], theirs[2];
		struct dlsi_model *model = find(&loaded, &input, shapes[i][0]), *fixed;
		struct loaded other;
		char text[TEXT];

		snprintf(text, sizeof text, CONV("?", "%d", "%d"), (int)shapes[i][2], (int)shapes[i][3]);
		load(&other, text);
		assert_int_equal(dlsi_model_load(unit_alloc(), loaded.device, "it", &other.onnx, &fixed, NULL), 0);
		run(model, shapes[i][0], &input, ours);
		run(fixed, shapes[i][0], &input, theirs);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(ours[k].rank, 4);
			assert_memory_equal(ours[k].dims, theirs[k].dims, 4 * sizeof *ours[k].dims);
			assert_memory_equal(ours[k].data, theirs[k].data, theirs[k].bytes);
		}
		free_outputs(ours, 2);
		free_outputs(theirs, 2);
		dlsi_model_destroy(fixed);
		unload(&other);
	}
	unload(&loaded);
}

static void test_few_sets_are_kept(void **state)
{
	struct dlsi_model *first, *last;
	struct loaded loaded;
	int models = 0;

	(void)state;
	load(&loaded, CONV("?", "?", "?"));
	for (int64_t side = 3; side < 6 + DLSI_SIZES_PER_MODEL; side++) {
		struct dls_tensor three = tensor(4, (int64_t[]){3, 3, side, side});
		struct dls_tensor five = tensor(4, (int64_t[]){5, 3, side, side});

		first = find(&loaded, &three, 3);
		last = find(&loaded, &five, 5);
		assert_ptr_equal(first, last); /* the batch is no size */
	}
	for (int i = 0; i < DLSI_SIZES_PER_MODEL; i++)
		models += loaded.sized.at[i].model != NULL;
	assert_int_equal(models, DLSI_SIZES_PER_MODEL);
	unload(&loaded);
}

/* Where rows are mixed the first dimension is a size. */
static void test_what_is_no_batch(void **state)
{
	struct loaded loaded;

	(void)state;
	load(&loaded, MIXED);
	for (int time = 0; time < 2; time++) {
		for (int64_t rows = 0; rows < 4; rows++) {
			struct dls_tensor input = tensor(2, (int64_t[]){rows, 5}), output;
			float sum = 0;

			run(find(&loaded, &input, 1), 1, &input, &output);
			assert_int_equal(output.dims[0], rows);
			for (int64_t i = 0; i < rows; i++)
				sum += ((const float *)output.data)[i * 5];
			assert_true(rows == 0 || (sum > 0.999F && sum < 1.001F));
			free_outputs(&output, 1);
		}
	}
	unload(&loaded);
}

static void assert_refused(struct loaded *loaded, const struct dls_tensor *input, int code, const char *words)
{
	struct dlsi_model *model;
	struct dls_error err;
	int64_t batch;

	assert_int_equal(
		dlsi_sized_find(&loaded->sized, "net.onnx", &loaded->onnx, input, 1, &model, &batch, &err), code);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void test_sizes_that_cannot_be(void **state)
{
	struct dls_tensor channels = tensor(4, (int64_t[]){2, 4, 9, 9}), flat = tensor(3, (int64_t[]){3, 9, 9});
	struct dls_tensor small = tensor(4, (int64_t[]){2, 3, 2, 2}), good = tensor(4, (int64_t[]){2, 3, 9, 9});
	struct loaded loaded;

	(void)state;
	load(&loaded, "in x ? 3 ? ?\nconst k 8 3 3 3\nnode Conv x k > y\nout y\n");
	assert_refused(&loaded, &channels, DLS_EINVAL,
		"net.onnx: the input 'x' is float32 [2, 4, 9, 9]; the model takes float32 [?, 3, ?, ?]");
	assert_refused(&loaded, &flat, DLS_EINVAL, "float32 [3, 9, 9]; the model takes float32 [?, 3, ?, ?]");
	assert_refused(&loaded, &small, DLS_EFORMAT, "node 'node_y' (Conv)");
	find(&loaded, &good, 2);
	unload(&loaded);
}

static void test_a_model_without_its_sizes(void **state)
{
	struct dlsi_model *model;
	struct loaded loaded;
	struct dls_error err;

	(void)state;
	load(&loaded, CONV("?", "?", "8"));
	assert_int_equal(dlsi_model_load(unit_alloc(), loaded.device, "net.onnx", &loaded.onnx, &model, &err), 0);
	assert_true(dlsi_model_unsized(model));
	assert_memory_equal(dlsi_model_input(model, 0)->dims, ((int64_t[]){1, 3, -1, 8}), 4 * sizeof(int64_t));
	assert_int_equal(dlsi_model_input(model, 0)->open, 1 | 4);
	assert_int_equal(dlsi_model_prepare(model, 1, &err), DLS_ESTATE);
	assert_non_null(strstr(err.text, "net.onnx leaves sizes of its inputs open"));
	dlsi_model_destroy(model);
	unload(&loaded);
}

static void test_memory_runs_out(void **state)
{
	struct dls_tensor input = tensor(4, (int64_t[]){2, 3, 9, 9});
	struct dlsi_model *model;
	struct loaded loaded;
	int64_t batch;
	unsigned n = 0;
	int rc;

	(void)state;
	load(&loaded, CONV("?", "?", "?"));
	do {
		loaded.sized.alloc = unit_alloc_failing_at(++n);
		rc = dlsi_sized_find(&loaded.sized, "it", &loaded.onnx, &input, 1, &model, &batch, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	} while (rc);
	assert_true(n > 10);
	assert_int_equal(batch, 2);
	unload(&loaded);
}

UNIT_MAIN(test_each_set_of_sizes_is_as_if_it_were_the_files, test_few_sets_are_kept, test_what_is_no_batch,
	test_sizes_that_cannot_be, test_a_model_without_its_sizes, test_memory_runs_out)
