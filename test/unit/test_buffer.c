/* Buffers against a plain array, and what happens to them when memory runs out. */
#include "base/buffer.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { SEEDS = 100, STEPS = 200, MODEL_BYTES = STEPS * 40 };

static size_t append_something(struct dlsi_buffer *buffer, struct dlsi_rng *rng, char *model)
{
	size_t length = dlsi_rng_below(rng, 40);
	uint64_t number = dlsi_rng_next(rng);
	char *at;

	switch (dlsi_rng_below(rng, 3)) {
	case 0:
		length = (size_t)sprintf(model, "<%llu>", (unsigned long long)number);
		dlsi_buffer_printf(buffer, "<%llu>", (unsigned long long)number);
		break;
	case 1:
		memset(model, (int)(number & 127), length);
		dlsi_buffer_append(buffer, model, length);
		break;
	default:
		memset(model, (int)(number & 127), length);
		at = (char *)dlsi_buffer_extend(buffer, length);
		memcpy(at, model, length);
	}
	return length;
}

static void test_agrees_with_array(void **state)
{
	static char model[MODEL_BYTES];

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_buffer buffer;
		size_t length = 0, taken_length;
		uint8_t *taken;

		dlsi_buffer_init(&buffer, unit_alloc());
		dlsi_buffer_append(&buffer, "before", 6);
		dlsi_buffer_clear(&buffer);
		for (int step = 0; step < STEPS; step++)
			length += append_something(&buffer, &rng, model + length);
		assert_false(buffer.failed);
		taken = dlsi_buffer_take(&buffer, &taken_length);
		assert_int_equal(taken_length, length);
		assert_memory_equal(taken, model, length);
		assert_null(buffer.data);
		dlsi_free(unit_alloc(), taken);
		dlsi_buffer_fini(&buffer);
	}
}

static void test_failure_sticks_until_cleared(void **state)
{
	struct dlsi_buffer buffer;

	(void)state;
	for (unsigned n = 1; n < 4; n++) {
		size_t before;

		dlsi_buffer_init(&buffer, unit_alloc_failing_at(n));
		for (int i = 0; i < 200; i++)
			dlsi_buffer_append(&buffer, "0123456789", 10);
		assert_true(buffer.failed);
		before = buffer.length;
		dlsi_buffer_append(&buffer, "1", 1);
		dlsi_buffer_printf(&buffer, "%d", 1);
		assert_null(dlsi_buffer_extend(&buffer, 1));
		assert_int_equal(buffer.length, before);
		dlsi_buffer_clear(&buffer);
		assert_false(buffer.failed);
		dlsi_buffer_fini(&buffer);
	}
}

static void test_lengths_that_cannot_be(void **state)
{
	struct dlsi_buffer buffer;

	(void)state;
	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_buffer_append(&buffer, "x", 1);
	assert_null(dlsi_buffer_extend(&buffer, SIZE_MAX));
	assert_true(buffer.failed);
	dlsi_buffer_fini(&buffer);
}

static void test_printed_text_ends_in_nul(void **state)
{
	struct dlsi_buffer buffer;

	(void)state;
	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_buffer_printf(&buffer, "%s", "text");
	assert_int_equal(buffer.length, 4);
	assert_string_equal((char *)buffer.data, "text");
	dlsi_buffer_fini(&buffer);
}

static void test_nothing_appended_needs_no_memory(void **state)
{
	struct dlsi_buffer buffer;

	(void)state;
	dlsi_buffer_init(&buffer, unit_alloc_failing_at(1));
	dlsi_buffer_append(&buffer, NULL, 0);
	assert_false(buffer.failed);
	dlsi_buffer_fini(&buffer);
}

UNIT_MAIN(test_agrees_with_array, test_failure_sticks_until_cleared, test_lengths_that_cannot_be,
	test_printed_text_ends_in_nul, test_nothing_appended_needs_no_memory)
