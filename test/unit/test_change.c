/* The log's records: what is written is read back, and nothing else is read at all. */
#include "base/buffer.h"
#include "core/change.h"
#include "proto/bytes.h"
#include "test/unit/unit.h"

enum { SEEDS = 500 };

static struct dlsi_change any_change(struct dlsi_rng *rng)
{
	static const char text[] = "{\"handler\":\"work\"}";
	struct dlsi_change change = {.kind = (uint8_t)(1 + dlsi_rng_below(rng, 5))};

	for (int i = 0; i < DLSI_ID_BYTES; i++)
		change.job.bytes[i] = (uint8_t)dlsi_rng_next(rng);
	if (change.kind == DLSI_CHANGE_SUBMIT) {
		change.submit.token = change.job;
		change.submit.count = dlsi_rng_next(rng);
		change.submit.priority = (int32_t)dlsi_rng_next(rng);
		change.submit.deadline_ns = dlsi_rng_next(rng);
		change.submit.manifest.length = dlsi_rng_next(rng);
		change.submit.manifest_head = (uint32_t)dlsi_rng_next(rng);
		change.submit.spec = (struct dlsi_bytes){(const uint8_t *)text, (uint32_t)dlsi_rng_below(rng, 18)};
	} else if (change.kind == DLSI_CHANGE_ITEMS) {
		change.items.first = dlsi_rng_next(rng);
		change.items.end = dlsi_rng_next(rng);
		change.items.elapsed_ns = dlsi_rng_next(rng);
	} else if (change.kind == DLSI_CHANGE_PAUSE) {
		change.pause.paused = dlsi_rng_below(rng, 2);
	} else if (change.kind == DLSI_CHANGE_PRIORITY) {
		change.priority.priority = (int32_t)dlsi_rng_next(rng);
	} else {
		change.end.state = (uint8_t)dlsi_rng_next(rng);
		change.end.code = (int32_t)dlsi_rng_next(rng);
		change.end.sentence = (struct dlsi_text){text, (uint32_t)dlsi_rng_below(rng, 18)};
	}
	return change;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_change change = any_change(&rng), back;
		struct dlsi_buffer first, second;

		dlsi_buffer_init(&first, unit_alloc());
		dlsi_buffer_init(&second, unit_alloc());
		dlsi_change_write(&first, &change);
		assert_true(dlsi_change_read(first.data, first.length, &back));
		dlsi_change_write(&second, &back);
		assert_int_equal(first.length, second.length);
		assert_memory_equal(first.data, second.data, first.length);
		for (size_t length = 0; length < first.length; length++)
			assert_false(dlsi_change_read(first.data, length, &back));
		dlsi_write_u8(&first, 0);
		assert_false(dlsi_change_read(first.data, first.length, &back));
		first.data[0]++;
		assert_false(dlsi_change_read(first.data, first.length - 1, &back));
		dlsi_buffer_fini(&first);
		dlsi_buffer_fini(&second);
	}
}

UNIT_MAIN(test_round_trip)
