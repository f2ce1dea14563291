#include "test/unit/unit.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool finished; /* the running test came to its end; a failed assertion leaves it by longjmp */
static uint64_t seed_in_use;
static atomic_size_t blocks; /* taken and not yet freed, by all threads */
static atomic_uint requests_left;
static char folder[64];

struct dlsi_rng unit_rng(uint64_t seed)
{
	struct dlsi_rng rng;

	seed_in_use = seed;
	dlsi_rng_init(&rng, seed);
	return rng;
}

/* False from the request on that is to fail. */
static bool take_request(void)
{
	unsigned left = atomic_load(&requests_left);

	while (left && !atomic_compare_exchange_weak(&requests_left, &left, left - 1))
		;
	return left > 1;
}

static void *resize_counting(void *arg, void *old, size_t size)
{
	void *memory;

	if (!size) {
		blocks -= old != NULL;
		free(old);
		return NULL;
	}
	if (arg && !take_request())
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

bool unit_alloc_has_failed(void)
{
	return atomic_load(&requests_left) == 0;
}

const char *unit_folder(void)
{
	const char *above = getenv("TMPDIR");

	snprintf(folder, sizeof folder, "%s/dls-unit-XXXXXX", above && strlen(above) < 40 ? above : "/tmp");
	assert_non_null(mkdtemp(folder));
	return folder;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static void remove_folder(void)
{
	if (*folder)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*folder = '\0';
}

int unit_setup(void **state)
{
	(void)state;
	finished = false;
	seed_in_use = 0;
	blocks = 0;
	return 0;
}

void unit_call(void **state)
{
	const struct unit_case *unit = *state;

	unit->run(NULL);
	finished = true;
}

int unit_teardown(void **state)
{
	(void)state;
	remove_folder();
	if (!finished && seed_in_use)
		fprintf(stderr, "seed of the failure: %" PRIu64 "\n", seed_in_use);
	if (finished && blocks)
		fprintf(stderr, "%zu blocks of memory were not freed\n", (size_t)blocks);
	return finished && blocks ? -1 : 0;
}

int unit_run(const char *file, const struct CMUnitTest *tests, size_t count)
{
	return _cmocka_run_group_tests(file, tests, count, NULL, NULL) != 0;
}
