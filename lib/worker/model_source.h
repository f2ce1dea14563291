/* Where a worker gets models from, and whom it gives them to: it asks the master, says what it has, and offers that to
 * other workers as long as it is in memory. The loop's alone. */
#ifndef DLSI_WORKER_MODEL_SOURCE_H
#define DLSI_WORKER_MODEL_SOURCE_H

#include "worker/model.h"

/* Tells the master how the worker stands with the model of a job (enum dlsi_seek_state). */
void dlsi_worker_model_tell(struct dlsi_worker_job *job, uint8_t state, uint64_t bytes, uint64_t elapsed_ns);

/* Notes what the master has found, where the model is to be read and under which token it is offered. */
void dlsi_worker_model_note(struct dlsi_worker_model *model, const struct dlsi_effect *effect);

/* What to fetch of the place that was noted; the blob is the caller's to fill in. *caller_out is the job whose client
 * can be called; NULL of a worker. */
struct dlsi_fetch dlsi_worker_model_fetch(const struct dlsi_worker_model *model, const struct dlsi_id **caller_out);

/* Offers the files of a model that is here, if the master has said under which token; and takes that back. */
void dlsi_worker_model_offer(struct dlsi_worker_model *model);
void dlsi_worker_model_withdraw(struct dlsi_worker_model *model);

#endif
