/* Our kernels beside oneDNN's, in turns (ours, oneDNN's, ours, ...), over layers of real networks. One JSON line per
 * layer, kernel, batch and number of threads: how many times as fast as oneDNN's, and of both the FLOP/s over those of
 * the sgemm that was measured before (Winograd counts as the direct sum does).
 *
 * Usage: kernels [TEXT]: only the figures whose name has TEXT in it. */
#include "base/clock.h"
#include "device/onednn_pool.h"
#include "kernel/direct.h"
#include "kernel/full.h"
#include "kernel/isa.h"
#include "kernel/lrn.h"
#include "kernel/pool.h"
#include "kernel/winograd.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, SGEMM_SIZE = 1024 };

#define ROUND_NS INT64_C(15000000) /* of one contestant, at least one run */

enum what { CONV, FULL, MAX_POOL, LRN };

struct layer {
	const char *network;
	enum what what;
	int channels, targets, source, target; /* FULL: channels inputs, targets outputs */
	int kernel, stride, pad, groups;
};

static const struct layer layers[] = {
	{"alexnet", CONV, 96, 256, 26, 26, 5, 1, 2, 2},
	{"alexnet", CONV, 256, 384, 12, 12, 3, 1, 1, 1},
	{"alexnet", CONV, 384, 384, 12, 12, 3, 1, 1, 2},
	{"alexnet", CONV, 384, 256, 12, 12, 3, 1, 1, 2},
	{"alexnet", LRN, 96, 96, 54, 54, 5, 1, 0, 1},
	{"alexnet", LRN, 256, 256, 26, 26, 5, 1, 0, 1},
	{"alexnet", MAX_POOL, 96, 96, 54, 26, 3, 2, 0, 1},
	{"alexnet", FULL, 9216, 4096, 1, 1, 1, 1, 0, 1},
	{"alexnet", FULL, 4096, 4096, 1, 1, 1, 1, 0, 1},
	{"alexnet", FULL, 4096, 1000, 1, 1, 1, 1, 0, 1},
	{"googlenet", MAX_POOL, 64, 64, 112, 55, 3, 2, 0, 1},
	{"googlenet", LRN, 64, 64, 55, 55, 5, 1, 0, 1},
	{"googlenet", CONV, 64, 64, 55, 55, 1, 1, 0, 1},
	{"googlenet", CONV, 64, 192, 55, 55, 3, 1, 1, 1},
	{"googlenet", LRN, 192, 192, 55, 55, 5, 1, 0, 1},
	{"googlenet", CONV, 192, 64, 27, 27, 1, 1, 0, 1},
	{"googlenet", CONV, 192, 16, 27, 27, 1, 1, 0, 1},
	{"googlenet", CONV, 96, 128, 27, 27, 3, 1, 1, 1},
	{"googlenet", CONV, 16, 32, 27, 27, 5, 1, 2, 1},
	{"googlenet", MAX_POOL, 192, 192, 27, 27, 3, 1, 1, 1},
	{"googlenet", CONV, 128, 192, 27, 27, 3, 1, 1, 1},
	{"googlenet", CONV, 32, 96, 27, 27, 5, 1, 2, 1},
	{"googlenet", CONV, 512, 112, 13, 13, 1, 1, 0, 1},
	{"googlenet", CONV, 112, 224, 13, 13, 3, 1, 1, 1},
	{"googlenet", CONV, 24, 64, 13, 13, 5, 1, 2, 1},
	{"googlenet", MAX_POOL, 512, 512, 13, 13, 3, 1, 1, 1},
	{"googlenet", CONV, 160, 320, 6, 6, 3, 1, 1, 1},
	{"googlenet", CONV, 48, 128, 6, 6, 5, 1, 2, 1},
	{"googlenet", CONV, 832, 384, 6, 6, 1, 1, 0, 1},
	{"googlenet", FULL, 1024, 1000, 1, 1, 1, 1, 0, 1},
	{"resnet50", MAX_POOL, 64, 64, 112, 56, 3, 2, 1, 1},
	{"resnet50", CONV, 64, 64, 56, 56, 1, 1, 0, 1},
	{"resnet50", CONV, 64, 64, 56, 56, 3, 1, 1, 1},
	{"resnet50", CONV, 64, 256, 56, 56, 1, 1, 0, 1},
	{"resnet50", CONV, 256, 64, 56, 56, 1, 1, 0, 1},
	{"resnet50", CONV, 128, 128, 56, 28, 3, 2, 1, 1},
	{"resnet50", CONV, 256, 512, 56, 28, 1, 2, 0, 1},
	{"resnet50", CONV, 512, 128, 28, 28, 1, 1, 0, 1},
	{"resnet50", CONV, 128, 128, 28, 28, 3, 1, 1, 1},
	{"resnet50", CONV, 128, 512, 28, 28, 1, 1, 0, 1},
	{"resnet50", CONV, 256, 256, 14, 14, 3, 1, 1, 1},
	{"resnet50", CONV, 1024, 256, 14, 14, 1, 1, 0, 1},
	{"resnet50", CONV, 256, 1024, 14, 14, 1, 1, 0, 1},
	{"resnet50", CONV, 512, 512, 14, 7, 3, 2, 1, 1},
	{"resnet50", CONV, 512, 512, 7, 7, 3, 1, 1, 1},
	{"resnet50", CONV, 2048, 512, 7, 7, 1, 1, 0, 1},
	{"resnet50", CONV, 512, 2048, 7, 7, 1, 1, 0, 1},
	{"squeezenet", CONV, 64, 16, 55, 55, 1, 1, 0, 1},
	{"squeezenet", CONV, 16, 64, 55, 55, 1, 1, 0, 1},
	{"squeezenet", CONV, 16, 64, 55, 55, 3, 1, 1, 1},
	{"squeezenet", CONV, 32, 128, 27, 27, 3, 1, 1, 1},
	{"squeezenet", CONV, 48, 192, 13, 13, 3, 1, 1, 1},
	{"squeezenet", CONV, 64, 256, 13, 13, 3, 1, 1, 1},
	{"squeezenet", CONV, 512, 1000, 13, 13, 1, 1, 0, 1},
	{"shufflenet", CONV, 24, 112, 56, 56, 1, 1, 0, 4},
	{"shufflenet", CONV, 136, 136, 28, 28, 1, 1, 0, 4},
	{"shufflenet", CONV, 272, 272, 14, 14, 1, 1, 0, 4},
	{"shufflenet", CONV, 544, 544, 7, 7, 1, 1, 0, 4},
	{"efficientnet_lite0", CONV, 32, 16, 112, 112, 1, 1, 0, 1},
	{"efficientnet_lite0", CONV, 16, 96, 112, 112, 1, 1, 0, 1},
	{"efficientnet_lite0", CONV, 144, 24, 56, 56, 1, 1, 0, 1},
	{"efficientnet_lite0", CONV, 40, 240, 28, 28, 1, 1, 0, 1},
	{"efficientnet_lite0", CONV, 480, 112, 14, 14, 1, 1, 0, 1},
	{"efficientnet_lite0", CONV, 192, 1152, 7, 7, 1, 1, 0, 1},
};

