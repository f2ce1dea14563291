/* Products and convolutions of bytes against the plainest loops, on every instruction set: the same bits, whatever
 * wraps around, rounds or is cut. */
#include "kernel/integer.h"
#include "test/unit/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 150 };

static struct dlsi_bytes random_bytes(struct dlsi_rng *rng, int64_t count, int64_t zeros)
{
	uint8_t *data = malloc((size_t)count), *zero = malloc((size_t)zeros);
	const bool extreme = dlsi_rng_below(rng, 4) == 0; /* where sums of 16 bits would not do */

	for (int64_t i = 0; i < count; i++)
		data[i] = extreme ? 255 : (uint8_t)dlsi_rng_below(rng, 256);
	for (int64_t i = 0; i < zeros; i++)
		zero[i] = extreme ? 0 : (uint8_t)dlsi_rng_below(rng, 256);
	return (struct dlsi_bytes){
		.data = data, .is_signed = dlsi_rng_below(rng, 2), .zeros = zero, .zero_step = zeros > 1};
}

static void free_bytes(const struct dlsi_bytes *bytes)
{
	free((void *)bytes->data);
	free((void *)bytes->zeros);
}

static int32_t number(const struct dlsi_bytes *bytes, int64_t at, int64_t zero)
{
	const uint8_t *data = bytes->data, *zeros = bytes->zeros;
	const int32_t byte = bytes->is_signed ? (int8_t)data[at] : data[at];

	zero *= bytes->zero_step;
	return byte - (bytes->is_signed ? (int8_t)zeros[zero] : zeros[zero]);
}

/* What is expected, and where it goes, of `rows` channels or columns. */
struct tensors {
	struct dlsi_bytes source, weights;
	int64_t count;
	int32_t *sums;
	float *factors;
	int32_t *bias;
	uint8_t *expected;
	struct dlsi_integer_target target;
};

static struct tensors make_tensors(
	struct dlsi_rng *rng, int64_t sources, int64_t weights, int64_t channels, int64_t count)
{
	static const enum dls_dtype dtypes[] = {DLS_INT32, DLS_INT8, DLS_UINT8};
	struct tensors t = {.source = random_bytes(rng, sources, 1),
		.weights = random_bytes(rng, weights, dlsi_rng_below(rng, 2) ? channels : 1),
		.count = count,
		.sums = calloc((size_t)count, sizeof *t.sums),
		.factors = kernel_floats(dlsi_integer_factors(channels)),
		.bias = calloc((size_t)channels, sizeof *t.bias),
		.expected = calloc((size_t)count, 4)};

	for (int64_t i = 0; i < channels; i++) {
		t.factors[i] =
			dlsi_rng_below(rng, 40) ? ldexpf(kernel_random(rng), -(int)dlsi_rng_below(rng, 16)) : NAN;
		t.bias[i] = (int32_t)dlsi_rng_below(rng, 20001) - 10000;
	}
	t.factors[0] = 0.5F; /* so that much is rounded to even numbers */
	t.target = (struct dlsi_integer_target){.dtype = dtypes[dlsi_rng_below(rng, 3)],
		.data = malloc((size_t)count * 4),
		.zero = (int32_t)dlsi_rng_below(rng, 128),
		.factors = t.factors,
		.factor_step = (int)dlsi_rng_below(rng, 2)};
	return t;
}

static void free_tensors(struct tensors *t)
{
	free_bytes(&t->source);
	free_bytes(&t->weights);
	free(t->sums);
	free(t->factors);
	free(t->bias);
	free(t->expected);
	free(t->target.data);
}

/* Sum number `at`, of this channel or column. */
static void expect(struct tensors *t, int64_t at, int64_t channel)
{
	const float low = t->target.dtype == DLS_INT8 ? INT8_MIN : 0,
		    high = t->target.dtype == DLS_INT8 ? INT8_MAX : UINT8_MAX;
	const int32_t sum = (int32_t)((uint32_t)t->sums[at] + (t->target.bias ? (uint32_t)t->bias[channel] : 0));
	const float rounded =
		nearbyintf((float)sum * t->factors[channel * t->target.factor_step]) + (float)t->target.zero;
	const float cut = rounded > low ? fminf(rounded, high) : low;

	if (t->target.dtype == DLS_INT32)
		memcpy(t->expected + at * 4, &t->sums[at], 4);
	else
		t->expected[at] = (uint8_t)(int32_t)cut;
}

