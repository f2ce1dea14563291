/* The memory plan over random lifetimes: nothing that is needed at the same time overlaps, and nothing is wasted where
 * the lifetimes make it easy. */
#include "graph/plan.h"
#include "test/unit/unit.h"

enum { BLOCKS = 60, SEEDS = 300 };

static void test_blocks_needed_together_lie_apart(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_plan_block blocks[BLOCKS];
		size_t count = dlsi_rng_below(&rng, BLOCKS + 1), total = 1, sum = 0;

		for (size_t i = 0; i < count; i++) {
			uint32_t first = (uint32_t)dlsi_rng_below(&rng, 40);

			blocks[i] = (struct dlsi_plan_block){.bytes = dlsi_rng_below(&rng, 5000),
				.first = first,
				.last = first + (uint32_t)dlsi_rng_below(&rng, 8)};
			sum += blocks[i].bytes + DLSI_PLAN_ALIGN;
		}
		assert_int_equal(dlsi_plan_place(unit_alloc(), blocks, count, &total), 0);
		assert_true(total <= sum);
		for (size_t i = 0; i < count; i++) {
			const struct dlsi_plan_block *a = &blocks[i];

			assert_int_equal(a->offset % DLSI_PLAN_ALIGN, 0);
			assert_true(a->offset + a->bytes <= total);
			for (size_t k = 0; k < i; k++) {
				const struct dlsi_plan_block *b = &blocks[k];

				if (a->first <= b->last && b->first <= a->last)
					assert_true(
						a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
			}
		}
	}
}

/* In a chain only two neighbours live at a time: twice the largest is enough. */
static void test_chain_needs_two_neighbours(void **state)
{
	struct dlsi_plan_block blocks[20];
	size_t total;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		blocks[i] = (struct dlsi_plan_block){.bytes = 640 * (1 + i % 5), .first = i, .last = i + 1};
	assert_int_equal(dlsi_plan_place(unit_alloc(), blocks, 20, &total), 0);
	assert_true(total <= 2 * 5 * 640);
}

static void test_impossible_sizes_are_refused(void **state)
{
	struct dlsi_plan_block blocks[] = {{.bytes = SIZE_MAX / 2}, {.bytes = SIZE_MAX / 2}, {.bytes = 100}};
	size_t total = 7;

	(void)state;
	assert_int_equal(dlsi_plan_place(unit_alloc(), blocks, 3, &total), DLS_ENOMEM);
	blocks[0].bytes = SIZE_MAX;
	assert_int_equal(dlsi_plan_place(unit_alloc(), blocks, 1, &total), DLS_ENOMEM);
	assert_int_equal(dlsi_plan_place(unit_alloc_failing_at(1), &blocks[2], 1, &total), DLS_ENOMEM);
	assert_int_equal(total, 7);
}

UNIT_MAIN(test_blocks_needed_together_lie_apart, test_chain_needs_two_neighbours, test_impossible_sizes_are_refused)
