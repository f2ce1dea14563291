/* Priority with ageing: the job of the highest priority first, where each "ageing_ms" of waiting counts as one step of
 * priority, so that nothing starves (10000 by default; 0: strict, a job may starve). All waiting jobs age alike, so
 * their order is that of submission time - priority * ageing, which never changes. */
#ifndef DLSI_PRIORITY_H
#define DLSI_PRIORITY_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_priority;

#endif
