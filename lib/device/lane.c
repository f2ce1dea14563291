#include "device/lane.h"

#include "kernel/parallel.h"

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

int dlsi_lane_run(struct dlsi_lane *lane, const struct dls_tensor *inputs, struct dls_tensor *outputs, int64_t *step_ns,
	struct dls_error *err)
{
	return lane->device->ops->program_run(lane->plans[lane->last].program, inputs, outputs, step_ns, err);
}

void dlsi_lanes_init(struct dlsi_lanes *lanes, const struct dlsi_alloc *alloc, struct dlsi_device *device)
{
	*lanes = (struct dlsi_lanes){.alloc = alloc, .device = device};
}

static void finish(struct dlsi_lane *lane)
{
	for (int i = 0; i < DLSI_PLANS_PER_MODEL; i++)
		if (lane->plans[i].batch)
			lane->device->ops->program_destroy(lane->plans[i].program);
	if (lane->set)
		lane->device->ops->set_destroy(lane->set);
}

void dlsi_lanes_fini(struct dlsi_lanes *lanes)
{
	for (int i = 0; i < lanes->count; i++)
		finish(&lanes->lanes[i]);
	dlsi_free(lanes->alloc, lanes->lanes);
}

int dlsi_lanes_add(struct dlsi_lanes *lanes, void *set, struct dls_error *err)
{
	struct dlsi_lane lane = {.device = lanes->device, .set = set, .last = -1};
	struct dlsi_lane *grown = dlsi_realloc(lanes->alloc, lanes->lanes, ((size_t)lanes->count + 1) * sizeof *grown);

	if (!grown) {
		finish(&lane);
		return dlsi_fail_memory(err);
	}
	lanes->lanes = grown;
	lanes->lanes[lanes->count++] = lane;
	return 0;
}

int dlsi_lanes_share(struct dlsi_lanes *lanes, int count, struct dls_error *err)
{
	int rc = 0;

	while (rc == 0 && lanes->count < count) {
		void *set;

		rc = lanes->device->ops->set_share(lanes->lanes[0].set, &set, err);
		if (rc == 0)
			rc = dlsi_lanes_add(lanes, set, err);
	}
	return rc;
}

static void tell(const struct dlsi_lane *lane, struct dlsi_device_facts *facts_out)
{
	lane->device->ops->program_facts(lane->plans[lane->last].program, facts_out);
}

void dlsi_lanes_facts(const struct dlsi_lanes *lanes, struct dlsi_device_facts *facts_out)
{
	tell(&lanes->lanes[0], facts_out);
	for (int i = 1; i < lanes->count; i++) {
		struct dlsi_device_facts facts = {0};

		if (lanes->lanes[i].last >= 0)
			tell(&lanes->lanes[i], &facts);
		facts_out->activation_bytes += facts.activation_bytes;
	}
}
