/* The master's tables in the middle of a run: every item of a job is in one place, and what is counted is there. */
#include "test/sim/sim.h"

#include "core/again.h"
#include "core/master_places.h"
#include <inttypes.h>

/* Two attempts may have the same items only as twins: all of them, at two workers, and no third. */
static void check_twin(struct sim *sim, const struct task *task)
{
	const struct task *twin = task->twin;

	if (twin->twin != task || twin->job != task->job || twin->first != task->first || twin->end != task->end)
		sim_fail(sim, "two twins are not of the same items");
	if (twin->second == task->second || twin->device->worker == task->device->worker)
		sim_fail(sim, "two twins are at one worker, or none of them is the second");
	if (task->job->spec->once)
		sim_fail(sim, "a task runs twice although its job says that it must not");
	if (twin->state != DLSI_TASK_ASSIGNED || task->state != DLSI_TASK_ASSIGNED)
		sim_fail(sim, "a task has a twin that is not at a worker");
}

/* Returns how many items these are. */
static uint64_t claim(struct sim *sim, struct dlsi_ranges *places, uint64_t first, uint64_t end)
{
	uint64_t added;

	if (dlsi_ranges_add(places, first, end, &added) || added != end - first)
		sim_fail(sim, "items from %" PRIu64 " to %" PRIu64 " are in two places", first, end);
	return end - first;
}

/* Of a result that has come: items that failed and are tried again are elsewhere. */
static uint64_t claim_finals(struct sim *sim, struct dlsi_ranges *places, const struct task *task)
{
	struct dlsi_finals finals = {.result = &task->result, .at = task->first};
	struct dlsi_range range;
	uint64_t items = 0;

	while (dlsi_finals_next(&finals, &range))
		items += claim(sim, places, range.first, range.end);
	return items;
}

/* Items done may be in other places too: clients present what they have from another master. */
static void check_job(struct sim *sim, const struct job *job, uint64_t *pairs)
{
	uint64_t running = 0, returned = 0, tasks = 0;
	const struct run *run = dlsi_job_run(job);
	struct dlsi_ranges places;

	if (!job->run)
		return;
	dlsi_ranges_init(&places, &dlsi_alloc_libc);
	for (size_t i = 0; i < run->retry.count; i++)
		claim(sim, &places, run->retry.at[i].first, run->retry.at[i].end);
	if (dlsi_ranges_total(&run->retry) != run->retry_items)
		sim_fail(sim, "the items that came back are not counted right");
	dlsi_list_each (node, &run->tasks) {
		const struct task *task = dlsi_list_entry(node, struct task, job_node);

		tasks++;
		if (task->twin)
			check_twin(sim, task);
		if (task->twin && task->second) {
			++*pairs;
			continue;
		}
		if (task->state == DLSI_TASK_ASSIGNED)
			running += claim(sim, &places, task->first, task->end);
		else
			returned += claim_finals(sim, &places, task);
	}
	if (running != run->running || returned != run->returned || tasks != run->task_count)
		sim_fail(sim, "a job counts %" PRIu64 " items running and has %" PRIu64, run->running, running);
	dlsi_ranges_fini(&places);
}

void sim_audit(struct sim *sim)
{
	const struct dlsi_master *master = sim->master.master;
	uint64_t pairs = 0;

	if (!sim->master.up || sim->master.effects.failed)
		return;
	dlsi_list_each (node, &master->jobs)
		check_job(sim, dlsi_list_entry(node, struct job, node), &pairs);
	if (pairs != master->pairs)
		sim_fail(sim, "the master counts %" PRIu64 " pairs of twins and has %" PRIu64, master->pairs, pairs);
}
