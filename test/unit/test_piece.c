/* How many items a model computes at once, that a batch in pieces is what its items are, and that threads which take
 * pieces apart give the bits that one thread gives. */
#include "base/thread.h"
#include "device/cost.h"
#include "device/device.h"
#include "device/model.h"
#include "device/piece.h"
#include "kernel/parallel.h"
#include "rewrite/rewrite.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of an item it reads and writes 512 KB, and it has 9 KB of weights. */
#define IMAGES "in x ? 16 64 64\nconst w 16 16 3 3\nnode Conv x w > c pads:I=1,1,1,1\nout c\n"

enum { PIXELS = 16 * 64 * 64, BATCH = 11 };

static struct dlsi_piece cutting_of(const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	struct dlsi_piece piece;

	unit_onnx(&file, &rng, text);
	assert_int_equal(unit_onnx_load(unit_alloc(), &file, &graph, NULL), 0);
	assert_int_equal(dlsi_graph_rewrite(graph, NULL), 0);
	piece = dlsi_piece_of(graph, dlsi_cost_item_ns(graph, DLSI_ISA_AVX2));
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return piece;
}

static int64_t piece_of(const char *text)
{
	return cutting_of(text).items;
}

/* Of an item it reads and writes 32 MB; its weights are as large as is said, but not there. */
static struct dlsi_piece cutting_beside(size_t weights)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	struct dlsi_piece piece;

	unit_onnx(&file, &rng, "in x ? 4194304\nconst w 1 1\nnode Mul x w > y\nout y\n");
	assert_int_equal(unit_onnx_load(unit_alloc(), &file, &graph, NULL), 0);
	for (uint32_t i = 0; i < graph->value_count; i++)
		if (graph->values[i].data)
			graph->values[i].dims[0] = (int64_t)(weights / sizeof(float));
	piece = dlsi_piece_of(graph, 1);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return piece;
}