/* One of the two sides: what it runs on, and how long a run took in each round. */
struct side {
	void (*run)(struct side *side);
	const struct dlsi_conv_kernel *kernel;
	struct dlsi_kernel_conv conv;
	struct dlsi_kernel_full full;
	struct dlsi_kernel_pool pool;
	struct dlsi_kernel_lrn lrn;
	float *source, *weights, *bias, *target, *scratch;
	int threads;
	double ns[ROUNDS];

	struct dlsi_onednn_pool kept;
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t arguments[5];
	const char *implementation;
};

static const char *only = "";

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "kernels: %s\n", what);
		exit(1);
	}
}

static float *floats(size_t bytes)
{
	float *at = NULL;

	check(posix_memalign((void **)&at, 4096, bytes + 64) == 0, "no memory");
	for (size_t i = 0; i < bytes / sizeof *at; i++)
		at[i] = (float)(i * 2654435761U % 1000) / 1000 - 0.4F;
	return at;
}

/* ---- ours */

static void run_conv(struct side *side)
{
	side->kernel->run(
		&side->conv, side->source, side->weights, side->bias, NULL, side->target, side->scratch, side->threads);
}

static void run_full(struct side *side)
{
	dlsi_full_run(&side->full, side->source, side->weights, side->bias, side->target, side->scratch, side->threads);
}

