/* The reads that bring a task's inputs from the holder of its job. All tasks of a worker together have
 * DLSI_FETCHES_AT_ONCE under way; those that want more take turns as reads end. */
#ifndef DLSI_WORKER_READS_H
#define DLSI_WORKER_READS_H

#include "worker/job.h"
#include "worker/task_input.h"

struct dlsi_worker_reads {
	struct dlsi_worker_job *job; /* outlives it, like the inputs */
	struct dlsi_task_inputs *inputs;
	struct dlsi_waiter *waiter; /* for the end of all */
	struct dlsi_waiter turn;    /* for the end of any task's */
	struct dlsi_list list;
	uint32_t next;
	uint32_t under_way;
};

/* `waiter` looks when every read has ended. */
void dlsi_worker_reads_init(struct dlsi_worker_reads *reads, struct dlsi_worker_job *job,
	struct dlsi_task_inputs *inputs, struct dlsi_waiter *waiter);

/* Begins what may begin. True: every read has ended. */
bool dlsi_worker_reads_get(struct dlsi_worker_reads *reads);

/* Those under way end soon, none begins any more. */
void dlsi_worker_reads_cancel(struct dlsi_worker_reads *reads);

#endif
