/* What must hold when the faults are over and everything has come to rest. */
#include "test/sim/sim.h"

#include "base/ranges.h"
#include "core/again.h"
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

static void note_finals(struct dlsi_ranges *done, const struct dlsi_change *change)
{
	struct dlsi_result result = {
		.first = change->items.first, .end = change->items.end, .again = change->items.again};
	struct dlsi_finals finals = {.result = &result, .at = result.first};
	struct dlsi_range range;
	uint64_t added;

	while (dlsi_finals_next(&finals, &range))
		dlsi_ranges_add(done, range.first, range.end, &added);
}

/* A durable job that is done has every item in the log, and its end behind them. */
static void check_log(struct sim *sim, const struct sim_job *job)
{
	struct dlsi_ranges done;
	bool ended = false;

	dlsi_ranges_init(&done, &dlsi_alloc_libc);
	for (uint64_t i = 0; i < sim->log_persisted; i++) {
		struct dlsi_change change;

		if (!dlsi_change_read(sim->log[i].bytes, sim->log[i].length, &change))
			sim_fail(sim, "the log holds what is no record");
		if (!dlsi_id_equal(&change.job, &job->id))
			continue;
		if (change.kind == DLSI_CHANGE_ITEMS)
			note_finals(&done, &change);
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

/* Whatever happens, no lifecycle takes a step that it has not, and nobody says what makes no sense; but for a core that
 * ran out of memory in the middle of a step. */
void sim_check_node(struct sim *sim, const struct sim_node *node)
{
	struct dlsi_agent_counts agent = {0};
	struct dlsi_session_counts session = {0};
	char name[32];

	if (node->effects.failed)
		return;
	if (node->kind == SIM_MASTER)
		agent.refused_transitions = dlsi_master_counts(node->master).refused_transitions;
	else if (node->kind == SIM_WORKER)
		agent = dlsi_agent_counts(node->agent);
	else
		session = dlsi_session_counts(node->session);
	sim_node_name(node, name);
	if (agent.refused_transitions || session.refused_transitions)
		sim_fail(sim, "%s has refused to change a state", name);
	if (agent.refused || session.refused)
		sim_fail(sim, "%s has refused what it was told", name);
}

/* Durable jobs and their results stay; nothing else does when all jobs are over. */
static void check_master(struct sim *sim)
{
	struct dlsi_master_counts counts = dlsi_master_counts(sim->master.master);
	uint64_t durable = 0;

	for (uint64_t i = 0; i < sim->log_persisted; i++)
		durable += sim->log[i].bytes[1] == DLSI_CHANGE_SUBMIT;
	if (counts.jobs != durable || counts.tasks || counts.acquaintances || counts.held_bytes || counts.done_ranges)
		sim_fail(sim,
			"the master is left with %" PRIu64 " jobs of which %" PRIu64 " are durable, %" PRIu64
			" tasks, %" PRIu64 " jobs told to workers, %" PRIu64 " bytes of results, %" PRIu64
			" ranges of items",
			counts.jobs, durable, counts.tasks, counts.acquaintances, counts.held_bytes,
			counts.done_ranges);
	if (counts.workers != sim->worker_count || counts.clients > sim->client_count || counts.handlers != 2 ||
		counts.specs > SIM_SPECS)
		sim_fail(sim,
			"the master has %" PRIu64 " workers, %" PRIu64 " clients, %" PRIu64 " handlers, %" PRIu64
			" specifications",
			counts.workers, counts.clients, counts.handlers, counts.specs);
	if (sim->master.held != durable + counts.kept_results)
		sim_fail(sim, "the master is left with %" PRIu64 " payloads", sim->master.held);
}

static void check_client(struct sim *sim, struct sim_node *client)
{
	struct dlsi_session_counts counts = dlsi_session_counts(client->session);

	for (unsigned j = 0; j < client->job_count; j++)
		if (client->jobs[j].durable && client->jobs[j].state == DLSI_JOB_DONE)
			check_log(sim, &client->jobs[j]);
	if (client->asked != client->answered)
		sim_fail(sim, "a command of client%u is not answered", client->index);
	if (counts.jobs || counts.fetches || counts.commands || client->held)
		sim_fail(sim, "client%u is left with %" PRIu64 " jobs, %" PRIu64 " fetches and %" PRIu64 " payloads",
			client->index, counts.jobs, counts.fetches, client->held);
}

static void check_worker(struct sim *sim, const struct sim_node *worker)
{
	struct dlsi_agent_counts counts = dlsi_agent_counts(worker->agent);

	if (worker->open_count || counts.jobs || counts.tasks || worker->held)
		sim_fail(sim, "worker%u is left with %" PRIu64 " jobs, %" PRIu64 " tasks and %" PRIu64 " payloads",
			worker->index, counts.jobs, counts.tasks, worker->held);
}

void sim_check_end(struct sim *sim)
{
	check_master(sim);
	for (unsigned i = 0; i < sim->client_count; i++)
		if (sim->clients[i].up)
			check_client(sim, &sim->clients[i]);
	for (unsigned i = 0; i < sim->worker_count; i++)
		check_worker(sim, &sim->workers[i]);
}
