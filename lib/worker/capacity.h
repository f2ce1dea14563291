/* What the program says of its worker to place tasks by: labels and amounts of resources, kept until it is started. */
#ifndef DLSI_WORKER_CAPACITY_H
#define DLSI_WORKER_CAPACITY_H

#include "base/limits.h"
#include "core/agent.h"
#include <dlsched/worker.h>

struct dlsi_worker_capacity {
	struct dlsi_agent_resource resources[DLSI_RESOURCE_KINDS];
	unsigned resource_count;
	char *labels[DLSI_WORKER_LABELS + 1]; /* NULL-terminated */
};

/* Copies them from options that are in range; dlsi_worker_capacity_fini follows also a failure. Errors: DLS_ENOMEM. */
int dlsi_worker_capacity_init(struct dlsi_worker_capacity *capacity, const struct dlsi_alloc *alloc,
	const struct dls_worker_options *options, struct dls_error *err);
void dlsi_worker_capacity_fini(struct dlsi_worker_capacity *capacity, const struct dlsi_alloc *alloc);

#endif
