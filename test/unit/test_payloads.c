/* Payload handles against a plain list: each names its frame until it is released, and never another one after. */
#include "node/payloads.h"
#include "test/unit/unit.h"

enum { LIVE = 40, STEPS = 4000, SEEDS = 20 };

static struct dlsi_frame *make_frame(uint32_t value)
{
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), &value, sizeof value);

	assert_non_null(frame);
	return frame;
}

static void test_handles_name_their_frame_only(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_payloads payloads;
		struct dlsi_payload live[LIVE];
		struct dlsi_frame *frames[LIVE];
		uint64_t old = 0;
		unsigned count = 0;

		dlsi_payloads_init(&payloads, unit_alloc());
		for (uint32_t step = 0; step < STEPS; step++) {
			if (count < LIVE && dlsi_rng_below(&rng, 2)) {
				frames[count] = make_frame(step);
				assert_int_equal(dlsi_payloads_add(&payloads, frames[count], &live[count]), 0);
				assert_int_equal(live[count].bytes, sizeof step);
				assert_int_not_equal(live[count].handle, 0);
				count++;
			} else if (count) {
				unsigned gone = (unsigned)dlsi_rng_below(&rng, count--);

				old = live[gone].handle;
				assert_true(dlsi_payloads_release(&payloads, old));
				live[gone] = live[count];
				frames[gone] = frames[count];
			}
			for (unsigned i = 0; i < count; i++)
				assert_ptr_equal(dlsi_payloads_get(&payloads, live[i].handle), frames[i]);
			assert_null(dlsi_payloads_get(&payloads, old));
			assert_false(dlsi_payloads_release(&payloads, old));
		}
		dlsi_payloads_fini(&payloads); /* drops the rest, or the test ends with blocks not freed */
	}
}

static void test_handles_that_never_were(void **state)
{
	struct dlsi_payloads payloads;

	(void)state;
	dlsi_payloads_init(&payloads, unit_alloc());
	for (uint64_t handle = 0; handle < 3; handle++) {
		assert_null(dlsi_payloads_get(&payloads, handle));
		assert_null(dlsi_payloads_get(&payloads, UINT64_MAX - handle));
		assert_false(dlsi_payloads_release(&payloads, handle));
	}
	dlsi_payloads_fini(&payloads);
}

static void test_without_memory(void **state)
{
	struct dlsi_payload payload = {7, 7};
	struct dlsi_payloads payloads;
	struct dlsi_frame *frame = make_frame(1);

	(void)state;
	dlsi_payloads_init(&payloads, unit_alloc_failing_at(1));
	assert_int_equal(dlsi_payloads_add(&payloads, frame, &payload), DLS_ENOMEM);
	assert_int_equal(payload.handle, 7);
	dlsi_frame_unref(frame); /* it was not taken */
	dlsi_payloads_fini(&payloads);
}

UNIT_MAIN(test_handles_name_their_frame_only, test_handles_that_never_were, test_without_memory)
