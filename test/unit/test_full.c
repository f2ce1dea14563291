/* Fully connected layers against the plainest loop in double precision, on every instruction set. */
#include "kernel/full.h"
#include "test/unit/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 60 };

struct tensors {
	float *source, *weights, *bias, *packed, *expected, *target;
};

static struct tensors make_tensors(
	const struct dlsi_kernel_full *full, struct dlsi_rng *rng, bool transposed, bool bias)
{
	const int64_t sources = full->rows * full->inputs, weights = full->inputs * full->outputs;
	const int64_t output_stride = transposed ? 1 : full->inputs, input_stride = transposed ? full->outputs : 1;
	struct tensors t = {.source = kernel_floats(sources),
		.weights = kernel_floats(weights),
		.bias = kernel_floats(full->outputs),
		.packed = kernel_floats((int64_t)(dlsi_full_weights_bytes(full) / sizeof(float))),
		.expected = kernel_floats(full->rows * full->outputs),
		.target = kernel_floats(full->rows * full->outputs)};

	for (int64_t i = 0; i < sources; i++)
		t.source[i] = kernel_random(rng);
	for (int64_t i = 0; i < weights; i++)
		t.weights[i] = kernel_random(rng);
	for (int64_t i = 0; i < full->outputs; i++)
		t.bias[i] = kernel_random(rng);
	for (int64_t i = 0; i < full->rows * full->outputs; i++) {
		const float *source = t.source + i / full->outputs * full->inputs;
		const int64_t output = i % full->outputs;
		double sum = bias ? (double)t.bias[output] : 0;

		for (int64_t k = 0; k < full->inputs; k++)
			sum += (double)source[k] * (double)t.weights[output * output_stride + k * input_stride];
		t.expected[i] = fminf(fmaxf((float)sum, full->clamp.low), full->clamp.high);
	}
	dlsi_full_pack(full, t.weights, output_stride, input_stride, t.packed, 2);
	return t;
}

static void free_tensors(struct tensors *t)
{
	float *all[] = {t->source, t->weights, t->bias, t->packed, t->expected, t->target};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

static void check(const struct dlsi_kernel_full *full, struct dlsi_rng *rng)
{
	const bool transposed = dlsi_rng_below(rng, 2), bias = dlsi_rng_below(rng, 3);
	const int threads = (int)kernel_between(rng, 2, 4);
	const int64_t count = full->rows * full->outputs;
	struct tensors t = make_tensors(full, rng, transposed, bias);
	float *scratch = kernel_floats((int64_t)(dlsi_full_scratch_bytes(full, threads) / sizeof(float)));
	float *first = kernel_floats(count);

	assert_true(dlsi_full_supported(full));
	dlsi_full_run(full, t.source, t.packed, bias ? t.bias : NULL, t.target, scratch, 1);
	kernel_assert_close(t.target, t.expected, count, 1e-5F);
	memcpy(first, t.target, (size_t)count * sizeof *first);
	dlsi_full_run(full, t.source, t.packed, bias ? t.bias : NULL, t.target, scratch, threads);
	assert_memory_equal(first, t.target, (size_t)count * sizeof *first);
	free(first);
	free(scratch);
	free_tensors(&t);
}

static void test_agrees_with_the_definition(void **state)
{
	static const struct dlsi_clamp clamps[] = {{-INFINITY, INFINITY}, {0, INFINITY}, {0.25F, 1}};

	(void)state;
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct dlsi_rng rng = unit_rng(seed);
			struct dlsi_kernel_full full = {.isa = isa,
				.block = seed % 2 ? 8 : 16,
				.rows = seed % 4 ? kernel_between(&rng, 0, 7) : kernel_between(&rng, 8, 140),
				.inputs = seed % 3 ? kernel_between(&rng, 1, 50) : kernel_between(&rng, 300, 1000),
				.outputs = kernel_between(&rng, 1, 100),
				.clamp = clamps[dlsi_rng_below(&rng, 3)]};

			check(&full, &rng);
		}
	}
}

/* A clamp passes on what is not a number; the other rows do not see it. */
static void test_clamps_pass_nan(void **state)
{
	const float source[] = {1, NAN, INFINITY, -INFINITY, 2}, weights[] = {1};
	struct dlsi_kernel_full full = {.block = 8, .rows = 5, .inputs = 1, .outputs = 1, .clamp = {0, 6}};
	float *packed = kernel_floats((int64_t)(dlsi_full_weights_bytes(&full) / sizeof(float)));
	float *scratch = kernel_floats((int64_t)(dlsi_full_scratch_bytes(&full, 1) / sizeof(float)));
	float target[5];

	(void)state;
	dlsi_full_pack(&full, weights, 1, 1, packed, 1);
	for (enum dlsi_isa isa = DLSI_ISA_GENERIC; isa <= dlsi_isa_of_processor(); isa++) {
		full.isa = isa;
		dlsi_full_run(&full, source, packed, NULL, target, scratch, 1);
		assert_true(target[0] == 1 && isnan(target[1]) && target[2] == 6 && target[3] == 0 && target[4] == 2);
	}
	free(packed);
	free(scratch);
}

UNIT_MAIN(test_agrees_with_the_definition, test_clamps_pass_nan)
