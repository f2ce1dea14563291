/* What policies of users have in common, scripts and plug-ins: they are asked once a turn, with a bounded copy of what
 * could be done (dlsched/policy.h), for a list of choices, which are checked here and then made one by one. */
#ifndef DLSI_POLICY_BATCH_H
#define DLSI_POLICY_BATCH_H

#include "policy/ordered.h"
#include <dlsched/policy.h>

enum { DLSI_BATCH_QUEUES = 32, DLSI_BATCH_JOBS = 8, DLSI_BATCH_DEVICES = 16, DLSI_BATCH_CHOICES = 256 };

/* A queue of the view, and what its jobs and devices are here. */
struct dlsi_batch_queue {
	struct dls_policy_queue seen;
	const struct dlsi_policy_queue *queue;
	struct dlsi_policy_job *jobs[DLSI_BATCH_JOBS];
	struct dlsi_policy_device *devices[DLSI_BATCH_DEVICES];
	struct dls_policy_job seen_jobs[DLSI_BATCH_JOBS];
	struct dls_policy_device seen_devices[DLSI_BATCH_DEVICES];
	const struct dls_policy_job *job_list[DLSI_BATCH_JOBS];
	const struct dls_policy_device *device_list[DLSI_BATCH_DEVICES];
	char ids[DLSI_BATCH_JOBS][DLSI_ID_TEXT_BYTES];
};

/* As choose of struct dls_policy_ops, of the policy that the batch is the first member of. */
typedef int dlsi_batch_ask(void *policy, const struct dls_policy_view *view, struct dls_policy_choice *choices,
	size_t limit, struct dls_error *err);

struct dlsi_batch {
	struct dlsi_ordered ordered; /* first: the policy's table has its functions */
	dlsi_batch_ask *ask;
	struct dlsi_batch_queue queues[DLSI_BATCH_QUEUES];
	const struct dls_policy_queue *list[DLSI_BATCH_QUEUES];
	size_t queue_count;
	struct dlsi_policy_choice choices[DLSI_BATCH_CHOICES]; /* for this turn */
	size_t choice_count, next, given;
	uint64_t turn;
	struct dls_error failure; /* code 0: none */
};

/* The batch is zeroed memory. */
void dlsi_batch_init(struct dlsi_batch *batch, const struct dlsi_alloc *alloc, dlsi_batch_ask *ask);

/* Asks with an empty view, before it decides anything. Errors: those of `ask`, DLS_EINVAL (it chooses something). */
int dlsi_batch_try(struct dlsi_batch *batch, struct dls_error *err);

/* As a policy's table has them. */
bool dlsi_batch_choose(void *batch, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out);
int dlsi_batch_excuse(void *batch, struct dls_error *err);

#endif
