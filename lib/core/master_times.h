/* When jobs may begin, by when they must have ended, and when items that failed are tried again. */
#ifndef DLSI_MASTER_TIMES_H
#define DLSI_MASTER_TIMES_H

#include "core/master_state.h"
#include "core/retries.h"

/* master_limits.c: deadlines and time limits. Sets the job's timer by what it must keep now. */
void dlsi_job_watch(struct dlsi_master *master, struct job *job);
void dlsi_job_set_deadline(struct dlsi_master *master, struct job *job, uint64_t from_now_ns); /* 0: none */

/* Its time is over. */
void dlsi_job_expire(struct dlsi_master *master, struct job *job);

/* master_after.c: jobs that wait for others. Begins to wait for those that it names. Errors: as dlsi_find_job,
 * DLS_EBUSY. */
int dlsi_job_follow(struct dlsi_master *master, struct job *job, struct dls_error *err);

/* It has ended: so those that wait for it may be decided. */
void dlsi_job_lead(struct dlsi_master *master, struct job *job);

/* It goes. */
void dlsi_job_unfollow(struct dlsi_master *master, struct job *job);

/* Lets go, or ends, those that are decided. True if there are more than one turn may. */
bool dlsi_master_decide_followers(struct dlsi_master *master);

/* What has failed of a job and is tried again. */
struct retries {
	struct timer timer; /* for the first of them that are due */
	struct job *job;
	struct dlsi_retries set;
	uint64_t retried; /* items, each as often as it was given out again */
};

/* master_retries.c: items that failed and are tried again. Takes note of them: *again_out becomes a copy of the list
 * without those that have been tried often enough. */
void dlsi_job_fail_items(
	struct dlsi_master *master, struct job *job, const struct dlsi_numbers *again, struct dlsi_numbers *again_out);
void dlsi_job_retry(struct dlsi_master *master, struct retries *retries); /* those that are due */

/* These items are done; nothing of the job is tried again; it goes. */
void dlsi_job_settle_retries(struct dlsi_master *master, struct job *job, uint64_t first, uint64_t end);
void dlsi_job_stop_retries(struct dlsi_master *master, const struct job *job);
void dlsi_job_free_retries(struct dlsi_master *master, struct job *job);

#endif
