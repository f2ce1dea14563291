/* A lane: what a thread, or a team that works together, runs a model with: a set of the device and the programs made of
 * it, one per number of items and of threads. Lanes of one model share its weights and run at once.
 *
 * It keeps the DLSI_PLANS_PER_MODEL programs used last. One thread at a time. */
#ifndef DLSI_LANE_H
#define DLSI_LANE_H

#include "base/limits.h"
#include "device/device.h"

/* A program that is ready. */
struct dlsi_plan {
	int64_t batch; /* 0: the place is free */
	int threads;   /* that run it together */
	void *program;
	uint64_t used; /* the lane's count of uses when it was used last */
};

struct dlsi_lane {
	struct dlsi_device *device;
	void *set; /* NULL: the model is unsized */
	struct dlsi_plan plans[DLSI_PLANS_PER_MODEL];
	int last; /* the place of the one used last; -1: none, or none could be made */
	uint64_t uses;
};

/* Makes the program for so many items and threads the last one; in place of the one unused for longest if it is not
 * there. Errors: as program_create. */
int dlsi_lane_use(struct dlsi_lane *lane, int64_t batch, int threads, struct dls_error *err);

/* Runs the last one. Errors: as program_run. */
int dlsi_lane_run(struct dlsi_lane *lane, const struct dls_tensor *inputs, struct dls_tensor *outputs, int64_t *step_ns,
	struct dls_error *err);

/* The lanes of a model: the first is that of the caller and its team, the others are for threads apart. */
struct dlsi_lanes {
	const struct dlsi_alloc *alloc;
	struct dlsi_device *device;
	struct dlsi_lane *lanes;
	int count;
};

void dlsi_lanes_init(struct dlsi_lanes *lanes, const struct dlsi_alloc *alloc, struct dlsi_device *device);
void dlsi_lanes_fini(struct dlsi_lanes *lanes);

/* Adds one on this set (or NULL), which is destroyed also if there is no memory. Errors: DLS_ENOMEM. */
int dlsi_lanes_add(struct dlsi_lanes *lanes, void *set, struct dls_error *err);

/* Adds lanes that share the first one's set until there are so many. Errors: as set_share. */
int dlsi_lanes_share(struct dlsi_lanes *lanes, int count, struct dls_error *err);

/* Of the first lane's last program, but with the activations of all lanes. */
void dlsi_lanes_facts(const struct dlsi_lanes *lanes, struct dlsi_device_facts *facts_out);

#endif
