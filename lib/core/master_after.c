/* Jobs that wait for others: they are accepted, and nothing of them is given out until those have ended as asked.
 *
 * A job can name only jobs that are there or have ended lately, so none waits for itself. What the end of a job decides
 * about those behind it is noted at once and carried out at the turn, so that a long chain that is cancelled costs no
 * stack. */
#include "core/master_commands.h"
#include "core/master_times.h"

#include <stdio.h>

enum { DECISIONS_PER_TURN = 1024 };

static void leave_all(struct dlsi_master *master, struct job *job)
{
	for (unsigned i = 0; i < job->follow_count; i++)
		dlsi_list_remove(&job->follows[i].node);
	dlsi_free(master->alloc, job->follows);
	job->follows = NULL;
	job->follow_count = job->open = 0;
}

/* One of those it waits for has ended. */
static void settle(struct dlsi_master *master, struct job *job, const struct dlsi_id *leader, bool succeeded)
{
	bool failed = job->about->after_when == AFTER_SUCCEEDED && !succeeded;

	job->open--;
	if (failed && !job->doomed) {
		job->doomed = true;
		job->doomed_by = *leader;
	}
	if ((failed || !job->open || job->about->after_when == AFTER_ANY) && dlsi_list_empty(&job->decided))
		dlsi_list_append(&master->decided, &job->decided);
}

int dlsi_job_follow(struct dlsi_master *master, struct job *job, struct dls_error *err)
{
	unsigned count = job->about ? job->about->after_count : 0;
	struct found found;
	int rc;

	if (!count)
		return 0;
	job->follows = dlsi_calloc(master->alloc, count, sizeof *job->follows);
	if (!job->follows)
		return dlsi_fail(err, DLS_EBUSY, "the master has no memory for another job");
	job->open = count;
	for (unsigned i = 0; i < count; i++) {
		struct follow *follow = &job->follows[job->follow_count++];

		dlsi_list_init(&follow->node);
		follow->follower = job;
		found = (struct found){0};
		rc = dlsi_find_job(master, job->about->after[i], &found, err);
		if (rc)
			return rc;
		if (found.job == job)
			return dlsi_fail(err, DLS_EINVAL, "the job cannot wait for itself");
		if (found.job && found.job->state <= DLSI_JOB_ACTIVE)
			dlsi_list_append(&found.job->followers, &follow->node);
		else
			settle(master, job, found.job ? &found.job->policy.id : &found.ended->id,
				found.job ? found.job->state == DLSI_JOB_DONE
					  : found.ended->state == DLSI_JOB_DONE && !found.ended->failed_items);
	}
	job->waits = true;
	return 0;
}

void dlsi_job_lead(struct dlsi_master *master, struct job *job)
{
	bool succeeded = job->state == DLSI_JOB_DONE && !job->failed_items;

	dlsi_list_each (node, &job->followers) {
		struct follow *follow = dlsi_list_entry(node, struct follow, node);

		dlsi_list_remove(node);
		settle(master, follow->follower, &job->policy.id, succeeded);
	}
}

void dlsi_job_unfollow(struct dlsi_master *master, struct job *job)
{
	dlsi_list_each (node, &job->followers)
		dlsi_list_remove(node);
	dlsi_list_remove(&job->decided);
	leave_all(master, job);
}

static void decide(struct dlsi_master *master, struct job *job)
{
	char sentence[160], id[DLSI_ID_TEXT_BYTES];

	dlsi_list_remove(&job->decided);
	if (job->doomed) {
		dlsi_hex(job->doomed_by.bytes, DLSI_ID_BYTES, id);
		snprintf(sentence, sizeof sentence,
			"the job was to run after the success of job %s, which has not ended so, or not without failed "
			"items",
			id);
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, sentence);
		return;
	}
	leave_all(master, job);
	job->waits = false;
	job->released_ns = master->now_ns;
	dlsi_job_watch(master, job);
	dlsi_job_refresh(master, job);
}

bool dlsi_master_decide_followers(struct dlsi_master *master)
{
	for (unsigned i = 0; i < DECISIONS_PER_TURN && !dlsi_list_empty(&master->decided); i++)
		decide(master, dlsi_list_entry(master->decided.next, struct job, decided));
	return !dlsi_list_empty(&master->decided);
}