static void assert_expected(struct tensors *t)
{
	assert_memory_equal(t->target.data, t->expected, (size_t)t->count * (t->target.dtype == DLS_INT32 ? 4 : 1));
	memset(t->target.data, 0x55, (size_t)t->count * 4);
}

static void check_product(const struct dlsi_integer_product *product, struct dlsi_rng *rng)
{
	const int64_t rows = product->rows, columns = product->columns, depth = product->depth;
	const int threads = (int)kernel_between(rng, 2, 4);
	struct tensors t = make_tensors(rng, rows * depth, depth * columns, columns, rows * columns);
	int32_t *packed = malloc(dlsi_integer_product_weights_bytes(product));
	void *scratch = malloc(dlsi_integer_product_scratch_bytes(product, threads));

	for (int64_t i = 0; i < rows * columns; i++) {
		for (int64_t k = 0; k < depth; k++)
			t.sums[i] += number(&t.source, i / columns * depth + k, 0) *
				     number(&t.weights, k * columns + i % columns, i % columns);
		expect(&t, i, i % columns);
	}
	dlsi_integer_product_pack(product, &t.weights, packed);
	dlsi_integer_product_run(product, &t.source, packed, &t.target, scratch, 1);
	assert_expected(&t);
	dlsi_integer_product_run(product, &t.source, packed, &t.target, scratch, threads);
	assert_expected(&t);
	free(packed);
	free(scratch);
	free_tensors(&t);
}

static void test_products(void **state)
{
	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			const struct dlsi_integer_product product = {.isa = isa,
				.block = dlsi_rng_below(&rng, 2) ? 8 : 16,
				.rows = kernel_between(&rng, 1, 30),
				.columns = kernel_between(&rng, 1, 70),
				.depth = kernel_between(&rng, 1, 60)};

			check_product(&product, &rng);
		}
	}
}

/* The sum of one place: of what is no padding. */
static int32_t sum_of(const struct dlsi_convolution *convolution, const struct tensors *t, int64_t item,
	int64_t channel, const int64_t place[3])
{
	const struct dlsi_slide *slide = &convolution->slide;
	const int64_t seen = convolution->image_channels / convolution->groups;
	const int64_t group = channel / (convolution->place_channels / convolution->groups);
	const int64_t positions = dlsi_slide_positions(slide);
	uint32_t sum = 0;

	for (int64_t tap = 0; tap < seen * positions; tap++) {
		const int64_t position = tap % positions, *kernel = slide->kernel;
		const int64_t at[] = {
			position / kernel[2] / kernel[1], position / kernel[2] % kernel[1], position % kernel[2]};
		int64_t pixel = item * convolution->image_channels + group * seen + tap / positions;
		bool inside = true;

		for (uint32_t d = 0; d < 3; d++) {
			const int64_t x = place[d] * slide->strides[d] + dlsi_slide_pixel(slide, d, at[d]);

			inside = inside && x >= 0 && x < slide->image[d];
			pixel = pixel * slide->image[d] + x;
		}
		if (inside)
			sum += (uint32_t)(number(&t->source, pixel, 0) *
					  number(&t->weights, channel * seen * positions + tap, channel));
	}
	return (int32_t)sum;
}

