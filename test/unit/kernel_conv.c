#include "test/unit/kernel_conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dlsi_kernel_axis kernel_axis(
	struct dlsi_rng *rng, int64_t source_most, int64_t kernel, int64_t stride, int64_t pad_most)
{
	struct dlsi_kernel_axis axis = {
		.source = kernel_between(rng, 1, source_most), .kernel = kernel, .stride = stride};
	int64_t behind;

	axis.pad = kernel_between(rng, 0, pad_most);
	behind = kernel_between(rng, 0, pad_most);
	if (axis.source + axis.pad + behind < kernel)
		axis.source = kernel;
	axis.target = (axis.source + axis.pad + behind - kernel) / stride + 1;
	return axis;
}

struct dlsi_clamp kernel_clamp(struct dlsi_rng *rng, bool zero_stays_zero)
{
	static const struct dlsi_clamp clamps[] = {
		{-INFINITY, INFINITY}, {0, INFINITY}, {0, 6}, {-0.25F, 0.5F}, {0.125F, 1}};

	return clamps[dlsi_rng_below(rng, zero_stays_zero ? 4 : 5)];
}

/* Dense tensors of one check, and the same as the kernel sees them. */
struct tensors {
	int64_t from, to; /* pixels */
	float *source, *weights, *bias, *addend, *expected;
	float *source_blocks, *addend_blocks, *target_blocks, *actual, *packed;
};

static double sum_at(
	const struct dlsi_kernel_conv *conv, const struct tensors *t, int64_t item, int64_t channel, int64_t pixel)
{
	const struct dlsi_kernel_axis *height = &conv->height, *width = &conv->width;
	const int64_t depth = conv->source_channels / conv->groups;
	const int64_t first = channel / (conv->target_channels / conv->groups) * depth;
	const int64_t top = pixel / width->target * height->stride - height->pad;
	const int64_t left = pixel % width->target * width->stride - width->pad;
	double sum = 0;

	for (int64_t c = 0; c < depth; c++)
		for (int64_t i = 0; i < height->kernel; i++)
			for (int64_t j = 0; j < width->kernel; j++) {
				const int64_t y = top + i * (height->gap + 1), x = left + j * (width->gap + 1);

				if (y < 0 || y >= height->source || x < 0 || x >= width->source)
					continue;
				sum += (double)t->weights[((channel * depth + c) * height->kernel + i) * width->kernel +
							  j] *
				       (double)t->source[((item * conv->source_channels + first + c) * height->source +
								 y) *
								 width->source +
							 x];
			}
	return sum;
}

static void expect(const struct dlsi_kernel_conv *conv, const struct tensors *t, bool bias, bool addend)
{
	for (int64_t i = 0; i < conv->batch * conv->target_channels * t->to; i++) {
		const int64_t plane = i / t->to, channel = plane % conv->target_channels;
		double sum = sum_at(conv, t, plane / conv->target_channels, channel, i % t->to);

		sum += bias ? (double)t->bias[channel] : 0;
		sum += addend ? (double)t->addend[i] : 0;
		t->expected[i] = fminf(fmaxf((float)sum, conv->clamp.low), conv->clamp.high);
	}
}

static float *randoms(struct dlsi_rng *rng, int64_t count, float scale)
{
	float *floats = kernel_floats(count);

	for (int64_t i = 0; i < count; i++)
		floats[i] = scale * kernel_random(rng);
	return floats;
}

static struct kernel_layout layout_of(const struct dlsi_kernel_conv *conv, int64_t channels, int64_t pixels)
{
	return (struct kernel_layout){.channels_last = conv->channels_last,
		.block = conv->block,
		.items = conv->batch,
		.channels = channels,
		.pixels = pixels};
}

static struct tensors make_tensors(
	const struct dlsi_conv_kernel *kernel, const struct dlsi_kernel_conv *conv, struct dlsi_rng *rng)
{
	const int64_t from = conv->height.source * conv->width.source, to = conv->height.target * conv->width.target;
	const int64_t products = conv->source_channels / conv->groups * conv->height.kernel * conv->width.kernel;
	const int64_t sources = conv->batch * conv->source_channels * from,
		      targets = conv->batch * conv->target_channels * to;
	const struct kernel_layout in = layout_of(conv, conv->source_channels, from);
	const struct kernel_layout out = layout_of(conv, conv->target_channels, to);
	struct tensors t = {.from = from,
		.to = to,
		.source = randoms(rng, sources, 1),
		.weights = randoms(rng, conv->target_channels * products, sqrtf(3 / (float)products)),
		.bias = randoms(rng, conv->target_channels, 1),
		.addend = randoms(rng, targets, 1),
		.expected = kernel_floats(targets),
		.source_blocks = kernel_floats(kernel_stored(&in)),
		.addend_blocks = kernel_floats(kernel_stored(&out)),
		.target_blocks = kernel_floats(kernel_stored(&out)),
		.actual = kernel_floats(targets)};

	kernel_store(&in, t.source, t.source_blocks);
	kernel_store(&out, t.addend, t.addend_blocks);
	t.packed = kernel_floats((int64_t)(kernel->weights_bytes(conv) / sizeof(float)));
	kernel->pack(conv, t.weights, t.packed, (int)kernel_between(rng, 1, 3));
	return t;
}

static void free_tensors(struct tensors *t)
{
	float *all[] = {t->source, t->weights, t->bias, t->addend, t->expected, t->source_blocks, t->addend_blocks,
		t->target_blocks, t->actual, t->packed};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

/* The dense result of one run. */
static void run(const struct dlsi_conv_kernel *kernel, const struct dlsi_kernel_conv *conv, struct tensors *t,
	bool bias, const float *addend, int threads)
{
	const struct kernel_layout out = layout_of(conv, conv->target_channels, t->to);
	float *scratch = kernel_floats((int64_t)(kernel->scratch_bytes(conv, threads) / sizeof(float)));

	kernel->run(
		conv, t->source_blocks, t->packed, bias ? t->bias : NULL, addend, t->target_blocks, scratch, threads);
	kernel_unstore(&out, t->target_blocks, t->actual);
	free(scratch);
}

void kernel_conv_check(const struct dlsi_conv_kernel *kernel, const struct dlsi_kernel_conv *conv, struct dlsi_rng *rng,
	float tolerance)
{
	const bool bias = dlsi_rng_below(rng, 3), addend = dlsi_rng_below(rng, 2);
	const int64_t pixels = conv->height.target * conv->width.target;
	const int64_t count = conv->batch * conv->target_channels * pixels;
	const struct kernel_layout out = layout_of(conv, conv->target_channels, pixels);
	struct tensors t;
	float *first;

	assert_true(kernel->supported(conv));
	t = make_tensors(kernel, conv, rng);
	first = kernel_floats(count);
	expect(conv, &t, bias, addend);
	run(kernel, conv, &t, bias, addend ? t.addend_blocks : NULL, 1);
	kernel_assert_close(t.actual, t.expected, count, tolerance);
	memcpy(first, t.actual, (size_t)count * sizeof *first);
	if (addend)
		memcpy(t.target_blocks, t.addend_blocks, (size_t)kernel_stored(&out) * sizeof *t.target_blocks);
	run(kernel, conv, &t, bias, addend ? t.target_blocks : NULL, (int)kernel_between(rng, 2, 4));
	assert_memory_equal(t.actual, first, (size_t)count * sizeof *first);
	free(first);
	free_tensors(&t);
}