static void run_max_pool(struct side *side)
{
	dlsi_max_pool_run(&side->pool, side->source, side->target, side->threads);
}

static void run_lrn(struct side *side)
{
	dlsi_lrn_run(&side->lrn, side->source, side->target, side->scratch, side->threads);
}

static size_t stored(int channels, int size, int batch)
{
	const int block = dlsi_isa_block(dlsi_isa_of_processor());

	return (size_t)((channels + block - 1) / block * block) * (size_t)(size * size) * (size_t)batch * sizeof(float);
}

static void make_conv(struct side *side, const struct layer *layer, const struct dlsi_conv_kernel *kernel)
{
	float *weights =
		floats((size_t)(layer->channels / layer->groups * layer->targets * layer->kernel * layer->kernel) *
			sizeof(float));

	side->run = run_conv;
	side->kernel = kernel;
	side->weights = floats(kernel->weights_bytes(&side->conv));
	kernel->pack(&side->conv, weights, side->weights, side->threads);
	side->scratch = floats(kernel->scratch_bytes(&side->conv, side->threads));
	free(weights);
}

static void make_ours(struct side *side, const struct layer *layer, int batch, bool winograd)
{
	const struct dlsi_kernel_axis axis = {layer->source, layer->target, layer->kernel, layer->stride, layer->pad};
	const enum dlsi_isa isa = dlsi_isa_of_processor();
	const int block = dlsi_isa_block(isa);

	/* Channels are last where oneDNN has them so. */
	side->conv = (struct dlsi_kernel_conv){.isa = isa,
		.block = block,
		.channels_last = isa == DLSI_ISA_AVX512 && layer->channels % block == 0 && layer->targets % block == 0,
		.batch = batch,
		.groups = layer->groups,
		.source_channels = layer->channels,
		.target_channels = layer->targets,
		.height = axis,
		.width = axis,
		.clamp = {0, INFINITY}};
	side->full = (struct dlsi_kernel_full){isa, block, batch, layer->channels, layer->targets, {0, INFINITY}};
	side->pool = (struct dlsi_kernel_pool){
		.isa = isa, .block = block, .batch = batch, .channels = layer->channels, .height = axis, .width = axis};
	side->lrn = (struct dlsi_kernel_lrn){.isa = isa,
		.block = block,
		.batch = batch,
		.channels = layer->channels,
		.pixels = layer->source * layer->source,
		.size = layer->kernel,
		.alpha = 1e-4F,
		.beta = 0.75F,
		.bias = 1};
	side->source = floats(stored(layer->channels, layer->source, batch));
	side->target = floats(stored(layer->targets, layer->target, batch));
	side->bias = floats((size_t)layer->targets * sizeof(float));
	if (layer->what == CONV) {
		make_conv(side, layer, winograd ? &dlsi_kernel_winograd : &dlsi_kernel_direct);
	} else if (layer->what == FULL) {
		float *weights = floats((size_t)layer->channels * (size_t)layer->targets * sizeof(float));

		side->weights = floats(dlsi_full_weights_bytes(&side->full));
		dlsi_full_pack(&side->full, weights, layer->channels, 1, side->weights, side->threads);
		side->scratch = floats(dlsi_full_scratch_bytes(&side->full, side->threads));
		side->run = run_full;
		free(weights);
	} else if (layer->what == MAX_POOL) {
		side->run = run_max_pool;
	} else {
		side->scratch = floats(dlsi_lrn_scratch_bytes(&side->lrn, side->threads));
		side->run = run_lrn;
	}
}

