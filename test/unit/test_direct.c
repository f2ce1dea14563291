/* Direct convolution against the definition of a convolution, on every instruction set. */
#include "kernel/direct.h"
#include "test/unit/kernel_conv.h"

enum { SEEDS = 80 };

/* Gaps in the window, with padding behind the last pixel or without. */
static void widen(struct dlsi_rng *rng, struct dlsi_kernel_axis *axis)
{
	int64_t reach;

	axis->gap = kernel_between(rng, 0, 3);
	reach = dlsi_kernel_reach(axis);
	axis->source = axis->source + axis->pad < reach ? reach : axis->source;
	axis->target = (axis->source + axis->pad + kernel_between(rng, 0, 4) - reach) / axis->stride + 1;
}

/* Groups of any size, also such that share blocks. */
static struct dlsi_kernel_conv random_conv(struct dlsi_rng *rng, int block)
{
	const int64_t plain = dlsi_rng_below(rng, 3) == 0;
	struct dlsi_kernel_conv conv = {.block = block, .batch = kernel_between(rng, 1, 5), .groups = 1};

	if (dlsi_rng_below(rng, 2))
		conv.groups = kernel_between(rng, 1, 5);
	conv.channels_last = dlsi_rng_below(rng, 2);
	conv.source_channels = conv.groups * kernel_between(rng, 1, 24);
	conv.target_channels = conv.groups * kernel_between(rng, 1, 24);
	if (conv.channels_last) {
		conv.source_channels = conv.groups * block * kernel_between(rng, 1, 3);
		conv.target_channels = conv.groups * block * kernel_between(rng, 1, 3);
	}
	conv.height = kernel_axis(
		rng, 12, plain ? 1 : kernel_between(rng, 1, 5), plain ? 1 : kernel_between(rng, 1, 3), plain ? 0 : 4);
	conv.width = kernel_axis(
		rng, 12, plain ? 1 : kernel_between(rng, 1, 5), plain ? 1 : kernel_between(rng, 1, 3), plain ? 0 : 4);
	if (dlsi_rng_below(rng, 2)) {
		widen(rng, &conv.height);
		widen(rng, &conv.width);
	}
	conv.clamp = kernel_clamp(rng, conv.target_channels % block);
	return conv;
}

static void test_agrees_with_the_definition(void **state)
{
	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			struct dlsi_kernel_conv conv = random_conv(&rng, seed % 2 ? 8 : 16);

			conv.isa = isa;
			kernel_conv_check(&dlsi_kernel_direct, &conv, &rng, 1e-5F);
		}
	}
}

/* As large as layers of real networks are: sums in parts, and more pixels than a chunk has. */
static void test_large_layers_stay_exact(void **state)
{
	const int64_t shapes[][4] = {{1200, 40, 7, 1}, {64, 24, 15, 3}, {16, 24, 60, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const int64_t side = shapes[i][3], size = shapes[i][2];
		const struct dlsi_kernel_axis axis = {
			.source = size, .target = size, .kernel = side, .stride = 1, .pad = side / 2};
		struct dlsi_kernel_conv conv = {.isa = dlsi_isa_of_processor(),
			.block = dlsi_isa_block(dlsi_isa_of_processor()),
			.batch = 1,
			.groups = 1};
		struct dlsi_rng rng = unit_rng(i);

		conv.source_channels = shapes[i][0];
		conv.target_channels = shapes[i][1];
		conv.height = conv.width = axis;
		conv.clamp = DLSI_CLAMP_NONE;
		kernel_conv_check(&dlsi_kernel_direct, &conv, &rng, 1e-5F);
	}
}

static void test_refuses_what_it_cannot(void **state)
{
	const struct dlsi_kernel_axis axis = {.source = 9, .target = 9, .kernel = 3, .stride = 1, .pad = 1};
	const struct dlsi_kernel_conv good = {.block = 8,
		.batch = 1,
		.groups = 1,
		.source_channels = 16,
		.target_channels = 24,
		.height = axis,
		.width = axis,
		.clamp = {0.5F, 1}};
	struct dlsi_kernel_conv conv = good;

	(void)state;
	assert_true(dlsi_kernel_direct.supported(&conv));
	conv.groups = 5;
	assert_false(dlsi_kernel_direct.supported(&conv));
	conv = good;
	conv.channels_last = true;
	assert_true(dlsi_kernel_direct.supported(&conv));
	conv.target_channels = 20;
	assert_false(dlsi_kernel_direct.supported(&conv));
	conv = good;
	conv.target_channels = 20; /* the clamp would give the four channels that fill up 0.5 */
	assert_false(dlsi_kernel_direct.supported(&conv));
	conv = good; /* padding that no memory can hold */
	conv.width.gap = conv.width.pad = INT64_C(1) << 30;
	conv.width.target = 1;
	assert_false(dlsi_kernel_direct.supported(&conv));
	conv = good;
	conv.height.stride = conv.height.pad = INT64_C(1) << 30;
	conv.height.target = 2;
	assert_false(dlsi_kernel_direct.supported(&conv));
}

static void test_no_items_are_no_work(void **state)
{
	const struct dlsi_kernel_axis axis = {.source = 9, .target = 9, .kernel = 3, .stride = 1, .pad = 1};
	const struct dlsi_kernel_conv conv = {.block = 8,
		.groups = 1,
		.source_channels = 16,
		.target_channels = 24,
		.height = axis,
		.width = axis,
		.clamp = DLSI_CLAMP_NONE};

	(void)state;
	assert_true(dlsi_kernel_direct.supported(&conv));
	assert_true(dlsi_kernel_direct.scratch_bytes(&conv, 2) > 0);
	dlsi_kernel_direct.run(&conv, NULL, NULL, NULL, NULL, NULL, NULL, 2);
}

UNIT_MAIN(test_agrees_with_the_definition, test_large_layers_stay_exact, test_refuses_what_it_cannot,
	test_no_items_are_no_work)
