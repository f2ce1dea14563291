#include "test/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed_in_use;
static size_t blocks; /* taken and not yet freed */
static unsigned requests_left;

struct dlsi_rng unit_rng(uint64_t seed)
{
	struct dlsi_rng rng;

	seed_in_use = seed;
	dlsi_rng_init(&rng, seed);
	return rng;
}

static void *resize_counting(void *arg, void *old, size_t size)
{
	void *memory;

	if (!size) {
		blocks -= old != NULL;
		free(old);
		return NULL;
	}
	if (arg && (requests_left == 0 || --requests_left == 0))
		return NULL;
	memory = realloc(old, size);
	blocks += !old && memory;
	return memory;
}

const struct dlsi_alloc *unit_alloc(void)
{
	static const struct dlsi_alloc counting = {.resize = resize_counting};

	return &counting;
}

const struct dlsi_alloc *unit_alloc_failing_at(unsigned n)
{
	static const struct dlsi_alloc failing = {.resize = resize_counting, .arg = &requests_left};

	requests_left = n;
	return &failing;
}

int unit_setup(void **state)
{
	(void)state;
	seed_in_use = 0;
	blocks = 0;
	return 0;
}

int unit_teardown(void **state)
{
	(void)state;
	if (seed_in_use)
		fprintf(stderr, "last seed: %" PRIu64 "\n", seed_in_use);
	if (blocks)
		fprintf(stderr, "%zu blocks of memory were not freed\n", blocks);
	return blocks ? -1 : 0;
}

int unit_run(const char *file, const struct CMUnitTest *tests, size_t count)
{
	return _cmocka_run_group_tests(file, tests, count, NULL, NULL) != 0;
}