static void test_takes_no_more_memory_than_a_model_should(void **state)
{
	(void)state;
	assert_int_equal(cutting_beside((size_t)300 << 20).alone, 8);
	assert_int_equal(cutting_beside((size_t)3000 << 20).alone, 8);
	assert_int_equal(cutting_beside((size_t)3000 << 20).items, 8);
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

struct loaded {
	struct dlsi_buffer file;
	struct dlsi_device *device;
	struct dlsi_model *model;
	float *source, *target; /* of BATCH items */
	int team;               /* of this thread before */
};

static struct dls_tensor tensor(const float *data, int64_t batch)
{
	return (struct dls_tensor){.size = sizeof(struct dls_tensor),
		.dtype = DLS_FLOAT32,
		.rank = 4,
		.dims = {batch, 16, 64, 64},
		.data = data,
		.bytes = (size_t)batch * PIXELS * sizeof *data};
}

static void run(struct dlsi_model *model, int64_t batch, const float *source, float *target)
{
	struct dls_tensor in = tensor(source, batch), out = tensor(target, batch);
	struct dls_error err;

	if (dlsi_model_run(model, batch, &in, &out, &err))
		fail_msg("%s", err.text);
}

static struct loaded load(const struct dlsi_alloc *alloc)
{
	struct dlsi_rng rng = unit_rng(2);
	struct loaded loaded = {.source = malloc(BATCH * PIXELS * sizeof(float)),
		.target = malloc(BATCH * PIXELS * sizeof(float)),
		.team = dlsi_parallel_threads()};
	struct dlsi_onnx onnx = {0};

	unit_onnx(&loaded.file, &rng, IMAGES);
	onnx.file = loaded.file.data;
	onnx.length = loaded.file.length;
	assert_int_equal(dlsi_device_create(alloc, &dlsi_device_onednn, NULL, &loaded.device, NULL), 0);
	assert_int_equal(dlsi_model_load(alloc, loaded.device, "images", &onnx, &loaded.model, NULL), 0);
	for (size_t i = 0; i < BATCH * PIXELS; i++)
		loaded.source[i] = unit_random_float(&rng);
	return loaded;
}

static void unload(struct loaded *loaded)
{
	dlsi_parallel_set_threads(loaded->team);
	dlsi_model_destroy(loaded->model);
	dlsi_device_destroy(loaded->device);
	dlsi_buffer_fini(&loaded->file);
	free(loaded->source);
	free(loaded->target);
}

static void test_a_batch_in_pieces_is_what_its_items_are(void **state)
{
	struct loaded loaded = load(unit_alloc());
	struct dlsi_device_facts piece, batch;
	struct dlsi_model *model = loaded.model;
	const float *source = loaded.source;
	float *target = loaded.target, *single = malloc(PIXELS * sizeof *single);

	(void)state;
	dlsi_parallel_set_threads(1);
	assert_int_equal(dlsi_model_parts(model, BATCH).items, 4);
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
	free(single);
	unload(&loaded);
}

static void test_threads_are_apart_where_each_has_an_item(void **state)
{
	const struct dlsi_piece images = cutting_of(IMAGES);
	/* A millisecond for the weights, which are read for next to nothing; less work than threads cost; sizes that
	 * only a run tells. */
	const struct dlsi_piece heavy = cutting_of("in x ? 2048\nconst w 2048 1280\nnode MatMul x w > y\nout y\n");
	const struct dlsi_piece small = cutting_of("in x ? 512\nnode Relu x > y\nout y\n");
	const struct dlsi_piece whole = {.items = 4, .alone = 2, .whole = true, .item_ns = 1e9};

	(void)state;
	assert_int_equal(dlsi_piece_cut(&images, 1, 2).threads, 2);
	assert_int_equal(dlsi_piece_cut(&images, 2, 2).threads, 1);
	assert_int_equal(dlsi_piece_cut(&images, 2, 2).count, 2);
	assert_int_equal(images.alone, 2);
	assert_int_equal(dlsi_piece_cut(&images, 3, 2).count, 2);
	assert_int_equal(dlsi_piece_cut(&images, 9, 2).count, 6);
	assert_int_equal(dlsi_piece_cut(&images, 63, 64).threads, 64);
	assert_int_equal(dlsi_piece_cut(&images, 65, 64).count, 64);
	assert_int_equal(dlsi_piece_cut(&images, 9, 1).count, 3);
	assert_int_equal(dlsi_piece_cut(&heavy, 8, 2).threads, 2);
	assert_int_equal(dlsi_piece_cut(&small, 8, 2).threads, 2);
	assert_int_equal(dlsi_piece_cut(&whole, 8, 2).count, 1);
	assert_int_equal(dlsi_piece_cut(&whole, 8, 2).threads, 2);
}

static void test_no_part_is_empty(void **state)
{
	static const double items_ns[] = {1e3, 1e9};

	(void)state;
	for (struct dlsi_piece piece = {.items = 4, .alone = 1}; piece.alone <= piece.items; piece.alone *= 2)
		for (int64_t batch = 1; batch <= 40; batch++)
			for (int threads = 1; threads <= 8; threads++)
				for (int i = 0; i < 2; i++) {
					piece.item_ns = items_ns[i];
					assert_in_range(dlsi_piece_cut(&piece, batch, threads).count, 1, batch);
				}
}

/* Each part's bits are those that one thread computes of the same items. */
static void check_parts(const struct loaded *loaded, int64_t batch, int threads)
{
	const struct dlsi_piece piece = cutting_of(IMAGES);
	const struct dlsi_cut cut = dlsi_piece_cut(&piece, batch, threads);
	float *expected = malloc((size_t)batch * PIXELS * sizeof *expected);

	dlsi_parallel_set_threads(1);
	for (int64_t i = 0; i < cut.count; i++) {
		const int64_t first = i * batch / cut.count, end = (i + 1) * batch / cut.count;

		run(loaded->model, end - first, loaded->source + first * PIXELS, expected + first * PIXELS);
	}
	dlsi_parallel_set_threads(threads);
	memset(loaded->target, 0xff, (size_t)batch * PIXELS * sizeof *expected);
	run(loaded->model, batch, loaded->source, loaded->target);
	assert_memory_equal(loaded->target, expected, (size_t)batch * PIXELS * sizeof *expected);
	free(expected);
}

static void test_threads_apart_give_the_bits_of_one(void **state)
{
	struct loaded loaded = load(unit_alloc());

	(void)state;
	for (int threads = 2; threads <= 5; threads++)
		for (int64_t batch = threads; batch <= BATCH; batch++)
			check_parts(&loaded, batch, threads);
	check_parts(&loaded, 3, 2); /* fewer threads than there were */
	unload(&loaded);
}

static void test_memory_of_lanes_counts(void **state)
{
	struct loaded loaded = load(unit_alloc());
	struct dlsi_device_facts one, three;

	(void)state;
	dlsi_parallel_set_threads(1);
	assert_int_equal(dlsi_model_prepare(loaded.model, 2, NULL), 0);
	dlsi_model_facts(loaded.model, &one);
	dlsi_parallel_set_threads(3);
	assert_int_equal(dlsi_model_prepare(loaded.model, 12, NULL), 0);
	dlsi_model_facts(loaded.model, &three);
	assert_int_equal(three.activation_bytes, 3 * one.activation_bytes);
	/* They are there still when all threads compute one item together. */
	assert_int_equal(dlsi_model_parts(loaded.model, 1).threads, 3);
	assert_int_equal(dlsi_model_prepare(loaded.model, 1, NULL), 0);
	dlsi_model_facts(loaded.model, &three);
	assert_true(three.activation_bytes >= 3 * one.activation_bytes);
	unload(&loaded);
}

enum { CALLERS = 64, CALLER_BATCH = 3, CALLER_RUNS = 3 };

struct caller {
	pthread_t thread;
	struct dlsi_model *model;
	const struct loaded *loaded;
	float *target;
	bool good;
};

static void *call(void *arg)
{
	struct caller *caller = arg;

	dlsi_parallel_set_threads(2);
	caller->good = true;
	for (int i = 0; i < CALLER_RUNS; i++) {
		run(caller->model, CALLER_BATCH, caller->loaded->source, caller->target);
		caller->good &=
			memcmp(caller->target, caller->loaded->target, CALLER_BATCH * PIXELS * sizeof(float)) == 0;
	}
	dlsi_model_destroy(caller->model);
	return NULL;
}

static void test_many_callers_do_not_meet(void **state)
{
	struct loaded loaded = load(unit_alloc());
	struct caller callers[CALLERS];

	(void)state;
	dlsi_parallel_set_threads(2);
	run(loaded.model, CALLER_BATCH, loaded.source, loaded.target);
	for (int i = 0; i < CALLERS; i++) {
		callers[i] =
			(struct caller){.loaded = &loaded, .target = malloc(CALLER_BATCH * PIXELS * sizeof(float))};
		assert_int_equal(dlsi_model_share(loaded.model, &callers[i].model, NULL), 0);
		assert_int_equal(dlsi_thread_start(&callers[i].thread, "caller", call, &callers[i], NULL), 0);
	}
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(callers[i].thread, NULL);
		assert_true(callers[i].good);
		free(callers[i].target);
	}
	unload(&loaded);
}

static void test_memory_runs_out(void **state)
{
	struct loaded loaded = load(unit_alloc_failing_at(1000000));
	struct dls_tensor in = tensor(loaded.source, BATCH), out = tensor(loaded.target, BATCH);
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	dlsi_parallel_set_threads(3);
	for (n = 1; rc == DLS_ENOMEM; n++) {
		unit_alloc_failing_at(n);
		rc = dlsi_model_run(loaded.model, BATCH, &in, &out, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	}
	assert_true(n > 20);
	unit_alloc_failing_at(1000000);
	check_parts(&loaded, BATCH, 3);
	unload(&loaded);
}

UNIT_MAIN(test_is_as_small_as_weights_and_caches_allow, test_takes_no_more_memory_than_a_model_should,
	test_a_batch_in_pieces_is_what_its_items_are, test_threads_are_apart_where_each_has_an_item,
	test_threads_apart_give_the_bits_of_one, test_no_part_is_empty, test_memory_of_lanes_counts,
	test_many_callers_do_not_meet, test_memory_runs_out)
