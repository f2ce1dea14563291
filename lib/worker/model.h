/* The models of a worker's jobs, in memory: read from the cache or fetched when a task needs one, and one copy for all
 * devices.
 *
 * Those that no task holds are kept while there are few and they are small, the ones used last. The list of a model's
 * files comes from the holder of the job that asked first. Where the files are the master says: at another worker
 * (core/master_models.c), or at that holder too; if a worker fails the master is asked again, and if the holder does,
 * the next job that needs the model brings its own. A cache that cannot take what was fetched is told in the log, and
 * the model runs all the same. The disk is left to the worker's librarian, an executor; everything else is the loop's.
 */
#ifndef DLSI_WORKER_MODEL_H
#define DLSI_WORKER_MODEL_H

#include "base/limits.h"
#include "node/executor.h"
#include "store/bundle.h"
#include "store/cache.h"
#include "worker/inference.h"
#include "worker/job.h"

enum dlsi_worker_model_state {
	DLSI_WORKER_MODEL_AWAY,    /* nobody asked yet, or it failed */
	DLSI_WORKER_MODEL_LISTING, /* the list of its files is on its way */
	DLSI_WORKER_MODEL_SEEKING, /* the librarian reads the list and looks what is in the cache */
	DLSI_WORKER_MODEL_ASKING,  /* the master is asked where to get what is missing */
	DLSI_WORKER_MODEL_FILLING, /* which is on its way */
	DLSI_WORKER_MODEL_STORING, /* the librarian puts it into the cache */
	DLSI_WORKER_MODEL_HERE,
	DLSI_WORKER_MODEL_GOING, /* on no list; the librarian gives it back */
};

/* How a file is had. */
struct dlsi_worker_model_file {
	struct dlsi_worker_model *model;
	bool missing; /* from the cache */
	struct dlsi_blob blob;
	struct dlsi_model_file *file; /* bytes NULL: not here */
	struct dlsi_pending_fetch fetch;
};

struct dlsi_worker_model {
	struct dlsi_list node; /* on worker->models, the one asked for last at the end */
	struct dls_worker *worker;
	unsigned tasks; /* that hold it */
	struct dlsi_blob bundle;
	uint64_t bytes; /* of its files, once the list has been read */
	enum dlsi_worker_model_state state;
	struct dlsi_worker_job *job;          /* whose holder is asked */
	char holder[DLSI_ENDPOINT_BYTES + 1]; /* the worker that has the files, or empty: the job's holder */
	bool holder_here;                     /* a process of this machine */
	struct dlsi_id token;                 /* with which workers read it; zero: not known */
	unsigned offered;                     /* files, under that token */
	int64_t begun_ns;                     /* when they were asked for ... */
	uint64_t fetched;                     /* ... and bytes that have come since */
	struct dlsi_pending_fetch fetch;
	struct dlsi_frame *list;
	struct dlsi_model_file *files;       /* that running needs; NULL until the list has been read */
	struct dlsi_worker_model_file *ways; /* of each */
	unsigned file_count;
	unsigned fetching;
	struct dlsi_list waiting;
	struct dls_error failed; /* with a code: what stands against it; of `job`'s tasks when they are told */
	struct dlsi_work work;
	struct dlsi_errand errand;
};

/* 0: the job's model is here and held; 1: it is on its way, and the waiter waits for it. Errors: those of the data
 * plane, DLS_EFORMAT, DLS_ELIMIT. */
int dlsi_worker_model_hold(struct dlsi_worker_job *job, struct dlsi_waiter *waiter,
	struct dlsi_worker_model **model_out, struct dls_error *err);
void dlsi_worker_model_drop(struct dlsi_worker_model *model);

/* Valid while it is held. Any thread. */
struct dlsi_model_files dlsi_worker_model_files(const struct dlsi_worker_model *model);

/* Carries out DLSI_EFFECT_FOUND. */
void dlsi_worker_model_found(struct dls_worker *worker, const struct dlsi_effect *effect);

/* Opens the cache in this folder; dlsi_worker_models_fini follows also a failure. Errors: as dlsi_worker_cache_open and
 * dlsi_executor_create. */
int dlsi_worker_models_init(struct dls_worker *worker, const char *folder, struct dls_error *err);

/* When the worker ends; nothing is under way. */
void dlsi_worker_models_fini(struct dls_worker *worker);

#endif
