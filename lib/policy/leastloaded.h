/* Least loaded: jobs in the order in which they came, each task on the device that holds the fewest. A job that no
 * device can take now holds up nobody. No parameters. */
#ifndef DLSI_LEASTLOADED_H
#define DLSI_LEASTLOADED_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_leastloaded;

#endif
