/* Which states follow which: one table per lifecycle. A pair that is not in its table is refused and counted, never
 * ignored in silence and never obeyed. */
#ifndef DLSI_LIFECYCLE_H
#define DLSI_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

enum dlsi_lifecycle {
	DLSI_LIFECYCLE_JOB,  /* enum dlsi_job_state */
	DLSI_LIFECYCLE_TASK, /* enum dlsi_task_state */
	DLSI_LIFECYCLE_LINK, /* enum dlsi_link_state */
};

/* A task of the master: nothing, then with a worker, then with its result here, then gone. */
enum dlsi_task_state {
	DLSI_TASK_NEW = 0,
	DLSI_TASK_ASSIGNED = 1,
	DLSI_TASK_RETURNED = 2,
	DLSI_TASK_DROPPED = 3, /* its items went back or were not wanted any more */
	DLSI_TASK_TAKEN = 4,   /* its items are done */
};

/* A worker's or client's connection to its master. */
enum dlsi_link_state {
	DLSI_LINK_DOWN = 0,
	DLSI_LINK_REGISTERING = 1,
	DLSI_LINK_UP = 2,
	DLSI_LINK_REJECTED = 3, /* the master said no for good */
};

/* Moves *state if the table allows it; else counts in *refused and returns false. */
bool dlsi_lifecycle_set(enum dlsi_lifecycle lifecycle, uint8_t *state, uint8_t next, uint64_t *refused);

/* As answers and log lines say it: "active". */
const char *dlsi_job_state_name(uint8_t state);

#endif
