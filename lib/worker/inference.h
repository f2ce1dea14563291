/* The built-in handler of jobs that name a model: takes models for one device, keeps those used last, and runs the
 * items of a task in batches.
 *
 * One thread at a time, which is the device's executor. */
#ifndef DLSI_INFERENCE_H
#define DLSI_INFERENCE_H

#include "worker/loaded.h"
#include "worker/task.h"

struct dlsi_inference;

enum { DLSI_INFERENCE_UNLOADED = 8 };

/* How a task went. */
struct dlsi_inference_report {
	uint64_t busy_ns; /* that the items took, without what is done once per model and batch size */
	uint64_t load_ns; /* that the model took to load, 0 if it was there */
	struct dlsi_hash unloaded[DLSI_INFERENCE_UNLOADED]; /* models that went for it; more than that are not listed */
	unsigned unloaded_count;
};

/* `helpers` threads help to decode and prepare what goes into a batch. Of models whose files have more than
 * `most_bytes` together only the one used last is kept (0: whatever they have). `loaded` lives longer. Errors:
 * DLS_ENOMEM, DLS_EIO (no threads). */
int dlsi_inference_create(const struct dlsi_alloc *alloc, struct dlsi_loaded *loaded, unsigned helpers,
	uint64_t most_bytes, struct dlsi_inference **inference_out, struct dls_error *err);

/* NULL is allowed. */
void dlsi_inference_destroy(struct dlsi_inference *inference);

/* Gives each item of the task its result or its error. An item that cannot become the model's input fails alone; what
 * keeps the whole model from running fails all. Ends early when the task is cancelled. */
struct dlsi_inference_report dlsi_inference_run(
	struct dlsi_inference *inference, const struct dlsi_model_files *files, struct dls_task *task);

#endif