static void free_ours(struct side *side)
{
	free(side->source);
	free(side->target);
	free(side->bias);
	free(side->weights);
	free(side->scratch);
}

/* ---- oneDNN's */

static void run_onednn(struct side *side)
{
	int count = 0;

	while (side->arguments[count].memory)
		count++;
	check(dnnl_primitive_execute(side->primitive, side->stream, count, side->arguments) == dnnl_success &&
			dnnl_stream_wait(side->stream) == dnnl_success,
		"oneDNN does not run");
}

static void add_argument(struct side *side, int index, dlsi_md md)
{
	dnnl_memory_t memory;
	int i = 0;

	while (side->arguments[i].memory)
		i++;
	check(dlsi_onednn_memory(&side->kept, md, side->engine, &memory) == dnnl_success &&
			dnnl_memory_set_data_handle(memory, floats(dnnl_memory_desc_get_size(md))) == dnnl_success,
		"no memory");
	side->arguments[i] = (dnnl_exec_arg_t){index, memory};
}

static dlsi_md blocked(struct side *side, int channels, int size, int batch)
{
	const dnnl_dims_t dims = {batch, channels, size, size};

	return dlsi_md_blocked(&side->kept, 4, dims, dlsi_isa_block(dlsi_isa_of_processor()));
}

static dnnl_status_t describe_product(
	struct side *side, const struct layer *layer, int batch, dnnl_primitive_desc_t *pd)
{
	const int64_t source[] = {batch, layer->channels, layer->source, layer->source};
	const int64_t target[] = {batch, layer->targets, layer->target, layer->target};
	const int64_t weights[] = {layer->groups, layer->targets / layer->groups, layer->channels / layer->groups,
		layer->kernel, layer->kernel};
	const int64_t bias[] = {layer->targets};
	const dnnl_dims_t strides = {layer->stride, layer->stride}, gaps = {0, 0}, before = {layer->pad, layer->pad};
	const int64_t behind = (layer->target - 1) * layer->stride + layer->kernel - layer->source - layer->pad;
	const dnnl_dims_t after = {behind, behind};
	const bool grouped = layer->groups > 1;
	dnnl_primitive_attr_t attributes;
	dnnl_post_ops_t ops;
	dnnl_status_t status;

	check(dnnl_primitive_attr_create(&attributes) == dnnl_success && dnnl_post_ops_create(&ops) == dnnl_success &&
			dlsi_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0) == dnnl_success &&
			dnnl_primitive_attr_set_post_ops(attributes, ops) == dnnl_success,
		"no attributes");
	if (layer->what == FULL)
		status = dnnl_inner_product_forward_primitive_desc_create(pd, side->engine, dnnl_forward_inference,
			dlsi_md_any(&side->kept, 2, source), dlsi_md_any(&side->kept, 2, weights + 1),
			dlsi_md_plain(&side->kept, 1, bias), dlsi_md_any(&side->kept, 2, target), attributes);
	else
		status = dnnl_convolution_forward_primitive_desc_create(pd, side->engine, dnnl_forward_inference,
			dnnl_convolution_direct, dlsi_md_any(&side->kept, 4, source),
			dlsi_md_any(&side->kept, 4 + grouped, weights + !grouped), dlsi_md_plain(&side->kept, 1, bias),
			dlsi_md_any(&side->kept, 4, target), strides, gaps, before, after, attributes);
	dnnl_post_ops_destroy(ops);
	dnnl_primitive_attr_destroy(attributes);
	return status;
}

