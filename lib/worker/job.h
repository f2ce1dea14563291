/* A job as a worker knows it: what is to be run, and where its inputs are described.
 *
 * The loop's alone. What has to be fetched is fetched when a task needs it; the answer 1 then says that it is on its
 * way, and when it comes, or cannot be had, those who wait for it ask again. */
#ifndef DLSI_WORKER_JOB_H
#define DLSI_WORKER_JOB_H

#include "core/event.h"
#include "node/fetch.h"
#include "node/job_spec.h"
#include "proto/manifest.h"
#include "worker/waiters.h"

struct dlsi_handler;

struct dlsi_worker_job {
	struct dlsi_list node; /* on worker->jobs while it is open */
	struct dls_worker *worker;
	unsigned refs; /* its being open, tasks, fetches */
	struct dlsi_id id;
	struct dlsi_id token;
	struct dls_error refused; /* with a code: why none of its items can run here */
	struct dlsi_job_spec spec;
	const struct dlsi_handler *handler; /* NULL: it runs a model */
	char *holder;                       /* endpoint of the process that has its blobs */
	bool same_host;
	uint64_t count; /* items */

	struct dlsi_blob blob; /* of the manifest, if not all of it came with the job */
	uint32_t head_length;
	struct dlsi_frame *bytes; /* the head; NULL: not here */
	bool whole;               /* the manifest came with the job: bytes has its pages too */
	struct dlsi_manifest manifest;
	struct dlsi_run run;             /* of the manifest, that the last task began in */
	struct dlsi_pending_fetch fetch; /* of the head */
	bool fetching;
	struct dlsi_list waiting; /* for the head */
	struct dls_error failed;  /* with a code, while they are told that it cannot be had */
	struct dlsi_list pages;   /* worker/page.c; the one used last at the end */
	unsigned page_count;
	uint64_t parted; /* the page of which rows alone were fetched last, and how often in a row */
	unsigned parts;

	struct dlsi_event seek;         /* worker/model_source.c: what the master is to be told of its model ... */
	struct dlsi_errand seek_errand; /* ... by this */
	bool told;                      /* that the worker has it */
};

/* Carries out DLSI_EFFECT_JOB_OPEN. Errors: DLS_ENOMEM. */
int dlsi_worker_job_open(struct dls_worker *worker, const struct dlsi_effect *effect);

/* No tasks of it will come; those there are keep it. An unknown one is ignored. */
void dlsi_worker_job_close(struct dls_worker *worker, const struct dlsi_id *id);

/* NULL if there is none that is open. */
struct dlsi_worker_job *dlsi_worker_job_find(const struct dls_worker *worker, const struct dlsi_id *id);

struct dlsi_worker_job *dlsi_worker_job_ref(struct dlsi_worker_job *job);
void dlsi_worker_job_unref(struct dlsi_worker_job *job);

/* What to fetch of this job's holder; the blob and the part are the caller's to fill in. */
struct dlsi_fetch dlsi_worker_job_fetch(const struct dlsi_worker_job *job);

/* 0: job->manifest can be read; 1: it is on its way, and the waiter waits for it. Errors: those of the data plane,
 * DLS_EFORMAT. */
int dlsi_worker_job_manifest(struct dlsi_worker_job *job, struct dlsi_waiter *waiter, struct dls_error *err);

#endif
