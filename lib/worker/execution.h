/* Tasks at a worker, from EXECUTE to EXECUTED: what one needs is fetched while others run, then its device's executor
 * runs it, then its result page becomes a payload, or the offer of one if it is large.
 *
 * A task is the loop's, but for the time between its submission to the executor and the errand that ends that. */
#ifndef DLSI_EXECUTION_H
#define DLSI_EXECUTION_H

#include "core/effect.h"
#include "worker/job.h"

/* Carries out DLSI_EFFECT_EXECUTE. Errors: DLS_ENOMEM (nothing was begun). */
int dlsi_worker_task_execute(struct dls_worker *worker, const struct dlsi_effect *effect);

/* Carries out DLSI_EFFECT_CANCEL; an unknown attempt is ignored. */
void dlsi_worker_task_cancel(struct dls_worker *worker, uint64_t attempt);

/* Carries out DLSI_EFFECT_RECALL: a task that has begun stops between two items if `running`, and one that is unknown
 * stays so. */
void dlsi_worker_task_recall(struct dls_worker *worker, uint64_t attempt, bool running);
void dlsi_worker_task_cancel_all(struct dls_worker *worker);

#endif