static void check_conv(const struct dlsi_integer_conv *conv, struct dlsi_rng *rng)
{
	const struct dlsi_convolution *convolution = &conv->convolution;
	const struct dlsi_slide *slide = &convolution->slide;
	const int64_t channels = convolution->place_channels, places = dlsi_slide_places(slide);
	const int threads = (int)kernel_between(rng, 2, 4);
	struct tensors t =
		make_tensors(rng, convolution->items * convolution->image_channels * dlsi_slide_pixels(slide),
			channels * convolution->image_channels / convolution->groups * dlsi_slide_positions(slide),
			channels, convolution->items * channels * places);
	int32_t *packed = malloc(dlsi_integer_conv_weights_bytes(conv));

	t.target.bias = dlsi_rng_below(rng, 2) ? t.bias : NULL;
	for (int64_t i = 0; i < t.count; i++) {
		const int64_t place = i % places, channel = i / places % channels;
		const int64_t at[] = {place / slide->places[2] / slide->places[1],
			place / slide->places[2] % slide->places[1], place % slide->places[2]};

		t.sums[i] = sum_of(convolution, &t, i / places / channels, channel, at);
		expect(&t, i, channel);
	}
	dlsi_integer_conv_pack(conv, &t.weights, packed);
	for (int used = 1; used <= threads; used += threads - 1) {
		void *scratch = malloc(dlsi_integer_conv_scratch_bytes(conv, used));

		dlsi_integer_conv_run(conv, &t.source, packed, &t.target, scratch, used);
		assert_expected(&t);
		free(scratch);
	}
	free(packed);
	free_tensors(&t);
}

/* One of any rank: dimensions before the last `rank` are 1. */
static struct dlsi_slide random_slide(struct dlsi_rng *rng)
{
	const uint32_t rank = (uint32_t)kernel_between(rng, 1, 3);
	struct dlsi_slide slide;

	for (uint32_t d = 0; d < DLSI_SPATIAL_RANK; d++) {
		const bool missing = d + rank < DLSI_SPATIAL_RANK;

		slide.kernel[d] = missing ? 1 : kernel_between(rng, 1, 3);
		slide.strides[d] = missing ? 1 : kernel_between(rng, 1, 2);
		slide.dilations[d] = missing ? 1 : kernel_between(rng, 1, 2);
		slide.pads_before[d] = missing ? 0 : kernel_between(rng, 0, 4);
		slide.pads_after[d] = missing ? 0 : kernel_between(rng, 0, 4);
		slide.image[d] = missing ? 1
					 : kernel_between(rng, rank == 3 ? 5 : 8,
						   rank == 1   ? 60
						   : rank == 2 ? 24
							       : 7);
		slide.places[d] = (slide.image[d] + slide.pads_before[d] + slide.pads_after[d] -
					  (slide.kernel[d] - 1) * slide.dilations[d] - 1) /
					  slide.strides[d] +
				  1;
	}
	return slide;
}

static void test_convolutions(void **state)
{
	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			const int64_t groups = kernel_between(&rng, 1, 3);
			const struct dlsi_integer_conv conv = {.isa = isa,
				.block = dlsi_rng_below(&rng, 2) ? 8 : 16,
				.convolution = {.items = kernel_between(&rng, 1, 2),
					.groups = groups,
					.place_channels = groups * kernel_between(&rng, 1, 15),
					.image_channels = groups * kernel_between(&rng, 1, 4),
					.slide = random_slide(&rng)}};

			assert_true(dlsi_integer_conv_supported(&conv));
			check_conv(&conv, &rng);
		}
	}
}

/* A file may say so. */
static void test_padding_beyond_measure_is_refused(void **state)
{
	struct dlsi_integer_conv conv = {.block = 8,
		.convolution = {.items = 1,
			.groups = 1,
			.place_channels = 1,
			.image_channels = 1,
			.slide = {.image = {1, 8, 8},
				.places = {1, 8, 8},
				.kernel = {1, 1, 1},
				.strides = {1, 1, 1},
				.dilations = {1, 1, 1}}}};

	(void)state;
	assert_true(dlsi_integer_conv_supported(&conv));
	conv.convolution.slide.places[2] = INT64_C(1) << 40;
	assert_false(dlsi_integer_conv_supported(&conv));
	conv.convolution.slide.strides[1] = INT64_MAX;
	assert_false(dlsi_integer_conv_supported(&conv));
}

UNIT_MAIN(test_products, test_convolutions, test_padding_beyond_measure_is_refused)
