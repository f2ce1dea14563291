/* Floats of 16 bits: each of them widened against its definition, and constants of a model that are such. */
#include "reader/half.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <math.h>
#include <string.h>

/* By IEEE 754: a sign, `exponent_bits` of exponent and the rest of fraction. */
static float define(uint32_t bits, int exponent_bits)
{
	int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
	double fraction = bits & ((1U << fraction_bits) - 1), whole = 1 << fraction_bits, magnitude;

	if (exponent == (1 << exponent_bits) - 1)
		magnitude = fraction > 0 ? NAN : INFINITY;
	else if (exponent)
		magnitude = ldexp(1 + fraction / whole, exponent - bias);
	else
		magnitude = ldexp(fraction / whole, 1 - bias);
	return (float)(bits >> 15 ? -magnitude : magnitude);
}

static void test_every_one_of_them(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
		const uint8_t pair[] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
		float half, bfloat, expected = define(bits, 5), expected_bfloat = define(bits, 8);

		dlsi_half_widen(pair, 2, 1, &half);
		dlsi_bfloat_widen(pair, 2, 1, &bfloat);
		if (!(isnan(expected) ? isnan(half) : memcmp(&half, &expected, sizeof half) == 0))
			fail_msg("float16 %04x is %g, not %g", bits, (double)half, (double)expected);
		if (!(isnan(expected_bfloat) ? isnan(bfloat) : memcmp(&bfloat, &expected_bfloat, sizeof bfloat) == 0))
			fail_msg("bfloat16 %04x is %g, not %g", bits, (double)bfloat, (double)expected_bfloat);
	}
}

static void assert_constant(const struct dlsi_graph *graph, const char *name, const float *expected)
{
	for (uint32_t i = 0; i < graph->value_count; i++) {
		const struct dlsi_value *value = &graph->values[i];

		if (strcmp(value->name, name) != 0)
			continue;
		assert_int_equal(value->dtype, DLS_FLOAT32);
		assert_memory_equal(value->data, expected, 3 * sizeof *expected);
		return;
	}
	fail_msg("there is no constant %s", name);
}

static void test_constants_of_a_model(void **state)
{
	static const float expected[] = {1, -2, 65504}, expected_bfloat[] = {1, -2, 0x1.fep127F};
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	struct dls_error err;

	(void)state;
	unit_onnx(&file, &rng,
		"in x ? 3\nfloat16 a 3c00 c000 7bff\nfloat16 a_typed 3c00 c000 7bff\nbfloat16 b 3f80 c000 7f7f\n"
		"bfloat16 b_typed 3f80 c000 7f7f\nnode Sum x a a_typed b b_typed > y\nnode Cast y > z to:i=10\nout "
		"z\n");
	if (unit_onnx_load(unit_alloc(), &file, &graph, &err))
		fail_msg("%s", err.text);
	assert_constant(graph, "a", expected);
	assert_constant(graph, "a_typed", expected);
	assert_constant(graph, "b", expected_bfloat);
	assert_constant(graph, "b_typed", expected_bfloat);
	assert_int_equal(graph->values[graph->outputs[0]].dtype, DLS_FLOAT32);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_every_one_of_them, test_constants_of_a_model)
