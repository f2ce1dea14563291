/* Jobs that must be done by some time: by their deadline, or within the time limit that their specification gives
 * them from the moment when they may run. One timer serves both. */
#include "core/master_times.h"

#include <inttypes.h>
#include <stdio.h>

/* When the time limit ends; INT64_MAX: there is none, or it does not run yet. */
static int64_t limit_end_ns(const struct job *job)
{
	uint64_t limit_ns = job->spec->time_limit_ns;

	int64_t from_ns = job->extras ? job->extras->released_ns : job->policy.since_ns;

	if (!limit_ns || job->waits || limit_ns > (uint64_t)(INT64_MAX - from_ns))
		return INT64_MAX;
	return from_ns + (int64_t)limit_ns;
}

void dlsi_job_watch(struct dlsi_master *master, struct job *job)
{
	int64_t end_ns = limit_end_ns(job), deadline_ns = job->policy.deadline_ns;
	int64_t due_ns = end_ns < deadline_ns ? end_ns : deadline_ns;

	if (due_ns != INT64_MAX && dlsi_job_extend(master, job))
		dlsi_master_set_timer(master, &job->extras->limit, due_ns);
	else if (due_ns != INT64_MAX)
		master->failed = true;
	else if (job->extras)
		dlsi_master_stop_timer(master, &job->extras->limit);
}

void dlsi_job_set_deadline(struct dlsi_master *master, struct job *job, uint64_t from_now_ns)
{
	if (!from_now_ns || from_now_ns > (uint64_t)(INT64_MAX - master->now_ns))
		return;
	job->policy.deadline_ns = master->now_ns + (int64_t)from_now_ns;
}

void dlsi_job_expire(struct dlsi_master *master, struct job *job)
{
	char sentence[160];

	if (job->policy.deadline_ns <= master->now_ns)
		snprintf(sentence, sizeof sentence,
			"the job's deadline has passed with %" PRIu64 " of its %" PRIu64 " items done",
			dlsi_job_run(job)->done_items, job->count);
	else
		snprintf(sentence, sizeof sentence,
			"the job's time limit of %g s has passed with %" PRIu64 " of its %" PRIu64 " items done",
			(double)job->spec->time_limit_ns / 1e9, dlsi_job_run(job)->done_items, job->count);
	dlsi_job_end(master, job, DLSI_JOB_FAILED, DLS_EEXPIRED, sentence);
}
