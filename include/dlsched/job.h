/* A job: a model, or the name of a handler, and the items to run it on. It is made, filled, submitted, and its
 * results are taken in the order of the items:
 *
 *	dls_job_create(client, &options, &job, &err);
 *	dls_job_add_file(job, "cat.jpg", &err);
 *	dls_job_submit(job, &err);
 *	while (dls_job_next(job, -1, &result, &err) == 1) { ...; dls_result_destroy(result); }
 *	dls_job_destroy(job);
 *
 * An item that fails is a result with an error; the others go on. Each item is executed at least once and has
 * exactly one result. Memory is bounded by the client's window: a slow taker slows the job down, never fills the
 * memory. */
#ifndef DLSCHED_JOB_H
#define DLSCHED_JOB_H

#include <dlsched/client.h>
#include <dlsched/resource.h>
#include <dlsched/sized.h>
#include <dlsched/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_job;

/* How often an item is tried again that has failed in some way. Lists end with a row without a `failure` and name each
 * way once. */
struct dls_retry {
	/* "error": the handler or the model failed. "time_limit": it took longer than item_time_limit_ms allows.
	 * "input": what it needs could not be had: its input or the model could not be fetched, or its file not read.
	 */
	const char *failure;
	uint32_t times;   /* at most 1,000 */
	uint64_t wait_ms; /* before the first time at least, before each further one twice as long as before; 0: none */
	uint64_t wait_most_ms; /* but not longer than this; 0: a minute, or wait_ms if that is more */
};

struct dls_job_options {
	size_t size;
	const char *model;   /* path of a model, as for dls_model_open; either this ... */
	const char *handler; /* ... or the name under which workers registered a handler */
	const char *params;  /* JSON object for the handler; NULL: {} */

	/* Names the job among its tenant's. A client that was cut off goes on with it. Another client that submits the
	 * same under the key (but for its inputs, of which there are as many) takes its place: the earlier one ends
	 * with DLS_ECANCELLED, and the job begins anew. Another job under the key of one that goes on, or a second one
	 * in the same client, ends with DLS_EEXISTS. NULL: random. */
	const char *key;
	int32_t priority;    /* higher first, for policies that look at it; from -1,000,000 to 1,000,000 */
	uint32_t task_items; /* items of one task; 0: chosen from the measured time of an item */

	/* Called by dls_client_process when results wait or the job has ended; may call anything but dls_client_destroy
	 * and dls_job_destroy of this job's client. NULL: no calls. */
	void (*notify)(void *notify_arg, struct dls_job *job);
	void *notify_arg;

	/* What people call it, and up to 16 tags of at most 63 bytes that end with NULL: dls_client_jobs finds it by
	 * either. NULL: none. */
	const char *name;
	const char *const *tags;

	/* What each of its tasks takes of a worker while it runs, and the labels that a worker must have, up to 16 that
	 * end with NULL. NULL: nothing but a device. Where no worker has as much the job is put off
	 * (dls_job_progress.deferred); where none has the labels it waits for one. */
	const struct dls_resource *resources;
	const char *const *labels;

	/* Milliseconds from dls_job_submit in which the job must be done, else it fails with DLS_EEXPIRED; policies may
	 * look at it. Below 0 it is refused, as it lies in the past; 0: no deadline. */
	int64_t deadline_ms;

	/* Milliseconds that the job may take from the moment when it may run, else it fails with DLS_EEXPIRED; 0: no
	 * limit. */
	uint64_t time_limit_ms;

	/* Milliseconds that a task may take for each of its items. Then it is asked to end, dls_task_cancelled says so,
	 * and the items that have no result by then fail with DLS_ETIMEOUT; 0: no limit. */
	uint64_t item_time_limit_ms;

	/* Up to 16 ids of jobs, as control.h names them, that end with NULL: nothing of the job is given out before
	 * they have ended. `after_when` is "ended" (all of them, in whatever way; so does NULL), "succeeded" (all, done
	 * and with no item failed, or else the job is cancelled) or "any" (one of them has ended). A master that
	 * remembers no such job refuses this one. */
	const char *const *after;
	const char *after_when;

	/* An item that fails in one of these ways is tried again, by whichever worker comes next, and its error is its
	 * result only when that has failed as often as is said here; others go on meanwhile. Each way is counted by
	 * itself, by the master: one that is started anew counts anew. What a lost worker had is begun again in any
	 * case and does not count. NULL: nothing is tried again. */
	const struct dls_retry *retries;

	/* 1: no task of it is run a second time while the first attempt runs. Else the master does so where an attempt
	 * takes much longer than others and another worker has nothing to do; the result that comes first counts. It is
	 * for handlers with effects outside that two attempts at a time would spoil; also with it items of a worker
	 * that is lost run again. */
	int no_speculation;
	/* 1: the job is detached, kept by the master and not by this client: it goes on when the client and also when
	 * the master has gone, until the master is there again. The master needs a data folder. Nothing may be read
	 * from this client later, so the job is one of a handler, and its inputs fit 64 KB with what describes them; a
	 * result above 64 KB fails the job. The same key and number of items name the same job, whoever submits it. */
	int detached;
	/* Up to 16 labels that end with NULL: of the devices that could take a task and hold equally many, those whose
	 * worker has more of these are taken first. NULL: none is better than another. */
	const char *const *preferred_labels;
};

