/* What the core asks a policy: which job's items go to which device next. Policies live in policy/; the core knows only
 * this table and is given one by its driver.
 *
 * A policy must be a function of what it was told: no clock, no randomness of its own. It sees only jobs that have
 * items to give out and devices with a free credit, and names one of each; the core checks that the device's worker can
 * run the job. */
#ifndef DLSI_POLICY_OPS_H
#define DLSI_POLICY_OPS_H

#include "base/alloc.h"
#include "base/list.h"
#include "proto/record.h"
#include <stdbool.h>
#include <stdint.h>

#define DLSI_POLICY_ABI 1

/* Jobs that ask for the same of a device: either there is a free one for all of them or for none. Belongs to the
 * policy, which is given it with empty lists. */
struct dlsi_policy_group {
	struct dlsi_list jobs;
	struct dlsi_list node;
};

/* A job with items to give out. `turn` and `node` belong to the policy while the job is ready. */
struct dlsi_policy_job {
	struct dlsi_id id;
	uint64_t number; /* order of arrival: breaks ties */
	int32_t priority;
	uint64_t ready;   /* items that could be given out now */
	uint64_t running; /* items at workers */
	struct dlsi_policy_group *group;
	uint64_t turn;
	struct dlsi_list node;
};

/* A device with a free credit. */
struct dlsi_policy_device;

struct dlsi_policy_view {
	/* The device with the fewest tasks of those whose worker can run the jobs; NULL if every such device is full.
	 * Ties go to the one that was given a task longest ago. */
	struct dlsi_policy_device *(*least_loaded)(void *view_arg, const struct dlsi_policy_group *group);
	void *view_arg;
};

struct dlsi_policy_choice {
	struct dlsi_policy_job *job;
	struct dlsi_policy_device *device;
};

struct dlsi_policy_ops {
	uint32_t abi; /* DLSI_POLICY_ABI */
	uint32_t size;
	const char *name;

	/* NULL when memory is exhausted. */
	void *(*create)(const struct dlsi_alloc *alloc);
	void (*destroy)(void *policy);

	/* The job has items to give out from now on, or none any more. */
	void (*ready)(void *policy, struct dlsi_policy_job *job);
	void (*idle)(void *policy, struct dlsi_policy_job *job);

	/* The next assignment; false if none is possible. The core makes it one task and asks again. */
	bool (*choose)(void *policy, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out);
};

#endif
