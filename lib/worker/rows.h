/* The rows of a task's items: which pages of its job's manifest they lie in, and what becomes the task's inputs. */
#ifndef DLSI_WORKER_ROWS_H
#define DLSI_WORKER_ROWS_H

#include "worker/job.h"
#include "worker/task_input.h"

struct dlsi_worker_span;

/* Zero: nothing to fini. */
struct dlsi_worker_rows {
	struct dlsi_worker_job *job; /* outlives it */
	uint64_t first;              /* item */
	uint64_t end;
	struct dlsi_worker_span *spans;
	size_t span_count;
	size_t missing; /* pages on their way */
	struct dlsi_waiter *waiter;
};

/* The head of the job's manifest is here, and has these items. Errors: DLS_ENOMEM. */
int dlsi_worker_rows_init(struct dlsi_worker_rows *rows, struct dlsi_worker_job *job, uint64_t first, uint32_t count,
	struct dls_error *err);
void dlsi_worker_rows_fini(struct dlsi_worker_rows *rows);

/* Of all pages. */
uint64_t dlsi_worker_rows_bytes(const struct dlsi_worker_rows *rows);

/* Gets the pages. False: some are on their way; the waiter looks when they have come or cannot be had, and asks again.
 */
bool dlsi_worker_rows_get(struct dlsi_worker_rows *rows, struct dlsi_waiter *waiter);

/* Then adds the items to the inputs. What cannot be read is the error of the items concerned. Errors: DLS_ENOMEM. */
int dlsi_worker_rows_add(const struct dlsi_worker_rows *rows, struct dlsi_task_inputs *inputs);

#endif
