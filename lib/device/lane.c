#include "device/lane.h"

#include "kernel/parallel.h"

void dlsi_lane_init(struct dlsi_lane *lane, struct dlsi_device *device, void *set)
{
	*lane = (struct dlsi_lane){.device = device, .set = set, .last = -1};
}

void dlsi_lane_fini(struct dlsi_lane *lane)
{
	for (int i = 0; i < DLSI_PLANS_PER_MODEL; i++)
		if (lane->plans[i].batch)
			lane->device->ops->program_destroy(lane->plans[i].program);
	if (lane->set)
		lane->device->ops->set_destroy(lane->set);
}

static int use(struct dlsi_lane *lane, struct dlsi_plan *plan)
{
	plan->used = ++lane->uses;
	lane->last = (int)(plan - lane->plans);
	return 0;
}

/* For the team that a thread has while it makes it. */
static int make(struct dlsi_lane *lane, int64_t batch, int threads, void **program_out, struct dls_error *err)
{
	const int team = dlsi_parallel_threads();
	int rc;

	dlsi_parallel_set_threads(threads);
	rc = lane->device->ops->program_create(lane->set, batch, program_out, err);
	dlsi_parallel_set_threads(team);
	return rc;
}

int dlsi_lane_use(struct dlsi_lane *lane, int64_t batch, int threads, struct dls_error *err)
{
	struct dlsi_plan *oldest = &lane->plans[0];
	void *program;
	int rc;

	for (int i = 0; i < DLSI_PLANS_PER_MODEL; i++) {
		if (lane->plans[i].batch == batch && lane->plans[i].threads == threads)
			return use(lane, &lane->plans[i]);
		if (lane->plans[i].used < oldest->used)
			oldest = &lane->plans[i];
	}
	if (oldest->batch)
		lane->device->ops->program_destroy(oldest->program);
	*oldest = (struct dlsi_plan){0};
	lane->last = -1;
	rc = make(lane, batch, threads, &program, err);
	if (rc)
		return rc;
	*oldest = (struct dlsi_plan){.batch = batch, .threads = threads, .program = program};
	return use(lane, oldest);
}
