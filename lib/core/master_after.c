/* Jobs that wait for others: they are accepted, and nothing of them is given out until those have ended as asked.
 *
 * A job can name only jobs that are there or have ended lately, so none waits for itself. What the end of a job decides
 * about those behind it is noted at once and carried out at the turn, so that a long chain that is cancelled costs no
 * stack. */
#include "core/master_commands.h"
#include "core/master_times.h"

#include <stdio.h>

enum { DECISIONS_PER_TURN = 1024 };

static void leave_all(struct dlsi_master *master, struct extras *extras)
{
	for (unsigned i = 0; i < extras->follow_count; i++)
		dlsi_list_remove(&extras->follows[i].node);
	dlsi_free(master->alloc, extras->follows);
	extras->follows = NULL;
	extras->follow_count = extras->open = 0;
}

/* One of those it waits for has ended. */
static void settle(struct dlsi_master *master, struct extras *extras, const struct dlsi_id *leader, bool succeeded)
{
	bool failed = extras->about->after_when == AFTER_SUCCEEDED && !succeeded;

	extras->open--;
	if (failed && !extras->doomed) {
		extras->doomed = true;
		extras->doomed_by = *leader;
	}
	if ((failed || !extras->open || extras->about->after_when == AFTER_ANY) && dlsi_list_empty(&extras->decided))
		dlsi_list_append(&master->decided, &extras->decided);
}

/* Waits for the one that is found, unless it has ended. */
static int follow(struct dlsi_master *master, struct job *job, struct found found, struct dls_error *err)
{
	struct extras *extras = job->extras;
	struct follow *follow = &extras->follows[extras->follow_count++];

	dlsi_list_init(&follow->node);
	follow->follower = job;
	if (found.job == job)
		return dlsi_fail(err, DLS_EINVAL, "the job cannot wait for itself");
	if (found.job && found.job->state <= DLSI_JOB_ACTIVE) {
		if (!dlsi_job_extend(master, found.job))
			return dlsi_fail(err, DLS_EBUSY, "the master has no memory for another job");
		dlsi_list_append(&found.job->extras->followers, &follow->node);
	} else if (found.job) {
		settle(master, extras, &found.job->policy.id, found.job->state == DLSI_JOB_DONE);
	} else {
		settle(master, extras, &found.ended->id,
			found.ended->state == DLSI_JOB_DONE && !found.ended->failed_items);
	}
	return 0;
}

int dlsi_job_follow(struct dlsi_master *master, struct job *job, struct dls_error *err)
{
	struct extras *extras = job->extras;
	unsigned count = extras && extras->about ? extras->about->after_count : 0;
	int rc = 0;

	if (!count)
		return 0;
	extras->follows = dlsi_calloc(master->alloc, count, sizeof *extras->follows);
	if (!extras->follows)
		return dlsi_fail(err, DLS_EBUSY, "the master has no memory for another job");
	extras->open = count;
	for (unsigned i = 0; i < count && rc == 0; i++) {
		struct found found = {0};

		rc = dlsi_find_job(master, extras->about->after[i], &found, err);
		if (rc == 0)
			rc = follow(master, job, found, err);
	}
	job->waits = rc == 0;
	return rc;
}

void dlsi_job_lead(struct dlsi_master *master, struct job *job)
{
	bool succeeded = job->state == DLSI_JOB_DONE && !dlsi_job_run(job)->failed_items;

	dlsi_list_each (node, &dlsi_job_extras(job)->followers) {
		struct follow *follow = dlsi_list_entry(node, struct follow, node);

		dlsi_list_remove(node);
		settle(master, follow->follower->extras, &job->policy.id, succeeded);
	}
}

void dlsi_job_unfollow(struct dlsi_master *master, struct job *job)
{
	struct extras *extras = job->extras;

	if (!extras)
		return;
	dlsi_list_each (node, &extras->followers)
		dlsi_list_remove(node);
	dlsi_list_remove(&extras->decided);
	leave_all(master, extras);
}

static void decide(struct dlsi_master *master, struct extras *extras)
{
	char sentence[160], id[DLSI_ID_TEXT_BYTES];
	struct job *job = extras->job;

	dlsi_list_remove(&extras->decided);
	if (extras->doomed) {
		dlsi_hex(extras->doomed_by.bytes, DLSI_ID_BYTES, id);
		snprintf(sentence, sizeof sentence,
			"the job was to run after the success of job %s, which has not ended so, or not without failed "
			"items",
			id);
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, sentence);
		return;
	}
	leave_all(master, extras);
	job->waits = false;
	extras->released_ns = master->now_ns;
	dlsi_job_watch(master, job);
	dlsi_job_refresh(master, job);
}

bool dlsi_master_decide_followers(struct dlsi_master *master)
{
	for (unsigned i = 0; i < DECISIONS_PER_TURN && !dlsi_list_empty(&master->decided); i++)
		decide(master, dlsi_list_entry(master->decided.next, struct extras, decided));
	return !dlsi_list_empty(&master->decided);
}
