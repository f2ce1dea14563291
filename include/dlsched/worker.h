/* A worker: runs tasks that a master hands it, on this machine. It runs models, and handlers that the program
 * registers.
 *
 * A handler is told of a task, a range of a job's items, and gives each item a result or an error. It runs on the
 * worker's executor threads, several tasks at once where the worker has several devices. A task may be run more than
 * once, here or elsewhere (the result of one run counts): guard effects outside by (job, item, attempt). */
#ifndef DLSCHED_WORKER_H
#define DLSCHED_WORKER_H

#include <dlsched/ctx.h>
#include <dlsched/resource.h>
#include <dlsched/sized.h>
#include <dlsched/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_worker;
struct dls_task;

struct dls_worker_options {
	size_t size;
	const char *master;    /* "tcp://host:port"; required */
	const char *name;      /* NULL: host name and process id; a second worker of one name ends the first */
	const char *data_bind; /* where results above 64 KB are fetched; as in dls_client_options */
	int insecure;          /* 1: may use a master or listen beyond loopback, unencrypted and unauthenticated */
	const char *cache_dir; /* where models are kept by content, and which kernels are fast; NULL:
				* $XDG_CACHE_HOME/dlsched or ~/.cache/dlsched */
	uint32_t devices;      /* tasks run at once, each on its own executor thread; they share models; 0: 1 */
	uint32_t credits;      /* tasks a device holds at most at once, the running one included: the master gives it 2
				* to 64 by their time and size; 0: 64 */
	int no_models;         /* 1: only handlers */
	uint32_t threads;      /* on which each running task has its model computed; 0: as many as OMP_NUM_THREADS says,
				* else dls_processors() divided by the devices */

	/* What jobs can ask a worker to be: up to 64 names that end with NULL. NULL: none. */
	const char *const *labels;

	/* What it has for the tasks of all its devices together. NULL: the machine's cores and memory; these are named
	 * where tasks may have more or less of them. */
	const struct dls_resource *resources;
};

#define DLS_WORKER_OPTIONS_INIT DLS_SIZED(struct dls_worker_options)

/* How many processors this process can keep busy, at least 1: those that its affinity leaves it, but no more than its
 * control groups grant of their time, rounded up. */
uint32_t dls_processors(void);

/* Prepares a worker; it asks for work only after dls_worker_start. Errors: as dls_client_create; of DLS_ISA in the
 * environment, which holds models down to the instructions of older processors: DLS_EINVAL (it names none), DLS_ESTATE
 * (the program has used oneDNN before). */
int dls_worker_create(struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_worker **worker_out,
	struct dls_error *err);

/* Whether a worker could be made with these options and keep models, as far as it shows without listening: addresses
 * resolve, which may wait for a name server, and are allowed, and the folder for models can be written, or made. Leaves
 * nothing behind. Errors: as dls_worker_create. */
int dls_worker_check(struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_error *err);

struct dls_handler_ops {
	size_t size;

	/* Returns 0, or a DLS_E* that fails every item that has neither a result nor an error yet. An item left without
	 * either when it returns 0 fails with DLS_EHANDLER. */
	int (*run)(void *run_arg, struct dls_task *task);
	void *run_arg;
};

#define DLS_HANDLER_OPS_INIT DLS_SIZED(struct dls_handler_ops)

/* Registers a handler under a name of 1 to 255 bytes, before dls_worker_start. `ops` is copied. Errors: DLS_EINVAL,
 * DLS_EEXISTS, DLS_ESTATE (started), DLS_ELIMIT, DLS_ENOMEM. */
int dls_worker_handle(
	struct dls_worker *worker, const char *name, const struct dls_handler_ops *ops, struct dls_error *err);

int dls_worker_start(struct dls_worker *worker, struct dls_error *err);

/* Waits until a master has taken it in. Errors: as dls_client_wait, DLS_ESTATE (not started), and that with which it
 * has ended for good, DLS_EEXISTS for instance where a second worker of its name has taken its place. */
int dls_worker_wait(struct dls_worker *worker, int timeout_ms, struct dls_error *err);

/* For event loops: a descriptor that becomes readable when a master has taken the worker in, when it has lost its
 * master, and when it has ended for good. It belongs to the worker; do not read or close it. dls_worker_process clears
 * it and says how the worker stands: 1 a master has it, 0 none has and it looks for one, or the error with which it has
 * ended for good or that it has not been started (DLS_ESTATE). */
int dls_worker_fd(struct dls_worker *worker);
int dls_worker_process(struct dls_worker *worker, struct dls_error *err);

/* Begins nothing more: the master gets back what has not begun, and what runs comes to its end. Waits, timeout_ms at
 * most, below 0 for ever, until nothing runs and all results are where they belong; then dls_worker_destroy loses
 * nothing. When there is no master, only what runs is waited for. There is no way back. Errors: DLS_ETIMEOUT (it goes
 * on draining; call it again), DLS_ESTATE (not started), and that with which it has ended for good. */
int dls_worker_drain(struct dls_worker *worker, int timeout_ms, struct dls_error *err);

/* Tells the master, cancels what runs and waits for the handlers to return. NULL is allowed. */
void dls_worker_destroy(struct dls_worker *worker);

/* Within run(), on its thread only. Items of a task are counted from 0; dls_task_item_number gives their number in the
 * job. */
uint32_t dls_task_items(const struct dls_task *task);
uint64_t dls_task_item_number(const struct dls_task *task, uint32_t item);
const char *dls_task_job(const struct dls_task *task); /* 32 hexadecimal digits */
uint64_t dls_task_attempt(const struct dls_task *task);
const char *dls_task_params(const struct dls_task *task); /* the job's params, JSON */

/* The item's inputs; valid until run() returns. An encoded file comes as uint8 of rank 1. Errors: DLS_EINVAL, or that
 * with which the input could not be had. */
int dls_task_item(struct dls_task *task, uint32_t item, const struct dls_tensor **tensors_out, uint32_t *count_out,
	struct dls_error *err);

/* Gives the item its result (copied) or its error; the last call counts. The sentence may have several lines; what is
 * longer than 4,095 bytes is cut. Errors: DLS_EINVAL, DLS_ELIMIT, DLS_ETIMEOUT (dls_task_result: too late), DLS_ENOMEM.
 */
int dls_task_result(
	struct dls_task *task, uint32_t item, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err);
int dls_task_fail(struct dls_task *task, uint32_t item, int code, const char *sentence);

/* 1 if nobody waits for the task any more, or it has taken longer than its job allows: a long run should end soon. Its
 * results are dropped; of a late task those that it has given count, and no more are taken. */
int dls_task_cancelled(const struct dls_task *task);

/* To be asked between two items: 1 if no further one is to be begun, since the task is cancelled or since others run
 * what it has not done, for instance where the worker drains. A handler of many items then returns 0. The items before
 * the first without a result or an error are its result; that one and all behind it are run again elsewhere. A handler
 * that does not ask runs to its end. */
int dls_task_stopped(const struct dls_task *task);

#ifdef __cplusplus
}
#endif
#endif
