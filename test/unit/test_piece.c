/* How many items a model computes at once, and that a batch in pieces is what its items are. */
#include "device/device.h"
#include "device/model.h"
#include "device/piece.h"
#include "rewrite/rewrite.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdlib.h>

/* Of an item it reads and writes 512 KB, and it has 9 KB of weights. */
#define IMAGES "in x ? 16 64 64\nconst w 16 16 3 3\nnode Conv x w > c pads:I=1,1,1,1\nout c\n"

enum { PIXELS = 16 * 64 * 64, BATCH = 11 };

static int64_t piece_of(const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	int64_t items;

	unit_onnx(&file, &rng, text);
	assert_int_equal(unit_onnx_load(unit_alloc(), &file, &graph, NULL), 0);
	assert_int_equal(dlsi_graph_rewrite(graph, NULL), 0);
	items = dlsi_piece_items(graph);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return items;
}

static void test_is_as_small_as_weights_and_caches_allow(void **state)
{
	(void)state;
	assert_int_equal(piece_of(IMAGES), 4);
	/* 4 KB of an item: 256 fill a cache. */
	assert_int_equal(piece_of("in x ? 512\nnode Relu x > y\nout y\n"), 256);
	/* 10 KB of an item and 4 MB of weights, which 205 items outweigh. */
	assert_int_equal(piece_of("in x ? 2048\nconst w 2048 512\nnode MatMul x w > y\nout y\n"), 256);
	/* 256 KB of an item and 4 MB of weights. */
	assert_int_equal(piece_of("in x ? 16384\nconst w 16384 64\nnode Relu x > r\nnode MatMul r w > y\nout y\n"), 16);
	/* Only what is left of constants counts: the weights times factors, not both. */
	assert_int_equal(piece_of("in x ? 16384\nconst w 16384 64\nconst k 64\nnode Relu x > r\nnode MatMul r w > m\n"
				  "node Mul m k > y\nout y\n"),
		16);
	assert_int_equal(piece_of("in x 2 512\nnode Softmax x > y axis:i=0\nout y\n"), 1);
}

static struct dls_tensor tensor(float *data, int64_t batch)
{
	return (struct dls_tensor){.size = sizeof(struct dls_tensor),
		.dtype = DLS_FLOAT32,
		.rank = 4,
		.dims = {batch, 16, 64, 64},
		.data = data,
		.bytes = (size_t)batch * PIXELS * sizeof *data};
}

static void run(struct dlsi_model *model, int64_t batch, float *source, float *target)
{
	struct dls_tensor in = tensor(source, batch), out = tensor(target, batch);
	struct dls_error err;

	if (dlsi_model_run(model, batch, &in, &out, &err))
		fail_msg("%s", err.text);
}

static void test_a_batch_in_pieces_is_what_its_items_are(void **state)
{
	struct dlsi_rng rng = unit_rng(2);
	struct dlsi_device_facts piece, batch;
	struct dlsi_device *device;
	struct dlsi_model *model;
	struct dlsi_buffer file;
	float *source = malloc(BATCH * PIXELS * sizeof *source), *target = malloc(BATCH * PIXELS * sizeof *target);
	float *single = malloc(PIXELS * sizeof *single);

	(void)state;
	unit_onnx(&file, &rng, IMAGES);
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &device, NULL), 0);
	assert_int_equal(dlsi_model_load(unit_alloc(), device, "images",
				 &(struct dlsi_onnx){.file = file.data, .length = file.length}, &model, NULL),
		0);
	assert_int_equal(dlsi_model_piece(model), 4);
	for (size_t i = 0; i < BATCH * PIXELS; i++)
		source[i] = unit_random_float(&rng);
	run(model, BATCH, source, target);
	for (size_t item = 0; item < BATCH; item++) {
		run(model, 1, source + item * PIXELS, single);
		for (size_t i = 0; i < PIXELS; i++)
			assert_true(fabsf(single[i] - target[item * PIXELS + i]) < 1e-4F);
	}
	assert_int_equal(dlsi_model_prepare(model, 4, NULL), 0);
	dlsi_model_facts(model, &piece);
	assert_int_equal(dlsi_model_prepare(model, BATCH, NULL), 0);
	dlsi_model_facts(model, &batch);
	assert_int_equal(batch.activation_bytes, piece.activation_bytes);
	dlsi_model_destroy(model);
	dlsi_device_destroy(device);
	dlsi_buffer_fini(&file);
	free(source);
	free(target);
	free(single);
}

UNIT_MAIN(test_is_as_small_as_weights_and_caches_allow, test_a_batch_in_pieces_is_what_its_items_are)