static dnnl_status_t describe_pool(struct side *side, const struct layer *layer, int batch, dnnl_primitive_desc_t *pd)
{
	const dnnl_dims_t kernel = {layer->kernel, layer->kernel}, strides = {layer->stride, layer->stride},
			  gaps = {0, 0};
	const int64_t behind = (layer->target - 1) * layer->stride + layer->kernel - layer->source - layer->pad;
	const dnnl_dims_t before = {layer->pad, layer->pad}, after = {behind, behind};

	return dnnl_pooling_forward_primitive_desc_create(pd, side->engine, dnnl_forward_inference, dnnl_pooling_max,
		blocked(side, layer->channels, layer->source, batch),
		blocked(side, layer->targets, layer->target, batch), strides, kernel, gaps, before, after, NULL);
}

static void make_onednn(struct side *side, const struct layer *layer, int batch)
{
	dlsi_md md;
	dnnl_primitive_desc_t pd;
	dnnl_status_t status;

	dlsi_onednn_pool_init(&side->kept, &dlsi_alloc_libc);
	side->run = run_onednn;
	md = blocked(side, layer->channels, layer->source, batch);
	if (layer->what == LRN)
		status = dnnl_lrn_forward_primitive_desc_create(&pd, side->engine, dnnl_forward_inference,
			dnnl_lrn_across_channels, md, md, layer->kernel, 1e-4F, 0.75F, 1, NULL);
	else if (layer->what == MAX_POOL)
		status = describe_pool(side, layer, batch, &pd);
	else
		status = describe_product(side, layer, batch, &pd);
	check(status == dnnl_success && dlsi_onednn_keep(&side->kept, pd) == dnnl_success &&
			dlsi_onednn_primitive(&side->kept, pd, &side->primitive) == dnnl_success &&
			dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &side->implementation) ==
				dnnl_success,
		"oneDNN has no such layer");
	add_argument(side, DNNL_ARG_SRC, dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0));
	add_argument(side, DNNL_ARG_DST, dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
	if (layer->what == CONV || layer->what == FULL) {
		add_argument(side, DNNL_ARG_WEIGHTS, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0));
		add_argument(side, DNNL_ARG_BIAS, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 1));
	}
}

static void free_onednn(struct side *side)
{
	for (int i = 0; side->arguments[i].memory; i++) {
		void *data;

		if (dnnl_memory_get_data_handle(side->arguments[i].memory, &data) == dnnl_success)
			free(data);
	}
	dlsi_onednn_pool_fini(&side->kept);
}

/* ---- measuring */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* With one thread the time that it had the processor, so that other programs disturb less. */
static int64_t now_ns(int threads)
{
	struct timespec now;

	if (threads > 1)
		return dlsi_clock_monotonic_ns();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * DLSI_SECOND_NS + now.tv_nsec;
}

static double run_for(struct side *side)
{
	int64_t begin = now_ns(side->threads), now;
	int runs = 0;

	do {
		side->run(side);
		runs++;
		now = now_ns(side->threads);
	} while (now - begin < ROUND_NS);
	return (double)(now - begin) / runs;
}

/* FLOP per nanosecond of oneDNN's product of matrices, the best of some. */
static double sgemm_peak(int threads)
{
	const size_t bytes = sizeof(float) * SGEMM_SIZE * SGEMM_SIZE;
	float *a = floats(bytes), *b = floats(bytes), *c = floats(bytes);
	double best = 0;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		int64_t begin = now_ns(threads);
		double rate;

		dnnl_sgemm('N', 'N', SGEMM_SIZE, SGEMM_SIZE, SGEMM_SIZE, 1, a, SGEMM_SIZE, b, SGEMM_SIZE, 0, c,
			SGEMM_SIZE);
		rate = 2. * SGEMM_SIZE * SGEMM_SIZE * SGEMM_SIZE / (double)(now_ns(threads) - begin);
		best = rate > best ? rate : best;
	}
	free(a);
	free(b);
	free(c);
	return best;
}

