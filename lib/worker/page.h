/* The pages of a job's manifest at a worker: fetched when a task needs one, or cut out of a manifest that came with the
 * job, and a few kept for the tasks that follow.
 *
 * A task that needs few rows of a long page fetches these alone, first where they lie: of thousands of workers each has
 * a task or two in a page. A worker that comes back for more fetches the page. */
#ifndef DLSI_WORKER_PAGE_H
#define DLSI_WORKER_PAGE_H

#include "worker/job.h"

/* Rows of the page of a run. */
struct dlsi_worker_rows_wanted {
	const struct dlsi_run *run;
	uint32_t first, count;
};

/* What has them: a page whose row 0 is row `first` of the run. */
struct dlsi_worker_rows_had {
	struct dlsi_frame *frame; /* a reference to its bytes */
	struct dlsi_page page;
	uint32_t first;
};

/* 0; 1: they are on their way, and the waiter waits for them. Errors: those of the data plane, DLS_EFORMAT. */
int dlsi_worker_page_get(struct dlsi_worker_job *job, const struct dlsi_worker_rows_wanted *wanted,
	struct dlsi_waiter *waiter, struct dlsi_worker_rows_had *had_out, struct dls_error *err);

/* At the end of the job. */
void dlsi_worker_pages_drop(struct dlsi_worker_job *job);

#endif
