/* A job of a client: filled and submitted by the program's threads, moved by the loop, and taken from by the program.
 *
 * What the program asks for (submit, cancel, more results) is noted under the client's mutex, and the job's errand
 * brings it to the loop; any number of notes costs one run. A job that has ended keeps what has arrived until it is
 * taken. */
#ifndef DLSI_JOB_H
#define DLSI_JOB_H

#include "client/client.h"
#include "client/deliveries.h"
#include "client/inputs.h"
#include "client/shares.h"
#include <dlsched/job.h>

enum dlsi_job_stage { DLSI_STAGE_FILLING, DLSI_STAGE_SUBMITTED, DLSI_STAGE_ENDED };

struct dls_job {
	struct dlsi_errand errand;   /* brings what is wanted to the session */
	struct dlsi_errand farewell; /* forgets and frees the job; posted last */
	struct dls_client *client;
	struct dlsi_id id;
	char name[DLSI_ID_TEXT_BYTES]; /* the same for people */
	bool detached;                 /* it outlives this client */
	bool attached;                 /* it was submitted before */
	int32_t priority;
	int64_t deadline_ms; /* from its submission; 0: none */
	int64_t deadline_ns;
	uint64_t window_items, window_bytes; /* of results that wait to be taken */
	char *spec;                          /* JSON */
	size_t spec_length;
	char *about; /* JSON, or NULL */
	void (*notify)(void *notify_arg, struct dls_job *job);
	void *notify_arg;

	pthread_mutex_t filling; /* guards what workers can read: inputs and shares */
	struct dlsi_inputs inputs;
	struct dlsi_shares shares;   /* with the job's token */
	struct dlsi_frame *manifest; /* the whole of it, or its head if it is offered as ... */
	struct dlsi_blob manifest_blob;
	uint32_t manifest_head;

	struct dlsi_list broken; /* the loop's: on client->broken */

	struct dlsi_delivery *page; /* the taker's, who takes items from it */

	/* guarded by the client's mutex */
	struct dlsi_list node; /* on client->jobs */
	struct dlsi_list news; /* on client->news */
	unsigned notifying;    /* calls of `notify` under way */
	pthread_cond_t changed;
	enum dlsi_job_stage stage;
	struct dls_error end; /* with a code: how it failed as a whole */
	bool want_submit, want_cancel, want_window;
	uint64_t items; /* UINT64_MAX: not known yet */
	uint64_t next;  /* item to be taken next */
	struct dlsi_deliveries deliveries;
	uint64_t waiting_bytes; /* of pages that are not taken whole */
	struct dls_job_progress progress;
};

/* `options` are complete. Errors: as dls_job_create. */
int dlsi_node_job_create(struct dls_client *client, const struct dls_job_options *options, struct dls_job **job_out,
	struct dls_error *err);

/* Errors: as dls_job_attach. */
int dlsi_node_job_attach(struct dls_client *client, const char *id, struct dls_job **job_out, struct dls_error *err);
void dlsi_node_job_destroy(struct dls_job *job);

/* The same without waiting for anybody, so also on the loop. */
void dlsi_node_job_abandon(struct dls_job *job);

/* A new job that asks for the same as another, which is not submitted and outlives it: also its model is that one's.
 * The window holds the results of any job of one task. Errors: DLS_ENOMEM. */
int dlsi_node_job_create_like(const struct dls_job *model, struct dls_job **job_out, struct dls_error *err);

/* Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_node_job_check(const struct dls_job *job, struct dls_error *err);

/* Items added so far. */
uint64_t dlsi_node_job_items(const struct dls_job *job);

/* Between the two, inputs can be added, by one thread at a time. Errors: as dlsi_node_job_check, and DLS_ESTATE (it was
 * submitted). */
int dlsi_node_job_begin_adding(struct dls_job *job, struct dls_error *err);
void dlsi_node_job_end_adding(struct dls_job *job);

int dlsi_node_job_submit(struct dls_job *job, struct dls_error *err);
void dlsi_node_job_cancel(struct dls_job *job);

/* Nobody else knows the job any more. */
void dlsi_node_job_free(struct dls_job *job);

/* Workers need its inputs no more: it has ended. */
void dlsi_node_job_retire(struct dls_job *job);

/* client/job_model.c: shares a model folder under the job's token; *model_out names its bundle. Errors: as
 * dls_job_create.
 */
int dlsi_node_job_share_model(
	struct dls_job *job, const char *folder, struct dlsi_blob *model_out, struct dls_error *err);

/* client/job_results.c: taking results */
int dlsi_node_job_next(struct dls_job *job, int timeout_ms, struct dls_result **result_out, struct dls_error *err);
int dlsi_node_job_wait(struct dls_job *job, int timeout_ms, struct dls_error *err);
void dlsi_node_job_progress(struct dls_job *job, struct dls_job_progress *progress_out);

/* Under the client's mutex: whether nothing more can come, and then the error with which there is no result of `item`.
 */
bool dlsi_node_job_has_stopped(const struct dls_job *job);
int dlsi_node_job_tell_end(const struct dls_job *job, uint64_t item, struct dls_error *err);

/* client/job_events.c: on the loop's thread. What the session says; a page that finds no memory ends the job. */
void dlsi_node_job_deliver(struct dls_job *job, struct dlsi_frame *frame, const struct dlsi_delivery_facts *facts);
void dlsi_node_job_notice(struct dls_job *job, const struct dlsi_effect *effect, struct dlsi_text text);

/* The session need not bring it to its end: it has ended here, or nobody wants it. */
void dlsi_node_job_withdraw(struct dls_job *job, int64_t now_ns);

/* The job's errands. */
void dlsi_node_job_run(struct dlsi_errand *errand, int64_t now_ns);
void dlsi_node_job_part(struct dlsi_errand *farewell, int64_t now_ns);

/* For dlsi_loop_call: the session has nothing to do with the job any more, which is cancelled unless it has ended for
 * it: one that ended for want of memory here has not. */
int dlsi_node_job_forget(void *job, int64_t now_ns);

/* Under the client's mutex: it has ended with this code (0: done), unless it had before. */
void dlsi_node_job_end(struct dls_job *job, int code, const char *sentence);

/* Under the client's mutex: those who wait for the job look again. */
void dlsi_node_job_wake(struct dls_job *job);

#endif
