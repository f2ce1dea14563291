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

/* On a set of its own from now on (or NULL). */
void dlsi_lane_init(struct dlsi_lane *lane, struct dlsi_device *device, void *set);
void dlsi_lane_fini(struct dlsi_lane *lane);

/* Makes the program for so many items and threads the last one; in place of the one unused for longest if it is not
 * there. Errors: as program_create. */
int dlsi_lane_use(struct dlsi_lane *lane, int64_t batch, int threads, struct dls_error *err);

#endif