static double flop(const struct layer *layer, int batch)
{
	return 2. * batch * layer->channels / layer->groups * layer->targets * layer->kernel * layer->kernel *
	       layer->target * layer->target;
}

static void print(const char *figure, const struct layer *layer, int batch, const struct side *ours,
	const struct side *theirs, double peak)
{
	const bool product = layer->what == CONV || layer->what == FULL;
	double ratios[ROUNDS], best[2] = {ours->ns[0], theirs->ns[0]};

	for (int i = 0; i < ROUNDS; i++) {
		ratios[i] = theirs->ns[i] / ours->ns[i];
		best[0] = ours->ns[i] < best[0] ? ours->ns[i] : best[0];
		best[1] = theirs->ns[i] < best[1] ? theirs->ns[i] : best[1];
	}
	qsort(ratios, ROUNDS, sizeof *ratios, by_value);
	printf("{\"figure\": \"%s\", \"value\": %.2f, \"min\": %.2f, \"max\": %.2f, \"unit\": \"times oneDNN\", "
	       "\"better\": \"higher\", \"goal\": null, \"peer\": \"%s\", \"us\": %.1f, \"peer_us\": %.1f",
		figure, ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1], theirs->implementation, best[0] / 1000,
		best[1] / 1000);
	if (product)
		printf(", \"peak\": %.2f, \"peer_peak\": %.2f", flop(layer, batch) / best[0] / peak,
			flop(layer, batch) / best[1] / peak);
	printf("}\n");
	fflush(stdout);
}

static void measure(const struct layer *layer, int batch, int threads, bool winograd, double peak)
{
	static const char *const names[] = {"direct", "full", "max_pool", "lrn"};
	struct side ours = {.threads = threads}, theirs = {.threads = threads};
	char figure[128];

	snprintf(figure, sizeof figure, "kernel.%s.%s.%dx%d_%d_k%ds%dg%d.b%d.t%d", layer->network,
		winograd ? "winograd" : names[layer->what], layer->channels, layer->targets, layer->source,
		layer->kernel, layer->stride, layer->groups, batch, threads);
	if (!strstr(figure, only))
		return;
	check(dnnl_engine_create(&theirs.engine, dnnl_cpu, 0) == dnnl_success &&
			dnnl_stream_create(&theirs.stream, theirs.engine, dnnl_stream_default_flags) == dnnl_success,
		"oneDNN does not start");
	make_onednn(&theirs, layer, batch);
	make_ours(&ours, layer, batch, winograd);
	run_for(&ours);
	run_for(&theirs);
	for (int i = 0; i < ROUNDS; i++) {
		ours.ns[i] = run_for(&ours);
		theirs.ns[i] = run_for(&theirs);
	}
	print(figure, layer, batch, &ours, &theirs, peak);
	free_ours(&ours);
	free_onednn(&theirs);
	dnnl_stream_destroy(theirs.stream);
	dnnl_engine_destroy(theirs.engine);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		only = argv[1];
	for (int threads = 1; threads <= 2; threads++) {
		double peak;

		omp_set_num_threads(threads);
		peak = sgemm_peak(threads);
		printf("{\"figure\": \"kernel.sgemm.t%d\", \"value\": %.1f, \"unit\": \"GFLOP/s\", \"better\": "
		       "\"higher\", "
		       "\"goal\": null, \"peer\": null, \"isa\": \"%s\"}\n",
			threads, peak, dlsi_isa_name(dlsi_isa_of_processor()));
		for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
			const struct layer *layer = &layers[i];

			for (int batch = 1; batch <= 32; batch += 31) {
				if (layer->what == CONV && layer->kernel > 1 && layer->stride == 1)
					measure(layer, batch, threads, true, peak);
				measure(layer, batch, threads, false, peak);
			}
		}
	}
	return 0;
}
