/* The index against an array of what is in it. */
#include "base/index.h"
#include "test/unit/unit.h"

#include <string.h>

enum { THINGS = 500, STEPS = 4000, SEEDS = 30 };

struct thing {
	int value;
	struct dlsi_id id;
	void *next;
	bool there;
};

/* Ids that differ in one byte only, in either half. */
static void make_things(struct thing *things)
{
	memset(things, 0, THINGS * sizeof *things);
	for (int i = 0; i < THINGS; i++) {
		things[i].id.bytes[i % 2 ? 0 : 8] = (uint8_t)(i / 2);
		things[i].id.bytes[15] = (uint8_t)(i % 2);
	}
}

static void init(struct dlsi_index *index, const struct dlsi_alloc *alloc, uint64_t seed)
{
	dlsi_index_init(index, alloc, seed, offsetof(struct thing, id), offsetof(struct thing, next));
}

static void assert_finds(const struct dlsi_index *index, struct thing *things)
{
	size_t count = 0;

	for (int i = 0; i < THINGS; i++) {
		assert_ptr_equal(dlsi_index_get(index, &things[i].id), things[i].there ? &things[i] : NULL);
		count += things[i].there;
	}
	assert_int_equal(index->count, count);
}

static void test_agrees_with_array(void **state)
{
	struct thing things[THINGS];

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_index index;

		make_things(things);
		init(&index, unit_alloc(), seed);
		for (int step = 0; step < STEPS; step++) {
			struct thing *thing = &things[dlsi_rng_below(&rng, THINGS)];

			if (thing->there)
				dlsi_index_remove(&index, thing);
			else
				assert_int_equal(dlsi_index_add(&index, thing), 0);
			thing->there = !thing->there;
			if (step % 50 == 0)
				assert_finds(&index, things);
		}
		dlsi_index_fini(&index);
	}
}

static void test_unchanged_when_memory_runs_out(void **state)
{
	struct thing things[THINGS];
	struct dlsi_index index;
	int held = 0;

	(void)state;
	make_things(things);
	init(&index, unit_alloc_failing_at(3), 1);
	while (dlsi_index_add(&index, &things[held]) == 0)
		things[held++].there = true;
	assert_in_range(held, 1, THINGS - 1);
	assert_finds(&index, things);
	dlsi_index_remove(&index, &things[0]);
	things[0].there = false;
	assert_int_equal(dlsi_index_add(&index, &things[held]), 0); /* there is a chain for it */
	things[held].there = true;
	assert_finds(&index, things);
	dlsi_index_fini(&index);
}

UNIT_MAIN(test_agrees_with_array, test_unchanged_when_memory_runs_out)
