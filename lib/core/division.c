#include "core/division.h"

#include "base/limits.h"

#define UNMEASURED_ITEMS   16                         /* of a first task, before an item's time is known */
#define TASK_NS            UINT64_C(100000000)        /* as long as a task should take */
#define LEAST_NS           UINT64_C(250000)           /* less is not worth its messages, nor are unequal ends */
#define PAGE_BYTES         (DLSI_INLINE_BYTES - 2048) /* rows of a result that travels inside a message */
#define SHARES_PER_DEVICE  2

#define SHORT_TASK_NS      UINT64_C(1000000)
#define LONG_TASK_NS       UINT64_C(250000000)
#define LARGE_RESULT_BYTES (150 * 1024)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
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

/* What the results of one task should not exceed: where they cannot travel inside a message, what one fetch is worth.
 */
static uint64_t page_bytes(uint64_t item_bytes)
{
	return item_bytes <= PAGE_BYTES ? PAGE_BYTES : DLSI_PAGE_BYTES;
}

uint64_t dlsi_division_items(uint64_t ready, uint64_t devices, uint32_t fixed, const struct dlsi_measured *measured)
{
	uint64_t items;

	if (fixed)
		return least(least(fixed, ready), DLSI_TASK_ITEMS);
	items = ready / (SHARES_PER_DEVICE * (devices ? devices : 1));
	if (!measured->item_ns)
		items = least(items, UNMEASURED_ITEMS);
	else if (items > TASK_NS / measured->item_ns)
		items = TASK_NS / measured->item_ns;
	else if (items < LEAST_NS / measured->item_ns)
		items = least(ready, LEAST_NS / measured->item_ns);
	if (measured->item_bytes)
		items = least(items, page_bytes(measured->item_bytes) / measured->item_bytes);
	items = least(items, DLSI_TASK_ITEMS);
	return items ? items : 1;
}

uint32_t dlsi_division_credits(uint32_t offered, uint64_t task_ns, uint64_t task_bytes)
{
	uint32_t credits = 8;

	if (task_bytes >= LARGE_RESULT_BYTES || task_ns >= LONG_TASK_NS)
		credits = 2;
	else if (task_ns && task_ns < SHORT_TASK_NS)
		credits = DLSI_DEVICE_CREDITS;
	return credits < offered ? credits : offered;
}
