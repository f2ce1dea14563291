/* Round robin: jobs take turns, one task each, on the device that holds the fewest; a job that no device can take now
 * is passed over without losing its turn to come. No parameters. A choice costs as much as there are queues, however
 * many jobs wait. */
#ifndef DLSI_ROUNDROBIN_H
#define DLSI_ROUNDROBIN_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_roundrobin;

#endif
