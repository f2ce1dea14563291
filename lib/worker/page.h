/* The pages of a job's manifest at a worker: fetched when a task needs one, or cut out of a manifest that came with the
 * job, and a few kept for the tasks that follow. */
#ifndef DLSI_WORKER_PAGE_H
#define DLSI_WORKER_PAGE_H

#include "worker/job.h"

/* 0, the page of this run and a reference to its bytes; 1: it is on its way, and the waiter waits for it. Errors: those
 * of the data plane, DLS_EFORMAT. */
int dlsi_worker_page_get(struct dlsi_worker_job *job, const struct dlsi_run *run, struct dlsi_waiter *waiter,
	struct dlsi_frame **frame_out, struct dlsi_page *page_out, struct dls_error *err);

/* At the end of the job. */
void dlsi_worker_pages_drop(struct dlsi_worker_job *job);

#endif
