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

/* Whether the worker has tasks of the job, or results. */
static bool is_busy(const struct acquaintance *acquaintance)
{
	dlsi_list_each (node, &acquaintance->job->run->tasks) {
		const struct task *task = dlsi_list_entry(node, struct task, job_node);

		if (task->device && task->device->worker == acquaintance->worker)
			return true;
	}
	return false;
}

/* The worker forgets the job that it was told of first, of those of which it has nothing: it can be told again. It has
 * fewer tasks than it may know jobs. */
static void make_room(struct dlsi_master *master, struct worker *worker)
{
	for (uint64_t i = 0; i < DLSI_WORKER_JOBS; i++) {
		struct dlsi_list *node = worker->jobs.next;
		struct acquaintance *acquaintance = dlsi_list_entry(node, struct acquaintance, worker_node);
		struct dlsi_record record = {.kind = DLSI_FORGET};

		if (is_busy(acquaintance)) {
			dlsi_list_remove(node);
			dlsi_list_append(&worker->jobs, node);
			continue;
		}
		record.forget.job = acquaintance->job->policy.id;
		dlsi_master_post(master, worker->peer, &record, (struct dlsi_payload){0});
		dlsi_master_part(master, acquaintance);
		return;
	}
}

bool dlsi_master_acquaint(struct dlsi_master *master, struct worker *worker, struct job *job, bool *known_out)
{
	struct dlsi_id key = pair(worker, job);
	struct acquaintance *acquaintance = dlsi_map_get(&master->known, &key);

	*known_out = acquaintance != NULL;
	if (acquaintance)
		return true;
	if (worker->job_count >= DLSI_WORKER_JOBS)
		make_room(master, worker);
	acquaintance = dlsi_calloc(master->alloc, 1, sizeof *acquaintance);
	if (!acquaintance || dlsi_map_put(&master->known, &key, acquaintance)) {
		dlsi_free(master->alloc, acquaintance);
		return false;
	}
	acquaintance->worker = worker;
	acquaintance->job = job;
	worker->job_count++;
	dlsi_list_append(&worker->jobs, &acquaintance->worker_node);
	dlsi_list_append(&job->run->workers, &acquaintance->job_node);
	return true;
}

void dlsi_master_part(struct dlsi_master *master, struct acquaintance *acquaintance)
{
	struct dlsi_id key = pair(acquaintance->worker, acquaintance->job);

	dlsi_map_remove(&master->known, &key);
	acquaintance->worker->job_count--;
	dlsi_list_remove(&acquaintance->worker_node);
	dlsi_list_remove(&acquaintance->job_node);
	dlsi_free(master->alloc, acquaintance);
}
