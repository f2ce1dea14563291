/* Dominant Resource Fairness, task by task (Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple
 * Resource Types", NSDI 2011, algorithm 1): the next task is of the tenant whose dominant share, divided by its weight,
 * is the smallest of those with a task that fits. Shares are of the whole cluster, and tasks that wait at a device
 * count like those that run. A tenant's jobs come in the order of their priorities. No parameters. */
#ifndef DLSI_DRF_H
#define DLSI_DRF_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_drf;

#endif
