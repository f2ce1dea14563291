/* Items that failed and are tried again, by the rules of their job's specification: until its time comes an item waits
 * here, then it is given back as if its worker had been lost. A job that none of its items has failed costs nothing.
 *
 * Counted by this master: another one that is presented the job, or reads it out of its log, counts anew. */
#include "core/again.h"
#include "core/master_times.h"

static struct retries *create(struct dlsi_master *master, struct job *job)
{
	struct retries *retries = dlsi_calloc(master->alloc, 1, sizeof *retries);

	if (!retries)
		return NULL;
	retries->timer.kind = TIMER_JOB_RETRY;
	retries->job = job;
	dlsi_retries_init(&retries->set, master->alloc);
	job->run->retries = retries;
	return retries;
}

/* Whether one more failure can be kept. */
static bool has_room(struct dlsi_master *master, struct job *job)
{
	return job->spec->retry && !job->ending && master->retry_runs < DLSI_ALL_RETRY_RUNS &&
	       (job->run->retries || create(master, job));
}

static void wait_for_first(struct dlsi_master *master, struct retries *retries)
{
	if (retries->set.due_ns == INT64_MAX)
		dlsi_master_stop_timer(master, &retries->timer);
	else
		dlsi_master_set_timer(master, &retries->timer, retries->set.due_ns);
}

/* Items that have come otherwise are not tried again. */
static void fail_part(struct dlsi_master *master, struct job *job, struct dlsi_again part, struct dlsi_buffer *again)
{
	const struct dlsi_retry_rule *rule = &job->spec->retry->of[part.failure];
	struct dlsi_retries *set = &job->run->retries->set;
	uint64_t first = dlsi_ranges_first_missing(&job->run->done, part.first);

	while (first < part.end) {
		uint64_t known = dlsi_ranges_first_present(&job->run->done, first), at = first;

		if (dlsi_retries_fail(
			    set, &at, known < part.end ? known : part.end, part.failure, rule, master->now_ns)) {
			job->run->retries->retried += at - first;
			dlsi_again_add(again, &(struct dlsi_again){first, at, part.failure});
		}
		first = dlsi_ranges_first_missing(&job->run->done, at);
	}
}

void dlsi_job_fail_items(
	struct dlsi_master *master, struct job *job, const struct dlsi_numbers *again, struct dlsi_numbers *again_out)
{
	struct dlsi_buffer list;
	size_t runs;

	*again_out = (struct dlsi_numbers){0};
	if (!again->count || !has_room(master, job))
		return;
	runs = job->run->retries->set.count;
	dlsi_buffer_init(&list, master->alloc);
	for (uint32_t i = 0; i < dlsi_again_count(again); i++)
		fail_part(master, job, dlsi_again_at(again, i), &list);
	master->retry_runs += job->run->retries->set.count - runs;
	*again_out = dlsi_again_list(&list);
	master->failed |= list.failed | !dlsi_again_keep(master->alloc, again_out);
	dlsi_buffer_fini(&list);
	wait_for_first(master, job->run->retries);
}

struct releasing {
	struct dlsi_master *master;
	struct job *job;
};

static void release(void *arg, uint64_t first, uint64_t end)
{
	const struct releasing *releasing = arg;

	dlsi_job_give_back(releasing->master, releasing->job, first, end);
}

void dlsi_job_retry(struct dlsi_master *master, struct retries *retries)
{
	struct releasing releasing = {master, retries->job};
	size_t runs = retries->set.count;

	dlsi_retries_release(&retries->set, master->now_ns, release, &releasing);
	master->retry_runs -= runs - retries->set.count;
	wait_for_first(master, retries);
}

void dlsi_job_settle_retries(struct dlsi_master *master, struct job *job, uint64_t first, uint64_t end)
{
	size_t runs = dlsi_job_run(job)->retries ? job->run->retries->set.count : 0;

	if (!runs)
		return;
	dlsi_retries_forget(&job->run->retries->set, first, end);
	master->retry_runs += job->run->retries->set.count - runs;
}

void dlsi_job_stop_retries(struct dlsi_master *master, const struct job *job)
{
	if (dlsi_job_run(job)->retries)
		dlsi_master_stop_timer(master, &job->run->retries->timer);
}

void dlsi_job_free_retries(struct dlsi_master *master, struct job *job)
{
	if (!dlsi_job_run(job)->retries)
		return;
	dlsi_job_stop_retries(master, job);
	master->retry_runs -= job->run->retries->set.count;
	dlsi_retries_fini(&job->run->retries->set);
	dlsi_free(master->alloc, job->run->retries);
	job->run->retries = NULL;
}
