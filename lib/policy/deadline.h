/* Earliest deadline first (Liu and Layland, "Scheduling algorithms for multiprogramming in a hard-real-time
 * environment", J. ACM 20, 1973): the job whose deadline comes first, each task where it is expected to be finished
 * first. Jobs without a deadline come after all others, in the order in which they came. A job that all devices
 * together could not finish in time if they did nothing else is refused when it comes. No parameters. */
#ifndef DLSI_DEADLINE_H
#define DLSI_DEADLINE_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_deadline;

#endif
