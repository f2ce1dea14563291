/* When jobs may begin, and by when they must have ended. */
#ifndef DLSI_MASTER_TIMES_H
#define DLSI_MASTER_TIMES_H

#include "core/master_state.h"

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

#endif
