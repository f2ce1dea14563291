/* An executor: one long-lived thread that runs works one after another, in the order they were handed over.
 *
 * Kernels of oneDNN are called by executors only, since OpenMP keeps a team for every thread that ever
 * called. The queue takes no memory of its own and is as long as the works that its callers own. */
#ifndef DLSI_EXECUTOR_H
#define DLSI_EXECUTOR_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include <stdbool.h>

struct dlsi_executor;

/* A member of the caller's structure. From the call of `run` on it is no longer the executor's: run may free it. */
struct dlsi_work {
	void (*run)(struct dlsi_work *work);
	struct dlsi_list node;
};

/* `threads`: of the team on which its works run kernels (kernel/parallel.h). Errors: DLS_EIO (the system has no more
 * threads), DLS_ENOMEM. */
int dlsi_executor_create(const struct dlsi_alloc *alloc, const char *name, int threads,
	struct dlsi_executor **executor_out, struct dls_error *err);

/* Runs what is queued, then ends the thread. Nothing is submitted any more, also not by the works. NULL is allowed. */
void dlsi_executor_destroy(struct dlsi_executor *executor);

/* Never fails and does not wait. Any thread. */
void dlsi_executor_submit(struct dlsi_executor *executor, struct dlsi_work *work);

/* Takes back a work that was submitted and has not ended; false if it has begun. Any thread. */
bool dlsi_executor_withdraw(struct dlsi_executor *executor, struct dlsi_work *work);

#endif
