/* How large a task is and how many a device holds: arithmetic on what was measured.
 *
 * Each device gets work for about the same time, by how fast it is itself, but not less at once than serves it well:
 * where batches are cheaper than single items, larger tasks are tried while that may pay. Towards the end of a job
 * tasks follow guided self-scheduling (Polychronopoulos and Kuck, "Guided self-scheduling", IEEE Trans. Computers C-36,
 * 1987): a share of what is left, so that the last tasks are small and unequal machines end together. Results that
 * would no longer travel inside a message bound a task too.
 *
 * Nothing here knows of a job's items but how many are left: what a job costs grows with its running tasks. */
#ifndef DLSI_DIVISION_H
#define DLSI_DIVISION_H

#include <stdint.h>

/* Averages that follow the last measurements (weight 1/8 each, the first one whole). 0: nothing measured. */
struct dlsi_measured {
	uint64_t item_ns;    /* on a device */
	uint64_t item_bytes; /* of its result */
};

void dlsi_measured_add(struct dlsi_measured *measured, uint64_t items, uint64_t elapsed_ns, uint64_t bytes);

/* What an item takes of a device by the size of the task, of the sizes 1, 2, 4, ... 4,096; 0: nothing measured. Where a
 * model runs batches, its items are dearer in small ones. */
enum { DLSI_TASK_SIZES = 13 };
struct dlsi_sizes {
	uint64_t item_ns[DLSI_TASK_SIZES];
};

void dlsi_sizes_add(struct dlsi_sizes *sizes, uint64_t items, uint64_t elapsed_ns);

/* The size of a task that may have `affordable` items: so many, as a power of two, or more if larger ones have been
 * found to be better by more than two per cent. Whether they are is found out: by the next larger size as long as that
 * stays below two seconds, and by smaller ones. 16 at least where nothing was measured. */
uint64_t dlsi_sizes_best(const struct dlsi_sizes *sizes, uint64_t affordable);

/* What a task is cut by. */
struct dlsi_division {
	uint64_t ready;                  /* items that are left, at least 1 */
	uint64_t devices;                /* that can take them */
	uint32_t fixed;                  /* what the job asks for; 0: nothing */
	const struct dlsi_measured *all; /* items like those of the job, wherever they ran ... */
	const struct dlsi_measured *own; /* ... and on this device ... */
	const struct dlsi_sizes *sizes;  /* ... by the size of the task */
};

/* Items of the next task for the device, at least 1. */
uint64_t dlsi_division_items(const struct dlsi_division *division);

/* Tasks a device holds at once, the running one included: those that wait last it while a message goes to the master
 * and inputs come back. 2 at least, many where tasks are short, never more than it offers. task_ns and task_bytes are
 * averages of the device, 0 if unknown. */
uint32_t dlsi_division_credits(uint32_t offered, uint64_t task_ns, uint64_t task_bytes);

#endif
