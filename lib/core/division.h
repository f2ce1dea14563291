/* How large a task is and how many a device holds: arithmetic on what was measured.
 *
 * Task sizes follow guided self-scheduling (Polychronopoulos and Kuck, "Guided self-scheduling", IEEE Trans. Computers
 * C-36, 1987): a share of what is left, so that the last tasks are small and unequal machines end together; bounded by
 * a time per task from above and below, and by the size of a result that still travels inside a message. */
#ifndef DLSI_DIVISION_H
#define DLSI_DIVISION_H

#include <stdint.h>

/* Averages that follow the last measurements (weight 1/8 each, the first one whole). 0: nothing measured. */
struct dlsi_measured {
	uint64_t item_ns;    /* on a device */
	uint64_t item_bytes; /* of its result */
};

void dlsi_measured_add(struct dlsi_measured *measured, uint64_t items, uint64_t elapsed_ns, uint64_t bytes);

/* Items of the next task, at least 1: `ready` items are left, `devices` can take them, `fixed` is what the job asks for
 * (0: nothing). */
uint64_t dlsi_division_items(uint64_t ready, uint64_t devices, uint32_t fixed, const struct dlsi_measured *measured);

/* Tasks a device holds at once, the running one included: 8, many for short tasks so that their messages are shared,
 * few for long ones or large results, never more than it offers. task_ns and task_bytes are averages of the device, 0
 * if unknown. */
uint32_t dlsi_division_credits(uint32_t offered, uint64_t task_ns, uint64_t task_bytes);

#endif
