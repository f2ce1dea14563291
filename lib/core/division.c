#include "core/division.h"

#include "base/limits.h"
#include <stdbool.h>

#define UNMEASURED_SIZE     4                          /* of a first task: 16 items */
#define TASK_NS             UINT64_C(100000000)        /* as long as a task should take ... */
#define TASK_NS_PER_DEVICE  UINT64_C(50000)            /* ... or longer: a master has so long for each task */
#define SHORT_NS            (TASK_NS / 10)             /* to which it is cut, at most, while others have work ... */
#define SHORT_NS_PER_DEVICE (TASK_NS_PER_DEVICE / 2)   /* ... or longer */
#define LEAST_NS            UINT64_C(500000)           /* to which it is always cut: its messages cost as much */
#define TRIED_NS            UINT64_C(2000000000)       /* larger tasks are tried while they are not longer than this */
#define WORTH_PERCENT       2                          /* what makes one size better than another */
#define PAGE_BYTES          (DLSI_INLINE_BYTES - 2048) /* rows of a result that travels inside a message */
#define SHARES_PER_DEVICE   2
#define DEVICES_MOST        1000000 /* in sums */

#define LEAD_NS             UINT64_C(50000000) /* that tasks which wait should last */
#define LARGE_RESULT_BYTES  (150 * 1024)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t follow(uint64_t average, uint64_t value)
{
	return average ? average - average / 8 + value / 8 : value;
}

void dlsi_measured_add(struct dlsi_measured *measured, uint64_t items, uint64_t elapsed_ns, uint64_t bytes)
{
	measured->item_ns = follow(measured->item_ns, elapsed_ns / items + 1);
	measured->item_bytes = follow(measured->item_bytes, bytes / items + 1);
}

static unsigned log2_of(uint64_t items)
{
	return 63 - (unsigned)__builtin_clzll(items);
}

/* The number of the smallest size that is as good as any; DLSI_TASK_SIZES if none was measured. */
static unsigned best_size(const struct dlsi_sizes *sizes)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < DLSI_TASK_SIZES; i++)
		if (sizes->item_ns[i])
			best = least(best, sizes->item_ns[i]);
	for (unsigned i = 0; i < DLSI_TASK_SIZES; i++)
		if (sizes->item_ns[i] && sizes->item_ns[i] - best <= best / 100 * WORTH_PERCENT)
			return i;
	return DLSI_TASK_SIZES;
}

static bool may_try_larger(const struct dlsi_sizes *sizes, unsigned best)
{
	return best + 1 < DLSI_TASK_SIZES && !sizes->item_ns[best + 1] &&
	       sizes->item_ns[best] <= TRIED_NS >> (best + 1);
}

void dlsi_sizes_add(struct dlsi_sizes *sizes, uint64_t items, uint64_t elapsed_ns)
{
	unsigned size = log2_of(items);

	if (size < DLSI_TASK_SIZES && !(items & (items - 1)))
		sizes->item_ns[size] = follow(sizes->item_ns[size], elapsed_ns / items + 1);
}

uint64_t dlsi_sizes_best(const struct dlsi_sizes *sizes, uint64_t affordable)
{
	unsigned best = best_size(sizes), size = log2_of(most(affordable, 1));

	if (best == DLSI_TASK_SIZES)
		best = UNMEASURED_SIZE;
	else if (best >= size && may_try_larger(sizes, best))
		best++;
	else if (best > size && !sizes->item_ns[best - 1])
		best--;
	return UINT64_C(1) << least(most(best, size), DLSI_TASK_SIZES - 1);
}

/* What the results of one task should not exceed: where they cannot travel inside a message, what one fetch is worth.
 */
static uint64_t page_bytes(uint64_t item_bytes)
{
	return item_bytes <= PAGE_BYTES ? PAGE_BYTES : DLSI_PAGE_BYTES;
}

/* The device's part of what is left, by how fast it is among the others. */
static uint64_t share(const struct dlsi_division *division)
{
	uint64_t even = division->ready / (SHARES_PER_DEVICE * most(division->devices, 1)), speed;

	if (!division->own->item_ns || !division->all->item_ns)
		return even;
	speed = least(least(division->all->item_ns, UINT64_MAX / 256) * 256 / division->own->item_ns, 256 * 16);
	return even * speed / 256;
}

uint64_t dlsi_division_items(const struct dlsi_division *division)
{
	uint64_t devices = least(most(division->devices, 1), DEVICES_MOST);
	uint64_t item_ns = division->own->item_ns ? division->own->item_ns : division->all->item_ns;
	uint64_t item_bytes = division->all->item_bytes, items, shortest = 1;

	if (division->fixed)
		return least(least(division->fixed, division->ready), DLSI_TASK_ITEMS);
	items = dlsi_sizes_best(division->sizes, item_ns ? most(TASK_NS, devices * TASK_NS_PER_DEVICE) / item_ns : 1);
	if (item_bytes)
		items = least(items, page_bytes(item_bytes) / item_bytes);
	if (item_ns)
		shortest = most(LEAST_NS / item_ns,
			least(most(SHORT_NS, devices * SHORT_NS_PER_DEVICE) / item_ns, division->ready / devices));
	items = least(least(items, most(share(division), shortest)), division->ready);
	return UINT64_C(1) << log2_of(most(items, 1));
}

uint32_t dlsi_division_credits(uint32_t offered, uint64_t task_ns, uint64_t task_bytes)
{
	uint64_t credits = 2;

	if (task_ns && task_bytes < LARGE_RESULT_BYTES)
		credits += LEAD_NS / task_ns;
	return (uint32_t)least(least(credits, DLSI_DEVICE_CREDITS), offered);
}
