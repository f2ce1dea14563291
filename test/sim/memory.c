/* The memory of one node: counted, so that what it leaves is seen, and sometimes at an end. */
#include "test/sim/sim.h"

#include <stdlib.h>

static bool fails(struct sim_memory *memory)
{
	if (memory->has_failed)
		return memory->for_good;
	if (!memory->plenty || --memory->plenty)
		return false;
	memory->has_failed = true;
	return true;
}

static void *resize(void *arg, void *old, size_t size)
{
	struct sim_memory *memory = arg;
	void *grown;

	if (!size) {
		memory->blocks -= old != NULL;
		free(old);
		return NULL;
	}
	if (fails(memory))
		return NULL;
	grown = realloc(old, size);
	if (!grown)
		abort();
	memory->blocks += old == NULL;
	return grown;
}

void sim_memory_init(struct sim_memory *memory)
{
	*memory = (struct sim_memory){.alloc = {resize, memory}};
}

void sim_memory_starve(struct sim_memory *memory, uint64_t plenty, bool for_good)
{
	memory->plenty = plenty;
	memory->for_good = for_good;
	memory->has_failed = false;
}
