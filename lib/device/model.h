/* A model on a device: an ONNX file made ready once, then run for any number of items at a time.
 *
 * An **item** is one tensor per model input. What this file says about shapes is for one item; in a run of `batch`
 * items every input and output has dims[0] = batch in its place, the rest unchanged. Only a *batchable* model (one
 * whose operators all keep the rows of axis 0 apart, so that a batch gives what its items give one by one) takes a
 * batch above 1; for the others dlsi_model_unbatchable says which operator or value stands against it.
 *
 * The device makes a plan for each batch size, or size of a piece, that is asked for and keeps the DLSI_PLANS_PER_MODEL
 * used last, so the first run of a batch size costs much more than the next ones. Weights are shared by the plans of a
 * model.
 *
 * Threads: one thread at a time per model; different models, also on one device, may run at once. Kernels are run by
 * the calling thread and its OpenMP team, and libgomp keeps one team per thread that ever called: let few, long-lived
 * threads make these calls. Plans are for the team that the thread has (kernel/parallel.h) when they are asked for. */
#ifndef DLSI_MODEL_H
#define DLSI_MODEL_H

#include "base/alloc.h"
#include "base/error.h"
#include "device/device.h"
#include "device/port.h"
#include "reader/onnx.h"
#include <dlsched/tensor.h>
#include <stdbool.h>

struct dlsi_graph;
struct dlsi_model;

/* Reads, checks and rewrites the model. `name` stands for it in errors ("model.onnx"). The bytes of the
 * files are borrowed: they must stay and not change until dlsi_model_destroy. The device must outlive the model too.
 *
 * Errors: DLS_EFORMAT (not ONNX, truncated, inconsistent), DLS_EUNSUPPORTED (an operator, version or form that is not
 * known, by its name and its node's), DLS_ELIMIT, DLS_ENOMEM, those of onnx->find. */
int dlsi_model_load(const struct dlsi_alloc *alloc, struct dlsi_device *device, const char *name,
	const struct dlsi_onnx *onnx, struct dlsi_model **model_out, struct dls_error *err);

/* The same model once more, for another thread: on its graph and its weights, with plans of its own, which give the
 * same bits. `model` may be in use meanwhile. The files stay borrowed until both are destroyed, in whatever order.
 * Errors: DLS_ENOMEM, DLS_EIO. */
int dlsi_model_share(const struct dlsi_model *model, struct dlsi_model **other_out, struct dls_error *err);

/* NULL is allowed. */
void dlsi_model_destroy(struct dlsi_model *model);

/* Whether sizes of its inputs are not known, because the file leaves them open and no shapes were given: then it has
 * ports and can neither be prepared nor run. */
bool dlsi_model_unsized(const struct dlsi_model *model);

/* In the order of the file, without inputs that the file itself gives a value. At least one each, and one behind the
 * other in memory. */
size_t dlsi_model_input_count(const struct dlsi_model *model);
size_t dlsi_model_output_count(const struct dlsi_model *model);
const struct dlsi_model_port *dlsi_model_input(const struct dlsi_model *model, size_t index);
const struct dlsi_model_port *dlsi_model_output(const struct dlsi_model *model, size_t index);

/* The bytes that this output needs in a run of `batch` items. Errors: DLS_EINVAL (more than a tensor can have). */
int dlsi_model_output_bytes(const struct dlsi_model *model, size_t index, int64_t batch, size_t *bytes_out);

/* NULL for a batchable model, else one sentence that says why items have to run one by one. */
const char *dlsi_model_unbatchable(const struct dlsi_model *model);

/* Makes the plan for this batch size if it is not there, so that the next run with it takes no longer than later ones.
 * Errors: as dlsi_model_run; DLS_ESTATE (the model is unsized). */
int dlsi_model_prepare(struct dlsi_model *model, int64_t batch, struct dls_error *err);

/* Runs `batch` items (1 or more; only 1 unless batchable). `inputs` and `outputs` are arrays in the order of the ports.
 *
 * Each input must have its port's dtype, rank and dims, with dims[0] = batch in a batchable model. Each output brings a
 * buffer of the caller's: `data` (written, in spite of its const) and `bytes`, which must be what its shape needs;
 * dtype, rank and dims are filled in, and `bytes` too where the port is bounded. Buffers must be aligned to their
 * elements (64 bytes is fastest) and not overlap; `release` is neither called nor changed. What the outputs hold after
 * a failure is undefined.
 *
 * At most DLSI_TASK_ITEMS items. Errors: DLS_EINVAL (names what does not fit), DLS_ENOMEM, DLS_EUNSUPPORTED (a form of
 * an operator that the device has no kernel for; at the first run of a batch size), DLS_EIO (the device failed). */
int dlsi_model_run(struct dlsi_model *model, int64_t batch, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	struct dls_error *err);

/* How a batch is run by the calling thread's team (device/piece.h): in parts of so many items at most, which so many
 * threads compute together. */
struct dlsi_model_parts {
	int64_t items;
	int threads; /* 1 of a team of more: the threads do parts at the same time, each alone */
};

struct dlsi_model_parts dlsi_model_parts(const struct dlsi_model *model, int64_t batch);

/* Runs one part of the batch that was prepared last and tells how many nanoseconds each step of the plan took:
 * `step_ns` has room for as many as dlsi_model_facts says. */
int dlsi_model_run_timed(struct dlsi_model *model, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err);

/* Of the plan for a part of the batch that was prepared or run last; there must be one. The activations are all that
 * the model holds, for whatever batches it was run with. Steps are in the order of a run. */
void dlsi_model_facts(const struct dlsi_model *model, struct dlsi_device_facts *facts_out);
struct dlsi_device_step dlsi_model_step(const struct dlsi_model *model, uint32_t step);

/* The graph that runs, after it was rewritten. */
const struct dlsi_graph *dlsi_model_graph(const struct dlsi_model *model);

#endif