#define DLS_JOB_OPTIONS_INIT DLS_SIZED(struct dls_job_options)

/* Reads the model and checks it. Errors: DLS_EINVAL, DLS_ENOTFOUND, DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_ELIMIT,
 * DLS_ENOMEM. */
int dls_job_create(struct dls_client *client, const struct dls_job_options *options, struct dls_job **job_out,
	struct dls_error *err);

/* The results of a detached job that was submitted before, by whatever client: a handle like that of a job which was
 * submitted, from its first result on. `id` is what dls_job_id says of it. That the master keeps no such job shows in
 * dls_job_next and dls_job_wait (DLS_ENOTFOUND). Errors: DLS_EINVAL, DLS_ENOMEM. */
int dls_job_attach(struct dls_client *client, const char *id, struct dls_job **job_out, struct dls_error *err);

/* Cancels it if it has not ended; a detached job goes on. NULL is allowed. */
void dls_job_destroy(struct dls_job *job);

/* Adds items, before dls_job_submit. Each input is kept or read until the job ends.
 *
 * file: one item per JPEG, PNG, .npy or .pb file (a worker decodes it); a file of the idx format holds as many items as
 * its first dimension says. The file must not change until the job has ended. bytes: one item from an encoded file in
 * memory; copied. tensors: one item with a tensor per model input (or per handler argument). batch: as many items as
 * the first dimension says, each of the shape that the other dimensions give, for models with one input and for
 * handlers.
 *
 * Of tensors and batches up to 64 KB are copied, and `release` is called before the call returns; more is read where it
 * is, and `release` is called when the job does not need it any more. It is called also if the call fails. */
int dls_job_add_file(struct dls_job *job, const char *path, struct dls_error *err);
int dls_job_add_bytes(struct dls_job *job, const void *data, size_t bytes, struct dls_error *err);
int dls_job_add_tensors(struct dls_job *job, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err);
int dls_job_add_batch(struct dls_job *job, const struct dls_tensor *tensor, struct dls_error *err);

/* The job's id, 32 hexadecimal digits, by which any client of its master can name it (control.h). It belongs to the
 * job.
 */
const char *dls_job_id(const struct dls_job *job);

/* Items added so far; of a job attached to 0 until the master has said how many there are. */
uint64_t dls_job_items(const struct dls_job *job);

/* Hands the job to the master in the background; a job without items ends at once. Errors: DLS_ESTATE (submitted
 * before), DLS_ENOMEM. A refusal by the master shows in dls_job_next and dls_job_wait. */
int dls_job_submit(struct dls_job *job, struct dls_error *err);

/* The result of one item. Belongs to the caller, who gives it back with dls_result_destroy, also after the job's end.
 */
struct dls_output {
	struct dls_tensor tensor; /* the whole output, or the highest values first where `indices` is given */
	const uint32_t *indices;  /* of those values in the output; NULL for a whole output */
};

struct dls_result {
	size_t size;
	uint64_t item;
	int code;              /* 0, or the DLS_E* with which this item failed */
	const char *error;     /* its sentence; NULL if code is 0 */
	uint32_t output_count; /* 0 if the item failed */
	const struct dls_output *outputs;
	const char *worker;  /* the name of the worker that did it */
	uint64_t elapsed_ns; /* on its device: the task's time by the number of its items */
};

/* The next result in the order of the items. Waits at most timeout_ms (0: not at all, below 0: for ever).
 * Returns 1 with *result_out, 0 when every result has been taken, or an error: DLS_ETIMEOUT (nothing yet),
 * DLS_ECANCELLED, or that with which the master refused or ended the job. Call from one thread at a time. */
int dls_job_next(struct dls_job *job, int timeout_ms, struct dls_result **result_out, struct dls_error *err);

void dls_result_destroy(struct dls_result *result);

/* Waits until all results have arrived, as far as the window allows, or the job has ended otherwise. Returns 0 or as
 * above. */
int dls_job_wait(struct dls_job *job, int timeout_ms, struct dls_error *err);

/* Ends it; results that have arrived can still be taken, then dls_job_next returns DLS_ECANCELLED. Does not wait. */
int dls_job_cancel(struct dls_job *job, struct dls_error *err);

struct dls_job_progress {
	size_t size;
	uint64_t items;
	uint64_t done;    /* whose results are here */
	uint64_t failed;  /* of those, with an error */
	uint64_t running; /* handed to workers, as the master last said */
	uint32_t workers; /* that can run it, as the master last said */
	int accepted;     /* 1: the master has it */
	int deferred;     /* the DLS_E* with which the master has put it off; it is offered again by itself. 0: not */
	char deferred_text[DLS_ERROR_TEXT_BYTES]; /* the master's sentence then */
};

#define DLS_JOB_PROGRESS_INIT DLS_SIZED(struct dls_job_progress)

/* progress_out->size is set by the caller. */
int dls_job_progress(struct dls_job *job, struct dls_job_progress *progress_out);

#ifdef __cplusplus
}
#endif
#endif
