/* What must hold when the faults are over and everything has come to rest. */
#include "test/sim/sim.h"

#include "base/ranges.h"
#include "core/change.h"
#include <inttypes.h>

/* The first job of a living client that has not ended, or NULL. */
static const struct sim_job *unfinished(const struct sim *sim)
{
	for (unsigned i = 0; i < sim->client_count; i++)
		for (unsigned j = 0; sim->clients[i].up && j < sim->clients[i].job_count; j++)
			if (!sim->clients[i].jobs[j].ended)
				return &sim->clients[i].jobs[j];
	return NULL;
}

bool sim_all_over(const struct sim *sim)
{
	return !unfinished(sim);
}

void sim_check_over(struct sim *sim)
{
	const struct sim_job *job = unfinished(sim);

	if (job)
		sim_fail(sim,
			"a %s job has %" PRIu64 " of %" PRIu64
			" items and does not end although nothing goes wrong any more",
			job->durable     ? "durable"
			: job->cancelled ? "cancelled"
					 : "attached",
			job->delivered, job->count);
}

/* A durable job that is done has every item in the log, and its end behind them. */
static void check_log(struct sim *sim, const struct sim_job *job)
{
	struct dlsi_ranges done;
	uint64_t added;
	bool ended = false;

	dlsi_ranges_init(&done, &dlsi_alloc_libc);
	for (uint64_t i = 0; i < sim->log_persisted; i++) {
		struct dlsi_change change;

		if (!dlsi_change_read(sim->log[i].bytes, sim->log[i].length, &change))
			sim_fail(sim, "the log holds what is no record");
		if (!dlsi_id_equal(&change.job, &job->id))
			continue;
		if (change.kind == DLSI_CHANGE_ITEMS)
			dlsi_ranges_add(&done, change.items.first, change.items.end, &added);
		if (change.kind == DLSI_CHANGE_END) {
			ended = true;
			if (dlsi_ranges_total(&done) != job->count)
				sim_fail(sim, "a durable job ended with %" PRIu64 " of %" PRIu64 " items in the log",
					dlsi_ranges_total(&done), job->count);
		}
	}
	if (!ended)
		sim_fail(sim, "a durable job is done but its end is not in the log");
	dlsi_ranges_fini(&done);
}

void sim_check_end(struct sim *sim)
{
	for (unsigned i = 0; i < sim->client_count; i++) {
		struct sim_node *client = &sim->clients[i];

		for (unsigned j = 0; client->up && j < client->job_count; j++)
			if (client->jobs[j].durable && client->jobs[j].state == DLSI_JOB_DONE)
				check_log(sim, &client->jobs[j]);
		if (sim_payload_held(sim, client))
			sim_fail(sim, "client%u is left with %" PRIu64 " payloads", i, sim_payload_held(sim, client));
	}
	for (unsigned i = 0; i < sim->worker_count; i++) {
		struct sim_node *worker = &sim->workers[i];

		if (worker->up && (worker->open_count || sim_payload_held(sim, worker)))
			sim_fail(sim, "worker%u is left with %" PRIu64 " jobs and %" PRIu64 " payloads", i,
				worker->open_count, sim_payload_held(sim, worker));
	}
	if (!sim->keeps_log && sim_payload_held(sim, &sim->master))
		sim_fail(sim, "the master is left with %" PRIu64 " payloads", sim_payload_held(sim, &sim->master));
}
