/* Which worker has been told about which job: JOB goes out once before its first task there, FORGET once when the job
 * is over. */
#include "core/master_state.h"

static struct dlsi_id pair(const struct worker *worker, const struct job *job)
{
	return dlsi_map_key(worker->number, job->policy.place.order);
}

bool dlsi_master_acquainted(const struct dlsi_master *master, const struct worker *worker, const struct job *job)
{
	struct dlsi_id key = pair(worker, job);

	return dlsi_map_get(&master->known, &key) != NULL;
}

bool dlsi_master_acquaint(struct dlsi_master *master, struct worker *worker, struct job *job, bool *known_out)
{
	struct dlsi_id key = pair(worker, job);
	struct acquaintance *acquaintance = dlsi_map_get(&master->known, &key);

	*known_out = acquaintance != NULL;
	if (acquaintance)
		return true;
	acquaintance = dlsi_calloc(master->alloc, 1, sizeof *acquaintance);
	if (!acquaintance || dlsi_map_put(&master->known, &key, acquaintance)) {
		dlsi_free(master->alloc, acquaintance);
		return false;
	}
	acquaintance->worker = worker;
	acquaintance->job = job;
	dlsi_list_append(&worker->jobs, &acquaintance->worker_node);
	dlsi_list_append(&job->run->workers, &acquaintance->job_node);
	return true;
}

void dlsi_master_part(struct dlsi_master *master, struct acquaintance *acquaintance)
{
	struct dlsi_id key = pair(acquaintance->worker, acquaintance->job);

	dlsi_map_remove(&master->known, &key);
	dlsi_list_remove(&acquaintance->worker_node);
	dlsi_list_remove(&acquaintance->job_node);
	dlsi_free(master->alloc, acquaintance);
}
